"""A skeleton for a mesh that has none: a template embedded in the mesh's inside."""
