"""What the names of joints say: a side, and words for parts of a body."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import lru_cache

from akd.rig.roles.lexicon import (
    ARM_SEGMENTS,
    COMPOUND_BEGINNINGS,
    COMPOUND_ENDINGS,
    END_WORDS,
    LEG_SEGMENTS,
    PART_WORDS,
    SIDE_WORDS,
    SIGNS,
)


class Side(StrEnum):
    """The character's own left or right, or neither."""

    LEFT = "left"
    RIGHT = "right"
    CENTRE = ""

    @property
    def other(self) -> Side:
        """The opposite side."""
        return {Side.LEFT: Side.RIGHT, Side.RIGHT: Side.LEFT}.get(self, Side.CENTRE)


_SIGNS = sorted((*SIGNS, *"左右前後后", *["왼쪽", "오른쪽", "왼", "오른"]), key=len, reverse=True)
_WORD = re.compile(
    "|".join((*_SIGNS, r"[A-Z]+(?![a-z])|[A-ZÄÖÜÉ]?[a-zß-öø-ÿ]+|[А-ЯЁ]?[а-яё]+|\d+"))
)
_SIDES = {word: Side(side) for word, side in SIDE_WORDS.items()}


def words(name: str) -> list[str]:
    """Lower-case words of a name: `mixamorig:LeftUpLeg_01` -> mixamorig, left, up, leg, 01."""
    return [part for w in _WORD.findall(name) for part in _unglued(w.lower())]


def _unglued(word: str) -> tuple[str, ...]:
    """`lfemur` of the CMU skeletons -> l, femur; `thighl`, which three.js makes of `thigh.l` ->
    thigh, l; `lefthand` and `handleft` likewise; other words as they are."""
    if word in PART_WORDS or word in _SIDES or word == "rear":
        return (word,)
    for side in ("left", "right"):
        if word.startswith(side):
            return (side, word.removeprefix(side))
        if word.endswith(side) and _part(word.removesuffix(side)):
            return (word.removesuffix(side), side)
    if word[0] in "lr" and word[1:] in PART_WORDS:
        return (word[0], word[1:])
    # Not of props: a bowl is no left bow.
    is_glued = word[-1] in "lr" and PART_WORDS.get(word[:-1], "prop") != "prop"
    return (word[:-1], word[-1]) if is_glued else (word,)


def side_of(name: str) -> Side:
    """The side that a name claims. The last claim counts, as in `leg_joint_L_1`."""
    for word in reversed(words(name)):
        if word in _SIDES:
            return _SIDES[word]
    return Side.CENTRE


def end_of(name: str) -> str:
    """`front` or `back` where a name says which pair of legs it is of; else empty."""
    return next((END_WORDS[word] for word in words(name) if word in END_WORDS), "")


@lru_cache(maxsize=4096)  # every branch of a body asks for the names below it
def parts_of(name: str) -> frozenset[str]:
    """The parts of a body that a name mentions. A hip with a side is where a leg starts."""
    parts = frozenset(part for word in words(name) if (part := _part(word)))
    if "pelvis" in parts and side_of(name) is not Side.CENTRE:
        parts = parts - {"pelvis"} | {"leg"}
    if {"tail", "wing"} <= parts:  # `tail_feather`
        parts = parts - {"wing"}
    if {"finger", "foot"} <= parts:  # `dedos_pie`
        parts = parts - {"finger", "foot"} | {"toe"}
    return parts


def _part(word: str) -> str | None:
    """The part a word stands for, also in a compound such as `upperarm` or `thightwist`."""
    if (part := PART_WORDS.get(word) or SIGNS.get(word)) is not None:
        return part
    ending = next((e for e in COMPOUND_ENDINGS if word.endswith(e) and len(word) > len(e) + 1), "")
    return PART_WORDS.get(ending or next(filter(word.startswith, COMPOUND_BEGINNINGS), ""))


def segment_of_arm(name: str) -> str:
    """`girdle`, `upper` or `lower`: which segment of an arm a name says that it is; else empty."""
    said = {ARM_SEGMENTS[word] for word in words(name) if word in ARM_SEGMENTS}
    return next((segment for segment in ("lower", "upper", "girdle") if segment in said), "")


def says_segment(name: str) -> bool:
    """Whether a name says which segment of an arm or leg it is, not only which limb."""
    return bool(segment_of_arm(name)) or not LEG_SEGMENTS.isdisjoint(words(name))


def without_side(name: str) -> tuple[str, ...]:
    """The words of a name with every claim of a side taken out: equal for a left/right pair."""
    return tuple(w for w in words(name) if w not in _SIDES)


def mirror_pairs(names: tuple[str, ...], joints: list[int]) -> list[tuple[int, int]]:
    """Pairs (left, right) of joints, among the given ones, whose names differ in the side alone."""
    exact = _match(names, joints, without_side)
    taken = {joint for pair in exact for joint in pair}
    # Exporters that number every joint give the two of a pair different numbers.
    rest = [j for j in joints if j not in taken]
    return exact + _match(names, rest, lambda n: tuple(w for w in without_side(n) if w.isalpha()))


def _match(
    names: tuple[str, ...], joints: Iterable[int], key_of: Callable[[str], tuple[str, ...]]
) -> list[tuple[int, int]]:
    """Left and right joints that are the only ones of their side with the same key."""
    lefts: dict[tuple[str, ...], list[int]] = {}
    rights: dict[tuple[str, ...], list[int]] = {}
    for joint in joints:
        name = names[joint]
        side = side_of(name)
        if side is not Side.CENTRE:
            (lefts if side is Side.LEFT else rights).setdefault(key_of(name), []).append(joint)
    return [
        (left[0], rights[key][0])
        for key, left in lefts.items()
        if len(left) == 1 and len(rights.get(key, ())) == 1
    ]
