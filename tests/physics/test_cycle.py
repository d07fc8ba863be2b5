"""Cycles are tracked as cycles."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from akd.math import quaternion
from akd.physics.assess import add_travel
from akd.physics.body import place
from akd.physics.cycle import Advance, close_cycle, cycle_gap, is_cycle, repeat_cycle
from akd.physics.settings import TrackingSettings
from akd.physics.target import TargetMotion
from akd.physics.tracking import track
from tests.physics.bodies_for_tests import quadruped
from tests.physics.gaits import FEET, walk_in_place


def one_cycle(turn: float = 0.0) -> TargetMotion:
    """A second of walking at 0.3 m/s that ends on its first pose, turned by an angle."""
    long = walk_in_place(quadruped())
    walk = TargetMotion(long.position[:25], long.rotation[:25], long.angles[:25], long.fps)
    walk = add_travel(walk, torch.tensor((0.3, 0.0, 0.0), dtype=torch.float64))
    yaw = torch.linspace(0, turn, 25, dtype=torch.float64)
    rotation = quaternion.about_axis(walk.position.new_tensor((0.0, 1.0, 0.0)).expand(25, 3), yaw)
    return replace(walk, rotation=rotation, cyclic=True)


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_repeated_cycle_continues(turn: float) -> None:
    walk = one_cycle(turn)
    twice = repeat_cycle(walk, 2)
    assert len(twice.position) == 49
    advance = Advance.of(walk)
    torch.testing.assert_close(twice.position[24:], advance.points(walk.position))
    torch.testing.assert_close(advance.inverse().points(twice.position[24:]), walk.position)
    body = quadruped()
    assert cycle_gap(body, walk) < 1e-9
    assert is_cycle(body, walk)
    assert not is_cycle(
        body, replace(walk, angles=walk.angles + torch.linspace(0, 1, 25)[:, None, None])
    )


def test_closing_a_cycle_removes_gap_and_sideways_drift() -> None:
    body, walk = quadruped(), one_cycle()
    ramp = torch.linspace(0, 1, 25, dtype=torch.float64)[:, None]
    bent = replace(
        walk, angles=walk.angles + 0.05 * ramp[..., None],
        position=walk.position + ramp * walk.position.new_tensor((0.02, 0.01, 0.03)),
    )  # fmt: skip
    closed = close_cycle(bent, walk)
    assert cycle_gap(body, closed) < 1e-9
    gone = closed.position[-1] - closed.position[0]
    torch.testing.assert_close(gone, gone.new_tensor((0.32, 0.0, 0.0)))


def test_a_simulated_cycle_comes_back_to_its_start() -> None:
    body, walk = quadruped(), one_cycle()
    settings = TrackingSettings(iterations=60)
    gaps = []
    for motion in (walk, replace(walk, cyclic=False)):
        made = track(body, motion, feet=FEET, settings=settings)
        s = made.states
        gaps.append(cycle_gap(body, TargetMotion(s.position, s.rotation, s.angles, walk.fps)))
        assert made.error < 0.05
        assert math.isfinite(float(place(body, s).origins.sum()))
    assert gaps[0] < 0.01
    # Tracked as an open clip, the end is as far from the start as tracking errs.
    assert gaps[0] < gaps[1]
