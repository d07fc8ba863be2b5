# type: ignore  # Warp compiles these functions; their annotations are its types
"""Warp kernels for CUDA: gradients from the image back to the cloud and to the bones.

Sums over Gaussians are made in a fixed order: every bone's Gaussians are listed once, the list is
cut into segments, a warp adds up a segment, and a lane adds up a bone's segments.
"""

from __future__ import annotations

import warp as wp

from akd.splat.kernel_project import project_backward_one, pull_covariance, pull_mean
from akd.splat.kernel_types import blend_transforms, mat34, no_type_check, vec6, vec9

wp.set_module_options({"enable_backward": False})


@wp.func_native("""
#if defined(__CUDA_ARCH__)
    for (int step = 16; step > 0; step >>= 1) mine += __shfl_xor_sync(0xffffffffu, mine, step);
#endif
    return mine;
""")
def sum_lanes(mine: wp.float32) -> wp.float32:
    """The sum over the lanes of a warp, always in the same order; on the CPU a lane is alone."""
    ...


@wp.kernel
@no_type_check
def project_backward_all(
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
    first_frame: int,
    frames_each: int,
    conics: wp.array2d(dtype=wp.vec3),
    gradients: wp.array2d(dtype=vec9),
    cloud_too: int,
    d_phi: wp.array2d(dtype=mat34),
    d_means: wp.array(dtype=wp.vec3),
    d_covariances: wp.array(dtype=vec6),
    d_colours: wp.array2d(dtype=wp.vec3),
    d_opacities: wp.array(dtype=float),
):
    """d loss / d phi of every Gaussian in `frames_each` frames, and sums over them for the cloud.

    `gradients` and `d_phi` hold the frames from `first_frame` on.
    """
    group, n = wp.tid()
    mean = means[n]
    factor = factors[n]
    s_mean = wp.vec3(0.0, 0.0, 0.0)
    s_covariance = vec6(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    s_colour = wp.vec3(0.0, 0.0, 0.0)
    s_opacity = float(0.0)
    for k in range(frames_each):
        i = group * frames_each + k
        t = first_frame + i
        conic = conics[t, n]
        if conic[0] == 0.0:
            d_phi[i, n] = mat34(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        else:
            g = gradients[i, n]
            phi = blend_transforms(transforms, t, n, bones, weights)
            one, flat, linear, d_opacity = project_backward_one(
                phi, mean, factor, intrinsics[t], width, height, conic,
                opacities[n], antialias, g,
            )  # fmt: skip
            d_phi[i, n] = one
            if cloud_too == 1:
                s_mean = s_mean + pull_mean(phi, one)
                s_covariance = s_covariance + pull_covariance(flat, linear)
                s_opacity = s_opacity + d_opacity
                c = wp.vec3(g[6], g[7], g[8])
                if d_colours.shape[0] > 1:
                    d_colours[t, n] = c
                else:
                    s_colour = s_colour + c
    if cloud_too == 1:
        d_means[n] = d_means[n] + s_mean
        d_covariances[n] = d_covariances[n] + s_covariance
        d_opacities[n] = d_opacities[n] + s_opacity
        if d_colours.shape[0] == 1:
            d_colours[0, n] = d_colours[0, n] + s_colour


@wp.kernel
@no_type_check
def sum_segments(
    entries: wp.array(dtype=wp.int32),
    segments: wp.array(dtype=wp.int32),
    weights: wp.array2d(dtype=float),
    d_phi: wp.array2d(dtype=mat34),
    lanes: int,
    partial: wp.array2d(dtype=mat34),
):
    """Weighted sum of d_phi over one segment of one bone's Gaussians, by the lanes of a warp."""
    t, segment, lane = wp.tid()
    influences = weights.shape[1]
    s = mat34(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    i = segments[segment] + lane
    end = segments[segment + 1]
    while i < end:
        entry = entries[i]
        n = entry / influences
        s = s + weights[n, entry % influences] * d_phi[t, n]
        i += lanes
    total = mat34(
        sum_lanes(s[0, 0]), sum_lanes(s[0, 1]), sum_lanes(s[0, 2]), sum_lanes(s[0, 3]),
        sum_lanes(s[1, 0]), sum_lanes(s[1, 1]), sum_lanes(s[1, 2]), sum_lanes(s[1, 3]),
        sum_lanes(s[2, 0]), sum_lanes(s[2, 1]), sum_lanes(s[2, 2]), sum_lanes(s[2, 3]),
    )  # fmt: skip
    if lane == 0:
        partial[t, segment] = total


@wp.kernel
@no_type_check
def sum_bones(
    first_segments: wp.array(dtype=wp.int32),
    partial: wp.array2d(dtype=mat34),
    first_frame: int,
    d_transforms: wp.array2d(dtype=mat34),
):
    """Sum of a bone's segments, in their order."""
    t, b = wp.tid()
    s = mat34(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for segment in range(first_segments[b], first_segments[b + 1]):
        s = s + partial[t, segment]
    d_transforms[first_frame + t, b] = s
