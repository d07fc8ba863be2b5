"""Gaussian splats: sampled from a mesh, bound to a rig, rasterized."""
