"""How fast to start: from leg length and the gait that the words name, never from a true clip.

Animals of every size change gait at the same Froude number v^2 / (g L), and the length of their
strides, in leg lengths, depends on nothing else; so a leg length and a gait give a speed and the
length of a cycle (Alexander 1989).
"""

from __future__ import annotations

import math
import re

from akd.base.constants import GRAVITY

_FROUDE = {
    "stand": 0.0, "idle": 0.0, "wait": 0.0, "still": 0.0,
    "walk": 0.16, "stroll": 0.12, "amble": 0.3, "sneak": 0.05, "turn": 0.12,
    "trot": 0.7, "jog": 0.8, "run": 1.5, "sprint": 3.0,
    "canter": 1.8, "gallop": 2.5, "jump": 0.5, "leap": 0.8, "hop": 0.4,
}  # fmt: skip
_ONCE = ("stand", "idle", "wait", "still", "jump", "leap", "hop")
"""What is no gait: there is no cycle of strides."""
_SYMMETRICAL = ("walk", "stroll", "amble", "sneak", "trot", "jog")
_SYMMETRICAL_ON_TWO_LEGS = ("run", "sprint")
"""Gaits in which left does what right did half a cycle before: what runs on four legs gallops."""
_PACE = {"slowly": 0.6, "slow": 0.6, "quickly": 1.4, "fast": 1.4, "briskly": 1.3}
_UNKNOWN = 0.12
_TURN_RATE = 0.8
"""Radians a second: a quarter of a circle in two."""


def starting_speed(prompt: str, leg_length: float) -> float:
    """Metres a second along forward."""
    _, froude, pace = _gait(prompt)
    return pace * math.sqrt(froude * GRAVITY * max(leg_length, 0.0))


def starting_period(prompt: str, leg_length: float) -> float | None:
    """Seconds of a cycle of strides; None where the words name no gait."""
    stem, froude, pace = _gait(prompt)
    if stem is None or stem in _ONCE or not leg_length > 0.0:
        return None
    froude *= pace**2
    stride = 2.3 * froude**0.3 * leg_length
    return stride / math.sqrt(froude * GRAVITY * leg_length)


def is_symmetrical(prompt: str, legs: int) -> bool:
    """Whether the words name a gait in which both sides do the same, half a cycle apart."""
    stem, _, _ = _gait(prompt)
    if starting_turn(prompt) != 0.0:
        return False
    return stem in _SYMMETRICAL or (legs == 2 and stem in _SYMMETRICAL_ON_TWO_LEGS)


def _gait(prompt: str) -> tuple[str | None, float, float]:
    """The stem of the word for the gait, its Froude number, and how much faster it is to go."""
    words = re.findall(r"[a-z]+", prompt.lower())
    stems = ((stem, f) for w in words for stem, f in _FROUDE.items() if w.startswith(stem))
    stem, froude = next(stems, (None, _UNKNOWN))
    return stem, froude, next((_PACE[w] for w in words if w in _PACE), 1.0)


def starting_turn(prompt: str) -> float:
    """Radians by which the way turns left in a second, where the words say that it turns."""
    words = set(re.findall(r"[a-z]+", prompt.lower()))
    if not any(word.startswith("turn") for word in words):
        return 0.0
    return _TURN_RATE * (("left" in words) - ("right" in words))
