"""What `akd COMMAND --help` prints, in lines as long as the terminal's."""

from __future__ import annotations

import ast
import inspect
import io
import itertools
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from functools import cache
from typing import Annotated, get_origin, get_type_hints

import tyro

EMPTY = (None, "", ())
"""Defaults that say nothing: the text says what happens without the option."""
NARROWEST = 40
"""Columns of a line of help."""


@cache
def explained(command: type) -> type:
    """The command, its fields annotated with their docstrings.

    tyro reads docstrings itself, but breaks them where the source does, and wraps the parts again.
    """
    texts = {
        name: text for base in reversed(command.__mro__) for name, text in _docstrings(base).items()
    }
    kinds, hints = get_type_hints(command), get_type_hints(command, include_extras=True)
    for field in fields(command):
        text = texts.get(field.name)
        is_empty = field.default in EMPTY or (
            field.default is MISSING and get_origin(kinds[field.name]) is tuple
        )
        if text is not None or is_empty:
            about = tyro.conf.arg(help=text, help_behavior_hint="" if is_empty else None)
            hints[field.name] = Annotated[hints[field.name], about]
    command.__annotations__ = hints
    return command


def _docstrings(kind: type) -> dict[str, str]:
    """The docstrings of a class's own fields, each as one line."""
    if "__annotations__" not in vars(kind):
        return {}
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    return {
        field.target.id: " ".join(said.split())
        for field, text in itertools.pairwise(tree.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(said := text.value.value, str)
    }


class Captured(io.TextIOWrapper):
    """Takes what is meant for the standard output, in the colours and letters of a terminal if that
    is one."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding=sys.stdout.encoding, errors="backslashreplace")
        self._coloured = sys.stdout.isatty()

    def isatty(self) -> bool:
        """Whether the standard output is one."""
        return self._coloured

    def text(self) -> str:
        """All that was written."""
        self.seek(0)
        return self.read()


@contextmanager
def readable_width() -> Iterator[None]:
    """Lines of at least `NARROWEST` columns: tyro does not end where its boxes leave no room."""
    before = os.environ.get("COLUMNS")
    if shutil.get_terminal_size().columns < NARROWEST:
        os.environ["COLUMNS"] = str(NARROWEST)
    try:
        yield
    finally:
        if before is not None:
            os.environ["COLUMNS"] = before
        else:
            os.environ.pop("COLUMNS", None)


def wrapped(text: str) -> str:
    """Help with its description wrapped, which tyro leaves in lines of any length. Examples stay in
    one piece, to be copied; boxes are as wide as the terminal already."""
    width = shutil.get_terminal_size().columns
    usage, *paragraphs = re.split(r"\n{2,}", text)
    return "\n\n".join([
        usage,
        *(
            paragraph
            if paragraph.startswith("Example: ") or not paragraph[:1].isalpha()
            else textwrap.fill(paragraph, width, break_long_words=False, break_on_hyphens=False)
            for paragraph in paragraphs
        ),
    ])  # fmt: skip
