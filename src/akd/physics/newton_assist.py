"""The root assist torque as a Warp kernel on Newton's states."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportGeneralTypeIssues=false
# No `from __future__ import annotations` here: Warp evaluates the annotations of kernels.

from typing import Any, no_type_check

import warp as wp

from akd.physics.parameters import Parameters


@no_type_check
def _build() -> Any:
    @wp.kernel(module="akd_newton_assist", enable_backward=True)
    def assist_root(
        body_q: wp.array(dtype=wp.transform),
        body_qd: wp.array(dtype=wp.spatial_vector),
        up: wp.array(dtype=wp.vec3),
        row: int,
        stiffness: float,
        damping: float,
        cap: float,
        body_f: wp.array(dtype=wp.spatial_vector),
    ):
        goal = up[row]
        tilt = wp.quat_rotate(wp.transform_get_rotation(body_q[0]), wp.vec3(0.0, 1.0, 0.0))
        angular_velocity = wp.spatial_bottom(body_qd[0])
        level = angular_velocity - goal * wp.dot(angular_velocity, goal)
        raw = wp.cross(tilt, goal) * stiffness - level * damping
        torque = raw * (cap / wp.sqrt(cap * cap + wp.dot(raw, raw)))
        wp.atomic_add(body_f, 0, wp.spatial_vector(wp.vec3(0.0, 0.0, 0.0), torque))

    return assist_root


_KERNEL = _build()


def apply_assist_torque(state: Any, up: Any, row: int, parameters: Parameters) -> None:
    """Add the assist torque to the forces on the root of a Newton state."""
    p = parameters
    wp.launch(
        _KERNEL, dim=1,
        inputs=[
            state.body_q, state.body_qd, up, row,
            p.assist_stiffness, p.assist_damping, p.assist_limit,
        ],
        outputs=[state.body_f], device=state.body_q.device,
    )  # fmt: skip
