"""Gaussian clouds: made from a mesh, bound to a rig, rasterized."""
