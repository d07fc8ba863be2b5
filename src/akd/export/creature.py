"""A creature of the zoo as a GLB file, with its clips."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from akd.asset.asset import GltfDocument
from akd.export.gltf.build import build_document
from akd.export.gltf.write import write_glb
from akd.motion.clip import clip_of_pose
from akd.motion.motion import Motion
from akd.rig.units import FileUnits
from akd.zoo.creature import Creature


def creature_document(creature: Creature, motions: Sequence[Motion]) -> GltfDocument:
    """Mesh, skeleton, weights and the given motions as a glTF document."""
    rest = creature.skeleton.rest
    clips = [clip_of_pose(motion, FileUnits(), rest, creature.height) for motion in motions]
    extras = {"species": creature.name, "seed": creature.seed}
    return build_document(
        creature.mesh, creature.skeleton, clips, name=creature.name, extras=extras
    )


def write_creature(creature: Creature, motions: Sequence[Motion], path: Path) -> None:
    """Write mesh, skeleton, weights and the given motions as a GLB file."""
    write_glb(creature_document(creature, motions), path)
