"""Clips of a file by their names, or by what users call them."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from akd.asset.asset import ClipRecord
from akd.motion.actions import ACTIONS, TURN, Action, read_sentence
from akd.rig.character import Character


def split_clip(text: str) -> tuple[Path, str | None]:
    """A file, and the clip's name after a colon: `fox.glb:Walk`. File names may hold colons too."""
    if Path(text).exists():
        return Path(text), None
    for place in (i for i, letter in enumerate(text) if letter == ":"):
        if Path(text[:place]).is_file() and text[place + 1 :]:
            return Path(text[:place]), text[place + 1 :]
    return Path(text.partition(":")[0] or text), None


def clip_labels(clips: Sequence[ClipRecord]) -> list[str]:
    """What the clips of a file are asked for by: their names, numbered where several have one, such
    as `walk#2`."""
    count = Counter(clip.name for clip in clips)
    seen: Counter[str] = Counter()
    labels: list[str] = []
    for clip in clips:
        seen[clip.name] += 1
        number = f"#{seen[clip.name]}" if count[clip.name] > 1 else ""
        labels.append(f"{clip.name}{number}")
    return labels


def find_clip(
    character: Character, name: str | None, *, clips: Sequence[ClipRecord] | None = None
) -> ClipRecord:
    """The clip of a name, or the only one that the name can mean, among `clips` or all.

    `walk` means `AnimalArmature|Walk` where no other clip is called so: letter case and what
    stands before a `|` are ignored; then a part of the name will do. Of several clips of one name
    the second is `walk#2`.

    Raises:
        ValueError: The name means no clip, or several.
    """
    clips = character.asset.clips if clips is None else clips
    file = character.asset.path
    if not clips:
        raise ValueError(f"{file}: has no clip")
    asked, labels = (name or "").casefold(), clip_labels(clips)
    tests = (
        lambda own: own == name,
        lambda own: own.casefold() == asked,
        lambda own: own.casefold().rpartition("|")[2] == asked,
        lambda own: asked in own.casefold(),
    )
    for fits in tests:
        fitting = [k for k, label in enumerate(labels) if fits(label)]
        if len(fitting) == 1:
            return clips[fitting[0]]
        if fitting:
            which = " or ".join(repr(labels[k]) for k in fitting)
            raise ValueError(f"{file}: clip {name!r} may be {which}")
    ends = {label.casefold().rpartition("|")[2]: label for label in labels}
    close = difflib.get_close_matches(asked, ends, n=1)
    meant = f"; did you mean {ends[close[0]]!r}?" if close else ""
    has = ", ".join(map(repr, labels))
    raise ValueError(f"{file}: there is no clip {name!r}: it has {has}{meant}")


_IDLE_WORDS = frozenset(
    {
        "a", "b", "c", "chair", "chop", "cross", "enter", "fast", "floor", "forward", "front",
        "full", "fwd", "h", "hook", "jab", "left", "loop", "melee", "normal", "overhand", "right",
        "short", "slice", "stab", "sword", "table", "unarmed",
    }
)  # fmt: skip
"""Words in names of clips that leave it certain what is done."""
_PARTICLES = ("around", "down", "over", "up")


def clip_action(name: str, *, owner: str) -> Action | None:
    """The action of a clip of that name, or None where that is not certain.

    Certain is a name that holds one action and nothing else but numbers, the name of the file's
    `owner` and words that do not matter: `Fox_Walk_2`, `Sit_Floor_Down` and `Attack_Kick`, but
    neither `Walk_Backwards_Fast_Turn` nor `Gallop_Jump`.
    """
    last = name.rsplit("|", 1)[-1].replace("Pickup", "PickUp")
    words = [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", last)]
    known = [w for w in words if read_sentence(w).actions]
    telling = [
        word
        for word in words
        if word in known or not (word.isdigit() or word in owner.lower() or word in _IDLE_WORDS)
    ]
    if len(known) == 2 and ACTIONS["attack"] in read_sentence(known[0]).actions:
        telling.remove(known[0])  # the second word says how
    actions = read_sentence(" ".join(telling)).actions
    if len(actions) != 1 or actions[0] is TURN or len(telling) > 2:
        return None
    # Of two words, the second belongs to the first: `get up`, `walk backwards`.
    if len(telling) == 2 and telling[1] not in _PARTICLES:
        alone = read_sentence(telling[0]).actions
        if alone == actions or telling[1] in known:
            return None
    if actions[0].one_off and "loop" in words:
        return None  # between a start and an end that are clips of their own
    if actions[0].is_cyclic and {"left", "right"} & set(words):
        return None  # sideways
    return actions[0]
