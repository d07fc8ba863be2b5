"""A creature of the zoo as a GLB file, with its clips."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from akd.export.gltf.build import build_document
from akd.export.gltf.write import write_glb
from akd.motion.clip import clip_of_pose
from akd.motion.motion import Motion
from akd.rig.units import FileUnits
from akd.zoo.creature import Creature


def write_creature(creature: Creature, motions: Sequence[Motion], path: Path) -> None:
    """Write mesh, skeleton, weights and the given motions on it."""
    rest = creature.skeleton.rest
    clips = [clip_of_pose(motion, FileUnits(), rest, creature.height) for motion in motions]
    extras = {"species": creature.name, "seed": creature.seed}
    document = build_document(
        creature.mesh, creature.skeleton, clips, name=creature.name, extras=extras
    )
    write_glb(document, path)
