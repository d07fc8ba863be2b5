"""How the creatures move: gaits, jumps, standing, and the poses they are made of."""
