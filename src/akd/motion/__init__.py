"""Poses over time: reading, writing, resampling, loops, root motion, retargeting."""
