"""Starting values from words and leg length: speed, period, symmetry and turn.

Animals of all sizes change gait at the same Froude number v^2 / (g L), and their stride length over
leg length depends on it alone (Alexander 1989). So a gait and a leg length give a speed and the
period of a stride; no true clip is needed.
"""

from __future__ import annotations

import math

from akd.base.constants import GRAVITY
from akd.motion.actions import TURN, read_sentence

_UNKNOWN_FROUDE = 0.12
"""Of a sentence that names no known action."""
LIMB_PHASES = {"walk": 0.25, "amble": 0.25, "trot": 0.5}
"""Of symmetrical gaits on four legs: the share of the stride by which a fore foot follows the hind
foot of its side (Hildebrand 1965)."""
_TURN_RATE = 0.8
"""Radians per second: a quarter of a circle in two."""


def frame_rate(frame_time: float, leg_length: float) -> float:
    """Frames per second where a frame lasts `frame_time` times sqrt(leg length / g).

    In this unit of time bodies of all sizes do the same gait alike, so that a fixed number of
    frames shows as many strides of a mouse as of an elephant.
    """
    return 1.0 / (frame_time * math.sqrt(max(leg_length, 1e-3) / GRAVITY))


def stride_length(froude: float, leg_length: float) -> float:
    """Length of a stride (a whole cycle), in the unit of the leg length."""
    return 2.3 * froude**0.3 * leg_length


def starting_speed(prompt: str, leg_length: float) -> float:
    """Metres per second along forward."""
    sentence = read_sentence(prompt)
    froude = _UNKNOWN_FROUDE if sentence.gait is None else sentence.gait.froude
    return sentence.pace * math.sqrt(froude * GRAVITY * max(leg_length, 0.0))


def starting_period(prompt: str, leg_length: float) -> float | None:
    """Seconds of a cycle of strides; None where the words name no gait."""
    sentence = read_sentence(prompt)
    if sentence.gait is None or not sentence.gait.is_cyclic or not leg_length > 0.0:
        return None
    froude, stride = sentence.gait.froude * sentence.pace**2, sentence.gait.stride
    length = stride_length(froude, leg_length) if stride is None else stride * leg_length
    return length / math.sqrt(froude * GRAVITY * leg_length)


def is_symmetrical(prompt: str, legs: int) -> bool:
    """Whether the words name a gait in which left does what right did half a cycle before, or what
    it does at once, straight ahead."""
    sentence = read_sentence(prompt)
    if sentence.gait is None or TURN in sentence.actions:
        return False
    return sentence.gait.alternates == "at once" or sentence.gait.alternates_on(legs)


def limb_phase(prompt: str, legs: int) -> float | None:
    """The limb phase of the walk or amble on four legs that the words name; None where they name
    none. A trot's is not given: its body goes up and down with its legs, and only they would be
    moved."""
    sentence = read_sentence(prompt)
    if sentence.gait is None or legs != 4 or TURN in sentence.actions or not sentence.walks:
        return None
    return LIMB_PHASES.get(sentence.gait.label)


def starting_way(prompt: str, *, has_pincers: bool) -> float:
    """Radians to the left of the way the body faces in which it travels: a crab that scuttles goes
    to its left, or to its right if the words say so."""
    sentence = read_sentence(prompt)
    if not has_pincers or sentence.gait is None or not sentence.gait.sideways:
        return 0.0
    return math.copysign(0.5 * math.pi, -1.0 if "right" in sentence.words else 1.0)


def starting_turn(prompt: str) -> float:
    """Radians per second by which the path bends to the left."""
    action = read_sentence(prompt).action
    return 0.0 if action is None else _TURN_RATE * action.turn
