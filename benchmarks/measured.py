"""Where benchmarks write what they measured."""

from __future__ import annotations

from pathlib import Path


def write_report(path: Path, tables: str) -> None:
    """Replace what is below the marker; what is written above it by hand stays."""
    marker = "<!-- measured -->"
    head = path.read_text().partition(marker)[0] if path.exists() else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head}{marker}\n\n{tables}")
