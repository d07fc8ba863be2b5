"""Feet of a grounded motion, planted again by their skin where that mends a failed condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from akd.metrics.selection import Criteria, lowered
from akd.motion.footing.replant import stand_up
from akd.motion.motion import Motion
from akd.physics.assess import assess
from akd.physics.ground import Grounded
from akd.rig.character import Character


def planted_if_better(
    character: Character,
    grounded: Grounded,
    found: Criteria,
    criteria: Callable[[Motion], Criteria],
) -> tuple[Grounded, Criteria]:
    """The grounded motion and what is said of it: as it is, or as `plant_again` makes it if it
    fails a condition and that is better.

    Args:
        character: Who moves.
        grounded: Its motion after physics.
        found: What is said of that.
        criteria: What a motion is chosen by.
    """
    if not found.metrics.fails or character.body_mesh is None:
        return grounded, found
    again = plant_again(character, grounded)
    planted = criteria(again.motion)
    is_better = planted.total > found.total and lowered(found, planted) is None
    return (again, planted) if is_better else (grounded, found)


def plant_again(character: Character, grounded: Grounded) -> Grounded:
    """The motion with its feet planted by their skin. A loop stays one.

    Physics stands on the corners of cuboids, which are not where the skin is: soles that tip far
    hover or are dragged.

    Args:
        character: Who moves.
        grounded: Its motion after physics.
    """
    rig, body = character.control_rig, grounded.character
    fps = (len(grounded.motion) - 1) / grounded.motion.duration
    motion = stand_up(character, grounded.motion, grounded.cycle, fps=fps)
    controls = rig.from_pose(motion.pose)
    return replace(
        grounded,
        motion=motion,
        controls=controls,
        after=assess(body.body, body.feet, body.target_motion(controls, fps)),
    )
