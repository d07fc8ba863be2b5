"""The seam of a cycle, on motions whose seam is known."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig
from benchmarks.seam import measure_seam, sideways


@pytest.fixture(scope="module")
def rig(fox: Character) -> ControlRig:
    return fox.control_rig


def swing(rig: ControlRig, frames: int, *, turns: float = 1.0) -> Motion:
    """Every joint swings; `turns` of a period from the first frame to the last."""
    phase = 2 * math.pi * turns * torch.linspace(0, 1, frames)
    zero = rig.zero(frames)
    angles = zero.angles + 0.2 * torch.sin(phase)[:, None, None]
    pose = rig.to_pose(ControlPose(zero.translation, zero.root_rotation, angles))
    return Motion(rig.skeleton, torch.arange(frames) / 30.0, pose)


def test_a_closed_cycle_has_no_seam(rig: ControlRig) -> None:
    seam = measure_seam(rig, swing(rig, 31), height=1.0)
    assert seam.jump < 0.01
    assert seam.step == pytest.approx(1.0, abs=0.1)
    assert seam.kink < 1.2


def test_a_cycle_may_end_a_frame_before_its_first(rig: ControlRig) -> None:
    seam = measure_seam(rig, swing(rig, 30, turns=29 / 30), height=1.0)
    assert seam.jump == seam.step == pytest.approx(1.0, abs=0.1)


def test_a_cut_cycle_jumps(rig: ControlRig) -> None:
    assert measure_seam(rig, swing(rig, 31, turns=0.8), height=1.0).jump > 2
    motion = swing(rig, 31)
    with pytest.raises(ValueError, match="a cycle needs at least 4 frames"):
        measure_seam(rig, replace(motion, times=motion.times[:3], pose=motion.pose[:3]), height=1.0)


def test_drift_is_across_the_course(rig: ControlRig) -> None:
    zero = rig.zero(4)
    gone = torch.linspace(0, 1, 4)[:, None] * torch.tensor((0.3, 0.7, 2.0))
    pose = rig.to_pose(ControlPose(zero.translation + gone, zero.root_rotation, zero.angles))
    motion = Motion(rig.skeleton, torch.arange(4) / 30.0, pose)
    for course, off in (((0.0, 0.0, 5.0), 0.3), ((1.0, 0.0, 0.0), 2.0), ((0.3, 0.0, 2.0), 0.0)):
        found = sideways(rig, motion, torch.tensor(course), height=2.0)
        assert found == pytest.approx(off / 2.0, abs=1e-5)
