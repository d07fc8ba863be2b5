"""Characters that artists made, as `Actor`s: their own bodies and their own clips.

A clip's name says what is done in it; the body travels as its stance feet imply, because artists
mostly animate on the spot.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.splits import asset_trains
from akd.motion.actions import ACTION_LABELS, TURN, Action, read_sentence
from akd.motion.clip import motion_from_clip
from akd.motion.contact import implied_velocity
from akd.motion.feet import track_feet
from akd.motion.motion import Motion
from akd.prior.tiny.creatures import CLIP_FPS, CLIP_FRAMES, Actor
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
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".glb", ".gltf"))
    return [p for p in files if asset_trains(p.relative_to(folder).as_posix()) == training]


def clip_action(name: str, *, owner: str) -> Action | None:
    """What is done in a clip of that name, or None where that is not certain.

    Certain is a name that holds one word for an action and nothing else but numbers and the name
    of the file's `owner`: `Fox_Walk_2`, but neither `Walk_Backwards` nor `Gallop_Jump`.
    """
    last = name.rsplit("|", 1)[-1]
    words = [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", last)]
    actions = [read_sentence(w).action for w in words]
    others = [
        word
        for word, action in zip(words, actions, strict=True)
        if action is None and not word.isdigit() and word not in owner.lower()
    ]
    named = [action for action in actions if action is not None]
    return named[0] if len(named) == 1 and named[0] is not TURN and not others else None


def artist_actor(path: Path, settings: PoolSettings) -> Actor | None:
    """The actor of a file, or None where its body or its clips are of no use for training."""
    try:
        character = load_character(read_asset(path))
    except AssetError:
        return None
    mesh = character.mesh
    if mesh is None or len(character.anatomy.legs) not in (2, 4):
        return None
    # Where a one-off action begins and ends in its clip, a file does not tell.
    clips = [
        (action, clip)
        for clip in character.asset.clips
        if (action := clip_action(clip.name, owner=path.stem)) is not None
        and action.label in ACTION_LABELS
        and not action.one_off
    ]
    if not clips:
        return None
    rig = build_control_rig(character)
    cloud = surface_splats(mesh, settings.splats, generator=torch.Generator().manual_seed(0))
    cloud = cloud.with_influences(4)
    turn = _to_face_z(character.forward)
    neutral = _grounded(cloud, turn @ mesh.skin.bone_transforms(rig.neutral_world)[None])[0]
    actions, manners, bones = [], [], []
    for action, clip in clips:
        motion = motion_from_clip(character, clip)
        if motion.duration < 0.2:
            continue
        world = _looped(character, rig, motion, still=action.froude == 0.0)
        if world is None:
            continue
        actions.append(action.label)
        manners.append(action.manner or NONE)
        bones.append(_grounded(cloud, turn @ mesh.skin.bone_transforms(world)))
    if not bones:
        return None
    carried = (mesh.skin.bone_joints == rig.root).nonzero()
    plan = "quadruped" if len(character.anatomy.legs) == 4 else "humanoid"
    return Actor(
        path.stem.lower(), 0, plan, character.height, int(carried[0]) if len(carried) else 0,
        cloud, role_colours(bone_roles(character)), neutral, tuple(actions),
        tuple(manners), torch.stack(bones),
    )  # fmt: skip


def _looped(
    character: Character, rig: ControlRig, motion: Motion, *, still: bool
) -> Float[Tensor, "T J 4 4"] | None:
    """A clip played over and over, with the travel that it has or that its feet imply.

    None where a body that should travel does neither.
    """
    start, period = motion.times[0], motion.duration
    seconds = torch.arange(CLIP_FRAMES).to(motion.times) / CLIP_FPS
    rounds = torch.floor(seconds / period)
    times = start + seconds - rounds * period
    world = torch.cat([motion.sample(times[rounds == n]).world() for n in rounds.unique()])
    level = world.new_tensor((1.0, 0.0, 1.0))
    ends = motion.world()[[0, -1], rig.root, :3, 3] * level
    velocity = None
    if not still:
        frames = motion.resample(CLIP_FPS)
        soles = [foot.sole for foot in track_feet(character, rig, frames)]
        velocity = implied_velocity(
            soles, frames.world()[:, rig.root, :3, 3], fps=CLIP_FPS, body_height=character.height
        )
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


def artist_actors(folder: Path, settings: PoolSettings, *, training: bool = True) -> list[Actor]:
    """All usable actors of one side of a folder of assets."""
    actors = [artist_actor(path, settings) for path in find_files(folder, training=training)]
    return [actor for actor in actors if actor is not None]


def certain(actor: Actor) -> Actor:
    """The actor without the clips whose class is in doubt: four legs that `run` may do anything."""
    keep = [
        i for i, action in enumerate(actor.actions)
        if not (action == "run" and actor.plan == "quadruped")
    ]  # fmt: skip
    return replace(
        actor, actions=tuple(actor.actions[i] for i in keep),
        manners=tuple(actor.manners[i] for i in keep), clips=actor.clips[keep],
    )  # fmt: skip
