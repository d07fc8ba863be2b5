"""Procedural creatures with true skeletons and true gaits."""
