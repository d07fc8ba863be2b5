"""Touching, skate and implied travel, on soles whose motion is known."""

from __future__ import annotations

import math

import pytest
import torch

from akd.motion.contact import STANCE, TOUCH, implied_velocity, nearness, skate_speed, touches

HEIGHT = 0.02 / TOUCH
"""Of a body of which 2 cm is the height at which a sole touches, metres."""
FPS = 24.0


def sole(height: torch.Tensor, speed: float, fps: float = 30.0) -> torch.Tensor:
    """One point that moves along x at a speed (m/s), at the heights given (m)."""
    x = speed * torch.arange(len(height)) / fps
    return torch.stack((x, height, torch.zeros_like(x)), -1)[:, None]


def test_a_sliding_sole_skates_at_its_speed() -> None:
    sliding = sole(torch.zeros(10), 0.7)
    assert skate_speed(sliding, fps=30.0, body_height=HEIGHT) == pytest.approx(0.7, rel=1e-5)
    sunk = sole(torch.full((10,), -0.5), 0.7)
    assert skate_speed(sunk, fps=30.0, body_height=HEIGHT) == pytest.approx(0.7, rel=1e-5)


def test_what_is_high_or_still_does_not_skate() -> None:
    assert skate_speed(sole(torch.full((10,), 0.02), 3.0), fps=30.0, body_height=HEIGHT) == 0.0
    assert skate_speed(sole(torch.zeros(10), 0.0), fps=30.0, body_height=HEIGHT) == 0.0
    assert skate_speed(sole(torch.zeros(1), 0.0), fps=30.0, body_height=HEIGHT) == 0.0


def test_a_point_counts_by_its_nearness() -> None:
    # One sole stands on the ground, one is dragged at 1 m/s half way up: weights 1 and 1/2.
    both = torch.cat((sole(torch.zeros(8), 0.0), sole(torch.full((8,), 0.01), 1.0)), dim=1)
    assert skate_speed(both, fps=30.0, body_height=HEIGHT) == pytest.approx(0.5 / 1.5, rel=1e-5)


def test_lifting_counts_for_nothing_however_fast() -> None:
    lifted = torch.tensor((0.0, 0.0, 0.1, 0.2))
    points = sole(lifted, 0.0)
    points[2:, :, 0] = 5.0
    assert skate_speed(points, fps=30.0, body_height=HEIGHT) == 0.0


def test_a_height_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match=r"body_height must be above zero, got 0\.0"):
        skate_speed(sole(torch.zeros(3), 1.0), fps=30.0, body_height=0.0)


def test_what_touches_has_weight() -> None:
    height = torch.tensor((-0.1, 0.0, 0.01, 0.0199, 0.0201))
    assert touches(height, body_height=HEIGHT).tolist() == [True, True, True, True, False]
    expected = torch.tensor((1.0, 1.0, 0.5, 0.005, 0.0))
    torch.testing.assert_close(nearness(height, body_height=HEIGHT), expected)


def treadmill(
    speed: float, *, lift: float = 0.15, duty: float = 0.5, frames: int = 48
) -> torch.Tensor:
    """Two feet, a point each, on a belt that runs towards -z at `speed`.

    Each stands for a share `duty` of a cycle of 0.5 s.
    """
    phase = (torch.arange(frames)[:, None] / FPS / 0.5 + torch.tensor([0.0, 0.5])) % 1.0
    stands = phase < duty
    stride = 0.5 * duty * speed  # how far the belt carries a foot in a stance
    swing = (phase - duty) / (1.0 - duty)
    z = torch.where(stands, 0.5 - phase / duty, swing - 0.5) * stride
    y = torch.where(stands, 0.0, lift * torch.sin(torch.pi * swing))
    return torch.stack((torch.full_like(z, 0.1), y, z), dim=-1)


def implied(soles: torch.Tensor, *, root: float = 0.0, facing: float = 1.0) -> torch.Tensor | None:
    """For a body of 0.6 m that faces +z, or -z, and whose root goes `root` metres along z."""
    path = torch.linspace(0.0, root, len(soles))[:, None] * torch.tensor((0.0, 0.0, 1.0))
    forward = torch.tensor((0.0, 0.0, facing))
    return implied_velocity(soles.split(1, dim=1), path, forward=forward, fps=FPS, body_height=0.6)


@pytest.mark.parametrize("speed", [0.5, 1.3])
def test_on_a_treadmill_the_body_goes_against_the_belt(speed: float):
    found = implied(treadmill(speed))
    assert found is not None
    torch.testing.assert_close(found, torch.tensor([0.0, 0.0, speed]), atol=0.02, rtol=0.02)


def test_a_body_may_walk_backward():
    found = implied(treadmill(1.0), facing=-1.0)
    assert found is not None
    assert float(found[2]) == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize(("degrees", "kept"), [(6.0, 0.0), (-6.0, 0.0), (30.0, 30.0)])
def test_a_body_that_goes_about_where_it_faces_goes_straight(degrees: float, kept: float):
    turn = math.radians(degrees)
    soles = treadmill(1.0)
    soles[..., 0] += math.tan(turn) * soles[..., 2]
    found = implied(soles)
    assert found is not None
    assert math.degrees(math.atan2(float(found[0]), float(found[2]))) == pytest.approx(kept, abs=1)
    assert float(found[2]) == pytest.approx(1.0, rel=0.02)


def test_feet_that_swing_low_are_not_taken_for_stance():
    # As in a gallop: most of what is near the ground swings.
    found = implied(treadmill(1.0, lift=0.005, duty=0.3))
    assert found is not None
    assert float(found[2]) == pytest.approx(1.0, rel=0.02)


def test_where_feet_say_nothing_the_body_goes_where_it_faces():
    # Legs without knees: feet are as low on the way back as on the way ahead.
    phase = torch.arange(48)[:, None] / FPS / 0.5 + torch.tensor([0.0, 0.5])
    swing = torch.sin(2 * torch.pi * phase)
    soles = torch.stack((torch.zeros_like(swing), 0.02 * swing**2, 0.3 * swing), dim=-1)
    for facing in (1.0, -1.0):
        found = implied(soles, facing=facing)
        assert found is not None
        assert float(found[2]) * facing > 1.0


def test_a_floor_at_another_height_makes_no_difference():
    raised = treadmill(1.0) + torch.tensor([0.0, 3.0, 0.0])
    found = implied(raised)
    assert found is not None
    assert float(found[2]) == pytest.approx(1.0, rel=0.02)
    assert float(found[1]) == 0.0


def test_feet_that_stand_still_or_never_touch_imply_nothing():
    assert implied(treadmill(0.0)) is None
    airborne = treadmill(1.0)
    airborne[..., 1] = torch.linspace(0.0, 20.0, len(airborne))[:, None]
    assert implied(airborne) is None


def test_each_foot_has_a_floor_of_its_own():
    uneven = treadmill(1.0)
    uneven[:, 1, 1] -= 10 * STANCE
    found = implied(uneven)
    assert found is not None
    assert float(found[2]) == pytest.approx(1.0, rel=0.02)


def test_a_body_that_travels_by_itself_is_left_alone():
    assert implied(treadmill(1.0), root=0.4) is not None
    assert implied(treadmill(1.0), root=0.6) is None


def test_a_body_without_feet_implies_nothing():
    forward = torch.tensor((0.0, 0.0, 1.0))
    found = implied_velocity([], torch.zeros(4, 3), forward=forward, fps=FPS, body_height=0.6)
    assert found is None
