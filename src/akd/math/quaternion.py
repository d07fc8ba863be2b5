"""Unit quaternions, wxyz, batched over any leading dimensions."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def identity(*shape: int, like: Tensor | None = None) -> Float[Tensor, "*shape 4"]:
    """Return identity quaternions of shape [*shape, 4], on the device and dtype of `like`."""
    q = torch.zeros(*shape, 4) if like is None else like.new_zeros(*shape, 4)
    q[..., 0] = 1.0
    return q


def normalize(q: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b 4"]:
    """Scale to unit length. The zero quaternion becomes zero, not NaN."""
    return q / q.norm(dim=-1, keepdim=True).clamp_min(1e-20)


def multiply(a: Float[Tensor, "*#b 4"], b: Float[Tensor, "*#b 4"]) -> Float[Tensor, "*_ 4"]:
    """Hamilton product: the rotation `b` followed by `a`."""
    aw, ax, ay, az = a.unbind(-1)
    bw, bx, by, bz = b.unbind(-1)
    return torch.stack(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ),
        dim=-1,
    )


def conjugate(q: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b 4"]:
    """Inverse of a unit quaternion."""
    return torch.cat((q[..., :1], -q[..., 1:]), dim=-1)


def rotate(q: Float[Tensor, "*#b 4"], v: Float[Tensor, "*#b 3"]) -> Float[Tensor, "*_ 3"]:
    """Rotate vectors by unit quaternions."""
    w, u = q[..., :1], q[..., 1:]
    u, v = torch.broadcast_tensors(u, v)
    t = 2.0 * torch.linalg.cross(u, v)
    return v + w * t + torch.linalg.cross(u, t)


def to_matrix(q: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b 3 3"]:
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = q.unbind(-1)
    rows = (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip
    return torch.stack(rows, dim=-1).unflatten(-1, (3, 3))


def from_matrix(m: Float[Tensor, "*b 3 3"]) -> Float[Tensor, "*b 4"]:
    """Unit quaternion of a rotation matrix, w >= 0.

    All four of the textbook forms are evaluated and the best-conditioned one is taken, so that the
    gradient is finite everywhere.
    """
    d = m.diagonal(dim1=-2, dim2=-1)
    m00, m11, m22 = d.unbind(-1)
    squares = torch.stack(
        (1 + m00 + m11 + m22, 1 + m00 - m11 - m22, 1 - m00 + m11 - m22, 1 - m00 - m11 + m22), -1
    )
    w_x, w_y, w_z = (
        m[..., 2, 1] - m[..., 1, 2],
        m[..., 0, 2] - m[..., 2, 0],
        m[..., 1, 0] - m[..., 0, 1],
    )
    x_y, x_z, y_z = (
        m[..., 1, 0] + m[..., 0, 1],
        m[..., 0, 2] + m[..., 2, 0],
        m[..., 2, 1] + m[..., 1, 2],
    )
    candidates = torch.stack(
        (
            torch.stack((squares[..., 0], w_x, w_y, w_z), -1),
            torch.stack((w_x, squares[..., 1], x_y, x_z), -1),
            torch.stack((w_y, x_y, squares[..., 2], y_z), -1),
            torch.stack((w_z, x_z, y_z, squares[..., 3]), -1),
        ),
        dim=-2,
    )
    best = squares.argmax(-1)[..., None, None].expand(*squares.shape[:-1], 1, 4)
    q = normalize(candidates.gather(-2, best).squeeze(-2))
    return torch.where(q[..., :1] < 0, -q, q)


def from_rotation_vector(v: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b 4"]:
    """Quaternion of the rotation by |v| radians about v."""
    square = (v * v).sum(-1, keepdim=True)
    small = square < 1e-8
    angle = torch.where(small, torch.ones_like(square), square).sqrt()
    half_sinc = torch.where(small, 0.5 - square / 48.0, torch.sin(0.5 * angle) / angle)
    w = torch.where(small, 1.0 - square / 8.0, torch.cos(0.5 * angle))
    return torch.cat((w, half_sinc * v), dim=-1)


def to_rotation_vector(q: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b 3"]:
    """Axis times angle in radians, the angle in [0, pi]."""
    q = torch.where(q[..., :1] < 0, -q, q)
    w, u = q[..., :1], q[..., 1:]
    square = (u * u).sum(-1, keepdim=True)
    small = square < 1e-12
    sine = torch.where(small, torch.ones_like(square), square).sqrt()
    factor = torch.where(small, 2.0 / w.clamp_min(1e-6), 2.0 * torch.atan2(sine, w) / sine)
    return factor * u


def about_axis(axis: Float[Tensor, "*#b 3"], angle: Float[Tensor, "*#b"]) -> Float[Tensor, "*_ 4"]:
    """Quaternion of the rotation by `angle` radians about a unit axis."""
    half = 0.5 * angle[..., None]
    half, axis = torch.broadcast_tensors(half, axis)
    return torch.cat((half[..., :1].cos(), half.sin() * axis), dim=-1)


def between(a: Float[Tensor, "*#b 3"], b: Float[Tensor, "*#b 3"]) -> Float[Tensor, "*_ 4"]:
    """Shortest rotation that takes direction `a` to direction `b` (both unit length)."""
    a, b = torch.broadcast_tensors(a, b)
    w = 1.0 + (a * b).sum(-1, keepdim=True)
    # Opposite directions: turn half way about any axis perpendicular to `a`.
    helper = torch.zeros_like(a).scatter_(-1, a.abs().argmin(-1, keepdim=True), 1.0)
    fallback = torch.cat((torch.zeros_like(w), torch.linalg.cross(a, helper)), dim=-1)
    q = torch.cat((w, torch.linalg.cross(a, b)), dim=-1)
    return normalize(torch.where(w < 1e-6, fallback, q))


def slerp(
    a: Float[Tensor, "*#b 4"], b: Float[Tensor, "*#b 4"], t: Float[Tensor, "*#b"]
) -> Float[Tensor, "*_ 4"]:
    """Spherical interpolation along the shorter arc; `t` is 0 at `a` and 1 at `b`."""
    t = t[..., None]
    cosine = (a * b).sum(-1, keepdim=True)
    b = torch.where(cosine < 0, -b, b)
    cosine = cosine.abs().clamp(max=1.0)
    near = cosine > 1.0 - 1e-7
    angle = torch.where(near, torch.ones_like(cosine), cosine.clamp(max=1.0 - 1e-7)).acos()
    sine = angle.sin()
    weight_a = torch.where(near, 1.0 - t, ((1.0 - t) * angle).sin() / sine)
    weight_b = torch.where(near, t, (t * angle).sin() / sine)
    return normalize(weight_a * a + weight_b * b)


def geodesic(a: Float[Tensor, "*#b 4"], b: Float[Tensor, "*#b 4"]) -> Float[Tensor, "*_"]:
    """Angle in radians, [0, pi], of the rotation between two orientations."""
    relative = multiply(conjugate(a), b)
    return 2.0 * torch.atan2(relative[..., 1:].norm(dim=-1), relative[..., 0].abs())


def make_continuous(q: Float[Tensor, "T *b 4"]) -> Float[Tensor, "T *b 4"]:
    """Choose the sign of every quaternion so that neighbours in time lie in one hemisphere."""
    if q.shape[0] < 2:
        return q
    flips = torch.where((q[1:] * q[:-1]).sum(-1, keepdim=True) < 0, -1.0, 1.0).to(q.dtype)
    signs = torch.cat((torch.ones_like(flips[:1]), torch.cumprod(flips, dim=0)), dim=0)
    return q * signs
