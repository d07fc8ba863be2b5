"""Skeletons, skins, poses, and what joints are to a body."""
