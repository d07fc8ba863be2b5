"""How far the root of a body leaves its path and leans, by what the body does. No torch here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from akd.motion.actions import read_sentence


@dataclass(frozen=True)
class RootLimits:
    """Largest changes either way from the neutral pose on its path."""

    sway: tuple[float, float, float]
    """Left, up and forward, in leg lengths."""
    lean: tuple[float, float, float]
    """Yaw, pitch and roll, radians."""
    bounce: float | None = None
    """In a cycle, rise and fall about the mean height, leg lengths; None: as `sway` allows."""


GAIT = RootLimits((0.06, 0.35, 0.08), (0.2, 0.4, 0.08))
"""Of walks and runs: what is further from a gait's path is a fault of the video."""
ACTION = RootLimits((0.2, 0.8, 0.45), (0.6, 0.8, 0.2))
"""Of actions that stay on their feet: the zoo's own go 0.14, 0.60 and 0.36 leg lengths (dance,
jump, attack), yaw by 0.45 (twist), pitch by 0.62 (drink) and roll by 0.13 radians (shake)."""
DOWN = RootLimits((0.2, 1.3, 0.9), (0.6, 2.2, 0.2))
"""Of actions that leave them: the zoo's people sink by 0.93 leg lengths as they sit down, go back
by 0.66 and pitch by 1.5 radians as they lie down."""
WADDLE = 0.3
"""Roll of a body on stiff legs, radians: less than the 20 degrees at which a clip fails."""
_WALK_BOUNCE = 0.02
"""Of a walk on four legs, leg lengths: the hips rise while the shoulders sink. True walks of the
training side go 0.007 to 0.012 (zoo) and 0.015 to 0.021 (artists' bull and donkey), true trots
0.038."""


def root_limits(
    prompt: str, *, legs: int = 0, undulates: bool = False, waddles: bool = False
) -> RootLimits:
    """Limits of the action that a prompt names; those of gaits where it names none.

    A body that undulates turns its middle as far as its curve does. One that waddles on legs of one
    joint, which cannot shorten, lifts a foot by rolling over the other. In the air a body that
    stands upright lies level, and banks.
    """
    sentence = read_sentence(prompt)
    gait, limits = sentence.gait, ACTION
    if gait is None or gait.is_cyclic:
        limits = GAIT
    elif gait.goes_down:
        limits = DOWN
    yaw, pitch, roll = limits.lean
    if undulates:
        yaw = max(yaw, 0.9)
    if waddles:
        roll = max(roll, WADDLE)
    if gait is not None and gait.medium == "air":
        pitch, roll = max(pitch, 1.0), max(roll, 0.3)
    # Stiff legs cannot shorten: the body rises over each of them.
    bounce = _WALK_BOUNCE if sentence.walks and legs == 4 and not waddles else None
    return replace(limits, lean=(yaw, pitch, roll), bounce=bounce)
