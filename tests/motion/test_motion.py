"""Sampling, resampling, travel, loops and retargeting."""

import math

import pytest
import torch

from akd.math import quaternion
from akd.motion.clip import motion_from_clip
from akd.motion.loop import close_loop, loop_gap, repeat
from akd.motion.motion import Motion
from akd.motion.root_motion import in_place, travel_path
from akd.motion.smooth import laplacian
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from tests.assets import character, control_rig

CMU_WALK = "cmu_bvh/02_01.bvh"
FOX = "mesh2motion/animations/fox-animations.glb"


def swing(frames: int = 5) -> Motion:
    """One joint that turns by a quarter and moves by two metres in a second."""
    t = torch.linspace(0, 1, frames)
    axis = torch.tensor([0.0, 0.0, 1.0])
    pose = Pose(
        torch.stack((2 * t, 0 * t, 0 * t), -1)[:, None],
        quaternion.about_axis(axis, t * math.pi / 2)[:, None],
        torch.ones(frames, 1, 3),
    )
    return Motion(Skeleton(("j",), (-1,), Pose.identity(1)), t, pose)


def clip(path: str, name: str) -> Motion:
    body = character(path)
    return motion_from_clip(body, next(c for c in body.asset.clips if c.name == name))


def test_sampling_between_keys_is_linear_and_spherical():
    at = torch.tensor([-1.0, 0.1, 0.5, 0.9, 3.0])
    sampled = swing(2).sample(at)
    inside = at.clamp(0, 1)
    torch.testing.assert_close(sampled.pose.translation[:, 0, 0], 2 * inside)
    angles = quaternion.geodesic(quaternion.identity(1), sampled.pose.rotation[:, 0])
    torch.testing.assert_close(angles, inside * math.pi / 2, atol=1e-3, rtol=0)


def test_sampling_some_frames_at_a_time_changes_nothing(monkeypatch):
    """As long motions are sampled."""
    motion = swing()
    times = torch.linspace(-0.5, 2.5, 50)
    whole = motion.sample(times)
    monkeypatch.setattr("akd.motion.motion._TOGETHER", 7 * len(motion.skeleton))
    parts = motion.sample(times)
    assert torch.equal(parts.times, whole.times)
    for name in ("translation", "rotation", "scale"):
        assert torch.equal(getattr(parts.pose, name), getattr(whole.pose, name))


def test_resampling_covers_the_same_span():
    motion = swing().resample(10.0)
    assert len(motion) == 11
    torch.testing.assert_close(motion.times, torch.linspace(0, 1, 11))
    with pytest.raises(ValueError, match="fps must be above zero, got 0"):
        swing().resample(0.0)


@pytest.mark.parametrize(
    ("times", "message"),
    [([0.0, 0.0], "must increase strictly"), ([], "at least one frame")],
)
def test_bad_times_are_refused(times, message):
    pose = Pose.identity(1).expand(len(times))
    with pytest.raises(ValueError, match=message):
        Motion(Skeleton(("j",), (-1,), Pose.identity(1)), torch.tensor(times), pose)


def test_a_walk_travels_and_can_be_taken_in_place(shared_assets):
    body, rig = character(CMU_WALK), control_rig(CMU_WALK)
    # The first frame of these files is an added T-pose at the origin.
    motion = motion_from_clip(body, body.asset.clips[0])
    motion = motion.sample(motion.times[1:])
    path = travel_path(rig, motion)
    gone = float((path[-1] - path[0]).norm())
    assert gone > 1.5 * body.height
    stayed = in_place(rig, motion)
    root = stayed.world()[:, rig.root, :3, 3]
    assert float((root[:, [0, 2]] - root[0, [0, 2]]).norm(dim=-1).max()) < 0.1 * body.height
    before, after = motion.world(), stayed.world()
    torch.testing.assert_close(before[:, :, 1, 3], after[:, :, 1, 3], atol=1e-5, rtol=0)
    torch.testing.assert_close(stayed.pose.rotation, motion.pose.rotation)


def test_paws_on_detached_roots_stay_in_place_too(shared_assets):
    path = "quaternius/animals_pack/Fox.glb"
    body, rig = character(path), control_rig(path)
    walk = clip(path, "AnimalArmature|Walk")
    from akd.motion.root_motion import displaced

    shift = torch.linspace(0, 1, len(walk))[:, None] * 3 * body.height * body.forward
    travelling = displaced(rig, walk, shift)
    moved = travelling.world()[-1, :, :3, 3] - walk.world()[-1, :, :3, 3]
    for joint in body.anatomy.body.parents:
        torch.testing.assert_close(moved[joint], shift[-1], atol=1e-3, rtol=1e-3)


@pytest.mark.slow
def test_closing_and_repeating_a_loop(shared_assets):
    body, rig = character(FOX), control_rig(FOX)
    walk = clip(FOX, "Walk")
    cut = walk.sample(walk.times[: len(walk) * 3 // 4])
    assert loop_gap(rig, cut, height=body.height) > 0.02
    closed = close_loop(rig, cut)
    assert loop_gap(rig, closed, height=body.height) < 1e-3
    thrice = repeat(rig, closed, 3)
    assert thrice.duration == pytest.approx(3 * closed.duration, rel=1e-4)
    assert len(thrice) == 3 * (len(closed) - 1) + 1
    one = closed.world()[0, rig.root, :3, 3]
    again = thrice.sample(thrice.times[:1] + closed.duration).world()[0, rig.root, :3, 3]
    gone = closed.world()[-1, rig.root, :3, 3] - one
    torch.testing.assert_close(again - one, gone, atol=2e-3, rtol=0)


def test_a_step_at_the_end_of_a_loop_stays_two_keys_when_repeated(fox):
    rig, last = fox.control_rig, torch.tensor(1.0)
    just_before = torch.nextafter(last, torch.tensor(0.0))
    times = torch.stack((torch.tensor(1 / 24), just_before, last))
    rest = fox.skeleton.rest
    held = Pose(*(v.expand(3, *v.shape) for v in (rest.translation, rest.rotation, rest.scale)))
    clock = repeat(rig, Motion(fox.skeleton, times, held), 4).times
    assert len(clock) == 9
    assert bool((clock.diff() > 0).all())


def test_laplacian_of_a_parabola_is_constant():
    t = torch.arange(6, dtype=torch.float64)
    torch.testing.assert_close(laplacian(t * t), torch.full((4,), 2.0, dtype=torch.float64))
