"""Differentiable rigid-body simulation and motion tracking."""
