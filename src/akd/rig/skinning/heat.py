"""Skinning weights by heat: every bone warms the skin that it sees, and warmth spreads over it.

For bone b the surface settles at -Delta w + H w = H p, with p = 1 where b is the closest bone that
a vertex sees and H = c / d^2, d the distance to that bone, a little longer for bones that the skin
does not face. Discretised with the positive semidefinite cotangent matrix L and lumped masses M it
reads (L + M H) w = M H p. H is the same for all bones (it depends on the closest one alone), so
that one factorisation serves them all. Where k bones are equally close each has p = 1/k, and
H = k c / d^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csc_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

from akd.rig.skinning.segments import BoneSegments
from akd.rig.skinning.surface_repair import WeldedMesh, weld
from akd.rig.skinning.visibility import Inside, angle_normals

_CANDIDATES = 16
"""How many of the nearest segments a vertex looks for."""
_MOST_ASLANT = 0.1
"""Cosine between skin and bone below which it makes no difference."""
_TIE = 1e-3
"""Bones are equally close within this fraction of the distance."""
_CLOSEST = 1e-3
"""Distances count as at least this fraction of the body's size."""
_COLUMNS = 32
"""Bones that are solved for at once: what is held in memory."""


@dataclass(frozen=True)
class HeatSettings:
    """What can be chosen about weights by heat."""

    heat: float = 4.0
    """c: larger makes joints bend more sharply. 4 comes closest to what artists paint."""
    influences: int = 4
    """At most this many bones move a vertex; 4 is what every engine takes."""
    outside: float = 0.01
    """How much of the way to a bone may lie outside the mesh, in diagonals of its bounding box."""

    def __post_init__(self) -> None:
        if not 0 < self.heat < 1e6:
            raise ValueError(f"heat must be above zero and below 1e6, got {self.heat}")
        if not 1 <= self.influences <= 64:
            raise ValueError(f"influences must be from 1 to 64, got {self.influences}")
        if not 0 <= self.outside <= 1:
            raise ValueError(f"outside must be from 0 to 1, got {self.outside}")


@dataclass(frozen=True)
class HeatWeights:
    """Weights of V vertices, and what was odd about the mesh or the skeleton."""

    bones: Int[np.ndarray, "V K"]
    """Indices into the `joints` of the segments, the strongest first."""
    weights: Float[np.ndarray, "V K"]
    """Not negative; each row sums to one."""
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class _Sources:
    """Where heat enters."""

    share: csr_matrix
    """[W, B]: p, each row sums to one or to zero."""
    inverse_square: Float[np.ndarray, "W"]
    """H / c: k / d^2 at vertices that see k bones, else zero."""


def solve_heat_weights(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    bones: BoneSegments,
    *,
    settings: HeatSettings | None = None,
) -> HeatWeights:
    """Weights of every vertex for the given bones, all in one space, any unit.

    Vertices in the same place get the same weights. Works on open, non-manifold and
    self-intersecting meshes of any number of parts. Raises `ValueError` where the mesh has no area.
    """
    settings = settings or HeatSettings()
    mesh = weld(vertices, faces)
    sources, warnings = _find_sources(mesh, bones, settings)
    columns, weights = _diffuse(mesh, sources, len(bones.joints), settings)
    lone = np.flatnonzero(~mesh.on_face)
    if len(lone):
        # A vertex on no face has nothing to conduct heat: it goes with its nearest bone.
        distance, _ = closest_on_segments(mesh.vertices[lone], bones.starts, bones.ends)
        columns[lone] = 0
        columns[lone, 0] = bones.owner[distance.argmin(axis=1)]
        weights[lone] = 0.0
        weights[lone, 0] = 1.0
    return HeatWeights(columns[mesh.source], weights[mesh.source], tuple(warnings))


def closest_on_segments(
    points: Float[np.ndarray, "N 3"],
    starts: Float[np.ndarray, "S 3"],
    ends: Float[np.ndarray, "S 3"],
) -> tuple[Float[np.ndarray, "N S"], Float[np.ndarray, "N S"]]:
    """Distance from each point to each segment, and how far along it (0..1) that is closest."""
    along = ends - starts
    square = (along**2).sum(axis=1)
    offset = points @ along.T - (starts * along).sum(axis=1)
    share = np.clip(offset / np.where(square > 0, square, 1.0), 0.0, 1.0)
    share[:, square == 0] = 0.0
    total = np.zeros_like(share)
    for axis in range(3):
        gap = share * along[:, axis]
        gap += starts[:, axis]
        gap -= points[:, axis, None]
        total += gap**2
    return np.sqrt(total), share


def _find_sources(
    mesh: WeldedMesh, bones: BoneSegments, settings: HeatSettings
) -> tuple[_Sources, list[str]]:
    """The closest visible bones of every vertex; parts that see none take their nearest."""
    count, width = len(mesh.vertices), min(_CANDIDATES, len(bones.owner))
    normals = angle_normals(mesh.vertices, mesh.faces)
    nearest = np.empty((count, width), dtype=np.int64)
    distance = np.empty((count, width))
    share = np.empty((count, width))
    for first in range(0, count, 8192):
        rows = slice(first, first + 8192)
        far, along = closest_on_segments(mesh.vertices[rows], bones.starts, bones.ends)
        far = far * _slant(mesh.vertices[rows], normals[rows], bones, along, far)
        order = np.argpartition(far, width - 1, axis=1)[:, :width]
        sort = np.argsort(np.take_along_axis(far, order, axis=1), axis=1, kind="stable")
        nearest[rows] = np.take_along_axis(order, sort, axis=1)
        distance[rows] = np.take_along_axis(far, nearest[rows], axis=1)
        share[rows] = np.take_along_axis(along, nearest[rows], axis=1)
    floor = _CLOSEST * mesh.size
    distance = np.maximum(distance, floor)
    seen = _look(mesh, bones, nearest, distance, share, settings)
    warnings = _adopt_blind_parts(mesh, bones, nearest, distance, seen)
    chosen = np.where(seen.any(axis=1), np.where(seen, distance, np.inf).min(axis=1), np.inf)
    tied = seen & (distance <= chosen[:, None] * (1.0 + _TIE))
    rows, places = np.nonzero(tied)
    hot = csr_matrix(
        (np.ones(len(rows)), (rows, bones.owner[nearest[rows, places]])),
        shape=(count, len(bones.joints)),
    )
    hot.data[:] = 1.0  # two segments of one joint are one bone
    ties = np.asarray(hot.sum(axis=1)).ravel()
    share_out = diags(1.0 / ties.clip(1.0)) @ hot
    return _Sources(csr_matrix(share_out), ties / chosen**2), warnings


def _slant(
    points: Float[np.ndarray, "N 3"],
    normals: Float[np.ndarray, "N 3"],
    bones: BoneSegments,
    along: Float[np.ndarray, "N S"],
    distance: Float[np.ndarray, "N S"],
) -> Float[np.ndarray, "N S"]:
    """How much further away a bone counts because the skin does not face away from it.

    A ball that touches the skin at a vertex and reaches a bone at the angle a to the inward normal
    has the diameter d / cos a: what a bone must fill to be right under that skin. The measure is
    the geometric mean of this and of d itself, which keeps a bone that lies aslant in play.
    """
    outwards = np.zeros_like(distance)
    for axis in range(3):
        foot = bones.starts[:, axis] + along * (bones.ends - bones.starts)[:, axis]
        outwards += (points[:, axis, None] - foot) * normals[:, axis, None]
    cosine = outwards / np.maximum(distance, 1e-300)
    return 1.0 / np.sqrt(np.maximum(cosine, _MOST_ASLANT))


def _look(
    mesh: WeldedMesh,
    bones: BoneSegments,
    nearest: Int[np.ndarray, "W C"],
    distance: Float[np.ndarray, "W C"],
    share: Float[np.ndarray, "W C"],
    settings: HeatSettings,
) -> Bool[np.ndarray, "W C"]:
    """Which candidates a vertex sees, from the nearest on, until one is seen and its ties are."""
    inside = Inside(mesh.vertices, mesh.faces)
    # Only where there are several parts can the flesh under a vertex be in more than one of them.
    is_one_part = not mesh.component[mesh.on_face].any()
    depth_below = np.ones(len(mesh.vertices), dtype=np.int64)
    if not is_one_part:
        depth_below = inside.depth_below()
    seen = np.zeros(nearest.shape, dtype=bool)
    best = np.where(mesh.on_face, np.inf, -1.0)
    for place in range(nearest.shape[1]):
        asked = np.flatnonzero(distance[:, place] <= best * (1.0 + _TIE))
        if not len(asked):
            break
        segment = nearest[asked, place]
        along = share[asked, place, None]
        targets = bones.starts[segment] + along * (bones.ends - bones.starts)[segment]
        is_visible = inside.is_visible(
            asked, targets, depth_below, tolerance=settings.outside * mesh.size
        )
        seen[asked, place] = is_visible
        found = asked[is_visible]
        best[found] = np.minimum(best[found], distance[found, place])
    return seen


def _adopt_blind_parts(
    mesh: WeldedMesh,
    bones: BoneSegments,
    nearest: Int[np.ndarray, "W C"],
    distance: Float[np.ndarray, "W C"],
    seen: Bool[np.ndarray, "W C"],
) -> list[str]:
    """A part of the mesh that sees no bone goes with the bone that is nearest to any of it."""
    parts = int(mesh.component.max()) + 1
    sees = np.zeros(parts, dtype=bool)
    np.logical_or.at(sees, mesh.component, seen.any(axis=1))
    has_faces = np.zeros(parts, dtype=bool)
    has_faces[mesh.component[mesh.on_face]] = True
    blind = np.flatnonzero(~sees & has_faces)
    members = np.argsort(mesh.component, kind="stable")
    borders = np.searchsorted(mesh.component[members], np.arange(parts + 1))
    for part in blind:
        rows = members[borders[part] : borders[part + 1]]
        far, _ = closest_on_segments(mesh.vertices[rows], bones.starts, bones.ends)
        closest = far.min(axis=0).argmin()
        nearest[rows, 0] = closest
        distance[rows, 0] = np.maximum(far[:, closest], _CLOSEST * mesh.size)
        seen[rows, 0] = True
    if not len(blind):
        return []
    total = int(has_faces.sum())
    if len(blind) == total:
        return [
            "no vertex sees a bone: the skeleton seems to lie outside the mesh; every part goes "
            "with its nearest bone"
        ]
    return [f"{len(blind)} of {total} parts of the mesh see no bone and go with their nearest one"]


def _diffuse(
    mesh: WeldedMesh, sources: _Sources, count: int, settings: HeatSettings
) -> tuple[Int[np.ndarray, "W K"], Float[np.ndarray, "W K"]]:
    """Solve for all bones with one factorisation, keep the strongest, sum to one."""
    import robust_laplacian

    laplacian, mass = robust_laplacian.mesh_laplacian(mesh.vertices, mesh.faces)
    mass = mass.diagonal()
    lone = ~mesh.on_face
    pull = settings.heat * mass * sources.inverse_square
    pull[lone] = 1.0
    system = csc_matrix(laplacian + diags(pull))
    solver = splu(
        system,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    load = csc_matrix(diags(pull) @ sources.share)
    keep = min(settings.influences, count)
    vertices = len(mesh.vertices)
    best_columns = np.zeros((vertices, keep), dtype=np.int64)
    best = np.zeros((vertices, keep))
    for first in range(0, count, _COLUMNS):
        columns = np.arange(first, min(first + _COLUMNS, count))
        used = columns[np.diff(load.indptr)[columns] > 0]
        if not len(used):
            continue
        solved = np.maximum(solver.solve(load[:, used].toarray()), 0.0)
        merged = np.concatenate((best, solved), axis=1)
        labels = np.concatenate((best_columns, np.broadcast_to(used, solved.shape)), axis=1)
        order = np.argsort(-merged, axis=1, kind="stable")[:, :keep]
        best = np.take_along_axis(merged, order, axis=1)
        best_columns = np.take_along_axis(labels, order, axis=1)
    total = best.sum(axis=1, keepdims=True)
    if not np.isfinite(total).all() or (total[mesh.on_face] <= 0).any():
        raise ValueError("the heat equation has no solution on this mesh")
    return best_columns, best / np.where(total > 0, total, 1.0)
