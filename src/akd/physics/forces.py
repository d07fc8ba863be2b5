"""Forces of a rollout: joint torques, contact forces, root assist torque, and their work."""

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
    assist: Float[Tensor, "*k 3"]
    """Root assist torque, world axes, N m."""
    joint_work: Float[Tensor, ""]
    """Sum of |torque . joint velocity| dt over joints and time, J."""
    assist_work: Float[Tensor, ""]
    """Sum of |assist . angular velocity| dt over time, J."""


def measure_forces(
    body: Body,
    parameters: Parameters,
    states: State,
    targets: Float[Tensor, "K D 3"],
    up: Float[Tensor, "K 3"] | None = None,
) -> Forces:
    """Forces of one environment from its states [K + 1, ...] and targets.

    Servos, contacts and assist are linearly implicit: the force applied in a substep is the one at
    its start less its derivative times the change of velocity over the substep.
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
    torques = (
        p.stiffness * (targets - before.angles - dt * after.joint_velocity)
        - p.damping * after.joint_velocity
    )

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
    drag = mu * normal / (sliding + p.friction_epsilon**2).sqrt()
    contacts = torch.stack(
        (
            -drag * (speed + change)[..., 0],
            normal - firm * change[..., 1],
            -drag * (speed + change)[..., 2],
        ),
        dim=-1,
    )

    assist = torch.zeros_like(before.angular_velocity)
    if p.assist_limit > 0:
        y = targets.new_tensor((0.0, 1.0, 0.0)).expand_as(assist)
        goal = y if up is None else up
        spring = p.assist_stiffness * torch.linalg.cross(
            quaternion.rotate(before.rotation, y), goal
        )
        raw = spring - p.assist_damping * _across(before.angular_velocity, goal)
        share = p.assist_limit / (p.assist_limit**2 + raw.square().sum(-1, keepdim=True)).sqrt()
        assist = share * (spring - p.assist_damping * _across(after.angular_velocity, goal))
    return Forces(
        torques=torques,
        contacts=contacts,
        assist=assist,
        joint_work=(torques * after.joint_velocity).abs().sum() * dt,
        assist_work=(assist * after.angular_velocity).sum(-1).abs().sum() * dt,
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
    placement = place(body, state)
    omegas, speeds = [state.angular_velocity], [state.velocity]
    for i, parent in enumerate(body.parents[1:], start=1):
        arm = placement.origins[:, i] - placement.origins[:, parent]
        speeds.append(speeds[parent] + torch.linalg.cross(omegas[parent], arm))
        turn, omega = placement.rotations[:, parent], omegas[parent]
        for axis, angle, rate in zip(
            body.axes[i].to(arm),
            state.angles[:, i - 1].unbind(-1),
            state.joint_velocity[:, i - 1].unbind(-1),
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
