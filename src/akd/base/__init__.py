"""Shared by every room: files, constants, progress, the cache, starting Warp. No torch here."""
