"""Control coordinates to bone transforms in one Warp launch, and back in another.

The reference is `ControlRig.deltas` followed by the neutral transforms of the bones. One thread
takes one frame: it walks the control tree down in the forward pass and up in the backward pass, so
sums have a fixed order.
"""

# Warp reads these functions, not Python: the annotations are Warp types.
# pyright: reportGeneralTypeIssues=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false, reportAttributeAccessIssue=false
# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import warp as wp
from jaxtyping import Float, Int
from torch import Tensor

from akd.base.warp_runtime import as_warp, no_type_check, start_warp, torch_stream
from akd.rig.control import ROOT, TRAVEL, ControlPose, ControlRig

start_warp()
wp.set_module_options({"enable_backward": False})

_TRAVEL = wp.constant(TRAVEL)
_ROOT = wp.constant(ROOT)


@wp.func
@no_type_check
def _turn(axes: wp.mat33, row: int, angle: float):
    return wp.quat_to_matrix(wp.quat_from_axis_angle(axes[row], angle))


@wp.func
@no_type_check
def _chain(axes: wp.mat33, angles: wp.vec3):
    """Rotation of a Davenport chain."""
    return _turn(axes, 0, angles[0]) * _turn(axes, 1, angles[1]) * _turn(axes, 2, angles[2])


@wp.func
@no_type_check
def _chain_backward(axes: wp.mat33, angles: wp.vec3, d_rotation: wp.mat33):
    """Gradient to the angles: d R / d a_i = [w_i] R, where w_i is the axis as carried by the
    rotations before it."""
    first = _turn(axes, 0, angles[0])
    second = first * _turn(axes, 1, angles[1])
    a = d_rotation * wp.transpose(second * _turn(axes, 2, angles[2]))
    axial = wp.vec3(a[2, 1] - a[1, 2], a[0, 2] - a[2, 0], a[1, 0] - a[0, 1])
    return wp.vec3(
        wp.dot(axes[0], axial), wp.dot(first * axes[1], axial), wp.dot(second * axes[2], axial)
    )


@wp.func
@no_type_check
def _linear(m: wp.mat44):
    return wp.mat33(m[0, 0], m[0, 1], m[0, 2], m[1, 0], m[1, 1], m[1, 2], m[2, 0], m[2, 1], m[2, 2])


@wp.func
@no_type_check
def _offset(m: wp.mat44):
    return wp.vec3(m[0, 3], m[1, 3], m[2, 3])


@wp.func
@no_type_check
def _affine(r: wp.mat33, x: wp.vec3):
    return wp.mat44(
        r[0, 0], r[0, 1], r[0, 2], x[0], r[1, 0], r[1, 1], r[1, 2], x[1],
        r[2, 0], r[2, 1], r[2, 2], x[2], 0.0, 0.0, 0.0, 1.0,
    )  # fmt: skip


@wp.kernel
@no_type_check
def pose_bones(
    axes: wp.array(dtype=wp.mat33),
    pivots: wp.array(dtype=wp.vec3),
    parents: wp.array(dtype=wp.int32),
    drivers: wp.array(dtype=wp.int32),
    neutral: wp.array(dtype=wp.mat44),
    translation: wp.array(dtype=wp.vec3),
    angles: wp.array2d(dtype=wp.vec3),
    turned: wp.array2d(dtype=wp.mat33),
    moved: wp.array2d(dtype=wp.vec3),
    bones: wp.array2d(dtype=wp.mat44),
):
    """world_from_mesh of the bones of a frame; `turned` and `moved` are the controls' deltas.

    The root is the first of the controls.
    """
    t = wp.tid()
    for d in range(pivots.shape[0]):
        rotation = _chain(axes[d], angles[t, d])
        offset = pivots[d] - rotation * pivots[d]
        if d == 0:
            turned[t, d] = rotation
            moved[t, d] = offset + translation[t]
        else:
            p = parents[d]
            turned[t, d] = turned[t, p] * rotation
            moved[t, d] = turned[t, p] * offset + moved[t, p]
    for b in range(drivers.shape[0]):
        m = drivers[b]
        if m >= _ROOT:
            r = turned[t, m - _ROOT]
            at = r * _offset(neutral[b]) + moved[t, m - _ROOT]
            bones[t, b] = _affine(r * _linear(neutral[b]), at)
        elif m == _TRAVEL:
            level = wp.vec3(translation[t][0], 0.0, translation[t][2])
            bones[t, b] = _affine(_linear(neutral[b]), _offset(neutral[b]) + level)
        else:
            bones[t, b] = neutral[b]


@wp.kernel
@no_type_check
def pose_bones_backward(
    axes: wp.array(dtype=wp.mat33),
    pivots: wp.array(dtype=wp.vec3),
    parents: wp.array(dtype=wp.int32),
    drivers: wp.array(dtype=wp.int32),
    neutral: wp.array(dtype=wp.mat44),
    angles: wp.array2d(dtype=wp.vec3),
    turned: wp.array2d(dtype=wp.mat33),
    d_bones: wp.array2d(dtype=wp.mat44),
    d_turned: wp.array2d(dtype=wp.mat33),
    d_moved: wp.array2d(dtype=wp.vec3),
    d_translation: wp.array(dtype=wp.vec3),
    d_angles: wp.array2d(dtype=wp.vec3),
):
    """Gradients of a frame to the coordinates. `d_turned` and `d_moved` must be zero."""
    t = wp.tid()
    travel = wp.vec3(0.0, 0.0, 0.0)
    for b in range(drivers.shape[0]):
        m = drivers[b]
        at = _offset(d_bones[t, b])
        if m >= _ROOT:
            i = m - _ROOT
            pulled = _linear(d_bones[t, b]) * wp.transpose(_linear(neutral[b]))
            d_turned[t, i] = d_turned[t, i] + pulled + wp.outer(at, _offset(neutral[b]))
            d_moved[t, i] = d_moved[t, i] + at
        elif m == _TRAVEL:
            travel = travel + wp.vec3(at[0], 0.0, at[2])
    for k in range(pivots.shape[0]):
        d = pivots.shape[0] - 1 - k
        d_rotation = d_turned[t, d]
        d_offset = d_moved[t, d]
        if d > 0:
            p = parents[d]
            rotation = _chain(axes[d], angles[t, d])
            offset = pivots[d] - rotation * pivots[d]
            up = d_rotation * wp.transpose(rotation) + wp.outer(d_offset, offset)
            d_turned[t, p] = d_turned[t, p] + up
            d_moved[t, p] = d_moved[t, p] + d_offset
            back = wp.transpose(turned[t, p])
            d_rotation = back * d_rotation
            d_offset = back * d_offset
        d_angles[t, d] = _chain_backward(
            axes[d], angles[t, d], d_rotation - wp.outer(d_offset, pivots[d])
        )
    d_translation[t] = d_moved[t, 0] + travel


@dataclass(frozen=True)
class ControlKinematics:
    """A control rig and the bones it moves, on one device: the root, then the controls."""

    axes: Float[Tensor, "M 3 3"]
    pivots: Float[Tensor, "M 3"]
    parents: Int[Tensor, "M"]
    drivers: Int[Tensor, "B"]
    neutral: Float[Tensor, "B 4 4"]
    """world_from_mesh of the bones in the neutral pose."""

    @classmethod
    def of(
        cls,
        rig: ControlRig,
        driver_index: Int[Tensor, "B"],
        neutral: Float[Tensor, "B 4 4"],
        device: torch.device,
    ) -> ControlKinematics:
        """For bones that the drivers of a rig move, float32."""

        def plain(tensor: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
            return tensor.detach().to(device=device, dtype=dtype).contiguous()

        return cls(
            plain(torch.cat((rig.root_axes[None], rig.axes))),
            plain(torch.cat((rig.root_pivot[None], rig.pivots))),
            plain(torch.tensor([-1, *(p + 1 for p in rig.parents)]), torch.int32),
            plain(driver_index, torch.int32),
            plain(neutral),
        )

    def transforms(self, pose: ControlPose) -> Float[Tensor, "*b B 4 4"]:
        """world_from_mesh of the bones, differentiably; any number of frames at once.

        The coordinates must have no joint translation.
        """
        angles = torch.cat((pose.root_rotation[..., None, :], pose.angles), dim=-2).to(self.axes)
        translation = pose.translation.to(self.axes)
        batch = translation.shape[:-1]
        bones: Any = _PoseBones.apply(
            translation.reshape(-1, 3), angles.reshape(-1, *angles.shape[-2:]), self
        )
        return bones.view(*batch, *bones.shape[1:])

    def views(self) -> list[Any]:
        """Warp views in the order of the kernels' arguments."""
        kinds = (wp.mat33, wp.vec3, wp.int32, wp.int32, wp.mat44)
        fields = (self.axes, self.pivots, self.parents, self.drivers, self.neutral)
        return [as_warp(tensor, kind) for tensor, kind in zip(fields, kinds, strict=True)]


class _PoseBones(torch.autograd.Function):
    """The bridge between autograd and the kernels."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, translation: Tensor, angles: Tensor, kinematics: ControlKinematics
    ) -> Tensor:
        frames, controls = angles.shape[:2]
        angles, translation = angles.contiguous(), translation.contiguous()
        turned, moved = angles.new_empty(frames, controls, 3, 3), torch.empty_like(angles)
        bones = angles.new_empty(frames, len(kinematics.drivers), 4, 4)
        inputs = [
            *kinematics.views(), as_warp(translation, wp.vec3), as_warp(angles, wp.vec3),
            as_warp(turned, wp.mat33), as_warp(moved, wp.vec3), as_warp(bones, wp.mat44),
        ]  # fmt: skip
        _launch(pose_bones, frames, inputs, angles.device)
        ctx.kinematics = kinematics
        ctx.save_for_backward(angles, turned)
        return bones

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_bones: Tensor) -> tuple[Tensor, Tensor, None]:  # type: ignore[override]
        angles, turned = ctx.saved_tensors
        d_bones = d_bones.contiguous()  # held: a Warp view owns nothing
        d_turned, d_moved = torch.zeros_like(turned), torch.zeros_like(angles)
        d_angles, d_translation = torch.empty_like(angles), torch.empty_like(angles[:, 0])
        inputs = [
            *ctx.kinematics.views(), as_warp(angles, wp.vec3), as_warp(turned, wp.mat33),
            as_warp(d_bones, wp.mat44), as_warp(d_turned, wp.mat33),
            as_warp(d_moved, wp.vec3), as_warp(d_translation, wp.vec3),
            as_warp(d_angles, wp.vec3),
        ]  # fmt: skip
        _launch(pose_bones_backward, len(angles), inputs, angles.device)
        return d_translation, d_angles, None


def _launch(kernel: Any, frames: int, inputs: list[Any], device: torch.device) -> None:
    with torch_stream(device):
        wp.launch(
            kernel, dim=frames, inputs=inputs, device=wp.device_from_torch(device),
            record_tape=False, block_dim=32,
        )  # fmt: skip
