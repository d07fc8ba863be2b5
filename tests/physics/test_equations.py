"""The simulator against equations. Every tolerance is derived beside it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from akd.base.constants import GRAVITY
from akd.math import quaternion
from akd.physics.body import Body, State
from akd.physics.parameters import Parameters, scale_parameters
from akd.physics.settings import SimulatorSettings
from akd.physics.simulator import WarpSimulator
from tests.physics.bodies_for_tests import biped, box, pendulum, quadruped, random_tree, tensor
from tests.physics.reference import energy, momentum


def passive(body: Body, step: float) -> Parameters:
    """No servos, no help, no armature: gravity and the ground only."""
    return replace(
        scale_parameters(body, step=step),
        stiffness=0.0, damping=0.0, armature=0.0, assist_limit=0.0,
    )  # fmt: skip


def run(body: Body, parameters: Parameters, start: State, substeps: int) -> State:
    """States of one environment, [K + 1, ...], with all targets zero."""
    targets = torch.zeros(1, substeps, len(body) - 1, 3, dtype=torch.float64)
    simulator = WarpSimulator(body, parameters, dtype=torch.float64)
    return simulator.rollout(State(*(part[None] for part in start.parts())), targets)[0]


def test_free_fall() -> None:
    body, step, substeps = box(), 1e-3, 500
    start = State.neutral(body)
    start = replace(start, position=start.position + tensor((0.0, 10.0, 0.0)),
                    velocity=tensor((1.0, 2.0, -0.5)))  # fmt: skip
    end = run(body, passive(body, step), start, substeps)[-1]
    # Semi-implicit Euler: v_k = v_0 - g k dt, y_k = y_0 + v_0 t - g dt^2 k (k + 1) / 2, exactly.
    t = substeps * step
    fall = GRAVITY * step**2 * substeps * (substeps + 1) / 2
    expected = start.position + start.velocity * t - tensor((0.0, fall, 0.0))
    torch.testing.assert_close(end.position, expected, rtol=0, atol=1e-10)
    # Against the parabola itself the error is g t dt / 2: first order in the step.
    parabola = start.position + start.velocity * t - tensor((0.0, GRAVITY * t * t / 2, 0.0))
    assert (end.position - parabola).norm() < 1.01 * GRAVITY * t * step / 2


@pytest.mark.parametrize("axis", [0, 2])
def test_pendulum_period(axis: int) -> None:
    half, swing, step = 0.5, 0.1, 5e-4
    body = pendulum(half)
    parameters = passive(body, step)
    # The anchor stands where four corners carry it, so that it neither falls nor bounces.
    sunk = body.mass * GRAVITY / (4 * parameters.contact_stiffness)
    start = State.neutral(body)
    angles = torch.zeros(1, 3, dtype=torch.float64)
    angles[0, axis] = swing
    start = replace(start, position=start.position - tensor((0.0, sunk, 0.0)), angles=angles)
    angle = run(body, parameters, start, 5000).angles[:, 0, axis]
    before = ((angle[:-1] > 0) & (angle[1:] <= 0)).nonzero().flatten()
    crossing = before.double() + angle[before] / (angle[before] - angle[before + 1])
    period = float(crossing[1] - crossing[0]) * step
    # A rod of length 2 l and half width w about its end: I = m (4 l^2 + w^2) / 3 up to the width's
    # own share, torque m g l sin(angle).
    width = float(body.half_extents[1, 0])
    length = (4 * half**2 + width**2) / (3 * half)
    # T = 2 pi sqrt(L / g) (1 + swing^2 / 16 + 11 swing^4 / 3072 + ...). The step changes the
    # frequency by a share (w dt)^2 / 24 < 1e-6; linear interpolation of a crossing errs less. The
    # anchor, 1e6 times as heavy as the rod, moves by a share of 1e-6.
    expected = 2 * math.pi * math.sqrt(length / GRAVITY) * (1 + swing**2 / 16)
    assert abs(period / expected - 1) < 11 * swing**4 / 3072 + 3e-6


def test_momentum_in_free_flight() -> None:
    # Gravity off: linear and angular momentum keep their values up to the integrator's error, which
    # falls with the step (first order), while the servos throw the joints about.
    body = random_tree(3)
    generator = torch.Generator().manual_seed(0)
    start = State.neutral(body)
    start = replace(
        start, position=start.position + tensor((0.0, 50.0, 0.0)),
        velocity=tensor((1.0, 0.5, -0.3)), angular_velocity=tensor((0.5, -1.0, 0.8)),
        joint_velocity=5 * torch.randn(len(body) - 1, 3, generator=generator, dtype=torch.float64),
    )  # fmt: skip
    weak = SimulatorSettings(stiffness=0.02, armature=0.0, assist_limit=0.0)
    base = replace(scale_parameters(body, weak), gravity=(0.0, 0.0, 0.0))
    drifts = []
    for substeps in (200, 400):
        states = run(body, replace(base, step=0.2 / substeps), start, substeps)
        before, after = momentum(body, start), momentum(body, states[-1])
        drifts.append(
            [float((a - b).norm() / a.norm()) for a, b in zip(before, after, strict=True)]
        )
        assert (states.angles[-1] - states.angles[0]).abs().max() > 0.2
    for coarse, fine in zip(*drifts, strict=True):
        assert fine < 2e-3
        # First order: half the step, half the drift. A quarter of slack for the second order.
        assert fine < 0.625 * coarse


def test_energy_drift_is_first_order_in_the_step() -> None:
    # A passive body in the air. Its energy is constant; semi-implicit Euler's drifts by C dt.
    body = random_tree(5)
    generator = torch.Generator().manual_seed(1)
    start = State.neutral(body)
    start = replace(
        start, position=start.position + tensor((0.0, 50.0, 0.0)),
        angular_velocity=tensor((1.0, 2.0, -1.0)),
        joint_velocity=torch.randn(len(body) - 1, 3, generator=generator, dtype=torch.float64),
    )  # fmt: skip
    drifts = []
    for substeps in (500, 1000, 2000):
        end = run(body, passive(body, 0.25 / substeps), start, substeps)[-1]
        drifts.append(abs(energy(body, end, GRAVITY) - energy(body, start, GRAVITY)))
    # e(dt) = C dt + D dt^2: the ratio of neighbours is 1/2 up to the second-order term.
    assert 0.4 < drifts[1] / drifts[0] < 0.6
    assert 0.45 < drifts[2] / drifts[1] < 0.55


def slope(parameters: Parameters, angle: float) -> Parameters:
    """The ground tilted by an angle: gravity turned the other way, downhill is +x."""
    down = (GRAVITY * math.sin(angle), -GRAVITY * math.cos(angle), 0.0)
    return replace(parameters, gravity=down)


def test_box_rests_on_a_slope_below_the_friction_angle() -> None:
    body, mu, angle = box(), 0.5, math.atan(0.4)
    parameters = slope(replace(passive(body, 1e-3), friction=mu), angle)
    states = run(body, parameters, State.neutral(body), 3000)
    # Regularised friction mu N v / sqrt(v^2 + c^2) balances N tan(angle) at the creeping speed
    # v = c tan / sqrt(mu^2 - tan^2). It settles within a few times m / (viscous coefficient).
    slope_ = math.tan(angle)
    creep = parameters.friction_epsilon * slope_ / math.sqrt(mu**2 - slope_**2)
    speed = float(states.velocity[-1, 0])
    assert speed == pytest.approx(creep, rel=0.01)
    # A second of standing moves it less than 3 % of its height.
    moved = float(states.position[-1, 0] - states.position[-1001, 0])
    assert moved < 0.03 * body.height


def test_box_slides_on_a_slope_above_the_friction_angle() -> None:
    body, mu, angle = box(), 0.3, math.atan(0.5)
    step = 1e-3
    parameters = slope(replace(passive(body, step), friction=mu), angle)
    states = run(body, parameters, State.neutral(body), 1000)
    v = states.velocity[:, 0]
    acceleration = float(v[-1] - v[500]) / (500 * step)
    expected = GRAVITY * (math.sin(angle) - mu * math.cos(angle))
    # Regularisation lowers friction by a share (c / v)^2 / 2, at v > 0.5 m/s and c = 1 mm/s 2e-6;
    # taken with the velocity before the substep, it is weaker by a share a dt / v < 2e-3.
    assert acceleration == pytest.approx(expected, rel=5e-3)


def test_coulomb_deceleration() -> None:
    body, mu, step = box((0.1, 0.02, 0.1)), 0.5, 1e-3
    parameters = replace(passive(body, step), friction=mu)
    start = State.neutral(body)
    # Let it settle first: the fall into the ground's softness changes the normal force.
    rest = run(body, parameters, start, 500)[-1]
    moving = replace(rest, velocity=rest.velocity + tensor((2.0, 0.0, 1.0)))
    states = run(body, parameters, moving, 200)
    speed = states.velocity[:, [0, 2]].norm(dim=-1)
    deceleration = float(speed[100] - speed[200]) / (100 * step)
    # Friction acts below the centre and rocks the box: the normal force oscillates about m g, and
    # its mean over 0.1 s is m g up to (change of the vertical momentum) / (m g t).
    bounce = abs(float(states.velocity[200, 1] - states.velocity[100, 1])) / (GRAVITY * 0.1)
    lag = mu * GRAVITY * step / float(speed[200])
    assert deceleration == pytest.approx(mu * GRAVITY, rel=bounce + lag + 1e-3)
    # It slides straight: no force across its velocity.
    across = states.velocity[-1, [0, 2]] @ tensor((-1.0, 2.0)) / math.sqrt(5.0)
    assert abs(float(across)) < 1e-3


@pytest.mark.parametrize("scale", [0.04, 1.0, 5.0])
@pytest.mark.parametrize("make", [quadruped, biped])
def test_gains_hold_a_mouse_and_an_elephant(make, scale: float) -> None:
    body = make().scaled(length=scale, mass=scale**3)
    parameters = scale_parameters(body)
    states = run(body, parameters, State.neutral(body), 1500)
    end = states[-1]
    # Standing still after 12 units of time, no joint bent by more than its weight asks for:
    # (m g)(h / 4) / k_e is the most a horizontal quarter of the body could ask of one joint.
    assert float(end.position[1]) > 0.98 * float(body.pivots[0, 1])
    assert float(end.angles.abs().max()) < 0.25
    tilt = quaternion.rotate(end.rotation, tensor((0.0, 1.0, 0.0)))
    assert float(tilt[1]) > math.cos(0.05)
    assert float(end.velocity.norm()) < 0.01 * math.sqrt(GRAVITY * body.height)
