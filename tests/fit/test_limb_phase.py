"""Fore legs follow hind legs by the limb phase of the gait that was asked for."""

import math

import pytest
import torch

from akd.api.request import make_request
from akd.api.search import begin, fit
from akd.base.observer import Observer
from akd.fit.limb_phase import limb_phase_of, set_limb_phase
from akd.motion.gait import LIMB_PHASES
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.presets import TINY, with_values
from akd.rig.character import Character, bound_character
from akd.rig.roles.role import LimbKind, Part, Side
from akd.scene.stage import Stage
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from tests.distill.fox import Screen, fox_stage, stage_for, standing

PERIOD = 0.6


@pytest.fixture(scope="module")
def stage(fox: Character) -> Stage:
    return fox_stage(fox, splats=400)


def swinging(fox: Character, phase: float, **more) -> ControlCurves:
    """Thighs and upper arms swing; fore legs follow hind legs by a share of the cycle."""
    curves = standing(fox, period=PERIOD, symmetrical=True, **more)
    with torch.no_grad():
        for control, role in enumerate(fox.control_rig.roles):
            if role.limb is not None and role.limb.is_leg and role.part is Part.UPPER:
                part = 0.5 * (role.side is Side.RIGHT) + phase * (role.limb is LimbKind.FORE)
                turn = torch.tensor(2.0 * math.pi * part)
                curves.angles[1:3, control, 0] = 0.8 * torch.stack((turn.cos(), turn.sin()))
    return curves


@pytest.mark.parametrize("phase", [0.0, 0.25, 0.5, 0.8])
def test_the_limb_phase_is_that_of_the_legs(fox, stage, phase):
    found = limb_phase_of(stage, swinging(fox, phase))
    assert found is not None
    assert abs((found - phase + 0.5) % 1.0 - 0.5) < 0.03


@pytest.mark.parametrize("gait", ["walk", pytest.param("trot", marks=pytest.mark.slow)])
def test_true_gaits_have_the_phase_of_the_table(gait):
    creature = build_creature("horse", seed=1001, vertices=800)
    character = bound_character("horse", creature.skeleton, creature.mesh)
    stage = stage_for(character, Screen(), splats=100)
    motion = make_clip(creature, gait, cycles=1)
    pose = character.control_rig.from_pose(motion.pose)
    frames = len(motion)
    start = MotionStart(
        character.control_rig, frames, (frames - 1) / motion.duration, 1.0, 0.0, motion.duration
    )
    curves = ControlCurves.start(start, harmonics=3)
    curves.set_angles(pose.angles)
    found = limb_phase_of(stage, curves)
    assert found == pytest.approx(LIMB_PHASES[gait], abs=0.04)


def test_fore_legs_are_delayed_whole_and_the_trunk_goes_level(fox, stage):
    curves = swinging(fox, 0.5)
    with torch.no_grad():
        curves.root[1:].add_(0.05)
    own = limb_phase_of(stage, curves)
    assert own is not None
    times = torch.tensor([0.1, 0.2])
    before = curves.controls(times)
    set_limb_phase(stage, curves, 0.25)
    # What the fore legs did at a time they do earlier now, the rest when it did.
    now, earlier = curves.controls(times), curves.controls(times + (0.25 - own) * PERIOD)
    fore = torch.tensor([role.limb is LimbKind.FORE for role in fox.control_rig.roles])
    torch.testing.assert_close(earlier.angles[:, fore], before.angles[:, fore])
    torch.testing.assert_close(now.angles[:, ~fore], before.angles[:, ~fore])
    for level, moving in (
        (now.translation[:, 1], before.translation[:, 1]),
        (now.root_rotation[:, 1], before.root_rotation[:, 1]),
    ):
        assert float(level.detach().diff().abs()) < 1e-6
        assert float(moving.detach().diff().abs()) > 1e-4


def test_what_is_near_or_unknown_is_left_as_it_is(fox, stage):
    for curves in (swinging(fox, 0.27), standing(fox, period=PERIOD), standing(fox)):
        before = curves.values()
        set_limb_phase(stage, curves, 0.25)
        assert all(torch.equal(value, before[name]) for name, value in curves.values().items())
    assert limb_phase_of(stage, standing(fox, period=PERIOD)) is None
    assert limb_phase_of(stage, standing(fox)) is None


@pytest.mark.slow
@pytest.mark.parametrize(("iterations", "phase"), [(1, 0.25), (0, 0.5)])
def test_a_walk_is_fitted_with_the_phase_of_a_walk_where_it_is_distilled(
    fox, stage, iterations, phase
):
    """A video of a walk in the phase of a trot: a preview, which is not distilled, keeps it."""
    with torch.no_grad():
        video = stage.show(stage.transforms(swinging(fox, 0.5, speed=0.8).controls()))
    settings = with_values(TINY, [
        f"iterations={iterations}", "warm_start.samples=1", "warm_start.finalists=1",
        "warm_start.iterations=1", "warm_start.regressor=false",
    ])  # fmt: skip
    prior = Screen()
    request = make_request(fox, "a fox walking", prior=prior, preset=settings, physics=False)
    start = begin(stage, prior, request, video)
    assert isinstance(start, ControlCurves)
    assert start.mirror is not None
    (curves,) = fit(stage, prior, request, video[None], observer=Observer())
    assert isinstance(curves, ControlCurves)
    assert limb_phase_of(stage, curves) == pytest.approx(phase, abs=0.1)
