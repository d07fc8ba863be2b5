"""Cameras, ground, shadow, style and video."""
