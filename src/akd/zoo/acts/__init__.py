"""Pose sheets: keyframed actions, described by body part over phase."""
