"""Pose space: a diffusion model over plausible poses of any skeleton."""
