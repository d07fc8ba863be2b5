"""A loop that is fast where its ends meet is slowed there, and nowhere else."""

from __future__ import annotations

import math

import pytest
import torch

from akd.motion.motion import Motion
from akd.motion.seam import slow_seam
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig
from benchmarks.seam import measure_seam


@pytest.fixture(scope="module")
def rig(fox: Character) -> ControlRig:
    return fox.control_rig


def snapping(rig: ControlRig, snap: float) -> ControlPose:
    """A swing of a second whose joints, tilt and height are faster over the seam by `snap` of its
    amplitude, and which travels."""
    phase = torch.linspace(0, 1, 31)
    wave = torch.sin(2 * math.pi * phase) + snap * torch.sign(0.5 - phase) * (phase - 0.5) ** 2
    wave[[0, -1]] = 0.0
    zero = rig.zero(31)
    tilt = torch.tensor((0.0, 0.1, 0.05))
    path = torch.stack((phase, 0.05 * wave, 0.3 * phase), dim=-1)
    angles = zero.angles + 0.2 * wave[:, None, None]
    yaw = phase[:, None] * torch.tensor((0.4, 0.0, 0.0))
    return ControlPose(path, yaw + wave[:, None] * tilt, angles)


def seam_step(rig: ControlRig, pose: ControlPose) -> float:
    motion = Motion(rig.skeleton, torch.arange(31) / 30.0, rig.to_pose(pose))
    return measure_seam(rig, motion, height=1.0).step


def test_a_fast_seam_is_slowed(rig: ControlRig) -> None:
    fast = snapping(rig, 1.5)
    slow = slow_seam(rig, fast, height=1.0)
    assert seam_step(rig, fast) > 1.5
    assert seam_step(rig, slow) < 1.2
    # It is still a loop, it goes where it went, and its inside is what it was.
    torch.testing.assert_close(slow.angles[-1], slow.angles[0])
    torch.testing.assert_close(slow.root_rotation[:, 0], fast.root_rotation[:, 0])
    torch.testing.assert_close(slow.translation[:, [0, 2]], fast.translation[:, [0, 2]])
    for name in ("angles", "root_rotation", "translation"):
        torch.testing.assert_close(getattr(slow, name)[4:-5], getattr(fast, name)[4:-5])


def test_a_calm_seam_stays(rig: ControlRig) -> None:
    calm = snapping(rig, 0.0)
    slow = slow_seam(rig, calm, height=1.0)
    for name in ("angles", "root_rotation", "translation"):
        torch.testing.assert_close(getattr(slow, name), getattr(calm, name))
