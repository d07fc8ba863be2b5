"""`surface_splats`: flat Gaussians spread evenly over a mesh."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.spatial import KDTree
from torch import Tensor

from akd.math import quaternion
from akd.math.srgb import to_srgb
from akd.rig.mesh import SkinnedMesh
from akd.splat import harmonics
from akd.splat.cloud import SplatCloud
from akd.splat.paint import Paint

WIDTH = 0.6
"""Standard deviation of a Gaussian along the surface, as a part of the distance to its neighbours.
Seen from afar, antialiased splats let exp(-7.2 WIDTH^2 OPACITY) of what is behind them through: 8 %
here, 18 % at 0.5. Wider ones blur the pattern."""
THICKNESS = 0.1
"""Standard deviation across the surface, as a part of that along it."""
OPACITY = 0.99
_MOST_NEIGHBOURS = 200
"""Pairs of candidates a candidate, twenty being usual. More come of a surface that is a few huge
triangles and many tiny ones, or that float32 does not resolve."""
MOST_BONES = 8
"""A Gaussian between three vertices may hang on all of their bones; the strongest are kept."""


@dataclass(frozen=True)
class SurfacePoints:
    """Points on a mesh: a triangle and the weights of its three corners."""

    faces: Int[Tensor, "M"]
    barycentric: Float[Tensor, "M 3"]

    def blend(self, mesh: SkinnedMesh, values: Float[Tensor, "V C"]) -> Float[Tensor, "M C"]:
        """Barycentric interpolation of values at the corners."""
        return (values[mesh.faces[self.faces]] * self.barycentric[..., None]).sum(1)

    def __getitem__(self, chosen: Tensor) -> SurfacePoints:
        """Some of the points."""
        return SurfacePoints(self.faces[chosen], self.barycentric[chosen])


def face_normals(mesh: SkinnedMesh) -> tuple[Float[Tensor, "F 3"], Float[Tensor, "F"]]:
    """Unit normals of the triangles, and their areas in square metres."""
    points = mesh.vertices[mesh.faces]
    cross = torch.linalg.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    length = cross.norm(dim=-1)
    return cross / length.clamp_min(1e-20)[:, None], 0.5 * length


def even_spacing(areas: Float[Tensor, "F"], count: int) -> float:
    """Distance between `count` equal discs in the densest packing on a surface, metres.

    Raises `ValueError` for a surface whose area is zero or not finite.
    """
    area = float(areas.sum())
    if not 0.0 < area < math.inf:
        raise ValueError(f"the mesh must have a finite area above zero, got {area:g} square metres")
    return math.sqrt(2.0 * area / (math.sqrt(3.0) * count))


def scatter_points(mesh: SkinnedMesh, count: int, generator: torch.Generator) -> SurfacePoints:
    """Random points, as many on each area as on any other of its size."""
    areas = face_normals(mesh)[1].double()
    # One point in each of `count` equal shares of the area: already more even than chance.
    shares = torch.arange(count, dtype=torch.float64)
    shares = (shares + torch.rand(count, generator=generator, dtype=torch.float64)) / count
    total = areas.cumsum(0)
    faces = torch.searchsorted(total / total[-1], shares).clamp_max(len(areas) - 1)
    a, b = torch.rand(2, count, generator=generator)
    root = a.sqrt()
    return SurfacePoints(faces, torch.stack((1.0 - root, root * (1.0 - b), root * b), dim=-1))


def choose_evenly(
    positions: Float[Tensor, "M 3"], normals: Float[Tensor, "M 3"], count: int, radius: float
) -> Int[Tensor, "N"]:
    """`count` of M points (those first in order preferred) that keep away from one another.

    A point is kept if none before it within the radius is kept; the radius is adjusted until about
    `count` stay. Points on the two faces of a thin sheet do not hinder each other. Where points
    pile up, the first `count` are taken as they are.
    """
    points, directions = positions.numpy(), normals.numpy()
    tree = KDTree(points)
    chosen = np.arange(count)
    low, high = 0.3 * radius, 1.2 * radius
    if tree.count_neighbors(tree, high) > _MOST_NEIGHBOURS * len(points):
        return torch.from_numpy(chosen)
    for _ in range(7):
        middle = 0.5 * (low + high)
        pairs = tree.query_pairs(middle, output_type="ndarray")
        facing = np.einsum("ij,ij->i", directions[pairs[:, 0]], directions[pairs[:, 1]]) > 0.0
        kept = _first_come(len(points), pairs[facing])
        if len(kept) >= count:
            low, chosen = middle, kept
            if len(kept) <= 1.02 * count:
                break
        else:
            high = middle
    return torch.from_numpy(chosen[:count])


def _first_come(count: int, pairs: np.ndarray) -> np.ndarray:
    """Points that are kept when each is kept unless an earlier neighbour is. In rounds."""
    early, late = pairs.min(1), pairs.max(1)
    undecided = np.ones(count, dtype=bool)
    kept = np.zeros(count, dtype=bool)
    while undecided.any():
        waits = np.zeros(count, dtype=bool)
        waits[late[undecided[early]]] = True
        now = undecided & ~waits
        kept |= now
        undecided &= ~now
        undecided[late[now[early]]] = False
        live = undecided[early] & undecided[late]
        early, late = early[live], late[live]
    return np.flatnonzero(kept)


def blend_weights(
    mesh: SkinnedMesh, points: SurfacePoints
) -> tuple[Int[Tensor, "M K"], Float[Tensor, "M K"]]:
    """Bones and weights at points of the surface: the barycentric blend of the corners'."""
    corner = mesh.faces[points.faces]
    bones = mesh.skin.bones[corner].flatten(1)
    weights = (mesh.skin.weights[corner] * points.barycentric[..., None]).flatten(1)
    # The same bone may come from several corners: order by bone, add equals into the first.
    bones, order = bones.sort(dim=1, stable=True)
    weights = weights.gather(1, order)
    is_first = torch.ones_like(bones, dtype=torch.bool)
    is_first[:, 1:] = bones[:, 1:] != bones[:, :-1]
    group = is_first.long().cumsum(1) - 1
    summed = torch.zeros_like(weights).scatter_add_(1, group, weights)
    named = torch.zeros_like(bones).scatter_(1, group, bones)
    keep = min(MOST_BONES, summed.shape[1])
    summed, place = summed.topk(keep, dim=1)
    used = max(1, int((summed > 1e-6).any(0).sum()))
    summed, bones = summed[:, :used], named.gather(1, place)[:, :used]
    return bones, summed / summed.sum(1, keepdim=True).clamp_min(1e-20)


def smooth_normals(mesh: SkinnedMesh, points: SurfacePoints) -> Float[Tensor, "M 3"]:
    """Unit normals blended over vertices of the same place, except across sharp edges."""
    flat, areas = face_normals(mesh)
    _, place = torch.unique(mesh.vertices, dim=0, return_inverse=True)
    sums = torch.zeros(int(place.max()) + 1, 3)
    for k in range(3):
        sums.index_add_(0, place[mesh.faces[:, k]], flat * areas[:, None])
    at_vertices = torch.nn.functional.normalize(sums, dim=-1)[place]
    smooth = torch.nn.functional.normalize(points.blend(mesh, at_vertices), dim=-1)
    own = flat[points.faces]
    agrees = (smooth * own).sum(-1, keepdim=True) > 0.5
    return torch.where(agrees, smooth, own)


def neighbour_distance(positions: Float[Tensor, "M 3"]) -> Float[Tensor, "M"]:
    """How far the neighbours are: the mean distance to the six nearest, metres."""
    count = min(6, len(positions) - 1)
    if count < 1:
        return torch.ones(len(positions))
    distance, _ = KDTree(positions.numpy()).query(positions.numpy(), k=count + 1)
    return torch.from_numpy(distance[:, 1:].mean(1)).float()


def splats_at(mesh: SkinnedMesh, points: SurfacePoints, paint: Paint, spacing: float) -> SplatCloud:
    """One flat Gaussian at each point of the surface, as wide as its neighbours are far.

    `spacing` (metres) is the usual distance, from which none departs too much.
    """
    normals = face_normals(mesh)[0]
    positions = points.blend(mesh, mesh.vertices)
    own_spacing = neighbour_distance(positions).clamp(0.3 * spacing, 2.0 * spacing)
    bones, weights = blend_weights(mesh, points)
    rgb = paint.at(mesh, points.faces, points.barycentric, own_spacing)[:, :3]
    own_normals = normals[points.faces]
    z = own_normals.new_tensor((0.0, 0.0, 1.0)).expand_as(own_normals)
    along = WIDTH * own_spacing
    return SplatCloud(
        means=positions,
        scales=torch.stack((along, along, THICKNESS * along), dim=-1).clamp_min(1e-9),
        rotations=quaternion.normalize(quaternion.between(z, own_normals)),
        opacities=torch.full((len(positions),), OPACITY),
        sh=harmonics.from_colour(to_srgb(rgb))[:, None],
        bones=bones,
        weights=weights,
        normals=smooth_normals(mesh, points),
    )


def surface_splats(
    mesh: SkinnedMesh,
    count: int,
    *,
    paint: Paint | None = None,
    generator: torch.Generator | None = None,
) -> SplatCloud:
    """`count` flat Gaussians spread evenly over the mesh, with its colours, normals and bones.

    Bind space, metres. `paint` adds the textures; without it the colours at the vertices are
    blended. About a second for 50,000. Raises `ValueError` for a mesh without a finite area.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    generator = generator or torch.Generator().manual_seed(0)
    paint = paint or Paint.of_vertices(mesh)
    normals, areas = face_normals(mesh)
    spacing = even_spacing(areas, count)
    candidates = scatter_points(mesh, 4 * count, generator)
    candidates = candidates[torch.randperm(4 * count, generator=generator)]
    there = candidates.faces.new_full((len(candidates.faces),), 1, dtype=torch.bool)
    if any(texture.alpha_cutoff is not None for texture in paint.textures):
        size = torch.full((len(there),), 0.1 * spacing)
        there = paint.at(mesh, candidates.faces, candidates.barycentric, size)[:, 3] > 0.5
    candidates = candidates[there.nonzero().squeeze(-1)]
    if len(candidates.faces) <= count:
        points = candidates
    else:
        positions = candidates.blend(mesh, mesh.vertices)
        chosen = choose_evenly(positions, normals[candidates.faces], count, spacing)
        points = candidates[chosen]
    return splats_at(mesh, points, paint, spacing)
