"""Motion distilled out of a video diffusion model into the joint angles of a character."""
