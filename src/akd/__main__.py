"""`python -m akd` is `akd`."""

from akd.cli import entry

entry()
