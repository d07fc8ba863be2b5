"""Keyframed actions: descriptions by body part over phase, and the solver that poses them."""
