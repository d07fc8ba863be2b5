# type: ignore  # Warp compiles these functions; their annotations are its types
"""Warp kernels for CUDA: which tiles each Gaussian touches, as a list sorted by tile and depth."""

from __future__ import annotations

import warp as wp

from akd.splat.kernel_types import end_pixel, first_pixel, no_type_check, reach

wp.set_module_options({"enable_backward": False, "fast_math": True})


@wp.func
@no_type_check
def tiles_of_row(
    centre: wp.vec2,
    conic: wp.vec3,
    extent: wp.vec2,
    reach2: float,
    row: int,
    tile: int,
    width: int,
    height: int,
):
    """Tiles [start, end) of a row of tiles that the ellipse alpha >= ALPHA_MIN can touch.

    Within the row's strip the ellipse reaches farthest right where its boundary does so at all, or
    at the strip's edge nearest to that point; and so on the left.
    """
    low = float(row * tile) + 0.5 - centre[1]
    high = float(wp.min(row * tile + tile, height) - 1) + 0.5 - centre[1]
    low = wp.max(low, -extent[1])
    high = wp.min(high, extent[1])
    start = int(0)
    end = int(0)
    if low <= high:
        tip = -conic[1] / conic[2] * extent[0]
        yr = wp.clamp(tip, low, high)
        yl = wp.clamp(-tip, low, high)
        dr = conic[1] * conic[1] * yr * yr - conic[0] * (conic[2] * yr * yr - reach2)
        dl = conic[1] * conic[1] * yl * yl - conic[0] * (conic[2] * yl * yl - reach2)
        right = (wp.sqrt(wp.max(dr, 0.0)) - conic[1] * yr) / conic[0]
        left = (wp.sqrt(wp.max(dl, 0.0)) + conic[1] * yl) / conic[0]
        # Rounding may take a sliver; the exact test on alpha follows anyway.
        slack = 1.0e-2 + 1.0e-4 * (right + left)
        x0 = first_pixel(centre[0] - left - slack, 0, width)
        x1 = end_pixel(centre[0] + right + slack, 0, width)
        if x0 < x1:
            start = x0 / tile
            end = (x1 - 1) / tile + 1
    return start, end


@wp.func
@no_type_check
def rows_of(centre: wp.vec2, extent: wp.vec2, tile: int, height: int):
    """Rows [start, end) of tiles that a Gaussian's box touches."""
    y0 = first_pixel(centre[1] - extent[1], 0, height)
    y1 = end_pixel(centre[1] + extent[1], 0, height)
    start = int(0)
    end = int(0)
    if y0 < y1:
        start = y0 / tile
        end = (y1 - 1) / tile + 1
    return start, end


@wp.kernel
@no_type_check
def count_tiles(
    centres: wp.array2d(dtype=wp.vec2),
    conics: wp.array2d(dtype=wp.vec3),
    extents: wp.array2d(dtype=wp.vec2),
    strengths: wp.array2d(dtype=float),
    tile: int,
    width: int,
    height: int,
    counts: wp.array2d(dtype=wp.int32),
):
    """How many tiles each Gaussian touches in each frame."""
    t, n = wp.tid()
    total = int(0)
    conic = conics[t, n]
    if conic[0] > 0.0:
        centre = centres[t, n]
        extent = extents[t, n]
        reach2 = reach(strengths[t, n])
        first, last = rows_of(centre, extent, tile, height)
        for row in range(first, last):
            a, b = tiles_of_row(centre, conic, extent, reach2, row, tile, width, height)
            total += b - a
    counts[t, n] = total


@wp.kernel
@no_type_check
def list_tiles(
    centres: wp.array2d(dtype=wp.vec2),
    conics: wp.array2d(dtype=wp.vec3),
    extents: wp.array2d(dtype=wp.vec2),
    depths: wp.array2d(dtype=wp.int64),
    strengths: wp.array2d(dtype=float),
    tile: int,
    width: int,
    height: int,
    tiles_x: int,
    tiles_y: int,
    first_frame: int,
    ends: wp.array2d(dtype=wp.int32),
    counts: wp.array2d(dtype=wp.int32),
    base: int,
    room: int,
    keys: wp.array(dtype=wp.int64),
    values: wp.array(dtype=wp.int32),
):
    """For each touched tile a key (tile, depth) and the Gaussian's place in [T, N].

    What has no room is left out.
    """
    i, n = wp.tid()
    t = first_frame + i
    if counts[t, n] > 0:
        centre = centres[t, n]
        conic = conics[t, n]
        extent = extents[t, n]
        reach2 = reach(strengths[t, n])
        depth = depths[t, n] >> wp.int64(32)
        place = ends[t, n] - counts[t, n] - base
        first, last = rows_of(centre, extent, tile, height)
        for row in range(first, last):
            a, b = tiles_of_row(centre, conic, extent, reach2, row, tile, width, height)
            for column in range(a, b):
                index = (i * tiles_y + row) * tiles_x + column
                if place < room:
                    keys[place] = (wp.int64(index) << wp.int64(32)) | depth
                    values[place] = t * centres.shape[1] + n
                place += 1


@wp.kernel
@no_type_check
def find_ranges(
    keys: wp.array(dtype=wp.int64),
    count: int,
    base: int,
    first_tile: int,
    tiles: int,
    ranges: wp.array2d(dtype=wp.int32),
):
    """Where each tile's part of the sorted list starts and ends; from `tiles` on, none is one."""
    i = wp.tid()
    here = int(keys[i] >> wp.int64(32))
    if here >= tiles:
        return
    before = int(-1)
    after = int(-1)
    if i > 0:
        before = int(keys[i - 1] >> wp.int64(32))
    if i < count - 1:
        after = int(keys[i + 1] >> wp.int64(32))
    if before != here:
        ranges[first_tile + here, 0] = base + i
    if after != here:
        ranges[first_tile + here, 1] = base + i + 1
