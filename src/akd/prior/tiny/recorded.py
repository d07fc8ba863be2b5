"""Recorded clips, of motion capture and of artists, on the bodies of actors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import AssetError
from akd.math import quaternion
from akd.motion.actions import ACTION_LABELS, ACTIONS
from akd.motion.library import LibraryClip, artist_clips, mocap_clips, perform
from akd.motion.motion import Motion
from akd.prior.tiny.actor import CLIP_FRAMES, continue_loop, hold_ends
from akd.rig.character import Character

MOCAP_ACTIONS = {
    "crawl": "crawl", "dance": "dance", "drink": "drink", "hop": "jump", "jump": "jump",
    "kick": "kick", "limp": "limp", "march": "march", "pick up": "pick_up", "punch": "punch",
    "roll": "roll", "run": "run", "sneak": "sneak", "stand": "stand", "swim": "swim",
    "throw": "throw", "walk": "walk", "walk backwards": "back_up", "wave": "wave",
}  # fmt: skip
"""Actions by their names in the table of motion capture. What else it names is two things at once,
or none that a prompt can ask for."""
_SPEED_WINDOW = 0.5
"""Seconds over which joint speed is averaged to find where something happens."""
_FPS = 30.0
_SHORTEST = 0.3
"""Seconds. Shorter clips are poses."""


@dataclass(frozen=True)
class Recordings:
    """Folders of recorded motion; only their training sides are used."""

    assets: Path | None = None
    """Rigged characters with clips."""
    mocap: Path | None = None
    """BVH files with a table of actions."""

    def people(self) -> list[LibraryClip]:
        """Motion capture whose action has a class."""
        return [] if self.mocap is None else _usable(mocap_clips(self.mocap))

    def artists(self) -> list[LibraryClip]:
        """Artists' clips whose action has a class."""
        return [] if self.assets is None else _usable(artist_clips(self.assets))


def _usable(clips: Iterable[LibraryClip]) -> list[LibraryClip]:
    return [clip for clip in clips if clip.trains and label_of(clip) is not None]


def label_of(clip: LibraryClip) -> str | None:
    """The class of what is done in a clip, or None."""
    name = MOCAP_ACTIONS.get(clip.action, clip.action)
    action = ACTIONS.get(name)
    return action.label if action is not None and action.label in ACTION_LABELS else None


def recorded_bones(
    clips: Sequence[LibraryClip],
    character: Character,
    root: int,
    *,
    rate: float,
    most: int,
    rng: np.random.Generator,
) -> tuple[list[str], list[Float[Tensor, "T B 4 4"]]]:
    """Actions and bones' transforms of up to `most` of the clips that fit a body.

    Clips of another body plan are passed over. `root` is the bone that carries the travel.
    """
    assert character.mesh is not None
    skin = character.mesh.skin
    pelvis = (skin.bone_joints == character.control_rig.root).nonzero()
    heading = int(pelvis[0]) if len(pelvis) else root
    actions, found = [], []
    legs = len(character.anatomy.legs)
    for clip in clips:
        if len(found) == most:
            break
        if clip.legs not in (None, legs):
            continue
        label = label_of(clip)
        assert label is not None
        try:
            motion = _placed(clip, label, character, rate, rng)
        except (AssetError, ValueError):
            continue
        if motion is None:
            continue
        bones = skin.bone_transforms(motion.world())
        loops = ACTIONS[label].is_cyclic and len(bones) < CLIP_FRAMES
        if loops:
            bones = continue_loop(bones, root, frames=CLIP_FRAMES)
        bones = hold_ends(bones, frames=CLIP_FRAMES)
        if bones.isfinite().all():
            actions.append(label)
            found.append(facing_z(bones, heading, character.forward))
    return actions, found


def _placed(
    clip: LibraryClip, label: str, character: Character, rate: float, rng: np.random.Generator
) -> Motion | None:
    """The part of a clip that is shown, on a body; None where there is too little of it."""
    _, motion = clip.load()
    if motion.duration < _SHORTEST:
        return None
    span = CLIP_FRAMES / rate
    start = 0.0
    if motion.duration > span:
        spare = motion.duration - span
        centred = busiest_time(motion) - 0.5 * span
        start = centred if ACTIONS[label].one_off else float(rng.uniform(0.0, spare))
        start = min(max(start, 0.0), spare)
    return perform(clip, character, fps=rate, start=start, seconds=span, plant=False)


def busiest_time(motion: Motion) -> float:
    """Seconds from the start at which the joints turn fastest."""
    sampled = motion.resample(_FPS)
    turns = quaternion.geodesic(sampled.pose.rotation[1:], sampled.pose.rotation[:-1]).sum(-1)
    width = min(len(turns), round(_SPEED_WINDOW * _FPS))
    mean = turns.unfold(0, width, 1).mean(-1)
    return (int(mean.argmax()) + 0.5 * width) / _FPS


def facing_z(
    bones: Float[Tensor, "T B 4 4"], bone: int, forward: Float[Tensor, "3"]
) -> Float[Tensor, "T B 4 4"]:
    """The clip turned about up and moved over the ground: mostly facing +Z, at first above the
    origin. `bone` has the body's heading, `forward` is where it faces as bound."""
    ahead = (bones[:, bone, :3, :3] @ forward).mean(0)
    yaw = math.atan2(float(ahead[0]), float(ahead[2]))
    back = torch.eye(4)
    back[0, 0] = back[2, 2] = math.cos(yaw)
    back[0, 2], back[2, 0] = -math.sin(yaw), math.sin(yaw)
    turned = back @ bones
    shift = torch.eye(4)
    shift[0, 3], shift[2, 3] = (-turned[0, bone, [0, 2], 3]).tolist()
    return shift @ turned
