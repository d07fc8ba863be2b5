"""Motions out: glTF, BVH."""
