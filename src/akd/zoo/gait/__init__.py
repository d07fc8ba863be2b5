"""Creature animation: gaits, jumps, standing, and the leg solver behind them."""
