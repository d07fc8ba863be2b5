"""Numbers of physics and of standards. No torch here."""

from __future__ import annotations

GRAVITY = 9.81
"""Acceleration of free fall, m/s^2."""

# The sRGB transfer function, IEC 61966-2-1: linear below a knee, a power above it.
SRGB_SLOPE = 12.92
SRGB_OFFSET = 0.055
SRGB_EXPONENT = 2.4
SRGB_KNEE_LINEAR = 0.0031308
"""The knee in linear light."""
SRGB_KNEE_ENCODED = 0.04045
"""The knee in display values."""
FPS_RANGE = (1, 240)
"""Frames per second that a clip may have."""
