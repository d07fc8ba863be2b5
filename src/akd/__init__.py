"""Animate any rigged 3D character from a sentence."""

__version__ = "0.1.0"
