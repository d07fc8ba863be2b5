"""Large video diffusion models through diffusers, behind `VideoPrior`."""
