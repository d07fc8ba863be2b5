"""Distillation on a creature of three bones and a prior whose answer is known."""

from dataclasses import replace

import pytest
import torch

from akd.distill.loop import distil
from akd.distill.score import draw_noise, largest_time, score_gradient, score_loss
from akd.distill.settings import DistillSettings, ScoreSettings
from akd.fit.settings import LossSettings
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.motion.settings import Spline
from akd.rig.limits import AngleLimits
from akd.scene.follow import bounding_boxes, follow
from akd.scene.roles import splat_role_colours
from akd.scene.stage import Stage
from akd.splat.render import render_skinned
from tests.distill.fox import stage_for
from tests.distill.known_prior import KnownPrior

pytestmark = pytest.mark.slow

SHAPE = (4, 16, 16, 3)
SETTINGS = DistillSettings(
    iterations=12, splats=300, checkpoint_every=4, camera_jitter=0.1,
    parametrization=Spline(knots=4), score=ScoreSettings(guidance=1.0),
)  # fmt: skip


def prior(spread: float = 0.3) -> KnownPrior:
    g = torch.Generator().manual_seed(11)
    return KnownPrior(torch.rand(SHAPE, generator=g), spread)


def start(rig, knots: int = 4, speed: float = 0.3, **more) -> ControlCurves:
    return ControlCurves.start(MotionStart(rig, 4, 8.0, 0.5, speed), knots=knots, **more)


def shown(stage: Stage, curves: ControlCurves) -> torch.Tensor:
    with torch.no_grad():
        controls = curves.controls()
        return stage.show(stage.transforms(controls))


def test_score_gradient_equals_its_closed_form():
    """z - E[z | z_t] = (1 - k a)(z - m) - k s e, with k = a v / (a^2 v + s^2)."""
    known = prior()
    z = torch.rand(1, *SHAPE, generator=torch.Generator().manual_seed(1))
    settings = ScoreSettings(guidance=1.0, t_min=0.4, t_max=0.7, samples=3)
    g = torch.Generator().manual_seed(5)
    t, e = draw_noise(SHAPE, settings, progress=0.0, generators=[g], device=z.device)
    g = torch.Generator().manual_seed(5)
    assert torch.equal(t, 0.4 + 0.3 * torch.rand(3, generator=g))
    assert torch.equal(e, torch.randn(3, *SHAPE, generator=g))
    found = score_gradient(known, z, [known.condition("")], settings, t=t, noise=e)
    a, s = (x.reshape(3, 1, 1, 1, 1) for x in known.signal(t))
    k = a * known.spread**2 / (a**2 * known.spread**2 + s**2)
    expected = ((1 - k * a) * (z - known.mean) - k * s * e).mean(0, keepdim=True)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_score_loss_hands_the_gradient_on():
    z = torch.rand(1, 5, requires_grad=True)
    gradient = torch.tensor([[1.0, -2.0, 0.5, 0.0, 3.0]])
    score_loss(z, gradient).backward()
    torch.testing.assert_close(z.grad, gradient / 5)


def test_noise_times_fall_over_the_first_half():
    settings = ScoreSettings(t_max=0.9, t_max_final=0.5)
    assert largest_time(settings, 0.0) == pytest.approx(0.9)
    assert largest_time(settings, 0.25) == pytest.approx(0.7)
    assert largest_time(settings, 0.8) == pytest.approx(0.5)


def test_the_start_is_the_neutral_pose_travelling_forward(tube, rig):
    with torch.no_grad():
        controls = start(rig).controls()
    assert float(controls.angles.abs().max()) == 0.0
    gone = controls.translation[-1] - controls.translation[0]
    torch.testing.assert_close(gone, 0.3 * 3 / 8 * tube.forward)


def test_angles_stay_within_their_limits(rig):
    curves = start(rig)
    limits = AngleLimits.of(rig)
    for far, limit in ((50.0, limits.forth), (-50.0, limits.back)):
        with torch.no_grad():
            curves.angles.fill_(far)
        assert (curves.controls().angles.abs() <= limit + 1e-6).all()
    free = start(rig, bounded=False)
    with torch.no_grad():
        free.angles.fill_(50.0)
    assert float(free.controls().angles.detach().max()) > 40.0


def test_a_periodic_clip_would_go_on_as_it_began(rig):
    once = ControlCurves.start(MotionStart(rig, 8, 8.0, 0.5), knots=5, periodic=True)
    with torch.no_grad():
        once.angles.normal_(generator=torch.Generator().manual_seed(1))
        around = torch.tensor([0.0, 0.001, 0.999, 1.0])  # the frame after the last is at 1 s
        first, second, last, end = once.controls(around).angles
        moves = once.controls().angles[:, 0].std(0)
    torch.testing.assert_close(first, end, atol=1e-5, rtol=0)
    torch.testing.assert_close(second - first, end - last, atol=3e-4, rtol=0)
    assert float((second - first).abs().max()) > 1e-3
    assert float(moves.max()) > 0.1


def test_one_coefficient_a_frame_is_the_frames_themselves(rig):
    curves = start(rig, knots=0, bounded=False)
    with torch.no_grad():
        curves.angles.normal_(generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(curves.controls().angles, curves.angles)


def test_the_whole_chain_against_finite_differences(tube, rig):
    """Splats, skinning and control rig: the gradient of an image's loss in every unknown.

    A Gaussian ends where it fades to 1/255, and what moves across that edge is in the difference
    but in no gradient: directions agree closely, sizes within a tenth or so.
    """
    stage = stage_for(tube, prior(), splats=60)
    cloud = replace(
        stage.cloud, opacities=0.5 * stage.cloud.opacities, scales=1.5 * stage.cloud.scales
    )
    # Limits that are felt, and wide enough for the steps below.
    wide = torch.full((len(rig), 3), 0.6)
    curves = replace(start(rig, knots=0), limits=AngleLimits(wide, 0.8 * wide))
    g = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for leaf in curves.tensors():
            leaf.copy_(0.15 * torch.randn(leaf.shape, generator=g))
        bones = stage.transforms(curves.controls())
    low, high = bounding_boxes(stage.cloud, bones)
    camera = follow(low, high, stage.view, forward=tube.forward, width=16, height=16)
    colours = splat_role_colours(stage.cloud, stage.bone_colours)[None]
    wanted = torch.rand(4, 1, 1, 3, generator=g) * torch.linspace(0, 1, 16)[None, None, :, None]

    def loss() -> torch.Tensor:
        # The camera and the shading are held: neither carries a gradient here.
        seen = render_skinned(cloud, stage.transforms(curves.controls()), camera, colours=colours)
        return (seen.over(torch.zeros(3)).double() - wanted).square().sum()

    loss().backward()
    step = 0.05
    for leaf in curves.tensors():
        assert leaf.grad is not None
        predicted, measured = [], []
        for _ in range(8):
            direction = torch.randn(leaf.shape, generator=g)
            direction /= direction.norm()
            predicted.append(float((leaf.grad * direction).sum()))
            with torch.no_grad():
                leaf.add_(direction, alpha=step)
                after = float(loss())
                leaf.add_(direction, alpha=-2 * step)
                before = float(loss())
                leaf.add_(direction, alpha=step)
            measured.append((after - before) / (2 * step))
        p, m = torch.tensor(predicted), torch.tensor(measured)
        assert float(torch.cosine_similarity(p, m, dim=0)) > 0.99
        assert float(p @ m / (m @ m)) == pytest.approx(1.0, abs=0.15)


def test_distillation_pulls_the_video_to_what_the_prior_knows(tube, rig):
    """The prior knows one video: the tube bent. Distillation bends the straight tube."""
    known = prior(spread=0.05)
    stage = stage_for(tube, known, splats=400)
    bent = start(rig, knots=0, speed=0.0)
    with torch.no_grad():
        bent.angles[:, 0, 0] = 0.35
        known.mean = shown(stage, bent)
    curves = start(rig, speed=0.0)
    settings = replace(
        SETTINGS, iterations=120, learning_rate=0.1, camera_jitter=0.0,
        losses=LossSettings(smooth=0.0, ground=0.0, rest=0.0),
    )  # fmt: skip

    def gap() -> float:
        return float((shown(stage, curves) - known.mean).square().mean())

    before = gap()
    distil(stage, known, "bend", [curves], settings, generators=[torch.Generator().manual_seed(3)])
    assert gap() < 0.3 * before
