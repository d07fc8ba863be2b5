"""`view.npz`: what `akd view` shows of a run that no clip of its GLB holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.constants import GRAVITY
from akd.base.files import read_arrays, write_arrays
from akd.motion.motion import Motion
from akd.physics.body import place
from akd.physics.cycle import Advance
from akd.physics.ground import Grounded
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton

_LARGEST = 256 << 20
"""Bytes of all arrays, unpacked."""


@dataclass(frozen=True)
class ContactForces:
    """Ground reaction forces on the parts of the simulated body, frame by frame."""

    fps: float
    points: Float[np.ndarray, "T B 3"]
    """Centres of pressure, metres, world."""
    forces: Float[np.ndarray, "T B 3"]
    """In body weights, world axes."""

    @classmethod
    def of(cls, grounded: Grounded) -> ContactForces:
        """Means over the substeps of each frame; where one cycle was simulated, again in each of
        its repetitions."""
        body, tracking = grounded.character.body, grounded.tracking
        weight = body.mass * GRAVITY
        corners = place(body, tracking.states).corners(body)  # [T, B, 8, 3]
        substeps = tracking.forces.contacts  # [K, B, 8, 3]
        per_frame = len(substeps) // max(len(corners) - 1, 1)
        means = substeps[: per_frame * (len(corners) - 1)].unflatten(0, (-1, per_frame)).mean(1)
        pushes = torch.cat((means, means[-1:]))
        share = pushes[..., 1:2].clamp_min(0.0) + 1e-9 * weight
        points = (corners * share).sum(-2) / share.sum(-2)
        forces = pushes.sum(-2) / weight
        if grounded.repeats > 1:
            points, forces = _repeated(points, forces, grounded)
        return cls(
            tracking.target.fps, points.float().numpy(force=True),
            forces.float().numpy(force=True),
        )  # fmt: skip


def _repeated(
    points: Float[Tensor, "T B 3"], forces: Float[Tensor, "T B 3"], grounded: Grounded
) -> tuple[Float[Tensor, "R B 3"], Float[Tensor, "R B 3"]]:
    """The first repetition of a simulated cycle as often as the clip goes through it."""
    advance, frames = Advance.of(grounded.clip), len(grounded.clip.position) - 1
    where, push = [points[:frames]], [forces[:frames]]
    for _ in range(grounded.repeats - 1):
        where.append(advance.points(where[-1]))
        push.append(advance.vectors(push[-1]))
    return torch.cat(where), torch.cat(push)


@dataclass(frozen=True)
class ViewData:
    """The start of a run and the contact forces of its grounded clip, as far as there are any."""

    start: Motion | None = None
    forces: ContactForces | None = None

    def write(self, path: Path) -> None:
        """Write the arrays that there are."""
        arrays: dict[str, np.ndarray] = {}
        if self.start is not None:
            arrays["start_times"] = self.start.times.float().numpy(force=True)
            for name in ("translation", "rotation", "scale"):
                value = getattr(self.start.pose, name)
                arrays[f"start_{name}"] = value.float().numpy(force=True)
        if self.forces is not None:
            arrays["contact_fps"] = np.array(self.forces.fps, dtype=np.float32)
            arrays["contact_points"] = self.forces.points
            arrays["contact_forces"] = self.forces.forces
        write_arrays(path, arrays)

    @classmethod
    def read(cls, path: Path, skeleton: Skeleton) -> ViewData:
        """Read a file of `write`; one that is missing, damaged or of another body holds nothing."""
        try:
            found = read_arrays(path, most=_LARGEST)
            arrays = {name: np.asarray(array, np.float32) for name, array in found.items()}
            if not all(np.isfinite(array).all() for array in arrays.values()):
                return cls()
            return cls(_start(arrays, skeleton), _forces(arrays))
        except (OSError, ValueError, KeyError):
            return cls()


def _start(arrays: dict[str, np.ndarray], skeleton: Skeleton) -> Motion | None:
    if "start_times" not in arrays:
        return None
    names = ("start_times", "start_translation", "start_rotation", "start_scale")
    times, *pose = (torch.from_numpy(arrays[name]) for name in names)
    frames, joints = len(times), len(skeleton)
    if [tuple(p.shape) for p in pose] != [(frames, joints, width) for width in (3, 4, 3)]:
        raise ValueError("start of another skeleton")
    return Motion(skeleton, times, Pose(*pose), "start")


def _forces(arrays: dict[str, np.ndarray]) -> ContactForces | None:
    if "contact_forces" not in arrays:
        return None
    points, forces = arrays["contact_points"], arrays["contact_forces"]
    fps = float(arrays["contact_fps"])
    if points.ndim != 3 or points.shape != forces.shape or points.shape[2] != 3 or not fps > 0:
        raise ValueError("contact forces of another shape")
    return ContactForces(fps, points, forces)
