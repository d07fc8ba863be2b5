"""Motions brought down to the ground by a differentiable simulation."""
