"""Retargeting: a motion of one body on another of the same plan, joint by role."""
