"""Motion parameters fitted to videos."""
