"""`Kinematics`: forward kinematics of one body, compiled, on the CPU or on CUDA."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
import warp as wp
from jaxtyping import Float
from torch import Tensor

from akd.base.warp_runtime import as_warp, build_once, load_kernel, start_warp, torch_stream
from akd.physics.body import Body, Coordinates, Placement
from akd.physics.kinematics_kernel import build_kinematics

_BLOCK = 32


@build_once
def _kernels(dtype: torch.dtype) -> SimpleNamespace:
    start_warp()
    return build_kinematics({torch.float32: wp.float32, torch.float64: wp.float64}[dtype])


@dataclass(frozen=True)
class MarkedPlacement(Placement):
    """A placement that knows its centres and corners."""

    marks: Float[Tensor, "*b B 9 3"]
    """World positions of the centre and the corners of every part, metres."""

    def centres(self, body: Body) -> Float[Tensor, "*b B 3"]:
        """See `Placement.centres`."""
        return self.marks[..., 0, :]

    def corners(self, body: Body) -> Float[Tensor, "*b B 8 3"]:
        """See `Placement.corners`."""
        return self.marks[..., 1:, :]


class Kinematics:
    """`body.place` in one launch, differentiable with respect to the coordinates."""

    def __init__(
        self, body: Body, *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu"
    ) -> None:
        self._kernels = _kernels(dtype)
        self._device = wp.device_from_torch(torch.device(device))
        load_kernel(self._kernels.forward, self._device, block_dim=_BLOCK)
        pivots = body.pivots
        above = torch.tensor(body.parents).clamp_min(0)
        marks = torch.cat((body.centres[:, None], body.corners), dim=1) - pivots[:, None]

        def put(tensor: Tensor, dtype: torch.dtype = dtype) -> Tensor:
            return tensor.to(device=device, dtype=dtype).contiguous()

        self._parents = put(torch.tensor(body.parents), torch.int32)
        self._arms, self._axes, self._marks = map(put, (pivots - pivots[above], body.axes, marks))

    def place(self, at: Coordinates) -> MarkedPlacement:
        """The world transform of every part, with centres and corners."""
        batch = at.position.shape[:-1]
        frames = math.prod(batch)
        flat = (
            at.position.reshape(frames, 3), at.rotation.reshape(frames, 4),
            at.angles.reshape(frames, len(self._arms) - 1, 3),
        )  # fmt: skip
        parts: Any = _Place.apply(self, *(part.to(self._arms) for part in flat))
        return MarkedPlacement(*(part.view(*batch, *part.shape[1:]) for part in parts))

    def launch(self, name: str, frames: int, arrays: list[tuple[Tensor, str]]) -> None:
        """Launch the kernel `forward` or `backward` over tensors and the names of their types."""
        kinds = self._kernels
        model = [(self._arms, "vec3"), (self._axes, "mat3"), (self._marks, "vec3")]
        views = [as_warp(tensor, getattr(kinds, kind)) for tensor, kind in (*model, *arrays)]
        with torch_stream(self._arms.device):
            wp.launch(
                getattr(kinds, name), dim=frames, inputs=[as_warp(self._parents, wp.int32), *views],
                device=self._device, record_tape=False, block_dim=_BLOCK,
            )  # fmt: skip

    def empty(self, frames: int) -> tuple[Tensor, Tensor, Tensor]:
        """Memory for origins, rotations and marks."""
        parts, marks = self._marks.shape[:2]
        shapes = ((frames, parts, 3), (frames, parts, 4), (frames, parts, marks, 3))
        origins, rotations, points = (self._arms.new_empty(shape) for shape in shapes)
        return origins, rotations, points


class _Place(torch.autograd.Function):
    """The bridge between autograd and the kernels."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, kinematics: Kinematics, position: Tensor, rotation: Tensor, angles: Tensor
    ) -> tuple[Tensor, ...]:
        position, rotation, angles = (t.contiguous() for t in (position, rotation, angles))
        origins, rotations, points = kinematics.empty(len(angles))
        kinematics.launch(
            "forward", len(angles),
            [(position, "vec3"), (rotation, "vec4"), (angles, "vec3"), (origins, "vec3"),
             (rotations, "vec4"), (points, "vec3")],
        )  # fmt: skip
        ctx.kinematics = kinematics
        ctx.save_for_backward(angles, rotations)
        return origins, rotations, points

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(  # type: ignore[override]
        ctx: Any, d_origins: Tensor, d_rotations: Tensor, d_points: Tensor
    ) -> tuple[None, Tensor, Tensor, Tensor]:
        angles, rotations = ctx.saved_tensors
        d_points, d_angles = d_points.contiguous(), torch.empty_like(angles)
        # Copied: the kernel adds to them.
        d_origins, d_rotations = (
            d.clone(memory_format=torch.contiguous_format) for d in (d_origins, d_rotations)
        )
        ctx.kinematics.launch(
            "backward", len(angles),
            [(angles, "vec3"), (rotations, "vec4"), (d_points, "vec3"), (d_origins, "vec3"),
             (d_rotations, "vec4"), (d_angles, "vec3")],
        )  # fmt: skip
        return None, d_origins[:, 0], d_rotations[:, 0], d_angles
