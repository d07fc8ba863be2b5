"""Skinning weights: heat diffusion, visibility of bones, transfer between meshes."""
