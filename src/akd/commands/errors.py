"""Errors of commands, one line each: the user's to mend (exit code 2), or a failed result (3)."""

from __future__ import annotations

from pathlib import Path


class UsageError(Exception):
    """A wrong option or value. The message names it, the rule, and what was given."""


class ResultFailed(Exception):
    """A finished result that failed its own conditions: exit code 3. The message is one line."""


def input_file(path: Path) -> Path:
    """The path, if it is a file that can be read."""
    if path.is_dir():
        raise UsageError(f"{path}: is a folder, a file is needed")
    if not path.exists():
        raise UsageError(f"{path}: there is no such file")
    return path
