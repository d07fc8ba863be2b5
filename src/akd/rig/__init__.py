"""Skeletons, skins, poses, joint roles and the control rig."""
