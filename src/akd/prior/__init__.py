"""Video diffusion models behind one protocol, and guidance."""
