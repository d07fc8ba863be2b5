"""Cameras, ground, shadow, render styles and video."""
