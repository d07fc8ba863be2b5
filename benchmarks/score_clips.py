"""True clips on the ground, of one side of the splits: artists', the zoo's, motion capture."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.splits import zoo_seed_trains
from akd.export.creature import write_creature
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.travel import with_implied_travel
from akd.motion.actions import ACTIONS, Action
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import clip_action
from akd.motion.motion import Motion
from akd.motion.root_motion import displaced
from akd.prior.tiny.artists import find_files
from akd.prior.tiny.recorded import Recordings, label_of
from akd.rig.character import Character, bound_character, load_character
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from akd.zoo.species.catalogue import SPECIES

GAITS = ("walk", "trot", "amble", "run", "gallop")
LONGEST = 60.0
"""Seconds: files that test readers have clips of months."""
_SLIDES, _STANDS = 0.8, 0.2
"""In a clip that stands on its feet they slide by at most this share of the body's speed, and one
touches the ground for this part of the time."""


def true_clips(
    assets: Path, *, training: bool, seeds: int = 1
) -> Iterator[tuple[str, str, Character, Motion]]:
    """File, action, character and motion of every clip that is certainly a gait."""
    for name, action, character, motion in _artists(assets, training=training):
        if action.label in GAITS and (made := _on_ground(character, motion)) is not None:
            yield name, action.label, character, made
    for species, seed in _cast(training=training, seeds=seeds):
        creature = build_creature(species, seed=seed, vertices=1500)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{species}.glb"
            actions = [a for a in GAITS if a in creature.actions]
            write_creature(creature, [make_clip(creature, a) for a in actions], path)
            character = load_character(read_asset(path))
            for action, clip in zip(actions, character.asset.clips, strict=True):
                motion = motion_from_clip(character, clip)
                yield f"zoo {species} {seed}", action, character, motion


def true_acts(
    assets: Path, mocap: Path, *, seeds: int = 1
) -> Iterator[tuple[str, str, Character, Motion]]:
    """The same for every other action on feet: of the training side alone, with motion capture."""
    for name, action, character, motion in _artists(assets, training=True):
        if _is_act(action.label):
            goes = ACTIONS[action.label].froude > 0.0
            made = _on_ground(character, motion) if goes else _lowered(character, motion)
            if made is not None:
                yield name, action.label, character, made
    for clip in Recordings(mocap=mocap).people():
        label = label_of(clip)
        if label is None or not _is_act(label):
            continue
        character, motion = clip.load()
        if 0.3 <= motion.duration <= LONGEST:
            yield f"mocap {clip.name}", label, character, _lowered(character, motion)
    for species, seed in _cast(training=True, seeds=seeds):
        creature = build_creature(species, seed=seed, vertices=1500)
        character = bound_character(species, creature.skeleton, creature.mesh)
        for action in creature.actions:
            if _is_act(label := ACTIONS[action].label):
                yield f"zoo {species} {seed}", label, character, make_clip(creature, action)


def _artists(assets: Path, *, training: bool) -> Iterator[tuple[str, Action, Character, Motion]]:
    """Clips of artists' files with two or four legs whose names say for certain what is done."""
    for path in find_files(assets, training=training):
        if path.suffix == ".gltf":
            continue  # copies of .glb files, and tests of readers
        try:
            character = load_character(read_asset(path))
        except AssetError:
            continue
        if character.mesh is None or len(character.anatomy.legs) not in (2, 4):
            continue
        for clip in character.asset.clips:
            action = clip_action(clip.name, owner=path.stem)
            if action is None:
                continue
            motion = motion_from_clip(character, clip)
            if 0.3 <= motion.duration <= LONGEST:
                yield path.relative_to(assets).as_posix(), action, character, motion


def _cast(*, training: bool, seeds: int) -> Iterator[tuple[str, int]]:
    """Species and seeds of the zoo's creatures of one side."""
    first = next(seed for seed in (0, 1000) if zoo_seed_trains(seed) == training)
    for species in SPECIES:
        for seed in range(first, first + seeds):
            yield species, seed


def _is_act(label: str) -> bool:
    """Whether it is done on feet, and is none of `GAITS`."""
    return ACTIONS[label].needs_feet and label not in GAITS


def stands_on_feet(found: MotionMetrics) -> bool:
    """Whether the feet of a clip carry it. Others say nothing of travel."""
    return max(found.skate) <= _SLIDES and max(found.contact) >= _STANDS


def _on_ground(character: Character, motion: Motion) -> Motion | None:
    """The clip travelling, its lowest point on the ground; None where it does not travel."""
    rig = character.control_rig
    moved = with_implied_travel(character, motion)
    path = moved.world()[[0, -1], rig.root, :3, 3]
    if float((path[1] - path[0])[[0, 2]].norm()) < 0.1 * character.height:
        return None
    return _lowered(character, moved)


def _lowered(character: Character, motion: Motion) -> Motion:
    """The clip with its lowest point on the ground."""
    rig, world = character.control_rig, motion.resample(30.0).world()
    if character.mesh is not None:
        lowest = float(character.mesh.pose(world)[..., 1].amin())
    else:
        lowest = float(world[..., 1, 3].amin())
    return displaced(rig, motion, torch.tensor((0.0, -lowest, 0.0)).expand(len(motion), 3))
