"""True clips of one side of the splits: artists' and the zoo's, travelling and on the ground."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.splits import zoo_seed_trains
from akd.export.creature import write_creature
from akd.metrics.judge import MotionMetrics
from akd.metrics.travel import with_implied_travel
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import clip_action
from akd.motion.motion import Motion
from akd.motion.root_motion import displaced
from akd.prior.tiny.artists import find_files
from akd.rig.character import Character, load_character
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
            if action is None or action.label not in GAITS:
                continue
            motion = motion_from_clip(character, clip)
            if not 0.3 <= motion.duration <= LONGEST:
                continue
            if (made := _on_ground(character, motion)) is not None:
                yield path.relative_to(assets).as_posix(), action.label, character, made
    first = next(seed for seed in (0, 1000) if zoo_seed_trains(seed) == training)
    for species in SPECIES:
        for seed in range(first, first + seeds):
            creature = build_creature(species, seed=seed, vertices=1500)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"{species}.glb"
                actions = [a for a in GAITS if a in creature.actions]
                write_creature(creature, [make_clip(creature, a) for a in actions], path)
                character = load_character(read_asset(path))
                for action, clip in zip(actions, character.asset.clips, strict=True):
                    motion = motion_from_clip(character, clip)
                    yield f"zoo {species} {seed}", action, character, motion


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
    assert character.mesh is not None
    lowest = float(character.mesh.pose(moved.resample(30.0).world())[..., 1].amin())
    return displaced(rig, moved, torch.tensor((0.0, -lowest, 0.0)).expand(len(moved), 3))
