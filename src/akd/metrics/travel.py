"""In-place clips, as artists make them, with the travel that their feet imply."""

from __future__ import annotations

from akd.motion.contact import implied_velocity
from akd.motion.feet import track_feet
from akd.motion.motion import Motion
from akd.motion.root_motion import displaced
from akd.rig.character import Character

_FPS = 30.0


def with_implied_travel(character: Character, motion: Motion) -> Motion:
    """The motion carried along so that its stance feet stand; as it is where it travels itself."""
    rig = character.control_rig
    frames = motion.resample(_FPS)
    velocity = implied_velocity(
        [foot.sole for foot in track_feet(character, rig, frames)],
        frames.world()[:, rig.root, :3, 3], forward=character.forward, fps=_FPS,
        body_height=character.height,
    )  # fmt: skip
    if velocity is None:
        return motion
    seconds = (motion.times - motion.times[0]).to(motion.pose.translation)
    return displaced(rig, motion, seconds[:, None] * velocity)
