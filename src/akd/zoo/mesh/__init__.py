"""Surface geometry of creatures: implicit shapes, meshing, soles."""
