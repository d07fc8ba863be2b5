"""What acted during a rollout: torques of the joints, contact forces, the upright help, work."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import davenport, quaternion
from akd.physics.body import Body, State, place
from akd.physics.parameters import Parameters


@dataclass(frozen=True)
class Forces:
    """Over K substeps, as they were applied."""

    torques: Float[Tensor, "*k D 3"]
    """About the joints' axes, N m."""
    contacts: Float[Tensor, "*k B 8 3"]
    """On the corners of the cuboids, world axes, N."""
    help: Float[Tensor, "*k 3"]
    """Of the upright help on the root, world axes, N m."""
    joint_work: Float[Tensor, ""]
    """Sum of |torque . rate| dt over joints and time, J."""
    help_work: Float[Tensor, ""]
    """Sum of |help . spin| dt over time, J."""


def measure_forces(
    body: Body,
    parameters: Parameters,
    states: State,
    targets: Float[Tensor, "K D 3"],
    up: Float[Tensor, "K 3"] | None = None,
) -> Forces:
    """Forces of one environment from its states [K + 1, ...] and targets.

    Servos, contacts and help are implicit: what was applied in a substep is the force at its start
    less its stiffness times the change of velocity over the substep.
    """
    return forces_between(body, parameters, states[:-1], states[1:], targets, up)


def forces_between(
    body: Body,
    parameters: Parameters,
    before: State,
    after: State,
    targets: Float[Tensor, "K D 3"],
    up: Float[Tensor, "K 3"] | None = None,
    *,
    friction: Float[Tensor, "K"] | None = None,
) -> Forces:
    """Forces of K substeps, each from its state before to its state after; with a coefficient of
    friction of its own where given."""
    p, dt = parameters, parameters.step
    mu = before.position.new_tensor(p.friction) if friction is None else friction[:, None, None]
    torques = p.stiffness * (targets - before.angles - dt * after.rates) - p.damping * after.rates

    old, new = part_motion(body, before), part_motion(body, after)
    arms = old.points - old.origins[:, :, None]
    speed = old.speeds[:, :, None] + torch.linalg.cross(
        old.omegas[:, :, None].expand_as(arms), arms
    )
    # The kernel's own idea of how the velocity of a corner changes within the substep.
    change = (new.speeds - old.speeds)[:, :, None] + torch.linalg.cross(
        (new.omegas - old.omegas)[:, :, None].expand_as(arms), arms
    )
    depth = -old.points[..., 1]
    e = p.contact_rounding
    ramp = torch.where(depth < e, (depth + e).clamp_min(0.0).square() / (4 * e), depth)
    slope = ((depth + e) / (2 * e)).clamp(0.0, 1.0)
    viscous = (p.contact_damping + p.contact_stiffness * dt) * slope
    normal = (p.contact_stiffness * ramp - viscous * speed[..., 1]).clamp_min(0.0)
    normal = torch.where(depth > -e, normal, torch.zeros_like(normal))
    firm = normal / (normal + p.contact_light) * viscous
    sliding = speed[..., [0, 2]].square().sum(-1)
    drag = mu * normal / (sliding + p.creep**2).sqrt()
    contacts = torch.stack(
        (
            -drag * (speed + change)[..., 0],
            normal - firm * change[..., 1],
            -drag * (speed + change)[..., 2],
        ),
        dim=-1,
    )

    help_ = torch.zeros_like(before.spin)
    if p.upright_cap > 0:
        goal = targets.new_tensor((0.0, 1.0, 0.0)).expand_as(before.spin) if up is None else up
        tilt = quaternion.rotate(
            before.rotation, torch.zeros_like(goal) + goal.new_tensor((0, 1.0, 0))
        )
        raw = p.upright * torch.linalg.cross(tilt, goal)
        share = (
            p.upright_cap
            / (
                p.upright_cap**2
                + (raw - p.upright_damping * _across(before.spin, goal))
                .square()
                .sum(-1, keepdim=True)
            ).sqrt()
        )
        help_ = share * (raw - p.upright_damping * _across(after.spin, goal))
    return Forces(
        torques=torques,
        contacts=contacts,
        help=help_,
        joint_work=(torques * after.rates).abs().sum() * dt,
        help_work=(help_ * after.spin).sum(-1).abs().sum() * dt,
    )


@dataclass(frozen=True)
class PartMotion:
    """Parts in the world over time."""

    points: Tensor
    """Corners, [K, B, 8, 3]."""
    origins: Tensor
    rotations: Tensor
    """wxyz, [K, B, 4]."""
    omegas: Tensor
    speeds: Tensor
    """Of the pivots, [K, B, 3], like the two before."""


def part_motion(body: Body, state: State) -> PartMotion:
    """Where the corners are and how the parts move, in the world."""
    placement = place(body, state.position, state.rotation, state.angles)
    omegas, speeds = [state.spin], [state.velocity]
    for i, parent in enumerate(body.parents[1:], start=1):
        arm = placement.origins[:, i] - placement.origins[:, parent]
        speeds.append(speeds[parent] + torch.linalg.cross(omegas[parent], arm))
        turn, omega = placement.rotations[:, parent], omegas[parent]
        for axis, angle, rate in zip(
            body.axes[i].to(arm),
            state.angles[:, i - 1].unbind(-1),
            state.rates[:, i - 1].unbind(-1),
            strict=True,
        ):
            omega = omega + rate[:, None] * quaternion.rotate(turn, axis.expand_as(arm))
            turn = quaternion.multiply(turn, quaternion.about_axis(axis.expand_as(arm), angle))
        omegas.append(omega)
    points = placement.points(body, body.corners.to(state.position))
    return PartMotion(
        points, placement.origins, placement.rotations, torch.stack(omegas, 1),
        torch.stack(speeds, 1),
    )  # fmt: skip


def _across(v: Tensor, axis: Tensor) -> Tensor:
    """The part of v perpendicular to a unit axis."""
    return v - (v * axis).sum(-1, keepdim=True) * axis


def root_angles(body: Body, rotation: Float[Tensor, "T 4"]) -> Float[Tensor, "T 3"]:
    """Continuous angles of the root about its own three axes, radians."""
    axes = body.axes[0].to(rotation)
    return davenport.unwrap(axes, davenport.from_quaternion(axes, rotation))
