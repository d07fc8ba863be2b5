"""Reference implementation of a substep in plain torch, derived independently of the kernel.

Generalized velocities are u = (linear velocity of the root's pivot, angular velocity of the root,
joint velocities). With a part's Jacobians J (of its pivot) and W (of its angular velocity) the
equations of motion are M a = f with M = sum of J' m J + ..., assembled densely and solved directly.
Joint servos, contacts and the root assist torque are linearly implicit.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion
from akd.physics.body import Body, Placement, State, place
from akd.physics.parameters import Parameters


def rollout_reference(
    body: Body,
    parameters: Parameters,
    start: State,
    targets: Float[Tensor, "K D 3"],
    up: Float[Tensor, "K 3"] | None = None,
) -> State:
    """States of one environment before and after each substep, [K + 1, ...], from `start`."""
    states = [start]
    goal = targets.new_tensor((0.0, 1.0, 0.0))
    for k, target in enumerate(targets):
        states.append(substep(body, parameters, states[-1], target, goal if up is None else up[k]))
    parts = zip(*(state.parts() for state in states), strict=True)
    return State(*(torch.stack(part) for part in parts))


def substep(
    body: Body,
    parameters: Parameters,
    state: State,
    target: Float[Tensor, "D 3"],
    up: Float[Tensor, "3"],
) -> State:
    """One substep: semi-implicit Euler with linearly implicit forces."""
    p, dt = parameters, parameters.step
    placement = place(body, state)
    linear, angular, linear_bias, angular_bias = jacobians(body, state, placement)
    u = torch.cat((state.velocity, state.angular_velocity, state.joint_velocity.flatten()))
    lhs = u.new_zeros(len(u), len(u))
    rhs = torch.zeros_like(u)
    gravity = u.new_tensor(p.gravity)

    for i in range(len(body)):
        turn = quaternion.to_matrix(placement.rotations[i])
        arm = turn @ (body.centres[i] - body.pivots[i])
        inertia = turn @ body.inertias[i] @ turn.T
        omega = angular[i] @ u
        # Of the centre of mass: its Jacobian, and its acceleration when nothing accelerates.
        centre = linear[i] - skew(arm) @ angular[i]
        bias = (
            linear_bias[i]
            + torch.linalg.cross(angular_bias[i], arm)
            + torch.linalg.cross(omega, torch.linalg.cross(omega, arm))
        )
        mass = body.masses[i]
        lhs = lhs + mass * centre.T @ centre + angular[i].T @ inertia @ angular[i]
        gyration = inertia @ angular_bias[i] + torch.linalg.cross(omega, inertia @ omega)
        rhs = rhs + centre.T @ (mass * (gravity - bias)) - angular[i].T @ gyration

    # Joint servos: k_e (target - angle) - k_d rate at the end of the substep.
    servo = (
        p.stiffness * (target - state.angles)
        - (p.damping + dt * p.stiffness) * state.joint_velocity
    )
    joints = torch.arange(6, len(u))
    added = torch.zeros_like(lhs)
    added[joints, joints] = p.armature + dt * p.damping + dt * dt * p.stiffness
    lhs = lhs + added
    rhs = rhs + torch.cat((u.new_zeros(6), servo.flatten()))

    # The root assist torque, a torque on the root.
    if p.assist_limit > 0:
        tilt = quaternion.rotate(state.rotation, u.new_tensor((0.0, 1.0, 0.0)))
        level = torch.eye(3, dtype=u.dtype) - torch.outer(up, up)
        assist = (
            p.assist_stiffness * torch.linalg.cross(tilt, up)
            - p.assist_damping * level @ state.angular_velocity
        )
        share = p.assist_limit / (p.assist_limit**2 + assist @ assist).sqrt()
        lhs = lhs + angular[0].T @ level @ angular[0] * (dt * p.assist_damping * share)
        rhs = rhs + angular[0].T @ (assist * share)

    # Contact of the corners with the ground.
    corners = placement.points(body, body.corners.to(u))
    for i, j in (corners[..., 1] < p.contact_rounding).nonzero().tolist():
        arm = corners[i, j] - placement.origins[i]
        jacobian = linear[i] - skew(arm) @ angular[i]
        force, stiff = contact(p, -corners[i, j, 1], jacobian @ u)
        # The corner's centripetal acceleration is left out: it is of second order in the step.
        bias = linear_bias[i] + torch.linalg.cross(angular_bias[i], arm)
        lhs = lhs + jacobian.T @ (stiff[:, None] * jacobian)
        rhs = rhs + jacobian.T @ (force - stiff * bias)

    new = u + dt * torch.linalg.solve(lhs, rhs)
    velocity = new[:3]
    angular_velocity = _limited(new[3:6], p.turn_limit / dt)
    joint_velocity = _limited(new[6:].unflatten(0, (-1, 3)), p.turn_limit / dt)
    half_turn = torch.cat((u.new_ones(1), 0.5 * dt * angular_velocity))
    return State(
        state.position + dt * velocity,
        quaternion.normalize(quaternion.multiply(half_turn, state.rotation)),
        state.angles + dt * joint_velocity,
        velocity, angular_velocity, joint_velocity,
    )  # fmt: skip


def _limited(joint_velocity: Float[Tensor, "*n 3"], fastest: float) -> Float[Tensor, "*n 3"]:
    """Angular velocities no faster than a limit."""
    return joint_velocity * (fastest / joint_velocity.norm(dim=-1, keepdim=True).clamp_min(fastest))


def contact(
    p: Parameters, depth: Float[Tensor, ""], velocity: Float[Tensor, "3"]
) -> tuple[Float[Tensor, "3"], Float[Tensor, "3"]]:
    """Force (N) on a corner at a depth below the ground (m) with a velocity, and minus its rate of
    change with the corner's acceleration, over the three world axes."""
    e = p.contact_rounding
    if depth <= -e:
        return torch.zeros_like(velocity), torch.zeros_like(velocity)
    rounded = depth < e
    ramp = (depth + e) ** 2 / (4 * e) if rounded else depth
    slope = (depth + e) / (2 * e) if rounded else torch.ones_like(depth)
    viscous = (p.contact_damping + p.contact_stiffness * p.step) * slope
    normal = p.contact_stiffness * ramp - viscous * velocity[1]
    if normal <= 0:
        return torch.zeros_like(velocity), torch.zeros_like(velocity)
    firm = normal / (normal + p.contact_light) * viscous * p.step
    drag = (
        p.friction * normal / (velocity[0] ** 2 + velocity[2] ** 2 + p.friction_epsilon**2).sqrt()
    )
    force = torch.stack((-drag * velocity[0], normal, -drag * velocity[2]))
    return force, torch.stack((drag * p.step, firm, drag * p.step))


def jacobians(
    body: Body, state: State, placement: Placement
) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
    """Of every part: Jacobians [3, 6 + 3D] of its pivot's velocity and of its angular velocity with
    respect to u, and the accelerations of both (3) when u does not change."""
    size = 6 + 3 * (len(body) - 1)
    zeros = state.position.new_zeros
    linear = [torch.cat((torch.eye(3, dtype=zeros(1).dtype), zeros(3, size - 3)), 1)]
    angular = [torch.cat((zeros(3, 3), torch.eye(3, dtype=zeros(1).dtype), zeros(3, size - 6)), 1)]
    linear_bias, angular_bias = [zeros(3)], [zeros(3)]
    omegas = [state.angular_velocity]
    for i, parent in enumerate(body.parents[1:], start=1):
        above = placement.rotations[parent]
        arm = placement.origins[i] - placement.origins[parent]
        omega = omegas[parent]
        turn, carried, columns, bias = above, omega, [], angular_bias[parent]
        for axis, angle, rate in zip(
            body.axes[i], state.angles[i - 1], state.joint_velocity[i - 1], strict=True
        ):
            world_axis = quaternion.rotate(turn, axis)
            columns.append(world_axis)
            # An axis is carried by everything before it in the chain.
            bias = bias + rate * torch.linalg.cross(carried, world_axis)
            carried = carried + rate * world_axis
            turn = quaternion.multiply(turn, quaternion.about_axis(axis, angle))
        own = zeros(3, size)
        own[:, 3 + 3 * i : 6 + 3 * i] = torch.stack(columns, 1)
        angular.append(angular[parent] + own)
        linear.append(linear[parent] - skew(arm) @ angular[parent])
        angular_bias.append(bias)
        linear_bias.append(
            linear_bias[parent]
            + torch.linalg.cross(angular_bias[parent], arm)
            + torch.linalg.cross(omega, torch.linalg.cross(omega, arm))
        )
        omegas.append(carried)
    return linear, angular, linear_bias, angular_bias


def skew(v: Float[Tensor, "3"]) -> Float[Tensor, "3 3"]:
    """Matrix of the cross product: skew(v) w = v x w."""
    x, y, z = v
    zero = torch.zeros_like(x)
    return torch.stack((zero, -z, y, z, zero, -x, -y, x, zero)).view(3, 3)


def energy(body: Body, state: State, gravity: float) -> float:
    """Kinetic plus potential energy of one state, J; height is measured from y = 0."""
    placement = place(body, state)
    linear, angular, _, _ = jacobians(body, state, placement)
    u = torch.cat((state.velocity, state.angular_velocity, state.joint_velocity.flatten()))
    total = 0.0
    for i in range(len(body)):
        turn = quaternion.to_matrix(placement.rotations[i])
        arm = turn @ (body.centres[i] - body.pivots[i])
        omega = angular[i] @ u
        v = linear[i] @ u + torch.linalg.cross(omega, arm)
        inertia = turn @ body.inertias[i] @ turn.T
        height = placement.origins[i][1] + arm[1]
        total += float(body.masses[i] * (0.5 * v @ v + gravity * height))
        total += float(0.5 * omega @ inertia @ omega)
    return total


def momentum(body: Body, state: State) -> tuple[Float[Tensor, "3"], Float[Tensor, "3"]]:
    """Linear (kg m/s) and angular (kg m^2/s, about the world's origin) momentum of one state."""
    placement = place(body, state)
    linear, angular, _, _ = jacobians(body, state, placement)
    u = torch.cat((state.velocity, state.angular_velocity, state.joint_velocity.flatten()))
    straight = round_ = torch.zeros(3, dtype=u.dtype)
    for i in range(len(body)):
        turn = quaternion.to_matrix(placement.rotations[i])
        arm = turn @ (body.centres[i] - body.pivots[i])
        omega = angular[i] @ u
        v = linear[i] @ u + torch.linalg.cross(omega, arm)
        straight = straight + body.masses[i] * v
        round_ = round_ + turn @ body.inertias[i] @ turn.T @ omega
        round_ = round_ + torch.linalg.cross(placement.origins[i] + arm, body.masses[i] * v)
    return straight, round_
