"""Affine transforms: translation, rotation and scale, and 4x4 matrices made of them.

A matrix named `a_from_b` takes points of frame b to frame a.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion


def compose(
    translation: Float[Tensor, "*#b 3"],
    rotation: Float[Tensor, "*#b 4"],
    scale: Float[Tensor, "*#b 3"],
) -> Float[Tensor, "*_ 4 4"]:
    """Matrix that scales, then rotates (unit wxyz), then translates."""
    linear = quaternion.to_matrix(rotation) * scale[..., None, :]
    return from_linear(linear, translation)


def from_linear(
    linear: Float[Tensor, "*#b 3 3"], translation: Float[Tensor, "*#b 3"]
) -> Float[Tensor, "*_ 4 4"]:
    """Matrix with the given 3x3 part and translation."""
    shape = torch.broadcast_tensors(linear[..., 0], translation)[0].shape[:-1]
    upper = torch.cat(
        (linear.expand(*shape, 3, 3), translation.expand(*shape, 3)[..., None]), dim=-1
    )
    bottom = upper.new_tensor((0.0, 0.0, 0.0, 1.0)).expand(*shape, 1, 4)
    return torch.cat((upper, bottom), dim=-2)


def decompose(
    matrix: Float[Tensor, "*b 4 4"],
) -> tuple[Float[Tensor, "*b 3"], Float[Tensor, "*b 4"], Float[Tensor, "*b 3"]]:
    """Translation, rotation (wxyz) and scale whose composition is `matrix`.

    A mirror image comes out as a negative x scale. Shear, which translation, rotation and scale
    cannot express, is dropped: the rotation is then that of the orthonormalised columns.
    """
    linear = matrix[..., :3, :3]
    scale = linear.norm(dim=-2)
    mirrored = torch.linalg.det(linear) < 0
    flip = torch.where(mirrored, -1.0, 1.0).to(scale.dtype)
    scale = torch.cat((scale[..., :1] * flip[..., None], scale[..., 1:]), dim=-1)
    # Where a scale is zero its column says nothing: the other two still fix the rotation.
    columns = linear / torch.where(scale.abs() < 1e-20, torch.ones_like(scale), scale)[..., None, :]
    x, y, z = columns.unbind(-1)
    x = torch.where((x.norm(dim=-1, keepdim=True) < 0.5), torch.linalg.cross(y, z), x)
    x = _direction(x, torch.linalg.cross(y, z), (1.0, 0.0, 0.0))
    y = y - (x * y).sum(-1, keepdim=True) * x
    y = _direction(y, torch.linalg.cross(z, x), (0.0, 1.0, 0.0), avoid=x)
    z = torch.linalg.cross(x, y)
    rotation = quaternion.from_matrix(torch.stack((x, y, z), dim=-1))
    return matrix[..., :3, 3], rotation, scale


def _direction(
    v: Tensor, fallback: Tensor, last: tuple[float, float, float], avoid: Tensor | None = None
) -> Tensor:
    """Unit vector along `v`, along `fallback` where v vanishes, else perpendicular to `avoid`."""
    default = v.new_tensor(last).expand_as(v)
    if avoid is not None:
        helper = torch.zeros_like(v).scatter_(-1, avoid.abs().argmin(-1, keepdim=True), 1.0)
        default = helper - (helper * avoid).sum(-1, keepdim=True) * avoid
    for candidate in (fallback, v):
        length = candidate.norm(dim=-1, keepdim=True)
        default = torch.where(length < 1e-6, default, candidate / length.clamp_min(1e-20))
    return default / default.norm(dim=-1, keepdim=True)


def inverse(matrix: Float[Tensor, "*b 4 4"]) -> Float[Tensor, "*b 4 4"]:
    """Inverse of an affine matrix."""
    linear = torch.linalg.inv(matrix[..., :3, :3])
    return from_linear(linear, -(linear @ matrix[..., :3, 3:]).squeeze(-1))


def pseudo_inverse(matrix: Float[Tensor, "*b 4 4"]) -> Float[Tensor, "*b 4 4"]:
    """Inverse of an affine matrix, with the pseudo-inverse of a 3x3 part that is singular."""
    given = matrix[..., :3, :3]
    size = torch.linalg.matrix_norm(given)
    singular = torch.linalg.det(given).abs() <= 8.0 * torch.finfo(size.dtype).eps * size**3
    linear = torch.linalg.inv_ex(given).inverse
    if bool(singular.any()):
        linear = torch.where(singular[..., None, None], torch.linalg.pinv(given), linear)
    return from_linear(linear, -(linear @ matrix[..., :3, 3:]).squeeze(-1))


def apply(
    matrix: Float[Tensor, "*#b 4 4"], points: Float[Tensor, "*#b 3"]
) -> Float[Tensor, "*_ 3"]:
    """Take points through affine matrices."""
    return (matrix[..., :3, :3] @ points[..., None]).squeeze(-1) + matrix[..., :3, 3]


def about_point(
    rotation: Float[Tensor, "*#b 4"], point: Float[Tensor, "*#b 3"]
) -> Float[Tensor, "*_ 4 4"]:
    """The rigid transform that rotates about a fixed point."""
    return from_linear(quaternion.to_matrix(rotation), point - quaternion.rotate(rotation, point))
