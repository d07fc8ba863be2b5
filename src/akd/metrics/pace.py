"""The size of body that a walk is timed for.

Animals of all sizes break into a run near the same Froude number v^2 / (g L) (Alexander 1989):
above it gravity is too slow to keep the feet on the ground. Speed and leg length both grow with the
body, so a walk that is too fast for one body suits a smaller one. Toys are often timed like that,
such as an elephant whose steps take a quarter of a second.
"""

from __future__ import annotations

from dataclasses import replace

from akd.base.constants import GRAVITY
from akd.metrics.travel import with_implied_travel
from akd.motion.actions import FASTEST_WALK, action_label
from akd.motion.feet import leg_length
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.units import FileUnits

_MOST_SMALLER = 1000.0
"""Above this multiple of the fastest walk's Froude number, the root leaps instead of walking."""


def sized_for_walk(character: Character, motion: Motion) -> tuple[Character, Motion]:
    """The character at the height that its walk is timed for, and the walk at that size.

    Both are returned as they are where the motion is no walk, where a body of that size can walk so
    fast, where its root jumps rather than walks, or where the user gave the height.

    Args:
        character: Whose motion it is.
        motion: A clip; its name says whether it is a walk.
    """
    if character.units.is_given or action_label(motion.name) != "walk":
        return character, motion
    froude = walking_froude(character, motion)
    if not FASTEST_WALK < froude < _MOST_SMALLER * FASTEST_WALK:
        return character, motion
    height = character.height * FASTEST_WALK / froude
    why = (
        f"{motion.name!r} is too fast for a walk at {character.height:.3g} m (Froude number "
        f"{froude:.2g}): timing and physics for {height:.3g} m; --height overrides it"
    )
    smaller = character.resized(height, why=why)
    pose = FileUnits(height / character.height).pose_in(motion.pose)
    return smaller, replace(motion, skeleton=smaller.skeleton, pose=pose)


def walking_froude(character: Character, motion: Motion) -> float:
    """Froude number of a motion's mean speed, or of the speed that its stance feet imply where it
    stays in place."""
    rig = character.control_rig
    root = with_implied_travel(character, motion).world()[:, rig.root, :3, 3]
    speed = float((root[-1] - root[0])[[0, 2]].norm()) / max(motion.duration, 1e-6)
    return speed**2 / (GRAVITY * leg_length(character, rig))
