"""Rows of a benchmark in a file of JSON lines, so that a run that was stopped goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows so far, the last of each key; a line cut short by a kill is left out."""
    rows: dict[str, dict[str, Any]] = {}
    for text in path.read_text().splitlines() if path.exists() else ():
        try:
            row = json.loads(text)
        except json.JSONDecodeError:
            continue
        rows.pop(row["key"], None)
        rows[row["key"]] = row
    return list(rows.values())


def append_row(path: Path, row: dict[str, Any]) -> None:
    """Append a row, on a line of its own even where the last one was cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cut = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
    with path.open("a") as file:
        file.write(("\n" if cut else "") + json.dumps(row) + "\n")
