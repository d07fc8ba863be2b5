"""How good a motion or a video is: numbers, and recognisers of actions."""
