"""Animate any rigged 3D character from a sentence."""

from akd.base.version import __version__ as __version__
