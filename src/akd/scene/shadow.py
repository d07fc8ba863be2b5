"""The shadow of the asset on the ground, by its height above each point (supplement 3).

s(P) = 1 - s_max exp(-beta d(P)), d(P) the vertical distance from P to the asset above it. Splat
centres are dropped onto a map of the ground; a cell takes the value of its lowest centres, softly,
so that the map can be differentiated with respect to where they are.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math.resident import constant
from akd.scene.settings import ShadowSettings

SHARPNESS = 8.0
"""The mean over a cell's centres is weighted by exp(-beta d) to this power: the lowest decide."""


def shadow_map(
    centres: Float[Tensor, "T N 3"], settings: ShadowSettings, *, body_height: float
) -> tuple[Float[Tensor, "T G G"], Float[Tensor, "T 2"], Float[Tensor, "T"]]:
    """exp(-beta d) over the ground under moving centres (world, metres), zero where nothing is.

    Returns the map (rows along z, columns along x), the world x and z of its corner, and the size
    of a cell in metres.
    """
    if not settings.differentiable:
        centres = centres.detach()
    step = -(-centres.shape[1] // settings.most_splats)
    centres = centres[:, ::step]
    frames, count = centres.shape[:2]
    cells = settings.cells
    border = 2 + math.ceil(3.0 * settings.blur)
    flat = centres[..., ::2]
    with torch.no_grad():
        low, high = flat.amin(1), flat.amax(1)
        side = (high - low).amax(-1).clamp_min(0.05 * body_height)
        cell = side / (cells - 2 * border)
        corner = 0.5 * (low + high) - 0.5 * cells * cell[:, None]
    place = (flat - corner[:, None]) / cell[:, None, None] - 0.5
    first = place.detach().floor()
    part = place - first
    first = first.long().clamp(0, cells - 2)  # NaN must not become an index
    value = torch.exp(-settings.decay / body_height * centres[..., 1].clamp_min(0.0))
    shares = torch.stack((1.0 - part, part), dim=-1)  # of the cells before and after, along x and z
    share = shares[..., 1, :, None] * shares[..., 0, None, :]
    around = constant(((0, 1), (cells, cells + 1)), first)
    corners = (first[..., 1] * cells + first[..., 0])[..., None, None] + around
    powers = torch.stack((torch.ones_like(value), value**SHARPNESS, value ** (SHARPNESS + 1.0)), 1)
    amounts = (powers[..., None, None] * share[:, None]).flatten(2)
    index = corners.flatten(1)[:, None].expand_as(amounts)
    sums = centres.new_zeros(frames, 3, cells * cells).scatter_add(2, index, amounts)
    maps = _blur(sums.view(frames, 3, cells, cells), settings.blur).unbind(1)
    # How surely something is above: almost surely where centres lie as densely as they would if
    # spread over the whole map, and they are denser than that wherever they are.
    there = 1.0 - torch.exp(-4.0 * cells * cells / max(count, 1) * maps[0])
    return there * maps[2] / maps[1].clamp_min(1e-12), corner, cell


def _blur(maps: Tensor, sigma: float) -> Tensor:
    if sigma <= 0.0:
        return maps
    radius = math.ceil(3.0 * sigma)
    x = torch.arange(-radius, radius + 1, dtype=maps.dtype, device=maps.device)
    kernel = torch.exp(-0.5 * (x / sigma) ** 2)
    kernel = kernel / kernel.sum()
    batch = maps.reshape(-1, 1, *maps.shape[-2:])
    batch = torch.nn.functional.conv2d(batch, kernel.view(1, 1, -1, 1), padding=(radius, 0))
    batch = torch.nn.functional.conv2d(batch, kernel.view(1, 1, 1, -1), padding=(0, radius))
    return batch.view_as(maps)


def cast_shadow(
    points: Float[Tensor, "T H W 2"],
    centres: Float[Tensor, "T N 3"],
    settings: ShadowSettings,
    *,
    body_height: float,
) -> Float[Tensor, "T H W"]:
    """s(P) at points of the ground (world x and z, metres), for moving splat centres."""
    maps, corner, cell = shadow_map(centres, settings, body_height=body_height)
    size = (settings.cells * cell)[:, None, None, None]
    # grid_sample counts from -1 to 1 over the whole map.
    place = 2.0 * (points - corner[:, None, None]) / size - 1.0
    place = place.clamp(-4.0, 4.0)
    value = torch.nn.functional.grid_sample(
        maps[:, None], place, mode="bilinear", padding_mode="zeros", align_corners=False
    )
    return 1.0 - settings.strength * value[:, 0]
