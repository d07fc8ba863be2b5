"""Rotations, rigid transforms and splines, in pure torch."""
