"""Shared by all rooms: files, cache, progress, data splits, Warp. No torch here."""
