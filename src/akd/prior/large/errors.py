"""Errors of large models, raised before any work starts."""

from __future__ import annotations


class PriorError(ValueError):
    """One line for the user: what is missing, or does not fit, and what to do about it."""


class MemoryTooSmall(PriorError):
    """The device has less memory free than is needed."""
