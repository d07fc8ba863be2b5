"""Poses that a motion must meet: the bend, alone and on curves."""

import pytest
import torch

from akd.motion.key_poses import Bend, KeyPoses, last_poses
from akd.motion.loop import loop_gap
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.rig.control import ControlPose
from tests.motion.test_parameters import shaken

FRAMES, FPS = 13, 12.0


@pytest.fixture(scope="module")
def rig(fox):
    return fox.control_rig


def a_pose(rig, seed: int) -> ControlPose:
    g = torch.Generator().manual_seed(seed)
    return ControlPose(
        torch.randn(3, generator=g), 0.2 * torch.randn(3, generator=g),
        0.3 * torch.randn(len(rig), 3, generator=g),
    )  # fmt: skip


def begun(rig, keys, **more) -> ControlCurves:
    start = MotionStart(rig, FRAMES, FPS, 0.3, 0.5, more.pop("period", None), keys=keys)
    return shaken(ControlCurves.start(start, **more), 0.1)


def test_a_bend_meets_poses_and_leaves_way_and_heading_alone(rig):
    keys = KeyPoses.of({0.5: a_pose(rig, 1), 0.0: a_pose(rig, 0)})
    assert keys is not None
    assert keys.seconds == (0.0, 0.5)
    with torch.no_grad():
        pose = begun(rig, None, knots=6).controls()
    bend = Bend.of(keys, torch.arange(FRAMES) / FPS, pose.angles)
    assert bend.known().nonzero().flatten().tolist() == [0, 6]
    bent = bend(pose)
    for k, frame in enumerate((0, 6)):
        torch.testing.assert_close(bent.angles[frame], keys.pose.angles[k])
        torch.testing.assert_close(bent.translation[frame, 1], keys.pose.translation[k, 1])
        torch.testing.assert_close(bent.root_rotation[frame, 1:], keys.pose.root_rotation[k, 1:])
    torch.testing.assert_close(bent.translation[:, (0, 2)], pose.translation[:, (0, 2)])
    torch.testing.assert_close(bent.root_rotation[:, 0], pose.root_rotation[:, 0])
    torch.testing.assert_close(bent.angles[-2:], pose.angles[-2:])  # 0.4 s after
    # What already meets its poses stays as it is.
    torch.testing.assert_close(bend(bent).angles, bent.angles)


def test_the_gradient_at_a_met_pose_is_zero_and_goes_to_the_frames_around(rig):
    keys = KeyPoses.of({0.5: a_pose(rig, 1)})
    assert keys is not None
    angles = torch.zeros(FRAMES, len(rig), 3, requires_grad=True)
    pose = ControlPose(torch.zeros(FRAMES, 3), torch.zeros(FRAMES, 3), angles)
    bent = Bend.of(keys, torch.arange(FRAMES) / FPS, angles)(pose)
    (at,) = torch.autograd.grad(bent.angles[6].sum(), angles, retain_graph=True)
    assert not at.any()
    (around,) = torch.autograd.grad(bent.angles[7].sum(), angles)
    assert float(around[7].min()) > 0.0


def test_curves_show_their_key_poses_and_a_clip_keeps_them(rig):
    keys = KeyPoses.of({0.0: a_pose(rig, 0), 1.0: a_pose(rig, 1), 1.2: a_pose(rig, 2)})
    assert keys is not None
    keys = keys.up_to(1.0)
    assert keys is not None
    assert keys.seconds == (0.0, 1.0)
    assert keys.up_to(-0.1) is None
    curves = begun(rig, keys, knots=6, bounded=False)
    motion = curves.motion("clip", lift=0.25, fps=30.0)
    met = rig.from_pose(motion.pose)
    torch.testing.assert_close(met.angles[0], keys.pose.angles[0], atol=1e-4, rtol=0)
    height = keys.pose.translation[:, 1] + 0.25
    torch.testing.assert_close(met.translation[(0, -1), 1], height, atol=1e-4, rtol=0)


def test_a_cycle_stays_a_loop(rig):
    keys = KeyPoses.of({0.0: a_pose(rig, 0)})
    curves = begun(rig, keys, harmonics=2, period=0.5)
    assert loop_gap(rig, curves.motion("walk", lift=0.0), height=1.0) < 1e-3


def test_the_last_poses_of_a_motion_begin_the_next(rig):
    curves = begun(rig, None, knots=6)
    motion = curves.motion("first", lift=0.1, fps=FPS)
    keys = last_poses(rig, motion, 4, FPS)
    assert keys.seconds == pytest.approx((0.0, 1 / FPS, 2 / FPS, 3 / FPS))
    torch.testing.assert_close(keys.pose.angles, rig.from_pose(motion.pose).angles[-4:], atol=1e-4,
                               rtol=0)  # fmt: skip
    lowered = keys.lowered(0.1).pose.translation
    torch.testing.assert_close(lowered[:, 1], keys.pose.translation[:, 1] - 0.1)


def test_a_clip_goes_through_poses_of_another_frame_rate_without_shaking(rig):
    def clip(seed: int, keys: KeyPoses | None):
        curves = begun(rig, keys, knots=6, bounded=False)
        g = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            curves.angles.copy_(0.3 * torch.randn(curves.angles.shape, generator=g))
        return rig.from_pose(curves.motion("clip", lift=0.0, fps=60.0).pose).angles

    first, free = clip(0, None), clip(1, None)
    # Four frames of 17 a second: none but the first is on a frame of the clip.
    moments = torch.arange(4) / 17.0
    frames = moments * 60.0
    low, share = frames.long(), (frames - frames.long())[:, None, None]
    angles = (1.0 - share) * first[low] + share * first[low + 1]
    still = torch.zeros(4, 3)
    bent = clip(1, KeyPoses(tuple(moments.tolist()), ControlPose(still, still, angles)))
    led = slice(0, 11)
    assert float((bent[led] - first[led]).abs().max()) < 0.1 * float(
        (free - first)[led].abs().max()
    )
    # It accelerates there as what it continues does, and then as it leaves it.
    bends, own = (v.diff(n=2, dim=0).norm(dim=-1).mean(-1) for v in (bent, first))
    assert float(bends[:9].max()) < 1.5 * float(own[:9].max())
