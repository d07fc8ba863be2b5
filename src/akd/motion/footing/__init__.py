"""Feet on the ground: the floor of a motion, when feet stand, and planting them."""
