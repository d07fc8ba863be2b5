"""Characters that artists made, as `Actor`s: their own bodies and their own clips.

A clip's name says what is done in it. In a gait the body travels as its stance feet imply, because
artists mostly animate on the spot; something with a beginning and an end is held at both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.files import list_files
from akd.base.splits import asset_trains
from akd.math import transform
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import clip_action
from akd.motion.contact import implied_velocity
from akd.motion.feet import leg_length, track_feet
from akd.motion.library import LibraryClip
from akd.motion.motion import Motion
from akd.motion.retargeting.body_parts import part_bones
from akd.prior.tiny.actor import CLIP_FRAMES, Actor, clip_rate, hold_ends
from akd.prior.tiny.bone_tree import BoneTree
from akd.prior.tiny.recorded import recorded_bones
from akd.prior.tiny.settings import PoolSettings
from akd.prior.tiny.vocabulary import NONE
from akd.rig.character import Character, load_character
from akd.rig.control import ControlRig
from akd.rig.control_build import build_control_rig
from akd.scene.follow import bounding_boxes
from akd.scene.roles import bone_roles, role_colours
from akd.splat.cloud import SplatCloud
from akd.splat.surface import surface_splats


def find_files(folder: Path, *, training: bool) -> list[Path]:
    """The glTF files of one side of `splits.toml` in a folder of assets."""
    files = list_files(folder, (".glb", ".gltf"), deep=True)
    return [p for p in files if asset_trains(p.relative_to(folder).as_posix()) == training]


def artist_actor(
    path: Path, settings: PoolSettings, recorded: Sequence[LibraryClip] = (), *, most: int = 0
) -> Actor | None:
    """The actor of a file, or None where its body or its clips are of no use for training.

    Beside its own clips it gets up to `most` that were `recorded` and fit its body. A file without
    clips of its own is an actor where `PoolSettings.lent_clips` are.
    """
    try:
        character = load_character(read_asset(path))
    except AssetError:
        return None
    mesh = character.mesh
    clips = [
        (action, clip)
        for clip in character.asset.clips
        if (action := clip_action(clip.name, owner=path.stem)) is not None
    ]
    if mesh is None or not (clips or settings.lent_clips):
        return None
    rig = build_control_rig(character)
    rate = clip_rate(settings.frame_time, leg_length(character, rig))
    cloud = surface_splats(mesh, settings.splats, generator=torch.Generator().manual_seed(0))
    cloud = cloud.with_influences(4)
    turn = _to_face_z(character.forward)
    standing = mesh.skin.bone_transforms(rig.neutral_world)
    neutral = _grounded(cloud, turn @ standing[None])[0]
    placed = neutral[0] @ torch.linalg.inv(standing[0])
    actions, manners, bones = [], [], []
    for action, clip in clips:
        motion = motion_from_clip(character, clip)
        if motion.duration < 0.2:
            continue
        if action.one_off:
            count = max(2, round(motion.duration * rate))
            times = motion.times[0] + torch.arange(count).to(motion.times) / rate
            world = hold_ends(motion.sample(times).world(), frames=CLIP_FRAMES)
            if float((world - world[:1])[..., :3, 3].abs().amax()) < 0.05 * character.height:
                continue  # a pose
        else:
            world = _looped(character, rig, motion, rate, still=action.froude == 0.0)
        if world is None:
            continue
        actions.append(action.label)
        manners.append(action.manner or NONE)
        bones.append(_grounded(cloud, turn @ mesh.skin.bone_transforms(world)))
    carried = (mesh.skin.bone_joints == rig.root).nonzero()
    root = int(carried[0]) if len(carried) else 0
    more, others = recorded_bones(
        recorded, character, root, rate=rate, most=most,
        rng=np.random.default_rng(len(actions)),
    )  # fmt: skip
    actions += more
    manners += [NONE] * len(more)
    bones += [_grounded(cloud, other) for other in others]
    if not bones:
        return None
    plan = {2: "humanoid", 4: "quadruped"}.get(len(character.anatomy.legs), "other")
    return Actor(
        path.stem.lower(), 0, plan, character.height, root, cloud,
        role_colours(bone_roles(character)), neutral, BoneTree.of(rig, mesh.skin),
        part_bones(rig, mesh.skin.bone_joints), transform.apply(placed, rig.root_pivot),
        tuple(actions), tuple(manners), (True,) * len(actions), torch.stack(bones),
    )  # fmt: skip


def _looped(
    character: Character, rig: ControlRig, motion: Motion, rate: float, *, still: bool
) -> Float[Tensor, "T J 4 4"] | None:
    """A clip played over and over, with the travel that it has or that its feet imply.

    None where a body that should travel does neither.
    """
    start, period = motion.times[0], motion.duration
    seconds = torch.arange(CLIP_FRAMES).to(motion.times) / rate
    rounds = torch.floor(seconds / period)
    times = start + seconds - rounds * period
    world = torch.cat([motion.sample(times[rounds == n]).world() for n in rounds.unique()])
    level = world.new_tensor((1.0, 0.0, 1.0))
    ends = motion.world()[[0, -1], rig.root, :3, 3] * level
    velocity = None
    if not still:
        frames = motion.resample(rate)
        soles = [foot.sole for foot in track_feet(character, rig, frames)]
        velocity = implied_velocity(
            soles, frames.world()[:, rig.root, :3, 3], forward=character.forward, fps=rate,
            body_height=character.height,
        )  # fmt: skip
    own = ends[1] - ends[0]
    if velocity is not None:
        gone = seconds[:, None].to(world) * velocity
    elif still or float(own.norm()) > 0.1 * character.height:
        gone = rounds[:, None].to(world) * own
    else:
        return None
    world[..., :3, 3] += gone[:, None]
    return world


def _to_face_z(forward: Float[Tensor, "3"]) -> Float[Tensor, "4 4"]:
    """The turn about up that makes a horizontal direction +Z."""
    x, _, z = (forward / forward.norm()).tolist()
    turn = torch.eye(4)
    turn[0, 0], turn[0, 2], turn[2, 0], turn[2, 2] = z, -x, x, z
    return turn


def _grounded(cloud: SplatCloud, bones: Float[Tensor, "T B 4 4"]) -> Float[Tensor, "T B 4 4"]:
    """The bones raised or lowered so that the lowest point of the clip is on the ground."""
    low, _ = bounding_boxes(cloud, bones)
    shift = torch.eye(4)
    shift[1, 3] = -low[:, 1].min()
    return shift @ bones


def certain(actor: Actor) -> Actor:
    """The actor without the clips whose class is in doubt: four legs that `run` may do anything."""
    return actor.only(
        [
            i
            for i, action in enumerate(actor.actions)
            if not (action == "run" and actor.plan == "quadruped")
        ]
    )
