"""Errors of commands: what the user can fix (exit code 2), and a failed result (3)."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_type_hints

import tyro


class UsageError(Exception):
    """A wrong option or value. The message names it, the rule, and what was given."""


class ResultFailed(Exception):
    """A finished result that fails a check: exit code 3. The message is a single line."""


SEEDS = (0, 2**63 - 1)
"""What torch takes for a seed."""
_LONGEST_LINE = 4096
"""Letters: as many as a path may have."""


@contextmanager
def usage_errors(
    *kinds: type[Exception], prefix: str = "", command: object = None
) -> Iterator[None]:
    """Turn errors that the user can fix into a `UsageError`.

    Args:
        kinds: Of what kinds they are; `ValueError` if left out.
        prefix: What the message begins with, such as the option or the file that it is about.
        command: A message that begins with the name of an option of this command begins with `--`.
    """
    caught = kinds or (ValueError,)
    try:
        yield
    except caught as error:
        raise UsageError(f"{prefix}{said_of(command, error)}") from None


def said_of(command: object, error: Exception) -> str:
    """The API's message about an argument as one about the command's option of the same name. What
    is given without an option's name stays as it is, and so does a path that reads like one."""
    message = str(error)
    word = message.split(" ", 1)[0]
    name = word.rstrip(":")
    if not hasattr(command, name):
        return message
    if word != name and any(v == Path(name) for v in vars(command).values()):
        return message
    hint = get_type_hints(type(command), include_extras=True).get(name)
    is_positional = tyro.conf.Positional in getattr(hint, "__metadata__", ())
    return message if is_positional else f"--{message}"


def check_ranges(command: object, **ranges: tuple[float, float]) -> None:
    """Raise `UsageError` for the first option that is outside its range, ends included."""
    for name, (low, high) in ranges.items():
        value = getattr(command, name)
        if value is not None and not low <= value <= high:
            option = name.replace("_", "-")
            raise UsageError(f"--{option} must be from {low} to {high}, got {value}")


def check_folders(**folders: Path | None) -> None:
    """Raise `UsageError` for the first option whose folder is not there."""
    for name, folder in folders.items():
        if folder is not None and not folder.is_dir():
            raise UsageError(f"--{name} {folder}: is not a folder")


def printable(text: object) -> str:
    """One line without escape sequences: names of files and what is in them may hold anything."""
    line = "".join(c if c.isprintable() else "?" for c in str(text)[: _LONGEST_LINE + 1])
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."


def say(text: object, *, to: Any = None) -> None:
    """Print a sentence, broken between words where it is longer than the terminal's lines.

    Elsewhere, such as in a pipe, it stays one line.
    """
    stream = to or sys.stdout
    line = str(text)
    if stream.isatty():
        width = shutil.get_terminal_size().columns
        line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
    print(line, file=stream)


def input_file(path: Path) -> Path:
    """The path, if it is a file that can be read."""
    if path.is_dir():
        raise UsageError(f"{path}: is a folder, must be a file")
    if not path.exists():
        raise UsageError(f"{path}: there is no such file")
    if not path.is_file():
        raise UsageError(f"{path}: must be a regular file")
    return path
