"""Forward kinematics of a body in one Warp launch, and its gradient in another.

The reference is `body.place`, followed by `Placement.points`. One thread takes one frame: it walks
the tree down in the forward pass and up in the backward pass, so sums have a fixed order.
"""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportGeneralTypeIssues=false
# pyright: reportIndexIssue=false, reportAttributeAccessIssue=false, reportCallIssue=false
# As in `kernel.py`: Warp's language, whose annotations are local names.

from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp


@no_type_check
def build_kinematics(real: Any) -> SimpleNamespace:
    """Kernels and array types for `warp.float32` or `warp.float64`. Quaternions are wxyz."""
    vec3 = wp.types.vector(3, real)
    vec4 = wp.types.vector(4, real)
    mat3 = wp.types.matrix((3, 3), real)
    half, two = real(0.5), real(2.0)
    module = f"akd_kinematics_{real.__name__}"

    @wp.func
    def product(a: vec4, b: vec4):
        return vec4(
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        )

    @wp.func
    def conjugate(q: vec4):
        return vec4(q[0], -q[1], -q[2], -q[3])

    @wp.func
    def rotate(q: vec4, v: vec3):
        u = vec3(q[1], q[2], q[3])
        t = two * wp.cross(u, v)
        return v + q[0] * t + wp.cross(u, t)

    @wp.func
    def rotate_backward(q: vec4, v: vec3, g: vec3):
        """Gradient of `rotate` to the quaternion."""
        u = vec3(q[1], q[2], q[3])
        du = q[0] * wp.cross(v, g) + wp.dot(u, v) * g + wp.dot(g, u) * v - two * wp.dot(g, v) * u
        return two * vec4(wp.dot(wp.cross(u, v), g), du[0], du[1], du[2])

    @wp.func
    def about(axis: vec3, angle: real):
        s = wp.sin(half * angle)
        return vec4(wp.cos(half * angle), s * axis[0], s * axis[1], s * axis[2])

    @wp.func
    def about_rate(axis: vec3, angle: real):
        """Derivative of `about` with respect to the angle."""
        c = half * wp.cos(half * angle)
        return vec4(-half * wp.sin(half * angle), c * axis[0], c * axis[1], c * axis[2])

    @wp.func
    def chain(axes: mat3, angles: vec3):
        first = product(about(axes[0], angles[0]), about(axes[1], angles[1]))
        return product(first, about(axes[2], angles[2]))

    @wp.func
    def chain_backward(axes: mat3, angles: vec3, g: vec4):
        """Gradient of `chain` to the angles."""
        first = about(axes[0], angles[0])
        second = about(axes[1], angles[1])
        third = about(axes[2], angles[2])
        rest = product(second, third)
        return vec3(
            wp.dot(g, product(about_rate(axes[0], angles[0]), rest)),
            wp.dot(g, product(first, product(about_rate(axes[1], angles[1]), third))),
            wp.dot(g, product(product(first, second), about_rate(axes[2], angles[2]))),
        )

    @wp.kernel(module=module, enable_backward=False)
    def place_parts(
        parents: wp.array(dtype=wp.int32),
        arms: wp.array(dtype=vec3),
        axes: wp.array(dtype=mat3),
        marks: wp.array2d(dtype=vec3),
        position: wp.array(dtype=vec3),
        rotation: wp.array(dtype=vec4),
        angles: wp.array2d(dtype=vec3),
        origins: wp.array2d(dtype=vec3),
        rotations: wp.array2d(dtype=vec4),
        points: wp.array3d(dtype=vec3),
    ):
        """Pivots and rotations of the parts of a frame, and the points marked on them."""
        t = wp.tid()
        for i in range(parents.shape[0]):
            if i == 0:
                origins[t, 0] = position[t]
                rotations[t, 0] = rotation[t]
            else:
                p = parents[i]
                origins[t, i] = origins[t, p] + rotate(rotations[t, p], arms[i])
                rotations[t, i] = product(rotations[t, p], chain(axes[i], angles[t, i - 1]))
            for k in range(marks.shape[1]):
                points[t, i, k] = origins[t, i] + rotate(rotations[t, i], marks[i, k])

    @wp.kernel(module=module, enable_backward=False)
    def place_parts_backward(
        parents: wp.array(dtype=wp.int32),
        arms: wp.array(dtype=vec3),
        axes: wp.array(dtype=mat3),
        marks: wp.array2d(dtype=vec3),
        angles: wp.array2d(dtype=vec3),
        rotations: wp.array2d(dtype=vec4),
        d_points: wp.array3d(dtype=vec3),
        d_origins: wp.array2d(dtype=vec3),
        d_rotations: wp.array2d(dtype=vec4),
        d_angles: wp.array2d(dtype=vec3),
    ):
        """Gradients of a frame. `d_origins` and `d_rotations` are added to on the way up: those of
        the root are the gradients to its position and rotation."""
        t = wp.tid()
        for j in range(parents.shape[0]):
            i = parents.shape[0] - 1 - j
            q = rotations[t, i]
            d_origin = d_origins[t, i]
            d_rotation = d_rotations[t, i]
            for k in range(marks.shape[1]):
                g = d_points[t, i, k]
                d_origin = d_origin + g
                d_rotation = d_rotation + rotate_backward(q, marks[i, k], g)
            if i == 0:
                d_origins[t, 0] = d_origin
                d_rotations[t, 0] = d_rotation
            else:
                p = parents[i]
                turn = rotations[t, p]
                own = chain(axes[i], angles[t, i - 1])
                d_angles[t, i - 1] = chain_backward(
                    axes[i], angles[t, i - 1], product(conjugate(turn), d_rotation)
                )
                up = product(d_rotation, conjugate(own)) + rotate_backward(turn, arms[i], d_origin)
                d_rotations[t, p] = d_rotations[t, p] + up
                d_origins[t, p] = d_origins[t, p] + d_origin

    return SimpleNamespace(
        vec3=vec3, vec4=vec4, mat3=mat3, forward=place_parts, backward=place_parts_backward
    )
