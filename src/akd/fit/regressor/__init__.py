"""A network that reads the motion of body parts from a video: the start of a fit."""
