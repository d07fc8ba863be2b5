"""Motion metrics and action recognisers."""
