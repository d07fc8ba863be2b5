"""Poses over time: reading, writing, resampling, loops, root motion, retargeting."""

from akd.motion.settings import Cycle, Spline, per_frame

__all__ = ["Cycle", "Spline", "per_frame"]
