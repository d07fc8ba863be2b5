"""Newton's solver behind our protocol: a second opinion on motion, rest and gradients."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest
import torch

from akd.math import quaternion
from akd.physics.body import Body, State, place
from akd.physics.parameters import Parameters, scale_parameters
from akd.physics.settings import TrackingSettings
from akd.physics.simulator import WarpSimulator
from akd.physics.tracking import track
from tests.physics.bodies_for_tests import quadruped, tensor
from tests.physics.gaits import trot

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("newton") is None, reason="needs newton"),
]


def newton_simulator(*given: Any, **settings: Any) -> Any:
    # Importing Newton takes over a second, which the quick tests need not wait for.
    from akd.physics.newton_simulator import NewtonSimulator

    return NewtonSimulator(*given, **settings)


def in_body_units() -> tuple[Body, Parameters]:
    body = quadruped()
    body = body.scaled(length=1 / body.height, mass=1 / body.mass)
    return body, scale_parameters(body, gravity=1.0)


def batch(state: State) -> State:
    return State(*(part[None] for part in state.parts()))


def origins(body: Body, state: State) -> torch.Tensor:
    return place(body, state).origins


def test_free_flight_is_newtons() -> None:
    body, parameters = in_body_units()
    limp = replace(parameters, stiffness=0.0, damping=0.0, armature=0.0, assist_limit=0.0)
    generator = torch.Generator().manual_seed(3)
    start = replace(
        State.neutral(body), position=tensor((0.0, 5.0, 0.0)),
        angles=0.3 * torch.randn(12, 3, generator=generator, dtype=torch.float64),
        angular_velocity=tensor((0.3, 0.5, 0.8)), velocity=tensor((0.5, 0.0, 0.1)),
    )  # fmt: skip
    targets = torch.zeros(1, 90, 12, 3)
    ours = WarpSimulator(body, limp, dtype=torch.float64).rollout(batch(start), targets)[0][-1]
    theirs = newton_simulator(body, limp, inner_steps=8, capture=False).rollout(
        batch(start), targets
    )[0][-1]
    moved = (origins(body, ours) - origins(body, start)).norm(dim=-1).max()
    apart = (origins(body, ours) - origins(body, theirs).double()).norm(dim=-1).max()
    # Joints held by springs of forty weights a height give by 1/40 of what a part's own
    # acceleration asks of them: a percent or two of the height.
    assert moved > 0.3
    assert apart < 0.02


def test_it_stands_where_ours_stands() -> None:
    body, parameters = in_body_units()
    targets = torch.zeros(1, 600, 12, 3)
    ours = WarpSimulator(body, parameters).rollout(batch(State.neutral(body)), targets)
    theirs = newton_simulator(body, parameters).rollout(batch(State.neutral(body)), targets)
    up = tensor((0.0, 1.0, 0.0))
    assert float(quaternion.rotate(theirs.rotation[0, -1].double(), up)[1]) > 0.99
    # Its contact is softer, and its joints give: a few percent of the height lower.
    assert abs(float(ours.position[0, -1, 1] - theirs.position[0, -1, 1])) < 0.04


def test_gradients_are_finite_differences() -> None:
    body, parameters = in_body_units()
    simulator = newton_simulator(body, parameters, chunk=10)
    generator = torch.Generator().manual_seed(0)
    targets = 0.1 * torch.randn(1, 30, 12, 3, generator=generator)
    direction = torch.randn(1, 30, 12, 3, generator=generator)
    # In the air: its contact sets in with a jump, so that on the ground differences of different
    # sizes do not agree among themselves.
    high = State.neutral(body)
    start = batch(replace(high, position=high.position + tensor((0.0, 2.0, 0.0))))

    def end(values: torch.Tensor) -> torch.Tensor:
        return simulator.rollout(start, values).angles[0, -1].sum()

    leaf = targets.clone().requires_grad_()
    end(leaf).backward()
    exact = float((leaf.grad * direction).sum())
    size = 1e-3
    numeric = float(end(targets + size * direction) - end(targets - size * direction)) / (2 * size)
    # Single precision: rounding of 1e-6 over 2e-3 gives an error of 1e-3 of a sum of order 1.
    assert exact == pytest.approx(numeric, rel=5e-3, abs=2e-3)
    clipped = targets.clone().requires_grad_()
    simulator.rollout(start, clipped, clip=1e-3).angles[0, -1].sum().backward()
    assert 0 < float(clipped.grad.norm()) < float(leaf.grad.norm())


def test_tracking_runs_on_it() -> None:
    result = track(
        quadruped(), trot(6), settings=TrackingSettings(iterations=8),
        make_simulator=newton_simulator,
    )  # fmt: skip
    assert not result.failed
    assert min(result.losses) < result.losses[0]


def test_one_environment_only() -> None:
    body, parameters = in_body_units()
    simulator = newton_simulator(body, parameters, chunk=2, capture=False)
    with pytest.raises(ValueError, match="NewtonSimulator steps one environment, got 2"):
        simulator.rollout(batch(State.neutral(body)), torch.zeros(2, 2, 12, 3))
