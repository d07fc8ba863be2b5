# type: ignore  # Warp compiles these functions; their annotations are its types
"""Warp kernels of the CPU: one lane walks a frame's Gaussians front to back over their pixels.

No tiles, no lists, no atomics. The backward also runs front to back: with T the transmittance in
front of a Gaussian and R the colour behind it, weighted by the incoming gradient g, d alpha =
T g.c - R / (1 - alpha).
"""

from __future__ import annotations

import warp as wp

from akd.splat.kernel_types import (
    ALPHA_MAX,
    ALPHA_MIN,
    STOP,
    end_pixel,
    first_pixel,
    no_type_check,
    reach,
    vec9,
)

wp.set_module_options({"enable_backward": False, "optimization_level": 3})

RESEED = wp.constant(15)
"""The exponential is continued along a row by multiplication, and recomputed every 16 pixels."""


@wp.func
@no_type_check
def row_span(m: wp.vec2, q: wp.vec3, reach2: float, dy: float, width: int):
    """Pixels [start, end) of a row, dy below the centre, that the ellipse alpha >= ALPHA_MIN cuts.

    Of conic 00 x^2 + 2 01 x y + 11 y^2 = reach, solved for x.
    """
    start = int(0)
    end = int(0)
    inverse = 1.0 / q[0]
    disc = q[0] * reach2 - (q[0] * q[2] - q[1] * q[1]) * dy * dy
    if disc > 0.0:
        middle = m[0] - q[1] * inverse * dy
        half = wp.sqrt(disc) * inverse
        # Rounding may take a sliver; the exact test on alpha follows anyway.
        half = half + 1.0e-3 + 1.0e-5 * half
        start = first_pixel(middle - half, 0, width)
        end = end_pixel(middle + half, 0, width)
    return start, end


@wp.func
@no_type_check
def start_falloff(q: wp.vec3, dx: float, dy: float):
    """exp(-distance^2 / 2) at a pixel, and its ratio to that of the next pixel of the row."""
    yy = -0.5 * q[2] * dy * dy
    xy = -q[1] * dy
    return wp.exp((-0.5 * q[0] * dx + xy) * dx + yy), wp.exp(-q[0] * (dx + 0.5) + xy)


@wp.kernel
@no_type_check
def blend(
    keys: wp.array2d(dtype=wp.int64),
    never: wp.int64,
    centres: wp.array2d(dtype=wp.vec2),
    conics: wp.array2d(dtype=wp.vec3),
    extents: wp.array2d(dtype=wp.vec2),
    strengths: wp.array2d(dtype=float),
    colours: wp.array2d(dtype=wp.vec3),
    width: int,
    height: int,
    t: int,
    band: int,
    bands: int,
    image: wp.array2d(dtype=wp.vec3),
    transmittance: wp.array2d(dtype=float),
):
    """Forward over the rows of one band of one frame. A finished pixel has a negative value."""
    low = (height * band) / bands
    high = (height * (band + 1)) / bands
    layer = wp.min(t, colours.shape[0] - 1)
    for p in range(low * width, high * width):
        image[t, p] = wp.vec3(0.0, 0.0, 0.0)
        transmittance[t, p] = 1.0
    for i in range(keys.shape[1]):
        key = keys[t, i]
        if key == never:
            break
        n = int(key & wp.int64(0xFFFFFFFF))
        m = centres[t, n]
        ey = extents[t, n][1]
        y0 = first_pixel(m[1] - ey, low, high)
        y1 = end_pixel(m[1] + ey, low, high)
        if y0 < y1:
            q = conics[t, n]
            c = colours[layer, n]
            o = strengths[t, n]
            reach2 = reach(o)
            ratio_step = wp.exp(-q[0])
            for y in range(y0, y1):
                dy = float(y) + 0.5 - m[1]
                x0, x1 = row_span(m, q, reach2, dy, width)
                value = float(0.0)
                ratio = float(0.0)
                for x in range(x0, x1):
                    p = y * width + x
                    if ((x - x0) & RESEED) == 0:
                        dx = float(x) + 0.5 - m[0]
                        value, ratio = start_falloff(q, dx, dy)
                    e = value
                    value = value * ratio
                    ratio = ratio * ratio_step
                    left = transmittance[t, p]
                    alpha = o * e
                    if left > 0.0 and alpha >= ALPHA_MIN:
                        alpha = wp.min(alpha, ALPHA_MAX)
                        rest = left * (1.0 - alpha)
                        if rest <= STOP:
                            transmittance[t, p] = -left
                        else:
                            image[t, p] = image[t, p] + (alpha * left) * c
                            transmittance[t, p] = rest
    for p in range(low * width, high * width):
        transmittance[t, p] = wp.abs(transmittance[t, p])


@wp.kernel
@no_type_check
def blend_backward(
    keys: wp.array2d(dtype=wp.int64),
    never: wp.int64,
    centres: wp.array2d(dtype=wp.vec2),
    conics: wp.array2d(dtype=wp.vec3),
    extents: wp.array2d(dtype=wp.vec2),
    strengths: wp.array2d(dtype=float),
    colours: wp.array2d(dtype=wp.vec3),
    width: int,
    height: int,
    t: int,
    band: int,
    bands: int,
    image: wp.array2d(dtype=wp.vec3),
    transmittance: wp.array2d(dtype=float),
    d_image: wp.array2d(dtype=wp.vec3),
    d_transmittance: wp.array2d(dtype=float),
    slot: int,
    lefts: wp.array2d(dtype=float),
    comings: wp.array2d(dtype=float),
    gradients: wp.array3d(dtype=vec9),
):
    """Gradients of one band of one frame, a vec9 per Gaussian, into gradients[slot, band]."""
    low = (height * band) / bands
    high = (height * (band + 1)) / bands
    layer = wp.min(t, colours.shape[0] - 1)
    for p in range(low * width, high * width):
        lefts[slot, p] = 1.0
        through_all = transmittance[t, p] * d_transmittance[t, p]
        comings[slot, p] = wp.dot(image[t, p], d_image[t, p]) + through_all
    for i in range(keys.shape[1]):
        key = keys[t, i]
        if key == never:
            break
        n = int(key & wp.int64(0xFFFFFFFF))
        m = centres[t, n]
        ey = extents[t, n][1]
        y0 = first_pixel(m[1] - ey, low, high)
        y1 = end_pixel(m[1] + ey, low, high)
        g0 = float(0.0)
        g1 = float(0.0)
        g2 = float(0.0)
        g3 = float(0.0)
        g4 = float(0.0)
        g5 = float(0.0)
        g6 = float(0.0)
        g7 = float(0.0)
        g8 = float(0.0)
        if y0 < y1:
            q = conics[t, n]
            c = colours[layer, n]
            o = strengths[t, n]
            reach2 = reach(o)
            ratio_step = wp.exp(-q[0])
            for y in range(y0, y1):
                dy = float(y) + 0.5 - m[1]
                x0, x1 = row_span(m, q, reach2, dy, width)
                value = float(0.0)
                ratio = float(0.0)
                for x in range(x0, x1):
                    p = y * width + x
                    dx = float(x) + 0.5 - m[0]
                    if ((x - x0) & RESEED) == 0:
                        value, ratio = start_falloff(q, dx, dy)
                    e = value
                    value = value * ratio
                    ratio = ratio * ratio_step
                    left = lefts[slot, p]
                    alpha = o * e
                    if left > 0.0 and alpha >= ALPHA_MIN:
                        clamped = alpha > ALPHA_MAX
                        alpha = wp.min(alpha, ALPHA_MAX)
                        through = 1.0 - alpha
                        rest = left * through
                        if rest <= STOP:
                            lefts[slot, p] = -left
                        else:
                            lefts[slot, p] = rest
                            share = alpha * left
                            g = d_image[t, p]
                            g6 += share * g[0]
                            g7 += share * g[1]
                            g8 += share * g[2]
                            along = wp.dot(g, c)
                            coming = comings[slot, p] - share * along
                            comings[slot, p] = coming
                            if not clamped:
                                d_alpha = left * along - coming / through
                                g5 += d_alpha * e
                                d_power = d_alpha * alpha
                                g0 += d_power * (q[0] * dx + q[1] * dy)
                                g1 += d_power * (q[2] * dy + q[1] * dx)
                                g2 += d_power * dx * dx
                                g3 += d_power * dx * dy
                                g4 += d_power * dy * dy
        gradients[slot, band, n] = vec9(g0, g1, -0.5 * g2, -g3, -0.5 * g4, g5, g6, g7, g8)
