"""Names that USD accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable


def identifier(name: str) -> str:
    """A name that USD accepts: letters, digits and underscores, not beginning with a digit."""
    cleaned = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    return f"_{cleaned}" if cleaned[0].isdigit() else cleaned


def unique_identifiers(names: Iterable[str]) -> list[str]:
    """Such names, numbered where they would be the same."""
    taken: set[str] = set()
    result = []
    for name in map(identifier, names):
        chosen, number = name, 1
        while chosen in taken:
            number += 1
            chosen = f"{name}_{number}"
        taken.add(chosen)
        result.append(chosen)
    return result
