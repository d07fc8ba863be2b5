# type: ignore  # Warp compiles these functions; their annotations are its types
"""Warp kernels: skin, project, and the backward of both. One source for the CPU and CUDA."""

from __future__ import annotations

import warp as wp

from akd.splat.kernel_types import (
    ALPHA_MIN,
    FAR,
    FARTHEST,
    LOW_PASS,
    MARGIN,
    NEAR,
    WIDEST,
    blend_transforms,
    linear_part,
    mat23,
    mat34,
    no_type_check,
    perspective,
    reach,
    seen_from_camera,
    vec6,
    vec9,
)

wp.set_module_options({"enable_backward": False})

NEVER = wp.constant(wp.int64(0x7FFFFFFFFFFFFFFF))
"""Sort key of a Gaussian that is not drawn: behind all others."""


@wp.kernel
@no_type_check
def project(
    transforms: wp.array2d(dtype=mat34),
    bones: wp.array2d(dtype=wp.int32),
    weights: wp.array2d(dtype=float),
    means: wp.array(dtype=wp.vec3),
    factors: wp.array(dtype=wp.mat33),
    opacities: wp.array(dtype=float),
    intrinsics: wp.array(dtype=wp.vec4),
    width: int,
    height: int,
    antialias: int,
    grounds: wp.array(dtype=wp.vec4),
    first_frame: int,
    first_splat: int,
    centres: wp.array2d(dtype=wp.vec2),
    conics: wp.array2d(dtype=wp.vec3),
    extents: wp.array2d(dtype=wp.vec2),
    strengths: wp.array2d(dtype=float),
    keys: wp.array2d(dtype=wp.int64),
):
    """Centre, inverse covariance, half size of the box where alpha >= ALPHA_MIN, opacity, sort key.

    A key is the depth's bits and, below them, the index: sorting keys sorts by depth, and equal
    depths keep the order of the cloud. A Gaussian that is not drawn has a conic of zeros.
    """
    i, j = wp.tid()
    t = first_frame + i
    n = first_splat + j
    keys[t, n] = NEVER
    extents[t, n] = wp.vec2(-1.0, -1.0)
    conics[t, n] = wp.vec3(0.0, 0.0, 0.0)
    phi = blend_transforms(transforms, t, n, bones, weights)
    seen = seen_from_camera(phi, means[n])
    o = opacities[n]
    if not (seen[2] >= NEAR and seen[2] <= FAR and o >= ALPHA_MIN):
        return
    if grounds.shape[0] > 0:
        g = grounds[t]
        if g[0] * seen[0] + g[1] * seen[1] + g[2] * seen[2] + g[3] < 0.0:
            return
    k = intrinsics[t]
    spread = linear_part(phi) * factors[n]
    widest = WIDEST * seen[2]
    # Written so that NaN fails it too.
    if not (wp.ddot(spread, spread) < widest * widest):
        return
    a = perspective(seen, k, width, height) * spread
    r0 = wp.vec3(a[0, 0], a[0, 1], a[0, 2])
    r1 = wp.vec3(a[1, 0], a[1, 1], a[1, 2])
    xx = wp.dot(r0, r0)
    xy = wp.dot(r0, r1)
    yy = wp.dot(r1, r1)
    iz = 1.0 / seen[2]
    x = k[0] * seen[0] * iz + k[2]
    y = k[1] * seen[1] * iz + k[3]
    inside = wp.abs(x) < FARTHEST and wp.abs(y) < FARTHEST
    if not (inside and xx + LOW_PASS < FARTHEST * FARTHEST and yy + LOW_PASS < FARTHEST * FARTHEST):
        return
    # Lagrange's identity: for a needle, xx * yy - xy * xy would lose every digit.
    cross = wp.cross(r0, r1)
    sharp = wp.dot(cross, cross)
    det = sharp + LOW_PASS * (xx + yy) + LOW_PASS * LOW_PASS
    if antialias == 1:
        o = o * wp.sqrt(sharp / det)
        if not (o >= ALPHA_MIN):
            return
    xx += LOW_PASS
    yy += LOW_PASS
    size = wp.sqrt(reach(o))
    ex = size * wp.sqrt(xx)
    ey = size * wp.sqrt(yy)
    if x + ex < 0.0 or x - ex > float(width) or y + ey < 0.0 or y - ey > float(height):
        return
    centres[t, n] = wp.vec2(x, y)
    conics[t, n] = wp.vec3(yy / det, -xy / det, xx / det)
    extents[t, n] = wp.vec2(ex, ey)
    strengths[t, n] = o
    bits = wp.int64(wp.cast(seen[2], wp.int32))
    keys[t, n] = (bits << wp.int64(32)) | wp.int64(n)


@wp.func
@no_type_check
def project_backward_one(
    phi: mat34,
    mean: wp.vec3,
    factor: wp.mat33,
    k: wp.vec4,
    width: int,
    height: int,
    conic: wp.vec3,
    opacity: float,
    antialias: int,
    g: vec9,
):
    """Back through the projection of one Gaussian.

    Returns d loss / d phi (3x4), 2x2 d loss / d projected covariance, the 2x3 map from the mesh to
    the image, and d loss / d opacity.
    """
    seen = seen_from_camera(phi, mean)
    linear = linear_part(phi)
    p = perspective(seen, k, width, height)
    spread = linear * factor
    a = p * spread
    q = wp.mat22(conic[0], conic[1], conic[1], conic[2])
    # d loss / d conic, symmetric, then through the inverse: dC = -Q dQ Q.
    flat = -(q * wp.mat22(g[2], 0.5 * g[3], 0.5 * g[3], g[4]) * q)
    d_opacity = g[5]
    if antialias == 1:
        # k = sqrt(det S / det (S + low-pass)); dk = k/2 (S^-1 - (S + low-pass)^-1) : dS. What is
        # drawn has k >= ALPHA_MIN, so det S is not zero.
        r0 = wp.vec3(a[0, 0], a[0, 1], a[0, 2])
        r1 = wp.vec3(a[1, 0], a[1, 1], a[1, 2])
        cross = wp.cross(r0, r1)
        sharp = wp.dot(cross, cross)
        xx = wp.dot(r0, r0)
        xy = wp.dot(r0, r1)
        yy = wp.dot(r1, r1)
        k2 = sharp / (sharp + LOW_PASS * (xx + yy) + LOW_PASS * LOW_PASS)
        scale = wp.sqrt(k2)
        inverse = wp.mat22(yy / sharp, -xy / sharp, -xy / sharp, xx / sharp)
        flat = flat + (0.5 * g[5] * opacity * scale) * (inverse - q)
        d_opacity = g[5] * scale
    d_a = 2.0 * (flat * a)
    d_p = d_a * wp.transpose(spread)
    d_linear = wp.transpose(p) * d_a * wp.transpose(factor)
    fx = k[0]
    fy = k[1]
    iz = 1.0 / seen[2]
    iz2 = iz * iz
    mx = MARGIN * 0.5 * float(width) / fx
    my = MARGIN * 0.5 * float(height) / fy
    u = seen[0] * iz
    v = seen[1] * iz
    dx = g[0] * fx * iz
    dy = g[1] * fy * iz
    dz = -(g[0] * fx * u + g[1] * fy * v) * iz - (d_p[0, 0] * fx + d_p[1, 1] * fy) * iz2
    if u >= -(k[2] / fx + mx) and u <= (float(width) - k[2]) / fx + mx:
        dx -= d_p[0, 2] * fx * iz2
        dz += 2.0 * d_p[0, 2] * fx * u * iz2
    else:
        # Held at the margin: only 1 / z is left to vary.
        dz -= d_p[0, 2] * p[0, 2] * iz
    if v >= -(k[3] / fy + my) and v <= (float(height) - k[3]) / fy + my:
        dy -= d_p[1, 2] * fy * iz2
        dz += 2.0 * d_p[1, 2] * fy * v * iz2
    else:
        dz -= d_p[1, 2] * p[1, 2] * iz
    d_linear = d_linear + wp.outer(wp.vec3(dx, dy, dz), mean)
    d_phi = mat34(
        d_linear[0, 0], d_linear[0, 1], d_linear[0, 2], dx,
        d_linear[1, 0], d_linear[1, 1], d_linear[1, 2], dy,
        d_linear[2, 0], d_linear[2, 1], d_linear[2, 2], dz,
    )  # fmt: skip
    return d_phi, flat, p * linear, d_opacity


@wp.func
@no_type_check
def pull_mean(phi: mat34, d_phi: mat34):
    """Gradient of a Gaussian's centre in the mesh from that of its transform."""
    return wp.transpose(linear_part(phi)) * wp.vec3(d_phi[0, 3], d_phi[1, 3], d_phi[2, 3])


@wp.func
@no_type_check
def pull_covariance(flat: wp.mat22, linear: mat23):
    """Gradient of the 3D covariance (xx, xy, xz, yy, yz, zz) from that of the 2D one."""
    s = wp.transpose(linear) * flat * linear
    return vec6(s[0, 0], s[0, 1], s[0, 2], s[1, 1], s[1, 2], s[2, 2])


@wp.kernel
@no_type_check
def project_backward(
    transforms: wp.array2d(dtype=mat34),
    bones: wp.array2d(dtype=wp.int32),
    weights: wp.array2d(dtype=float),
    means: wp.array(dtype=wp.vec3),
    factors: wp.array(dtype=wp.mat33),
    opacities: wp.array(dtype=float),
    intrinsics: wp.array(dtype=wp.vec4),
    width: int,
    height: int,
    antialias: int,
    t: int,
    first_splat: int,
    bone_slot: int,
    slot: int,
    conics: wp.array2d(dtype=wp.vec3),
    flat_slot: int,
    flat_gradients: wp.array3d(dtype=vec9),
    layer: int,
    cloud_too: int,
    d_transforms: wp.array3d(dtype=mat34),
    d_means: wp.array2d(dtype=wp.vec3),
    d_covariances: wp.array2d(dtype=vec6),
    d_colours: wp.array3d(dtype=wp.vec3),
    d_opacities: wp.array2d(dtype=float),
):
    """CPU: gradients of one frame, added to the arrays of one `slot`, Gaussian after Gaussian.

    The lanes of a CPU launch run in order on one thread, and no two threads share a slot (or, for
    `d_transforms`, a slot's frame), so the sums are made in a fixed order.
    """
    n = first_splat + wp.tid()
    if conics[t, n][0] == 0.0:
        return
    g = flat_gradients[flat_slot, 0, n]
    for band in range(1, flat_gradients.shape[1]):
        g = g + flat_gradients[flat_slot, band, n]
    phi = blend_transforms(transforms, t, n, bones, weights)
    mean = means[n]
    d_phi, flat, linear, d_opacity = project_backward_one(
        phi, mean, factors[n], intrinsics[t], width, height, conics[t, n],
        opacities[n], antialias, g,
    )  # fmt: skip
    for k in range(bones.shape[1]):
        w = weights[n, k]
        if w != 0.0:
            b = bones[n, k]
            d_transforms[bone_slot, t, b] = d_transforms[bone_slot, t, b] + w * d_phi
    if cloud_too == 1:
        d_means[slot, n] = d_means[slot, n] + pull_mean(phi, d_phi)
        d_covariances[slot, n] = d_covariances[slot, n] + pull_covariance(flat, linear)
        d_opacities[slot, n] = d_opacities[slot, n] + d_opacity
        c = wp.vec3(g[6], g[7], g[8])
        d_colours[slot, layer, n] = d_colours[slot, layer, n] + c
