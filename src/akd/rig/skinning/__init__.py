"""Skinning weights: heat diffusion, bone visibility, transfer between meshes."""
