"""Many characters at once: `animate_many`, and the harvest of poses from a video prior."""
