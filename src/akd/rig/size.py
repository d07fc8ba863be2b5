"""A believable height for a body, from what its file is called and from its plan."""

from __future__ import annotations

from dataclasses import dataclass

from akd.rig.roles import names
from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.role import LimbKind

_TOLERATED = 1.5
"""A file's own height is believed within this factor of the usual one."""
_HEIGHTS: dict[float, str] = {
    0.02: "bee wasp ant fly butterfly beetle ladybug",
    0.06: "mouse snail spider caterpillar goldfish clownfish",
    0.12: "rat chick frog toad crab hamster turtle snake lizard squirrel hedgehog koi piranha",
    0.25: "pigeon parrot bird crow duck owl seagull rabbit bunny hare guineapig ferret",
    0.4: "cat kitten chicken hen rooster pug dachshund corgi raccoon beaver goose turkey eagle",
    0.6: "fox shiba beagle monkey lynx dolphin",
    0.8: "wolf dog husky coyote jackal pig hog boar sheep goat lamb cheetah leopard penguin",
    1.1: "lion tiger panther hyena shark gorilla velociraptor raptor calf",
    1.4: "donkey zebra bear deer cow llama alpaca panda kangaroo child boy girl",
    1.6: "horse bull stag ox buffalo rhino rhinoceros hippo gorilla",
    1.7: "man woman human male female person people knight king queen witch wizard soldier pirate "
    "ninja rogue barbarian mage zombie farmer worker astronaut police clown adventurer archer monk",
    2.0: "moose camel ostrich whale",
    3.0: "elephant mammoth triceratops stegosaurus",
    4.0: "trex tyrannosaurus parasaurolophus",
    5.0: "giraffe",
    7.0: "apatosaurus brachiosaurus diplodocus",
}
"""Usual height of a standing animal or person from the ground to the top of the head, metres."""
_BY_NAME = {word: height for height, words in _HEIGHTS.items() for word in words.split()}
_PERSON, _QUADRUPED = (0.3, 1.7, 4.0), (0.02, 0.8, 6.0)
"""Least, usual and greatest height of a body with arms and one pair of legs, and with two pairs."""

_LONG_TAIL = 3
"""Joints of a tail that a person in a costume does not have."""


@dataclass(frozen=True)
class AssumedHeight:
    """A height to use instead of the file's."""

    metres: float
    why: str
    """For a person to read."""


def assume_height(height: float, *, stem: str, anatomy: Anatomy) -> AssumedHeight | None:
    """A height where the file's own is not to be believed.

    Args:
        height: Of the body by the file's units, metres.
        stem: The file's name.
        anatomy: Its limbs tell the plan where the name says nothing.

    Returns:
        None where the file's height is believable, or where nothing is known of such a body.
    """
    if not height > 0:
        return None
    known = [word for word in names.words(stem) if word in _BY_NAME]
    if known:
        what, usual = f"a {known[-1]}", _BY_NAME[known[-1]]
        low, high = usual / _TOLERATED, usual * _TOLERATED
    else:
        kinds = {limb.kind for limb in anatomy.limbs}
        if {LimbKind.LEG, LimbKind.ARM} <= kinds and len(anatomy.tail) >= _LONG_TAIL:
            return None  # from a squirrel to a tyrannosaur
        if {LimbKind.LEG, LimbKind.ARM} <= kinds:
            what, (low, usual, high) = "a figure on two legs", _PERSON
        elif {LimbKind.FORE, LimbKind.HIND} <= kinds and LimbKind.MID not in kinds:
            what, (low, usual, high) = "an animal on four legs", _QUADRUPED
        else:
            return None
    if low <= height <= high:
        return None
    tall = "tall" if height > usual else "small"
    return AssumedHeight(
        usual,
        f"{height:.3g} m is {tall} for {what}: timing and physics for {usual:g} m; "
        "--height overrules",
    )
