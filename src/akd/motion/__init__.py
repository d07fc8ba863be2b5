"""Poses over time: clips, loops, root motion, retargeting, parametrisation."""
