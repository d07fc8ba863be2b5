"""`replay`: the joint targets of a tracked clip, played in MuJoCo on the exported body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from akd.export.mjcf import ASSIST, AXIS_NAMES, unique_names


def replay(model: Any, data: Any, physics: Mapping[str, np.ndarray]) -> Iterator[None]:
    """Step MuJoCo through a clip, with the servo targets and the root assist torque of tracking.

    Open loop: nothing pulls the body back to the clip but its own servos and the assist torque.

    Args:
        model: MuJoCo's, of `body.xml`.
        data: Its data; reset to keyframe `clip`.
        physics: The arrays of `physics.npz`.

    Yields:
        None, after each substep.
    """
    mujoco: Any = import_module("mujoco")
    mujoco.mj_resetDataKeyframe(model, data, model.key("clip").id)
    names = unique_names([str(part) for part in physics["parts"]])[1:]
    order = [model.actuator(f"{name}_{axis}").id for name in names for axis in AXIS_NAMES]
    x, y, z = physics["assist_up"].T
    ups = np.stack((x, -z, y), axis=1)
    for targets, up in zip(physics["targets"], ups, strict=True):
        data.ctrl[order] = targets.ravel()
        data.xfrc_applied[1, 3:] = _assist(model, data, up)
        mujoco.mj_step(model, data)
        yield


def _assist(model: Any, data: Any, up: np.ndarray) -> np.ndarray:
    """Root assist torque in world axes, N m, as `akd.physics.forces` defines it."""
    stiffness, damping, limit = model.numeric(ASSIST).data
    rotation = data.xmat[1].reshape(3, 3)
    omega = rotation @ data.qvel[3:6]
    torque = stiffness * np.cross(rotation[:, 2], up) - damping * (omega - (omega @ up) * up)
    return torque * limit / max(np.hypot(limit, np.linalg.norm(torque)), 1e-12)
