"""Large video diffusion models, loaded with diffusers, as `VideoPrior`."""
