"""`Actor`: a body made ready to be filmed, small enough to keep hundreds of.

It holds splats, the bones' transforms in every clip, and what is said of them. Clips are kept in
body time at two samples a video frame, so that a video can start between its frames. Actors are
cached as safetensors, one file each.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.base.files import write_tensors
from akd.motion.actions import ACTIONS
from akd.motion.gait import frame_rate
from akd.prior.tiny.bone_tree import BoneTree
from akd.splat.cloud import SplatCloud

SAMPLES_A_FRAME = 2
CLIP_FRAMES = 96
"""Samples of a clip: twice what a video of 24 frames shows."""
FORMAT = "akd-actor-5"


@dataclass(frozen=True)
class Actor:
    """Splats, and clips as transforms of the bones: world, metres, Y up, at first facing +Z."""

    species: str
    seed: int
    plan: str
    """Body plan, such as `quadruped`."""
    height: float
    """Of the body, metres."""
    root: int
    """The bone that carries the travel."""
    cloud: SplatCloud
    bone_colours: Float[Tensor, "B 3"]
    """Of the bones' roles."""
    neutral: Float[Tensor, "B 4 4"]
    """The neutral pose."""
    tree: BoneTree
    part_bones: Int[Tensor, "P"]
    """The bone of each of `BODY_PARTS`; -1 where the body has no such part."""
    pivot: Float[Tensor, "3"]
    """Where the root turns in the neutral pose."""
    actions: tuple[str, ...]
    """The action of each clip."""
    manners: tuple[str, ...]
    """How, in one word or `<none>`."""
    recorded: tuple[bool, ...]
    """Whether each clip is an artist's own or was put on the body; the others are what a creature
    of the zoo does of itself."""
    clips: Float[Tensor, "C T B 4 4"]

    @property
    def is_artists(self) -> bool:
        """Whether an artist made the body."""
        return all(self.recorded)

    def to(self, device: torch.device | str) -> Actor:
        """Move to a device."""
        return replace(
            self,
            cloud=self.cloud.to(device),
            bone_colours=self.bone_colours.to(device),
            neutral=self.neutral.to(device),
            tree=self.tree.to(device),
            part_bones=self.part_bones.to(device),
            pivot=self.pivot.to(device),
            clips=self.clips.to(device),
        )

    def only(self, keep: list[int]) -> Actor:
        """The actor with some of its clips."""
        return replace(
            self,
            actions=tuple(self.actions[i] for i in keep),
            manners=tuple(self.manners[i] for i in keep),
            recorded=tuple(self.recorded[i] for i in keep),
            clips=self.clips[keep],
        )


def clip_rate(frame_time: float, leg_length: float) -> float:
    """Samples a second of the clips of a body, for videos whose frames last `frame_time`."""
    return SAMPLES_A_FRAME * frame_rate(frame_time, leg_length)


def continue_loop(
    bones: Float[Tensor, "T B 4 4"], root: int, *, frames: int, first: int = 0
) -> Float[Tensor, "F B 4 4"]:
    """`frames` frames of a loop from its frame `first`, whose last frame is its first, moved on."""
    period = len(bones) - 1
    onward = bones[-1, root] @ torch.linalg.inv(bones[0, root])
    wanted = torch.arange(first, first + frames)
    rounds = torch.div(wanted, period, rounding_mode="floor")
    result = bones[wanted - rounds * period]
    for number in rounds.unique().tolist():
        moved = torch.linalg.matrix_power(onward, number)
        result[rounds == number] = moved @ result[rounds == number]
    return result


def hold_ends(bones: Float[Tensor, "T B 4 4"], *, frames: int) -> Float[Tensor, "F B 4 4"]:
    """`frames` frames about the middle of a clip, held at its ends where it is shorter."""
    first = (len(bones) - frames) // 2
    return bones[torch.arange(first, first + frames).clamp(0, len(bones) - 1)]


def start_of(action: str, frames: int, u: float) -> int:
    """First sample of a video of `frames` frames in a clip of an action; `u` is random, 0..1.

    Something with a beginning and an end has its middle about the middle of the video.
    """
    span = (frames - 1) * SAMPLES_A_FRAME
    spare = CLIP_FRAMES - 1 - span
    if ACTIONS[action].one_off:
        return round((0.25 + 0.5 * u) * spare)
    return round(u * spare)


def save_actor(actor: Actor, path: Path) -> None:
    """Write an actor."""
    cloud = actor.cloud
    assert cloud.normals is not None
    tensors = {
        "means": cloud.means, "scales": cloud.scales, "rotations": cloud.rotations,
        "opacities": cloud.opacities, "sh": cloud.sh, "bones": cloud.bones.to(torch.int16),
        "weights": cloud.weights, "normals": cloud.normals, "bone_colours": actor.bone_colours,
        "neutral": actor.neutral, "parents": actor.tree.parents, "pivots": actor.tree.pivots,
        "part_bones": actor.part_bones, "pivot": actor.pivot, "clips": actor.clips[..., :3, :],
    }  # fmt: skip
    about = {
        "format": FORMAT, "species": actor.species, "seed": actor.seed, "plan": actor.plan,
        "height": actor.height, "root": actor.root, "actions": actor.actions,
        "manners": actor.manners, "recorded": actor.recorded,
    }  # fmt: skip
    write_tensors(path, tensors, about={"about": json.dumps(about)})


def load_actor(path: Path) -> Actor:
    """Read what `save_actor` wrote."""
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        about = json.loads((file.metadata() or {}).get("about", "{}"))
        if about.get("format") != FORMAT:
            raise ValueError(f"{path}: must be of format {FORMAT}, got {about.get('format')}")
        get = file.get_tensor
        cloud = SplatCloud(
            get("means"), get("scales"), get("rotations"), get("opacities"), get("sh"),
            get("bones").long(), get("weights"), get("normals"),
        )  # fmt: skip
        top = get("clips")
        bottom = top.new_tensor((0.0, 0.0, 0.0, 1.0)).expand(*top.shape[:-2], 1, 4)
        return Actor(
            about["species"], about["seed"], about["plan"], about["height"], about["root"], cloud,
            get("bone_colours"), get("neutral"), BoneTree(get("parents"), get("pivots")),
            get("part_bones"), get("pivot"), tuple(about["actions"]), tuple(about["manners"]),
            tuple(about["recorded"]), torch.cat((top, bottom), dim=-2),
        )  # fmt: skip
