# type: ignore  # Warp compiles these functions; their annotations are its types
"""Warp types and small functions that the CPU and the CUDA kernels share."""

from __future__ import annotations

import warp as wp

from akd.base.warp_runtime import no_type_check, start_warp
from akd.splat import rules

start_warp()

mat34 = wp.types.matrix(shape=(3, 4), dtype=wp.float32)
mat23 = wp.types.matrix(shape=(2, 3), dtype=wp.float32)
vec6 = wp.types.vector(length=6, dtype=wp.float32)
vec9 = wp.types.vector(length=9, dtype=wp.float32)
"""Gradient of a projected Gaussian: centre x, y; conic xx, xy, yy; opacity; red, green, blue."""

LOW_PASS = wp.constant(rules.LOW_PASS)
ALPHA_MIN = wp.constant(rules.ALPHA_MIN)
ALPHA_MAX = wp.constant(rules.ALPHA_MAX)
STOP = wp.constant(rules.STOP)
NEAR = wp.constant(rules.NEAR)
FAR = wp.constant(rules.FAR)
WIDEST = wp.constant(rules.WIDEST)
MARGIN = wp.constant(rules.MARGIN)
FARTHEST = wp.constant(rules.FARTHEST)


@wp.func
@no_type_check
def blend_transforms(
    transforms: wp.array2d(dtype=mat34),
    t: int,
    n: int,
    bones: wp.array2d(dtype=wp.int32),
    weights: wp.array2d(dtype=float),
):
    """camera_from_mesh of Gaussian n in frame t: the weighted sum over its bones."""
    phi = weights[n, 0] * transforms[t, bones[n, 0]]
    for k in range(1, bones.shape[1]):
        w = weights[n, k]
        if w != 0.0:
            phi = phi + w * transforms[t, bones[n, k]]
    return phi


@wp.func
@no_type_check
def linear_part(phi: mat34):
    """The 3x3 part of an affine map."""
    return wp.mat33(
        phi[0, 0], phi[0, 1], phi[0, 2],
        phi[1, 0], phi[1, 1], phi[1, 2],
        phi[2, 0], phi[2, 1], phi[2, 2],
    )  # fmt: skip


@wp.func
@no_type_check
def seen_from_camera(phi: mat34, mean: wp.vec3):
    """The Gaussian's centre in the camera's frame."""
    return linear_part(phi) * mean + wp.vec3(phi[0, 3], phi[1, 3], phi[2, 3])


@wp.func
@no_type_check
def perspective(seen: wp.vec3, k: wp.vec4, width: int, height: int):
    """Jacobian of the projection, linearised at the nearest trusted direction (rules.MARGIN)."""
    iz = 1.0 / seen[2]
    mx = MARGIN * 0.5 * float(width) / k[0]
    my = MARGIN * 0.5 * float(height) / k[1]
    u = wp.clamp(seen[0] * iz, -(k[2] / k[0] + mx), (float(width) - k[2]) / k[0] + mx)
    v = wp.clamp(seen[1] * iz, -(k[3] / k[1] + my), (float(height) - k[3]) / k[1] + my)
    return mat23(k[0] * iz, 0.0, -k[0] * u * iz, 0.0, k[1] * iz, -k[1] * v * iz)


@wp.func
@no_type_check
def reach(opacity: float):
    """Square of the distance, in standard deviations, at which alpha falls to ALPHA_MIN."""
    return 2.0 * wp.log(opacity / ALPHA_MIN)


@wp.func
@no_type_check
def first_pixel(edge: float, lowest: int, highest: int):
    """The first pixel whose centre lies at or beyond `edge`, kept in [lowest, highest]."""
    return int(wp.clamp(wp.ceil(edge - 0.5), float(lowest), float(highest)))


@wp.func
@no_type_check
def end_pixel(edge: float, lowest: int, highest: int):
    """One past the last pixel whose centre lies at or before `edge`, kept in [lowest, highest]."""
    return int(wp.clamp(wp.floor(edge - 0.5) + 1.0, float(lowest), float(highest)))
