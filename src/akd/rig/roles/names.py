"""What the names of joints say: a side, and words for parts of a body."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum


class Side(StrEnum):
    """The character's own left or right, or neither."""

    LEFT = "left"
    RIGHT = "right"
    CENTRE = ""

    @property
    def other(self) -> Side:
        """The opposite side."""
        return {Side.LEFT: Side.RIGHT, Side.RIGHT: Side.LEFT}.get(self, Side.CENTRE)


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SIDES = {"l": Side.LEFT, "left": Side.LEFT, "r": Side.RIGHT, "right": Side.RIGHT}

_PART_WORDS: dict[str, str] = {
    "pelvis": "pelvis", "hip": "pelvis", "hips": "pelvis", "cog": "pelvis",
    "spine": "spine", "torso": "spine", "chest": "spine", "abdomen": "spine", "waist": "spine",
    "back": "spine", "body": "spine", "thorax": "spine",
    "neck": "neck", "head": "head", "skull": "head",
    "jaw": "face", "chin": "face", "mouth": "face", "nose": "face", "eye": "face", "eyes": "face",
    "teeth": "face", "tongue": "face", "eyebrow": "face", "lip": "face", "brow": "face",
    "ear": "ear", "ears": "ear", "horn": "ear", "antenna": "ear", "antler": "ear", "crest": "ear",
    "tail": "tail",
    "wing": "wing", "feather": "wing", "fin": "fin", "flipper": "fin",
    "arm": "arm", "forearm": "arm", "shoulder": "arm", "clavicle": "arm", "collar": "arm",
    "elbow": "arm", "humerus": "arm", "hand": "hand", "wrist": "hand", "palm": "hand",
    "finger": "finger", "thumb": "finger", "index": "finger", "middle": "finger", "ring": "finger",
    "pinky": "finger", "little": "finger",
    "leg": "leg", "thigh": "leg", "calf": "leg", "shin": "leg", "knee": "leg", "femur": "leg",
    "foot": "foot", "paw": "foot", "hoof": "foot", "ankle": "foot",
    "toe": "toe", "toes": "toe", "ball": "toe",
    "twist": "helper", "roll": "helper", "pole": "helper", "target": "helper", "ik": "helper",
    "ctrl": "helper", "control": "helper", "helper": "helper", "socket": "helper", "slot": "helper",
    "handslot": "helper", "prop": "helper", "weapon": "helper", "end": "end", "tip": "end",
    "nub": "end", "site": "end",
}  # fmt: skip

_COMPOUND_ENDINGS = ("arm", "leg", "foot", "hand", "paw", "spine", "neck", "tail", "wing")


def words(name: str) -> list[str]:
    """Lower-case words of a name: `mixamorig:LeftUpLeg_01` -> mixamorig, left, up, leg, 01."""
    return [w.lower() for w in _WORD.findall(name)]


def side_of(name: str) -> Side:
    """The side that a name claims. The last claim counts, as in `leg_joint_L_1`."""
    for word in reversed(words(name)):
        if word in _SIDES:
            return _SIDES[word]
    return Side.CENTRE


def parts_of(name: str) -> set[str]:
    """The parts of a body that a name mentions."""
    return {part for word in words(name) if (part := _part(word))}


def _part(word: str) -> str | None:
    """The part a word stands for, also at the end of a compound such as `upperarm`."""
    if word in _PART_WORDS:
        return _PART_WORDS[word]
    ending = next((e for e in _COMPOUND_ENDINGS if word.endswith(e) and len(word) > len(e) + 1), "")
    return _PART_WORDS.get(ending)


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
