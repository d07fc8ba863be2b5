"""Automatic rigging: a template skeleton embedded in the volume of a mesh."""
