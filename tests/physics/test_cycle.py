"""Cycles are tracked as cycles."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from akd.math import quaternion
from akd.motion.motion import Motion
from akd.physics.assess import add_travel, assess
from akd.physics.body import place
from akd.physics.cycle import Advance, close_cycle, cycle_gap, is_cycle, repeat_cycle
from akd.physics.footing import find_stance
from akd.physics.ground import _with_first_frame_last
from akd.physics.planting import plant_result
from akd.physics.settings import TrackingSettings
from akd.physics.target import TargetMotion
from akd.physics.tracking import track
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
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
    thrice = repeat_cycle(walk, before=1, after=1)
    assert len(thrice.position) == 73
    advance = Advance.of(walk)
    torch.testing.assert_close(thrice.position[24:49], walk.position)
    torch.testing.assert_close(thrice.position[48:], advance.points(walk.position))
    torch.testing.assert_close(advance.points(thrice.position[:25]), walk.position)
    assert cycle_gap(quadruped(), thrice, walk) < 1e-9


def test_a_cycle_ends_on_its_first_frame() -> None:
    body, walk = quadruped(), one_cycle()
    assert is_cycle(body, walk)
    # One frame earlier it is no cycle yet: taken for one, it would lose a frame at every seam.
    assert not is_cycle(body, walk[slice(-1)])
    drifts = torch.linspace(0, 1, 25)[:, None, None]
    assert not is_cycle(body, replace(walk, angles=walk.angles + drifts))


def test_a_clip_that_ends_with_a_step_may_lack_its_last_frame() -> None:
    """A step is two keys as close together as times can be."""
    end = torch.tensor(1.0)
    times = torch.stack((end * 0, end / 2, torch.nextafter(end, end * 0), end))
    still = Motion(Skeleton(("root",), (-1,), Pose.identity(1)), times, Pose.identity(1).expand(4))
    longer = _with_first_frame_last(still)
    assert float(longer.times[-1]) == pytest.approx(1.5)


@pytest.mark.parametrize("overlap", [12, 24])
def test_closing_a_cycle_leaves_no_seam_and_no_drift(overlap: int) -> None:
    body, walk = quadruped(), one_cycle()
    longer = repeat_cycle(walk, before=0, after=1)[slice(25 + overlap)]
    ramp = torch.linspace(0, 1, 25 + overlap, dtype=torch.float64)[:, None]
    bent = replace(
        longer, angles=longer.angles + 0.05 * ramp[..., None],
        position=longer.position + ramp * walk.position.new_tensor((0.02, 0.01, 0.03)),
    )  # fmt: skip
    closed = close_cycle(bent, walk)
    assert len(closed.position) == 25
    assert cycle_gap(body, closed, closed) < 1e-9
    gone = [m.position[-1] - m.position[0] for m in (closed, walk)]
    torch.testing.assert_close(*gone)
    # The seam is as smooth as the clip's own.
    bends = []
    for motion in (walk, closed):
        angles = repeat_cycle(motion, before=0, after=1).angles
        bends.append((angles[2:] - 2 * angles[1:-1] + angles[:-2])[23].abs().max())
    assert bends[1] < bends[0] + 1e-3


@pytest.mark.slow
def test_a_simulated_cycle_repeats_itself() -> None:
    body, walk = quadruped(), one_cycle()
    made = track(body, walk, feet=FEET, settings=TrackingSettings(iterations=60))
    assert len(made.states.position) == 25 + 12
    assert made.error < 0.05
    assert cycle_gap(body, made.states, walk) < 0.02


@pytest.mark.slow
def test_feet_of_a_blended_cycle_are_planted_again() -> None:
    body, walk = quadruped(), one_cycle()
    # The second repetition stands 2 % of the height further left than the first.
    longer = repeat_cycle(walk, before=0, after=1)[slice(25 + 12)]
    aside = torch.zeros_like(longer.position)
    aside[24:, 2] = 0.02 * body.height
    blended = close_cycle(replace(longer, position=longer.position + aside), walk)
    stance = find_stance(body, FEET, walk)
    planted, clean = (plant_result(body, FEET, m, stance) for m in (blended, walk))
    before, after, best = (assess(body, FEET, motion) for motion in (blended, planted, clean))
    assert after.skate - best.skate < 0.1 * (before.skate - best.skate)
    assert after.contact >= before.contact
    assert cycle_gap(body, planted, planted) < 1e-9
    apart = place(body, planted).centres(body) - place(body, blended).centres(body)
    assert float(apart.norm(dim=-1).mean()) < 0.02 * body.height
