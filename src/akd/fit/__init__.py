"""Joints found from pictures."""
