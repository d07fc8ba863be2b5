"""Clips of a file by their names, or by what users call them."""

from __future__ import annotations

import re

from akd.asset.asset import ClipRecord
from akd.motion.actions import TURN, Action, read_sentence
from akd.rig.character import Character


def find_clip(character: Character, name: str | None) -> ClipRecord:
    """The clip of a name, or the only one that the name can mean.

    `walk` means `AnimalArmature|Walk` where no other clip is called so: letter case and what
    stands before a `|` are ignored; then a part of the name will do.

    Raises:
        ValueError: The name means no clip, or several.
    """
    clips, file = character.asset.clips, character.asset.path
    if not clips:
        raise ValueError(f"{file}: has no clip")
    asked = (name or "").casefold()
    names = {clip.name: clip.name.casefold() for clip in clips}
    tests = (
        lambda own: own == name,
        lambda own: names[own] == asked,
        lambda own: names[own].rpartition("|")[2] == asked,
        lambda own: asked in names[own],
    )
    for fits in tests:
        fitting = [clip for clip in clips if fits(clip.name)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise ValueError(
                f"{file}: clip {name!r} may be {' or '.join(repr(c.name) for c in fitting)}"
            )
    raise ValueError(f"{file}: there is no clip {name!r}: it has {', '.join(map(repr, names))}")


def clip_action(name: str, *, owner: str) -> Action | None:
    """What is done in a clip of that name, or None where that is not certain.

    Certain is a name that holds one word for an action and nothing else but numbers and the name
    of the file's `owner`: `Fox_Walk_2`, but neither `Walk_Backwards` nor `Gallop_Jump`.
    """
    last = name.rsplit("|", 1)[-1]
    words = [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", last)]
    actions = [read_sentence(w).action for w in words]
    others = [
        word
        for word, action in zip(words, actions, strict=True)
        if action is None and not word.isdigit() and word not in owner.lower()
    ]
    named = [action for action in actions if action is not None]
    return named[0] if len(named) == 1 and named[0] is not TURN and not others else None
