"""Poses over time: clips, loops, root motion, retargeting, parametrisation."""

from akd.motion.settings import Cycle, Spline, per_frame

__all__ = ["Cycle", "Spline", "per_frame"]
