"""A character's motions in the formats that were asked for, side by side in one folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from akd.export.bvh import write_bvh
from akd.export.character import write_motions
from akd.motion.motion import Motion
from akd.motion.root_motion import in_place
from akd.rig.character import Character
from akd.rig.control import ControlRig


def write_clip_files(
    character: Character,
    rig: ControlRig,
    motions: Mapping[str, Motion],
    out: Path,
    *,
    formats: Sequence[str] = ("glb",),
    stay: bool = False,
    extras: Mapping[str, Any] | None = None,
) -> None:
    """Write `motion.glb` with all motions, and the other formats as `formats.files_of` names them.

    `motions` by their file's name. With `stay` the travel over the ground is taken out of them.
    `extras` go to the clips of the GLB.
    """
    if stay:
        motions = {name: in_place(rig, motion) for name, motion in motions.items()}
    glb = out / "motion.glb"
    write_motions(character, list(motions.values()), glb, extras=extras)
    for name, motion in motions.items():
        if "bvh" in formats:
            write_bvh(motion, out / f"{name}.bvh", joints=body_joints(character))
        if "usd" in formats:
            from akd.export.usd import write_usd

            write_usd(character, motion, out / f"{name}.usda", fps=frame_rate(motion))
    if "fbx" in formats:
        from akd.export.fbx import write_fbx

        write_fbx(glb, out / "motion.fbx")


def body_joints(character: Character) -> list[int] | None:
    """The joints of the body, without whatever else the file holds; None where there is none."""
    parents = character.anatomy.body.parents
    return [j for j in range(len(character.skeleton)) if parents.get(j) is not None] or None


def frame_rate(motion: Motion) -> float:
    """Keys a second."""
    return round((len(motion) - 1) / max(motion.duration, 1e-9), 3) if len(motion) > 1 else 24.0
