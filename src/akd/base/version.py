"""The version of akd, which every file that akd writes records."""

__version__ = "0.1.0"
