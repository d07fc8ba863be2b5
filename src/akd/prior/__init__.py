"""Video diffusion models behind one protocol, and classifier-free guidance."""
