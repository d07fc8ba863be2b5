"""Standing feet: what costs nothing, and what hovering, dragging and sliding cost."""

import math
from dataclasses import replace

import pytest
import torch

from akd.fit.losses import Feet, LossState, LossTerm, default, evaluate
from akd.fit.settings import LossSettings
from akd.fit.warm_start import match_speeds
from akd.motion.feet import leg_length
from akd.motion.parametrization import pose_together
from tests.distill.fox import fox_stage, standing

FRAMES = 9


def feet(x: torch.Tensor, y: torch.Tensor, stance: torch.Tensor) -> Feet:
    """Soles of one point, all at the same side; `x` and `y` are [F, T], metres."""
    points = torch.stack((x, y, torch.zeros_like(x)), dim=-1)
    return Feet(y.T, points.movedim(0, 1), stance.T, torch.zeros_like(stance.T))


def test_a_foot_that_stands_and_one_that_swings_high_cost_nothing():
    x = torch.stack((torch.full((FRAMES,), 0.3), torch.linspace(0.0, 1.0, FRAMES)))
    y = torch.zeros(2, FRAMES)
    y[1, 1:-1] = 0.1
    stance = torch.zeros(2, FRAMES - 1)
    stance[0] = 1.0
    y[1, 0] = y[1, -1] = 0.09  # so that the middle of the first step is above the clearance
    here = feet(x, y, stance)
    assert float(here.skate_loss(0.5)) == pytest.approx(0.0, abs=1e-5)
    comes_down = 0.5 * 0.095  # the swinging foot never does, which it should at some time
    assert float(here.height_loss(1.0)) == pytest.approx(comes_down, abs=1e-6)


def test_a_standing_foot_that_hovers_costs_its_height():
    stance = torch.ones(1, FRAMES - 1)
    x = torch.zeros(1, FRAMES)
    high = feet(x, torch.full((1, FRAMES), 0.06), stance)
    # Once as the mean of its height, once because it never comes down.
    assert float(high.height_loss(0.6)) == pytest.approx(0.2, rel=1e-5)
    on_the_ground = feet(x, torch.zeros(1, FRAMES), stance)
    assert float(on_the_ground.height_loss(0.6)) == 0.0


def test_a_swinging_foot_that_drags_costs_its_lack_of_height():
    x, y = torch.zeros(1, FRAMES), torch.zeros(1, FRAMES)
    swings = torch.zeros(1, FRAMES - 1)
    swings[0, 0] = 1.0  # it stands between the first two frames
    drags = float(feet(x, y, swings).height_loss(1.0))
    assert drags > 0.01
    y[0, 2:] = 0.1
    assert float(feet(x, y, swings).height_loss(1.0)) < 0.2 * drags


def test_a_standing_foot_that_slides_costs_its_way():
    x = 0.02 * torch.arange(FRAMES)[None].float()
    stands = torch.ones(1, FRAMES - 1)
    slides = feet(x, torch.zeros(1, FRAMES), stands)
    assert float(slides.skate_loss(0.5)) == pytest.approx(0.04, rel=1e-4)
    half = feet(x, torch.zeros(1, FRAMES), 0.5 * stands)
    assert float(half.skate_loss(0.5)) == pytest.approx(0.02, rel=1e-4)


@pytest.fixture(scope="module")
def stage(fox):
    return fox_stage(fox, splats=200)


def costs(stage, curves) -> dict[str, float]:
    ones = LossSettings(support=1.0, skate=1.0, ground=1.0)
    nothing = torch.zeros(1, FRAMES, 1, 1, 3)
    posed = pose_together([curves], stage)
    found = evaluate(default(ones), stage, [curves], posed, nothing, 0.0)
    return {name: float(part.detach()) for name, part in found.items()}


def test_four_soles_stand_on_the_ground(stage):
    assert len(stage.soles) == 4
    for sole in stage.soles:
        low = sole.at(stage.neutral[None])[0, :, 1].min()
        assert abs(float(low)) < 0.02 * stage.character.height


def test_a_fox_that_stands_slides_nowhere_and_one_that_glides_does(fox, stage):
    still = costs(stage, standing(fox))
    gliding = costs(stage, standing(fox, speed=1.0))
    assert still["skate"] < 1e-4
    assert gliding["skate"] > 0.02
    assert still["ground"] < 0.01
    sunk = standing(fox)
    with torch.no_grad():
        sunk.root[:, 1] = -1.0
    assert costs(stage, sunk)["ground"] > still["ground"] + 0.01
    raised = standing(fox)
    with torch.no_grad():
        raised.root[:, 1] = 1.0
    assert costs(stage, raised)["support"] > still["support"] + 0.02


def swinging(fox, **more):
    """All legs swing about the shoulder and the hip, opposite sides apart by half a cycle."""
    curves = standing(fox, period=0.5, **more)
    unit = math.sqrt(2.0 / len(curves.angles))
    with torch.no_grad():
        for i, role in enumerate(fox.control_rig.roles):
            if role.limb is not None and role.part.value == "upper":
                side = 1.0 if role.side.value == "left" else -1.0
                curves.angles[1, i, 0] = 0.35 * side / unit
    return curves


def test_the_body_goes_as_fast_as_its_standing_feet_go_back(fox, stage):
    slow = swinging(fox, speed=0.3)
    controls = slow.controls()
    found = Feet.of(stage, controls, stage.transforms(controls), slow)
    (step,) = found.speeds()
    assert step is not None
    assert step > 0.0
    for part, moves in zip(found.stance.T, found.back.T, strict=True):
        # Feet stand while they go back.
        assert float(part[moves > 0.01].mean()) > float(part[moves < -0.01].mean()) + 0.3
    matched = swinging(fox, speed=0.8 * step * 12.0)
    match_speeds(stage, [matched])
    way = matched.controls().translation.detach()
    assert float((way[1] - way[0]).norm()) == pytest.approx(step, rel=1e-3)
    for speed in (0.3, 2.0):
        assert costs(stage, matched)["skate"] < costs(stage, swinging(fox, speed=speed))["skate"]


def test_two_feet_that_run_stand_for_a_shorter_time(fox, stage):
    """The legs swing alike; above a Froude number of a half only the fast part is a stance."""
    two = replace(stage, soles=stage.soles[:2])

    def stance(here, froude):
        curves = swinging(fox, speed=math.sqrt(froude * 9.81 * leg_length(fox, fox.control_rig)))
        controls = curves.controls()
        return Feet.of(here, controls, here.transforms(controls), curves).stance

    walks, runs = (stance(two, froude) for froude in (0.4, 0.6))
    assert float(runs.mean()) < 0.85 * float(walks.mean())
    torch.testing.assert_close(stance(stage, 0.6)[:, :2], walks, atol=0.05, rtol=0.0)
    assert float(runs.amax(0).min()) > 0.5 * float(walks.amax(0).min())


def test_feet_that_keep_their_place_stand_where_the_body_stays(fox, stage):
    curves = standing(fox)
    thigh = next(
        i for i, role in enumerate(fox.control_rig.roles) if str(role) == "left hind upper"
    )
    angles = torch.zeros(curves.frames, len(fox.control_rig), 3)
    angles[curves.frames // 2 :, thigh, 0] = 1.0  # it kicks
    curves.set_angles(angles)
    controls = curves.controls()
    found = Feet.of(stage, controls, stage.transforms(controls), curves)
    moves = found.middle.diff(dim=0).norm(dim=-1).amax(0)
    kicks = int(moves.argmax())
    for foot, stance in enumerate(found.stance.T):
        if foot != kicks:
            assert float(stance.min()) > 0.85
    assert float(found.stance[:, kicks].min()) < 0.1


def test_a_body_that_folds_its_legs_in_its_place_must_come_down(fox, stage):
    """Its feet are far above the ground then, and by themselves would count as swinging."""
    curves = standing(fox)
    angles = torch.zeros(curves.frames, len(fox.control_rig), 3)
    for i, role in enumerate(fox.control_rig.roles):
        if role.limb is not None and role.part.value == "upper":
            angles[2:, i, 0] = -1.5
    curves.set_angles(angles)
    folded = costs(stage, curves)["support"]
    lowest = stage.sole_points.at(stage.transforms(curves.controls()))[0].amin(1).detach()
    curves.set_sway(torch.stack((0 * lowest, -lowest, 0 * lowest), dim=1))
    assert costs(stage, curves)["support"] < 0.6 * folded


def test_feet_that_never_stand_say_nothing_of_the_speed():
    never = feet(torch.zeros(1, FRAMES), torch.zeros(1, FRAMES), torch.zeros(1, FRAMES - 1))
    assert never.speeds() == [None]


def test_terms_of_a_batch_are_those_of_each_candidate(fox, stage):
    """Default terms take all candidates at once, a term of one's own is called for each."""

    def mine(state: LossState) -> torch.Tensor:
        return state.transforms.square().mean() + state.video.mean()

    candidates = [swinging(fox, speed=0.3), standing(fox, speed=1.0)]
    terms = [*default(), LossTerm("mine", 2.0, mine)]
    video = torch.rand(2, FRAMES, 1, 1, 3, generator=torch.Generator().manual_seed(1))
    posed = pose_together(candidates, stage)
    together = evaluate(terms, stage, candidates, posed, video, 0.0)
    for k, one in enumerate(candidates):
        alone = evaluate(terms, stage, [one], pose_together([one], stage), video[k : k + 1], 0.0)
        for name, value in alone.items():
            torch.testing.assert_close(together[name][k : k + 1], value)
