"""A prompt that names several actions in a row, split into one prompt for each. No torch here."""

from __future__ import annotations

import re

from akd.motion.actions import read_sentence

_THEN = re.compile(r"\s*(?:[,;]\s*(?:and\s+)?then|\band\s+then|\bthen)\b\s*,?\s*", re.IGNORECASE)
_SUBJECTS = {"a", "an", "the", "it", "he", "she", "they", "this", "that"}
_PRONOUNS = {"it", "he", "she", "they"}
MOST_PARTS = 8


def split_prompt(prompt: str) -> tuple[str, ...]:
    """One prompt for each action: `a fox walks, then jumps` -> `a fox walks`, `a fox jumps`.

    Args:
        prompt: With single spaces.

    Raises:
        ValueError: There are more than eight actions in a row.
    """
    parts = [part.strip(" ,;.") for part in _THEN.split(prompt)]
    parts = [part for part in parts if part]
    if len(parts) < 2:
        return (prompt,)
    if len(parts) > MOST_PARTS:
        raise ValueError(f"the prompt must name at most {MOST_PARTS} actions, got {len(parts)}")
    subject = _subject(parts[0])
    return (parts[0], *(_with_subject(part, subject) for part in parts[1:]))


def _subject(part: str) -> str:
    """The words before the first that names an action; the first two where none does."""
    words = part.split()
    for place, word in enumerate(words):
        if place and read_sentence(word).actions:
            return " ".join(words[:place]).removesuffix(" is").removesuffix(" starts")
    return " ".join(words[:2])


def _with_subject(part: str, subject: str) -> str:
    first, _, rest = part.partition(" ")
    if first.lower() in _PRONOUNS and rest:
        return f"{subject} {rest}"
    return part if first.lower() in _SUBJECTS else f"{subject} {part}"
