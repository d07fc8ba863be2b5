"""Encoders of large video models with lean, fast gradients."""
