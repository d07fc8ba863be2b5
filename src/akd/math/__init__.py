"""Rotations, transforms and splines: pure torch."""
