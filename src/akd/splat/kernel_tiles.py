# type: ignore  # Warp compiles these functions; their annotations are its types
"""Warp kernels for CUDA: blend the sorted list of each tile, one lane per pixel.

A warp of 32 lanes covers 8 x 4 pixels and walks its tile's list together. In the backward it adds
up its lanes by shuffles before one atomic addition. The same kernels run on the CPU, lane after
lane, where the tests compare them with the reference implementation.
"""

from __future__ import annotations

import warp as wp

from akd.splat.kernel_types import ALPHA_MAX, ALPHA_MIN, STOP, no_type_check, vec9

wp.set_module_options({"enable_backward": False, "fast_math": True})


# (A native function that returns a value may carry no second decorator.)
@wp.func_native("""
#if defined(__CUDA_ARCH__)
    return __any_sync(0xffffffffu, mine) != 0;
#else
    return mine;
#endif
""")
def any_lane(mine: wp.int32) -> wp.int32:
    """1 where any lane of the warp says 1; on the CPU a lane is alone."""
    ...


@wp.func_native("""
    float* to = reinterpret_cast<float*>(out.data) + size_t(9) * size_t(index);
#if defined(__CUDA_ARCH__)
    // Eight sums over 32 lanes in nine shuffles: at each step a lane hands over the half of its
    // values that the lane across keeps, until each group of four lanes holds one sum.
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x & 31;
    float a[4], b[2], c;
    const bool upper = lane & 16, middle = lane & 8, lower = lane & 4;
    for (int k = 0; k < 4; ++k) {
        const float keep = upper ? v[k + 4] : v[k];
        const float give = upper ? v[k] : v[k + 4];
        a[k] = keep + __shfl_xor_sync(all, give, 16);
    }
    for (int k = 0; k < 2; ++k) {
        const float keep = middle ? a[k + 2] : a[k];
        const float give = middle ? a[k] : a[k + 2];
        b[k] = keep + __shfl_xor_sync(all, give, 8);
    }
    {
        const float keep = lower ? b[1] : b[0];
        const float give = lower ? b[0] : b[1];
        c = keep + __shfl_xor_sync(all, give, 4);
    }
    c += __shfl_xor_sync(all, c, 2);
    c += __shfl_xor_sync(all, c, 1);
    const int which = (upper ? 4 : 0) + (middle ? 2 : 0) + (lower ? 1 : 0);
    if ((lane & 3) == 0 && which < count) atomicAdd(to + which, c);
    if (count > 8) {
        float last = v[8];
        for (int step = 16; step > 0; step >>= 1) last += __shfl_xor_sync(all, last, step);
        if (lane == 1) atomicAdd(to + 8, last);
    }
#else
    for (int k = 0; k < count; ++k) to[k] += v[k];
#endif
""")
@no_type_check
def add_lanes(out: wp.array(dtype=vec9), index: int, v: vec9, count: int):
    """Add the first `count` numbers of all lanes of a warp to out[index]. All lanes must come."""
    ...


@wp.func
@no_type_check
def pixel_of(index: int, lane: int, tile: int, tiles_x: int, tiles_y: int):
    """Frame, row and column of a lane's pixel: 32 lanes are 8 x 4 pixels of their tile."""
    t = index / (tiles_x * tiles_y)
    rest = index % (tiles_x * tiles_y)
    block = lane / 32
    across = tile / 8
    x = (rest % tiles_x) * tile + (block % across) * 8 + lane % 8
    y = (rest / tiles_x) * tile + (block / across) * 4 + (lane % 32) / 8
    return t, y, x


@wp.func
@no_type_check
def falloff(q: wp.vec3, dx: float, dy: float):
    """exp(-distance^2 / 2), the distance in standard deviations."""
    return wp.exp(-0.5 * (q[0] * dx * dx + q[2] * dy * dy) - q[1] * dx * dy)


@wp.kernel
@no_type_check
def blend_tiles(
    ids: wp.array(dtype=wp.int32),
    ranges: wp.array2d(dtype=wp.int32),
    centres: wp.array(dtype=wp.vec2),
    conics: wp.array(dtype=wp.vec3),
    strengths: wp.array(dtype=float),
    colours: wp.array2d(dtype=wp.vec3),
    tile: int,
    width: int,
    height: int,
    tiles_x: int,
    tiles_y: int,
    image: wp.array2d(dtype=wp.vec3),
    transmittance: wp.array2d(dtype=float),
):
    """Forward: one lane per pixel, front to back through the tile's list."""
    index, lane = wp.tid()
    t, y, x = pixel_of(index, lane, tile, tiles_x, tiles_y)
    splats = colours.shape[1]
    layer = wp.min(t, colours.shape[0] - 1)
    px = float(x) + 0.5
    py = float(y) + 0.5
    inside = y < height and x < width
    left = float(1.0)
    going = int(1)
    if not inside:
        going = int(0)
    red = float(0.0)
    green = float(0.0)
    blue = float(0.0)
    i = ranges[index, 0]
    end = ranges[index, 1]
    while i < end:
        if any_lane(going) == 0:
            break
        place = ids[i]
        m = centres[place]
        q = conics[place]
        n = place - t * splats
        o = strengths[place]
        dx = px - m[0]
        dy = py - m[1]
        alpha = o * falloff(q, dx, dy)
        if going == 1 and alpha >= ALPHA_MIN:
            alpha = wp.min(alpha, ALPHA_MAX)
            rest = left * (1.0 - alpha)
            if rest <= STOP:
                going = 0
            else:
                c = colours[layer, n]
                share = alpha * left
                red += share * c[0]
                green += share * c[1]
                blue += share * c[2]
                left = rest
        i += 1
    if inside:
        image[t, y * width + x] = wp.vec3(red, green, blue)
        transmittance[t, y * width + x] = left


@wp.kernel
@no_type_check
def blend_tiles_backward(
    ids: wp.array(dtype=wp.int32),
    ranges: wp.array2d(dtype=wp.int32),
    centres: wp.array(dtype=wp.vec2),
    conics: wp.array(dtype=wp.vec3),
    strengths: wp.array(dtype=float),
    colours: wp.array2d(dtype=wp.vec3),
    tile: int,
    width: int,
    height: int,
    tiles_x: int,
    tiles_y: int,
    image: wp.array2d(dtype=wp.vec3),
    transmittance: wp.array2d(dtype=float),
    d_image: wp.array2d(dtype=wp.vec3),
    d_transmittance: wp.array2d(dtype=float),
    first_tile: int,
    first_place: int,
    wanted: int,
    gradients: wp.array(dtype=vec9),
):
    """Backward, front to back again (see `akd.splat.kernel_blend`).

    Adds to gradients[place - first_place]; `wanted` numbers of each: 5 for the shape alone
    (centre and conic), 6 with the opacity, 9 with the colour too.
    """
    i_tile, lane = wp.tid()
    index = first_tile + i_tile
    t, y, x = pixel_of(index, lane, tile, tiles_x, tiles_y)
    splats = colours.shape[1]
    layer = wp.min(t, colours.shape[0] - 1)
    px = float(x) + 0.5
    py = float(y) + 0.5
    left = float(1.0)
    coming = float(0.0)
    g = wp.vec3(0.0, 0.0, 0.0)
    going = int(0)
    if y < height and x < width:
        p = y * width + x
        g = d_image[t, p]
        coming = wp.dot(image[t, p], g) + transmittance[t, p] * d_transmittance[t, p]
        going = int(1)
    i = ranges[index, 0]
    end = ranges[index, 1]
    while i < end:
        if any_lane(going) == 0:
            break
        place = ids[i]
        m = centres[place]
        q = conics[place]
        n = place - t * splats
        o = strengths[place]
        dx = px - m[0]
        dy = py - m[1]
        e = falloff(q, dx, dy)
        alpha = o * e
        touched = int(0)
        share = float(0.0)
        d_alpha = float(0.0)
        d_power = float(0.0)
        if going == 1 and alpha >= ALPHA_MIN:
            clamped = alpha > ALPHA_MAX
            alpha = wp.min(alpha, ALPHA_MAX)
            through = 1.0 - alpha
            rest = left * through
            if rest <= STOP:
                going = 0
            else:
                share = alpha * left
                along = wp.dot(g, colours[layer, n])
                coming = coming - share * along
                if not clamped:
                    d_alpha = left * along - coming / through
                    d_power = d_alpha * alpha
                left = rest
                touched = 1
        if any_lane(touched) == 1:
            v = vec9(
                d_power * (q[0] * dx + q[1] * dy),
                d_power * (q[2] * dy + q[1] * dx),
                -0.5 * d_power * dx * dx,
                -d_power * dx * dy,
                -0.5 * d_power * dy * dy,
                d_alpha * e,
                share * g[0],
                share * g[1],
                share * g[2],
            )
            add_lanes(gradients, place - first_place, v, wanted)
        i += 1
