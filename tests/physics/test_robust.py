"""Nothing explodes: random bodies, scales, settings and targets."""

from __future__ import annotations

import math

import pytest
import torch

from akd.physics.body import State
from akd.physics.parameters import scale_parameters
from akd.physics.settings import SimulatorSettings
from akd.physics.simulator import WarpSimulator
from tests.physics.bodies_for_tests import random_tree, scattered
from tests.physics.random_tracking import track_random

pytestmark = pytest.mark.slow


def throw(seed: int, substeps: int = 400) -> tuple[bool, float]:
    """Whether a random body, thrown at the ground under random targets, stays finite; and its
    greatest speed in sqrt(g h)."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(low: float, high: float) -> float:
        return low + (high - low) * float(torch.rand((), generator=generator))

    body = random_tree(seed, parts=2 + seed % 19)
    scale = 10 ** uniform(-2.0, 1.0)
    body = body.scaled(length=scale, mass=scale**3)
    world = SimulatorSettings(
        stiffness=10 ** uniform(-1.0, 0.7), damping=10 ** uniform(-2.0, -0.3),
        friction=uniform(0.0, 1.5), penetration=10 ** uniform(-3.3, -2.0),
        assist_limit=uniform(0.0, 1.0), step=uniform(0.002, 0.012),
    )  # fmt: skip
    parameters = scale_parameters(body, world)
    speed = math.sqrt(9.81 * body.height)
    state = scattered(body, seed, height=uniform(-0.1, 0.5) * body.height)
    turn = math.sqrt(9.81 / body.height)
    state = State(
        state.position, state.rotation, 3 * state.angles,
        3 * speed * state.velocity, 3 * turn * state.angular_velocity,
        5 * turn * state.joint_velocity,
    )  # fmt: skip
    joints = len(body) - 1
    jumps = torch.randn(substeps // 20 + 1, joints, 3, generator=generator, dtype=torch.float64)
    targets = jumps.repeat_interleave(20, 0)[:substeps].float()[None]
    rollout = WarpSimulator(body, parameters).rollout(
        State(*(p[None] for p in state.parts())), targets
    )
    finite = all(bool(torch.isfinite(p).all()) for p in rollout.parts())
    return finite, float(rollout.velocity.norm(dim=-1).max()) / speed


@pytest.mark.parametrize("block", range(10))
def test_random_bodies_stay_finite_and_slow(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        finite, fastest = throw(seed)
        assert finite, f"seed {seed}"
        # Thrown at a few sqrt(g h) with servos that could lift several times the weight.
        assert fastest < 100.0, f"seed {seed}: {fastest:.1f}"


@pytest.mark.parametrize("seed", range(8))
def test_random_tracking_ends_in_finite_numbers(seed: int) -> None:
    """`benchmarks/physics_random.py` does as many as one likes."""
    outcome = track_random(seed)
    assert outcome.finite
    assert not outcome.refused
    assert outcome.error > 0
