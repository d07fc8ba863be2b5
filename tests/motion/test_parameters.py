"""ControlCurves: a cycle, its speed and way, and what is kept of them."""

import math
from dataclasses import replace

import pytest
import torch

from akd.motion.key_poses import KeyPoses
from akd.motion.loop import loop_gap
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart, pose_together
from akd.motion.root_limits import GAIT, root_limits
from akd.presets import PAPER
from akd.rig.control import ControlPose
from tests.distill.fox import fox_stage, standing

FPS = 12.0


@pytest.fixture(scope="module")
def stage(fox):
    return fox_stage(fox, splats=100)


def shaken(curves: ControlCurves, size: float = 0.3) -> ControlCurves:
    g = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for leaf in curves.tensors():
            leaf.copy_(size * torch.randn(leaf.shape, generator=g))
    return curves


@pytest.mark.parametrize("period", [None, 0.55])
def test_what_was_found_is_kept_and_put_back(fox, period):
    made = shaken(standing(fox, period=period, speed=0.8))
    values = made.values()
    # The one that takes it up may have expected a cycle of another length, or none.
    back = standing(fox, period=0.7, speed=0.8).with_values(values)
    assert back.period == period
    assert all(torch.equal(a, b) for a, b in zip(made.tensors(), back.tensors(), strict=True))
    with torch.no_grad():
        torch.testing.assert_close(made.controls().angles, back.controls().angles)
        made.angles.add_(1.0)
    assert not torch.equal(made.angles, back.angles)
    assert not torch.equal(made.angles, values["angles"])
    assert all(leaf.requires_grad and leaf.is_leaf for leaf in back.tensors())


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("speed", [0.7, 1.0, 1.3])
def test_the_speed_is_set(fox, bounded, speed):
    curves = standing(fox, speed=1.0, bounded=bounded)
    curves.set_speed(speed)
    way = curves.controls().translation.detach()
    gone = float((way[-1] - way[0]).norm()) * FPS / (len(way) - 1)
    assert gone == pytest.approx(speed, rel=1e-4)


def test_the_speed_comes_as_near_as_the_bounds_allow(fox):
    curves = standing(fox, speed=1.0)
    curves.set_speed(50.0)
    way = curves.controls().translation.detach()
    gone = float((way[-1] - way[0]).norm()) * FPS / (len(way) - 1)
    assert 1.3 < gone < 2.0
    still = standing(fox, speed=0.0)
    still.set_speed(2.0)
    assert float(still.controls().translation.detach().abs().max()) == 0.0


def test_a_cycle_is_exported_as_a_loop(fox, stage):
    curves = shaken(standing(fox, period=0.45, speed=0.8))
    with torch.no_grad():
        curves.turn.zero_()
        cycle = float(curves.cycle())
    motion = curves.motion("cycle", lift=stage.lift, fps=24.0)
    height = fox.height
    # Whole cycles on whole frames, and no shorter than the prior's video.
    rounds = round(motion.duration / cycle)
    assert abs(motion.duration - rounds * cycle) <= 0.5 / 24.0 + 1e-6
    frames = motion.times * 24.0
    torch.testing.assert_close(frames, frames.round(), atol=1e-4, rtol=0)
    assert motion.duration >= 7 / FPS - 0.5 / 24.0
    assert loop_gap(fox.control_rig, motion, height=height) < 1e-4
    plain = shaken(standing(fox, speed=0.8)).motion("once", lift=stage.lift, fps=24.0)
    assert loop_gap(fox.control_rig, plain, height=height) > 0.01
    world = motion.world()
    moved = (
        world[:, fox.control_rig.joints, :3, 3] - world[:1, fox.control_rig.joints, :3, 3]
    ).norm(dim=-1)
    assert float(moved.max()) > 0.1 * height


def test_one_cycle_is_what_the_clip_repeats(fox, stage):
    curves = shaken(standing(fox, period=0.3, speed=0.8))
    with torch.no_grad():
        curves.turn.zero_()
    rig = fox.control_rig
    whole = curves.motion("clip", lift=stage.lift, fps=24.0)
    once = curves.one_cycle("clip", lift=stage.lift, fps=24.0)
    assert once is not None
    rounds = round(whole.duration / once.duration)
    assert rounds > 1
    assert rounds * once.duration == pytest.approx(whole.duration, abs=1e-5)
    assert (len(once) - 1) / once.duration >= 24.0 - 1e-3
    assert loop_gap(rig, once, height=fox.height) < 1e-4
    # At its own frames it is as finely sampled as the curves: no clip was interpolated for it.
    finer = curves.motion("fine", lift=stage.lift, fps=rounds * (len(once) - 1) / whole.duration)
    first = finer.world()[: len(once), rig.joints, :3, 3]
    torch.testing.assert_close(once.world()[:, rig.joints, :3, 3], first, atol=2e-4, rtol=0)
    assert standing(fox, speed=0.8).one_cycle("none", lift=0.0, fps=24.0) is None


def test_a_cycle_goes_where_the_character_faces(fox, stage):
    curves = shaken(standing(fox, period=0.45, speed=0.8))
    with torch.no_grad():
        curves.turn.zero_()
    rig = fox.control_rig
    motion = curves.motion("cycle", lift=stage.lift, fps=24.0)
    root = motion.world()[:, rig.root, :3, 3]
    _, left, forward = rig.root_axes.to(root)
    gone = root[-1] - root[0]
    assert float(gone @ forward) > 0.1
    assert abs(float(gone @ left)) < 1e-4 * fox.height
    # Only as a whole it is turned: every joint is as far from the others as the curves have it.
    with torch.no_grad():
        cycle = float(curves.cycle())
        seconds = cycle * round(motion.duration / cycle)
        controls = curves.controls(torch.linspace(0.0, seconds, len(motion.times)))
        before = rig.world(controls)[:, rig.joints, :3, 3]
    after = motion.world()[:, rig.joints, :3, 3]
    aside = (before[-1] - before[0]).mean(0) @ left
    assert abs(float(aside)) > 0.01 * fox.height
    stretched = torch.cdist(before, before) - torch.cdist(after, after)
    assert float(stretched.abs().max()) < 1e-3 * fox.height
    heights = before[..., 1] + stage.lift - after[..., 1]
    assert float(heights.abs().max()) < 1e-3 * fox.height


def test_the_gradient_reaches_the_length_of_the_cycle(fox):
    curves = shaken(standing(fox, period=0.5))
    curves.controls().angles.square().sum().backward()
    assert curves.tempo.grad is not None
    assert float(curves.tempo.grad.abs()) > 0.0
    assert not any(leaf is curves.tempo for leaf in standing(fox).tensors())


def test_a_body_that_turns_goes_where_it_looks(fox):
    curves = standing(fox, speed=1.0, bounded=False)
    with torch.no_grad():
        curves.turn.fill_(0.8)
        pose = curves.controls()
    assert float(pose.root_rotation[-1, 0]) == pytest.approx(0.8, rel=1e-4)
    up, left, forward = fox.control_rig.root_axes
    steps = pose.translation[1:] - pose.translation[:-1]
    way = torch.atan2(steps @ left, steps @ forward)
    middle = 0.5 * (pose.root_rotation[1:, 0] + pose.root_rotation[:-1, 0])
    torch.testing.assert_close(way, middle, atol=1e-4, rtol=0)
    assert float((steps @ up).abs().max()) < 1e-6
    # Who goes straight stays straight, who turns may find how far.
    turning = replace(standing(fox, speed=1.0), turn=curves.turn)
    assert any(leaf is turning.turn for leaf in turning.tensors())
    assert not any(leaf.numel() == 1 for leaf in standing(fox).tensors()[3:])


@pytest.mark.parametrize("free", [{"bounded": False}, {"free_root": True}])
def test_a_free_root_has_no_speed_and_no_turn_besides(fox, free):
    """They would move the body a second time: whatever one did, the other could undo."""
    curves = standing(fox, speed=1.0, **free)
    with torch.no_grad():
        curves.turn.fill_(0.5)
    curves.set_speed(1.3)
    assert [id(leaf) for leaf in curves.tensors()] == [id(curves.angles), id(curves.root)]
    assert curves.current_speed() == pytest.approx(1.3)


def test_no_two_parameters_of_the_papers_preset_move_the_root_alike(fox, stage):
    """The Jacobian of the root's coordinates has full column rank."""
    start = MotionStart(fox.control_rig, 6, FPS, 0.4, 0.8)
    curves = PAPER.parametrization.begin(start, stage)
    leaves = [leaf for leaf in curves.tensors() if leaf is not curves.angles]
    controls = curves.controls()
    rows = [
        torch.cat([g.flatten() for g in torch.autograd.grad(value, leaves, retain_graph=True)])
        for value in torch.cat((controls.translation, controls.root_rotation), dim=1).flatten()
    ]
    jacobian = torch.stack(rows).double()
    assert jacobian.shape[1] == sum(leaf.numel() for leaf in leaves) == 36
    assert int(torch.linalg.matrix_rank(jacobian)) == jacobian.shape[1]


def test_a_cycle_that_no_frame_rate_shows_is_refused(fox):
    with pytest.raises(ValueError, match=r"cycle of 0\.1 s is too short for 12 frames per second"):
        standing(fox, period=0.1)


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("mirrored", [False, True])
def test_choices_of_coefficients_are_posed_as_one_by_one(fox, stage, mirrored, keyed):
    rig, g = fox.control_rig, torch.Generator().manual_seed(1)
    neutral = ControlPose(torch.zeros(3), torch.zeros(3), torch.zeros(len(rig), 3))
    keys = KeyPoses.of({0.3: neutral}) if keyed else None
    start = MotionStart(rig, 13, FPS, 0.3, 0.8, 0.6, keys=keys)
    curves = shaken(ControlCurves.start(start, harmonics=2, mirrored=mirrored))
    choices = 0.3 * torch.randn(3, *curves.angles.shape, generator=g)
    with torch.no_grad():
        together = curves.pose(stage, choices=choices)
        for k, choice in enumerate(choices):
            curves.angles.copy_(choice)
            alone = curves.pose(stage)
            torch.testing.assert_close(together[k].transforms, alone.transforms)
            torch.testing.assert_close(together[k].path, alone.path)


def test_curves_of_all_kinds_are_posed_at_once_as_they_are_alone(fox, stage):
    many = [
        shaken(standing(fox, period=0.5, speed=0.8)),
        shaken(standing(fox, period=None, speed=0.0), 0.2),
        shaken(standing(fox, period=0.62, speed=1.1), 0.4),
        shaken(standing(fox, period=0.5, speed=0.8, symmetrical=True)),
        shaken(standing(fox, period=None, speed=0.5), 0.1),
    ]
    weight = torch.linspace(0.5, 1.5, stage.neutral.shape[0])[:, None, None]
    together = pose_together(many, stage)
    (together.transforms * weight).square().sum().backward()
    found = [leaf.grad for one in many for leaf in one.tensors()]
    for one in many:
        for leaf in one.tensors():
            leaf.grad = None
    assert together.controls is not None
    for k, one in enumerate(many):
        alone = one.pose(stage)
        assert alone.controls is not None
        torch.testing.assert_close(together.transforms[k], alone.transforms)
        torch.testing.assert_close(together.controls.angles[k], alone.controls.angles)
        torch.testing.assert_close(together.path[k], alone.path)
        (alone.transforms * weight).square().sum().backward()
    for own, leaf in zip(found, (leaf for one in many for leaf in one.tensors()), strict=True):
        torch.testing.assert_close(own, leaf.grad, rtol=1e-4, atol=1e-3)


def test_a_cycle_bounces_within_its_limit_about_any_height(fox):
    """The mean height keeps its own limit: legs may be bent throughout a walk."""
    curves = standing(fox, period=0.6)
    curves = shaken(replace(curves, root_limits=root_limits("a fox walking", legs=4)), size=5.0)
    with torch.no_grad():
        curves.root[0, 1] = -0.2 / math.sqrt(0.5 * 2.0 / len(curves.root))
        up = curves.controls().translation[:, 1] / curves.leg_length
    assert curves.root_limits.bounce is not None
    middle = 0.5 * float(up.max() + up.min())
    assert 0.5 * float(up.max() - up.min()) <= curves.root_limits.bounce + 1e-6
    assert middle == pytest.approx(GAIT.sway[1] * math.tanh(-0.2 / GAIT.sway[1]), abs=0.021)


def test_sway_within_the_bounce_is_set_and_read_back(fox):
    curves = replace(standing(fox, period=0.6), root_limits=root_limits("a fox walking", legs=4))
    turns = 2.0 * math.pi * curves.frame_times / 0.6
    sway = curves.leg_length * torch.stack(
        (0.02 * turns.sin(), -0.1 + 0.004 * turns.cos(), 0.01 * turns.cos()), dim=1
    )
    curves.set_sway(sway)
    up = curves.controls().translation[:, 1].detach()
    torch.testing.assert_close(up, sway[:, 1], atol=5e-4 * curves.leg_length, rtol=0.0)
