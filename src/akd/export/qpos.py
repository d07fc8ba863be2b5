"""A motion as rows of MuJoCo's `qpos`, with the MJCF of the body that they pose."""

from __future__ import annotations

from pathlib import Path

from akd.base.files import write_text
from akd.export.mjcf import AXIS_NAMES, file_order, mujoco_position, unique_names, write_mjcf
from akd.motion.motion import Motion
from akd.physics.bodies import build_body
from akd.physics.parameters import scale_parameters
from akd.physics.target import stand_on_ground
from akd.rig.character import Character

_ROOT = ("x", "y", "z", "qw", "qx", "qy", "qz")


def write_qpos(character: Character, motion: Motion, path: Path, *, fps: float) -> list[Path]:
    """Write a CSV of `qpos`, one row per frame, and the body as MJCF beside it.

    Columns are the root's position (metres, Z up) and quaternion (wxyz), then joint angles (rad) in
    the order of the MJCF. What the body does not simulate, such as fingers, is left out.

    Raises:
        ValueError: The character has no body, or the motion fewer than two frames.
    """
    rig = character.control_rig
    found = build_body(rig, character.body_mesh)
    body = found.body
    target = found.target_motion(rig.from_pose(motion.resample(fps).pose), fps)
    target, _ = stand_on_ground(body, target)
    rows = mujoco_position(body, target)
    labels = unique_names(body.names)
    joints = [f"{labels[part]}_{axis}" for part in file_order(body)[1:] for axis in AXIS_NAMES]
    lines = [",".join((*(f"root_{name}" for name in _ROOT), *joints))]
    lines += [",".join(f"{value:.9g}" for value in row) for row in rows.tolist()]
    write_text(path, "\n".join(lines) + "\n")
    model = path.with_suffix(".xml")
    write_mjcf(body, scale_parameters(body), model, name=character.asset.path.stem)
    return [path, model]
