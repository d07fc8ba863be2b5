"""Surfaces of the creatures: implicit shapes, meshing, colours."""
