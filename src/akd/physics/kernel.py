"""The simulator's kernel: any number of substeps of a whole body in one Warp launch.

One thread steps one environment. Equations of motion are solved by the articulated-body algorithm
in world-aligned frames at the pivots. A part's articulated inertia is ((A, B), (B', C)): the torque
about its pivot is A alpha + B a + N and the force B' alpha + C a + F, for an angular acceleration
alpha and an acceleration a of the pivot. Joint servos and contacts are linearly implicit: they are
taken at the end of the substep, linearised, which adds to the inertias and keeps stiff ones stable.

Warp differentiates the kernel. Its reverse pass replays loops, so that no local variable is carried
from one turn of a loop to the next: what must last is in the scratch arrays, one slot a substep.
Arrays are indexed [substep, part, environment].
"""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportGeneralTypeIssues=false
# What is inside a kernel is Warp's language, which only looks like Python to a type checker. Nor is
# there `from __future__ import annotations`: Warp evaluates the annotations, which are local names.

from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp


@no_type_check
def build_kernel(real: Any) -> SimpleNamespace:
    """Kernel and array types for `warp.float32` or `warp.float64`."""
    vec3 = wp.types.vector(3, real)
    mat3 = wp.types.matrix((3, 3), real)
    quat = wp.types.quaternion(real)
    zero, one, half = real(0.0), real(1.0), real(0.5)

    @wp.struct
    class Model:
        parts: int
        corners_per_part: int
        parent: wp.array(dtype=int)
        arm: wp.array(dtype=vec3)  # from the parent's pivot, neutral axes
        axis1: wp.array(dtype=vec3)
        axis2: wp.array(dtype=vec3)
        axis3: wp.array(dtype=vec3)
        centre: wp.array(dtype=vec3)  # from the part's own pivot
        extent: wp.array(dtype=mat3)  # columns: half edges of the cuboid
        corner: wp.array2d(dtype=vec3)
        mass: wp.array(dtype=real)
        inertia: wp.array(dtype=mat3)
        stiffness: wp.array(dtype=real)
        damping: wp.array(dtype=real)
        armature: wp.array(dtype=real)
        gravity: vec3
        contact_stiffness: real
        contact_damping: real
        rounding: real
        light: real
        friction_epsilon: real
        assist_stiffness: real
        assist_damping: real
        assist_limit: real
        step: real
        fastest: real

    @wp.struct
    class Variation:
        friction: wp.array(dtype=real)
        mass_scale: wp.array2d(dtype=real)
        push: wp.array(dtype=vec3)  # force on the root's centre while pushed
        push_first: wp.array(dtype=int)
        push_last: wp.array(dtype=int)

    @wp.struct
    class Scratch:
        turn: wp.array3d(dtype=quat)
        origin: wp.array3d(dtype=vec3)
        omega: wp.array3d(dtype=vec3)
        speed: wp.array3d(dtype=vec3)
        axes: wp.array3d(dtype=mat3)
        arm: wp.array3d(dtype=vec3)
        bias_angular: wp.array3d(dtype=vec3)
        bias_linear: wp.array3d(dtype=vec3)
        A: wp.array3d(dtype=mat3)
        B: wp.array3d(dtype=mat3)
        C: wp.array3d(dtype=mat3)
        N: wp.array3d(dtype=vec3)
        F: wp.array3d(dtype=vec3)
        gain_angular: wp.array3d(dtype=mat3)
        gain_linear: wp.array3d(dtype=mat3)
        drive: wp.array3d(dtype=vec3)
        alpha: wp.array3d(dtype=vec3)
        accel: wp.array3d(dtype=vec3)

    @wp.func
    def about(axis: vec3, angle: real):
        s = wp.sin(angle * half)
        return quat(axis[0] * s, axis[1] * s, axis[2] * s, wp.cos(angle * half))

    @wp.func
    def limited(rate: vec3, fastest: real):
        square = wp.dot(rate, rate)
        share = one
        if square > fastest * fastest:
            share = fastest / wp.sqrt(square)
        return rate * share

    @wp.func
    def cut_adjoint(
        k: int, e: int, joints: int, limit: real,
        g_position: wp.array2d(dtype=vec3), g_rotation: wp.array2d(dtype=quat),
        g_angles: wp.array3d(dtype=vec3), g_velocity: wp.array2d(dtype=vec3),
        g_angular_velocity: wp.array2d(dtype=vec3), g_joint_velocity: wp.array3d(dtype=vec3),
    ):  # fmt: skip
        return zero

    @wp.func_grad(cut_adjoint)
    def adj_cut_adjoint(
        k: int, e: int, joints: int, limit: real,
        g_position: wp.array2d(dtype=vec3), g_rotation: wp.array2d(dtype=quat),
        g_angles: wp.array3d(dtype=vec3), g_velocity: wp.array2d(dtype=vec3),
        g_angular_velocity: wp.array2d(dtype=vec3), g_joint_velocity: wp.array3d(dtype=vec3),
        adj_ret: real,
    ):  # fmt: skip
        """Scale the adjoint of the state before substep k to a norm of `limit` at most."""
        square = (
            wp.dot(g_position[k, e], g_position[k, e])
            + wp.dot(g_rotation[k, e], g_rotation[k, e])
            + wp.dot(g_velocity[k, e], g_velocity[k, e])
            + wp.dot(g_angular_velocity[k, e], g_angular_velocity[k, e])
        )
        for j in range(joints):
            square += wp.dot(g_angles[k, j, e], g_angles[k, j, e])
            square += wp.dot(g_joint_velocity[k, j, e], g_joint_velocity[k, j, e])
        if square > limit * limit:
            s = limit / wp.sqrt(square)
            g_position[k, e] = g_position[k, e] * s
            g_rotation[k, e] = g_rotation[k, e] * s
            g_velocity[k, e] = g_velocity[k, e] * s
            g_angular_velocity[k, e] = g_angular_velocity[k, e] * s
            for j in range(joints):
                g_angles[k, j, e] = g_angles[k, j, e] * s
                g_joint_velocity[k, j, e] = g_joint_velocity[k, j, e] * s

    @wp.kernel(module=f"akd_physics_{real.__name__}", enable_backward=True)
    def simulate(
        model: Model,
        variation: Variation,
        first: int,
        count: int,
        keep: int,
        clip_every: int,
        clip: real,
        position: wp.array2d(dtype=vec3),
        rotation: wp.array2d(dtype=quat),
        angles: wp.array3d(dtype=vec3),
        velocity: wp.array2d(dtype=vec3),
        angular_velocity: wp.array2d(dtype=vec3),
        joint_velocity: wp.array3d(dtype=vec3),
        targets: wp.array3d(dtype=vec3),
        up: wp.array(dtype=vec3),
        scratch: Scratch,
        g_position: wp.array2d(dtype=vec3),
        g_rotation: wp.array2d(dtype=quat),
        g_angles: wp.array3d(dtype=vec3),
        g_velocity: wp.array2d(dtype=vec3),
        g_angular_velocity: wp.array2d(dtype=vec3),
        g_joint_velocity: wp.array3d(dtype=vec3),
    ):
        e = wp.tid()
        dt = model.step
        eye = wp.identity(n=3, dtype=real)
        for turn_of_loop in range(count):
            k = first + turn_of_loop
            # Without history every substep uses slot 0 again.
            s = turn_of_loop * keep
            if clip_every > 0 and k % wp.max(clip_every, 1) == 0:
                cut_adjoint(
                    k, e, model.parts - 1, clip,
                    g_position, g_rotation, g_angles,
                    g_velocity, g_angular_velocity, g_joint_velocity,
                )  # fmt: skip

            # 1. Where every part is and how it moves, root to leaves.
            scratch.turn[s, 0, e] = rotation[k, e]
            scratch.origin[s, 0, e] = position[k, e]
            scratch.omega[s, 0, e] = angular_velocity[k, e]
            scratch.speed[s, 0, e] = velocity[k, e]
            for i in range(1, model.parts):
                p = model.parent[i]
                t = angles[k, i - 1, e]
                r = joint_velocity[k, i - 1, e]
                above = scratch.turn[s, p, e]
                turn1 = above * about(model.axis1[i], t[0])
                turn2 = turn1 * about(model.axis2[i], t[1])
                a1 = wp.quat_rotate(above, model.axis1[i])
                a2 = wp.quat_rotate(turn1, model.axis2[i])
                a3 = wp.quat_rotate(turn2, model.axis3[i])
                partial = a1 * r[0] + a2 * r[1]
                relative = partial + a3 * r[2]
                om = scratch.omega[s, p, e]
                arm = wp.quat_rotate(above, model.arm[i])
                swing = wp.cross(om, arm)
                scratch.turn[s, i, e] = turn2 * about(model.axis3[i], t[2])
                scratch.origin[s, i, e] = scratch.origin[s, p, e] + arm
                scratch.omega[s, i, e] = om + relative
                scratch.speed[s, i, e] = scratch.speed[s, p, e] + swing
                scratch.axes[s, i, e] = wp.matrix_from_cols(a1, a2, a3)
                scratch.arm[s, i, e] = arm
                # The axes turn with the joint: their derivatives times the joint velocities.
                scratch.bias_angular[s, i, e] = (
                    wp.cross(om, relative)
                    + wp.cross(a1, a2) * (r[0] * r[1])
                    + wp.cross(partial, a3) * r[2]
                )
                scratch.bias_linear[s, i, e] = wp.cross(om, swing)

            # 2. Inertia, gravity, contact with the ground.
            for i in range(model.parts):
                m = model.mass[i] * variation.mass_scale[i, e]
                R = wp.quat_to_matrix(scratch.turn[s, i, e])
                om = scratch.omega[s, i, e]
                o = scratch.origin[s, i, e]
                c = R * model.centre[i]
                inertia = R * (model.inertia[i] * variation.mass_scale[i, e]) * wp.transpose(R)
                skew_c = wp.skew(c)
                F = (wp.cross(om, wp.cross(om, c)) - model.gravity) * m
                N = wp.cross(om, inertia * om) + wp.cross(c, F)
                scratch.A[s, i, e] = inertia - skew_c * skew_c * m
                scratch.B[s, i, e] = skew_c * m
                scratch.C[s, i, e] = eye * m
                scratch.N[s, i, e] = N
                scratch.F[s, i, e] = F
                if i == 0:
                    if model.assist_limit > zero:
                        goal = up[k]
                        tilt = R * vec3(zero, one, zero)
                        level = om - goal * wp.dot(om, goal)
                        assist = (
                            wp.cross(tilt, goal) * model.assist_stiffness
                            - level * model.assist_damping
                        )
                        share = model.assist_limit / wp.sqrt(
                            model.assist_limit * model.assist_limit + wp.dot(assist, assist)
                        )
                        implicit = model.assist_damping * share * dt
                        wp.atomic_add(scratch.N, s, 0, e, -assist * share)
                        wp.atomic_add(scratch.A, s, 0, e, (eye - wp.outer(goal, goal)) * implicit)
                    if k >= variation.push_first[e] and k < variation.push_last[e]:
                        wp.atomic_add(scratch.F, s, 0, e, -variation.push[e])
                        wp.atomic_add(scratch.N, s, 0, e, -wp.cross(c, variation.push[e]))
                reach = wp.transpose(R * model.extent[i]) * vec3(zero, one, zero)
                low = o[1] + c[1] - wp.abs(reach[0]) - wp.abs(reach[1]) - wp.abs(reach[2])
                if low < model.rounding:
                    for j in range(model.corners_per_part):
                        arm = R * model.corner[i, j]
                        depth = -(o[1] + arm[1])
                        if depth > -model.rounding:
                            # A ramp with a rounded corner, and its slope.
                            ramp = depth
                            slope = one
                            if depth < model.rounding:
                                lift = depth + model.rounding
                                ramp = lift * lift / (real(4.0) * model.rounding)
                                slope = lift / (real(2.0) * model.rounding)
                            v = scratch.speed[s, i, e] + wp.cross(om, arm)
                            viscous = (model.contact_damping + model.contact_stiffness * dt) * slope
                            normal = model.contact_stiffness * ramp - viscous * v[1]
                            if normal > zero:
                                # Faded in, so that the force is continuous where contact begins.
                                firm = normal / (normal + model.light) * viscous * dt
                                drag = (
                                    variation.friction[e]
                                    * normal
                                    / wp.sqrt(
                                        v[0] * v[0]
                                        + v[2] * v[2]
                                        + model.friction_epsilon * model.friction_epsilon
                                    )
                                )
                                force = vec3(-drag * v[0], normal, -drag * v[2])
                                stiff = wp.diag(vec3(drag * dt, firm, drag * dt))
                                skew_arm = wp.skew(arm)
                                wp.atomic_add(scratch.A, s, i, e, -skew_arm * stiff * skew_arm)
                                wp.atomic_add(scratch.B, s, i, e, skew_arm * stiff)
                                wp.atomic_add(scratch.C, s, i, e, stiff)
                                wp.atomic_add(scratch.N, s, i, e, -wp.cross(arm, force))
                                wp.atomic_add(scratch.F, s, i, e, -force)

            # 3. Articulated inertias, leaves to root.
            for back in range(model.parts - 1):
                i = model.parts - 1 - back
                p = model.parent[i]
                N = scratch.N[s, i, e]
                axes = scratch.axes[s, i, e]
                stiffness = model.stiffness[i]
                damping = model.damping[i]
                servo = (targets[k, i - 1, e] - angles[k, i - 1, e]) * stiffness - joint_velocity[
                    k, i - 1, e
                ] * (damping + stiffness * dt)
                added = model.armature[i] + dt * damping + dt * dt * stiffness
                UA = scratch.A[s, i, e] * axes
                UB = wp.transpose(scratch.B[s, i, e]) * axes
                inverse = wp.inverse(wp.transpose(axes) * UA + eye * added)
                GA = UA * inverse
                GB = UB * inverse
                u = servo - wp.transpose(axes) * N
                Aa = scratch.A[s, i, e] - GA * wp.transpose(UA)
                Ba = scratch.B[s, i, e] - GA * wp.transpose(UB)
                Ca = scratch.C[s, i, e] - GB * wp.transpose(UB)
                ca = scratch.bias_angular[s, i, e]
                cl = scratch.bias_linear[s, i, e]
                Na = N + Aa * ca + Ba * cl + GA * u
                Fa = scratch.F[s, i, e] + wp.transpose(Ba) * ca + Ca * cl + GB * u
                arm = scratch.arm[s, i, e]
                skew_arm = wp.skew(arm)
                RC = skew_arm * Ca
                wp.atomic_add(
                    scratch.A, s, p, e,
                    Aa - Ba * skew_arm + skew_arm * wp.transpose(Ba) - RC * skew_arm,
                )  # fmt: skip
                wp.atomic_add(scratch.B, s, p, e, Ba + RC)
                wp.atomic_add(scratch.C, s, p, e, Ca)
                wp.atomic_add(scratch.N, s, p, e, Na + wp.cross(arm, Fa))
                wp.atomic_add(scratch.F, s, p, e, Fa)
                scratch.gain_angular[s, i, e] = GA
                scratch.gain_linear[s, i, e] = GB
                scratch.drive[s, i, e] = inverse * u

            # 4. Accelerations, root to leaves; then velocities, then positions with the new ones.
            B0 = scratch.B[s, 0, e]
            C_inverse = wp.inverse(scratch.C[s, 0, e])
            BC = B0 * C_inverse
            alpha0 = wp.inverse(scratch.A[s, 0, e] - BC * wp.transpose(B0)) * (
                BC * scratch.F[s, 0, e] - scratch.N[s, 0, e]
            )
            accel0 = C_inverse * (-scratch.F[s, 0, e] - wp.transpose(B0) * alpha0)
            scratch.alpha[s, 0, e] = alpha0
            scratch.accel[s, 0, e] = accel0
            new_velocity = velocity[k, e] + accel0 * dt
            new_spin = limited(angular_velocity[k, e] + alpha0 * dt, model.fastest)
            velocity[k + 1, e] = new_velocity
            angular_velocity[k + 1, e] = new_spin
            position[k + 1, e] = position[k, e] + new_velocity * dt
            w = new_spin * (dt * half)
            rotation[k + 1, e] = wp.normalize(quat(w[0], w[1], w[2], one) * rotation[k, e])
            for i in range(1, model.parts):
                p = model.parent[i]
                alpha = scratch.alpha[s, p, e] + scratch.bias_angular[s, i, e]
                accel = (
                    scratch.accel[s, p, e]
                    + wp.cross(scratch.alpha[s, p, e], scratch.arm[s, i, e])
                    + scratch.bias_linear[s, i, e]
                )
                joint = (
                    scratch.drive[s, i, e]
                    - wp.transpose(scratch.gain_angular[s, i, e]) * alpha
                    - wp.transpose(scratch.gain_linear[s, i, e]) * accel
                )
                scratch.alpha[s, i, e] = alpha + scratch.axes[s, i, e] * joint
                scratch.accel[s, i, e] = accel
                new_velocity = limited(joint_velocity[k, i - 1, e] + joint * dt, model.fastest)
                joint_velocity[k + 1, i - 1, e] = new_velocity
                angles[k + 1, i - 1, e] = angles[k, i - 1, e] + new_velocity * dt

    fields = {
        "turn": (4, quat), "origin": (3, vec3), "omega": (3, vec3), "speed": (3, vec3),
        "axes": (9, mat3), "arm": (3, vec3), "bias_angular": (3, vec3), "bias_linear": (3, vec3),
        "A": (9, mat3), "B": (9, mat3), "C": (9, mat3), "N": (3, vec3), "F": (3, vec3),
        "gain_angular": (9, mat3), "gain_linear": (9, mat3), "drive": (3, vec3),
        "alpha": (3, vec3), "accel": (3, vec3),
    }  # fmt: skip
    return SimpleNamespace(
        real=real, vec3=vec3, mat3=mat3, quat=quat, Model=Model, Variation=Variation,
        Scratch=Scratch, simulate=simulate, scratch_fields=fields,
    )  # fmt: skip
