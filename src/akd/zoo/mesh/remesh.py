"""Thins a fine triangle mesh by edge collapses until it has a wanted number of vertices.

The shortest edges go first, measured against a wanted length at every vertex, so that triangles end
up small where detail is wanted and large elsewhere. Many collapses that do not touch each other are
done at once. A closed surface stays closed: an edge is collapsed only where its ends share exactly
the neighbours they must share (the link condition) and no triangle turns over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd.math.triangles import area_normals

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

_MOST_NEIGHBOURS = 9
_LEAST_COSINE = 0.3


def edges_of(faces: Ints, count: int) -> tuple[Ints, Ints]:
    """The edges [E, 2] of triangles over `count` vertices, and how many triangles share each."""
    ends = np.concatenate((faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]))
    ends.sort(axis=1)
    keys, shared = np.unique(ends[:, 0] * np.int64(count) + ends[:, 1], return_counts=True)
    return np.stack((keys // count, keys % count), axis=1), shared


def split_bridges(vertices: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """Halve inner edges that join two border vertices: mirrored, they would be there twice."""
    edges, shared = edges_of(faces, len(vertices))
    border = np.zeros(len(vertices), bool)
    border[edges[shared == 1].ravel()] = True
    bridges = edges[(shared == 2) & border[edges[:, 0]] & border[edges[:, 1]]]
    for a, b in bridges:
        middle = len(vertices)
        vertices = np.concatenate((vertices, 0.5 * (vertices[[a]] + vertices[[b]])))
        beside = (faces == a).any(axis=1) & (faces == b).any(axis=1)
        halves = faces[beside]
        faces = np.concatenate(
            (
                faces[~beside],
                np.where(halves == a, middle, halves),
                np.where(halves == b, middle, halves),
            )
        )
    return vertices, faces


def thin(
    vertices: Floats, faces: Ints, wanted_length: Floats, *, target: int
) -> tuple[Floats, Ints, Floats]:
    """Collapse edges until the mesh, mirrored at its open border, has about `target` vertices.

    `wanted_length` [V] matters only relative to itself. Returns vertices, faces and the wanted
    lengths of the vertices that are left.
    """
    share = 0.4
    for _ in range(60):
        edges, shared = edges_of(faces, len(vertices))
        border = np.zeros(len(vertices), bool)
        border[edges[shared == 1].ravel()] = True
        surplus = 2 * len(vertices) - int(border.sum()) - target
        if surplus <= 0:
            break
        chosen = _choose(vertices, faces, edges, shared == 1, border, wanted_length, share)
        if len(chosen) < 0.03 * len(vertices):
            share = min(1.0, share + 0.15)
        # A collapse inside takes away two of the mirrored mesh's vertices.
        chosen = chosen[: max(1, (surplus + 1) // 2)]
        vertices, faces, wanted_length, border = _collapse(
            vertices, faces, wanted_length, chosen, border
        )
        faces = flip(vertices, faces, border)
        vertices = relax(vertices, faces, border)
    return vertices, faces, wanted_length


def relax(vertices: Floats, faces: Ints, border: NDArray[np.bool_]) -> Floats:
    """Move vertices halfway to the middle of their neighbours, along the surface only."""
    edges, _ = edges_of(faces, len(vertices))
    u, v = edges[:, 0], edges[:, 1]
    count = len(vertices)
    degree = np.bincount(edges.ravel(), minlength=count).clip(1)
    shift = np.empty_like(vertices)
    normal = np.empty_like(vertices)
    across = area_normals(vertices, faces)
    for i in range(3):
        total = np.bincount(u, vertices[v, i], count) + np.bincount(v, vertices[u, i], count)
        shift[:, i] = total / degree - vertices[:, i]
        normal[:, i] = sum(np.bincount(faces[:, k], across[:, i], count) for k in range(3))
    # The mirrored half pulls a border vertex the other way: nothing of either is left across x = 0.
    shift[border, 0] = normal[border, 0] = 0.0
    normal /= np.linalg.norm(normal, axis=1, keepdims=True).clip(1e-12)
    shift -= (shift * normal).sum(axis=1, keepdims=True) * normal
    return vertices + 0.5 * shift


def flip(vertices: Floats, faces: Ints, border: NDArray[np.bool_]) -> Ints:
    """Turn edges inside their two triangles where this evens out the number of neighbours."""
    count = len(vertices)
    half = np.concatenate((faces, faces[:, [1, 2, 0]], faces[:, [2, 0, 1]]))
    owner = np.tile(np.arange(len(faces)), 3)
    key = half[:, :2].min(1) * np.int64(count) + half[:, :2].max(1)
    order = np.argsort(key, kind="stable")
    key = key[order]
    twice = np.flatnonzero(key[1:] == key[:-1])
    first, second = order[twice], order[twice + 1]
    keys = key[np.concatenate(((True,), key[1:] != key[:-1]))]
    degree = np.bincount(np.concatenate((keys // count, keys % count)), minlength=count)
    # The mirror image gives a border vertex its other neighbours: four here make six there.
    excess = degree - np.where(border, 4, 6)
    u, v, a = half[first].T
    b = half[second, 2]
    gain = _square(excess[u], excess[v], excess[a], excess[b]) - _square(
        excess[u] - 1, excess[v] - 1, excess[a] + 1, excess[b] + 1
    )
    least = np.where(border, 3, 4)
    allowed = (gain > 0) & ~(border[a] & border[b])
    allowed &= (degree[u] > least[u]) & (degree[v] > least[v])
    kept = np.flatnonzero(allowed)
    u, v, a, b, gain = u[kept], v[kept], a[kept], b[kept], gain[kept]
    wanted = np.minimum(a, b) * np.int64(count) + np.maximum(a, b)
    there = keys[np.searchsorted(keys, wanted).clip(max=len(keys) - 1)] == wanted
    score = np.where(
        ~there & _convex(vertices, u, v, a, b), gain + 0.5 * np.arange(len(gain)) / len(gain), -1.0
    )
    # Each vertex takes part in one flip at most, so that the counts above stay true.
    best = np.full(count, -1.0)
    for end in (u, v, a, b):
        np.maximum.at(best, end, score)
    done = score > 0
    for end in (u, v, a, b):
        done &= best[end] == score
    faces = faces.copy()
    faces[owner[first[kept[done]]]] = np.stack((a, u, b), axis=1)[done]
    faces[owner[second[kept[done]]]] = np.stack((b, v, a), axis=1)[done]
    return faces


def _square(*terms: Ints) -> Ints:
    return sum(term * term for term in terms)  # pyright: ignore[reportReturnType]


def _convex(vertices: Floats, u: Ints, v: Ints, a: Ints, b: Ints) -> NDArray[np.bool_]:
    """Whether the two triangles on the other diagonal face the way the old ones do."""
    old_1 = np.cross(vertices[v] - vertices[u], vertices[a] - vertices[u])
    old_2 = np.cross(vertices[u] - vertices[v], vertices[b] - vertices[v])
    new_1 = np.cross(vertices[u] - vertices[a], vertices[b] - vertices[a])
    new_2 = np.cross(vertices[v] - vertices[b], vertices[a] - vertices[b])
    mean = old_1 + old_2
    mean /= np.linalg.norm(mean, axis=1, keepdims=True).clip(1e-12)
    least = 0.15 * (np.linalg.norm(old_1, axis=1) + np.linalg.norm(old_2, axis=1))
    return ((new_1 * mean).sum(1) > least) & ((new_2 * mean).sum(1) > least)


def _choose(
    vertices: Floats,
    faces: Ints,
    edges: Ints,
    on_border: NDArray[np.bool_],
    border: NDArray[np.bool_],
    wanted_length: Floats,
    share: float,
) -> Ints:
    """Edges to collapse in this round, shortest first; no two of them are neighbours.

    Only the shortest `share` of all edges is considered.
    """
    count = len(vertices)
    u, v = edges[:, 0], edges[:, 1]
    length = np.linalg.norm(vertices[u] - vertices[v], axis=1)
    relative = length / (wanted_length[u] + wanted_length[v])
    order = np.argsort(relative, kind="stable")
    rank = np.empty(len(edges), np.int64)
    rank[order] = np.arange(len(edges))

    # Every apex opposite an edge is a common neighbour of its ends; any further one is forbidden.
    common, common_border = _common_neighbours(edges, border)
    valence = np.bincount(edges.ravel(), minlength=count)
    allowed = common == np.where(on_border, 1, 2)
    # Two border vertices joined across the inside would be joined twice in the mirrored mesh: so a
    # vertex may move to the border only where its other border neighbours are neighbours there.
    beside = np.bincount(u, border[v], count) + np.bincount(v, border[u], count)
    inner = np.where(border[u], v, u)
    mixed = border[u] != border[v]
    allowed &= ~mixed | (beside[inner] == 1 + common_border)
    allowed &= ~(border[u] & border[v] & ~on_border)
    allowed &= valence[u] + valence[v] - 4 <= _MOST_NEIGHBOURS
    allowed &= (valence[u] > 3) & (valence[v] > 3)
    allowed &= relative < np.quantile(relative, share)

    never = np.int64(len(edges))
    free = np.ones(count, bool)
    picked: list[Ints] = []
    for _ in range(4):
        score = np.where(allowed & free[u] & free[v], rank, never)
        near = np.full(count, never)
        np.minimum.at(near, u, score)
        np.minimum.at(near, v, score)
        ring = near.copy()
        np.minimum.at(ring, u, near[v])
        np.minimum.at(ring, v, near[u])
        best = np.flatnonzero((score < never) & (ring[u] == score) & (ring[v] == score))
        if len(best) == 0:
            break
        picked.append(best)
        taken = np.zeros(count, bool)
        taken[edges[best].ravel()] = True
        for _ in range(2):
            grown = taken.copy()
            grown[u[taken[v]]] = True
            grown[v[taken[u]]] = True
            taken = grown
        free &= ~taken
    if not picked:
        return np.empty((0, 2), np.int64)
    chosen = np.concatenate(picked)
    chosen = chosen[np.argsort(rank[chosen])]
    keep = _keeps_facing(vertices, faces, edges[chosen], border)
    return edges[chosen[keep]]


def _common_neighbours(edges: Ints, border: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """How many vertices are joined to both ends of each edge, and how many of those are on the
    border."""
    from scipy.sparse import csr_matrix

    count = len(border)
    both = np.concatenate((edges, edges[:, ::-1]))
    # A border vertex counts one and a thousand, so that one product counts both kinds.
    worth = np.where(border[both[:, 1]], 1001, 1).astype(np.int32)
    valued = csr_matrix((worth, (both[:, 0], both[:, 1])), shape=(count, count))
    joined = csr_matrix((np.ones_like(worth), (both[:, 0], both[:, 1])), shape=(count, count))
    total = valued[edges[:, 0]].multiply(joined[edges[:, 1]]).sum(axis=1)
    total = np.asarray(total).ravel()
    return total % 1000, total // 1000


def _merged(vertices: Floats, chosen: Ints, border: NDArray[np.bool_]) -> Floats:
    """Where the two ends of each collapsed edge meet: in the middle, or on the border."""
    u, v = chosen[:, 0], chosen[:, 1]
    share = np.where(border[u] == border[v], 0.5, np.where(border[u], 0.0, 1.0))[:, None]
    return vertices[u] + share * (vertices[v] - vertices[u])


def _keeps_facing(
    vertices: Floats, faces: Ints, chosen: Ints, border: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which collapses leave every triangle around them facing as it did."""
    owner = np.full(len(vertices), -1)
    owner[chosen[:, 0]] = owner[chosen[:, 1]] = np.arange(len(chosen))
    moved = vertices.copy()
    moved[chosen[:, 0]] = moved[chosen[:, 1]] = _merged(vertices, chosen, border)
    owners = owner[faces]
    touched = (owners >= 0).any(axis=1)
    faces, owners = faces[touched], owners[touched]
    vanishing = ((owners >= 0).sum(axis=1) >= 2) & _same_owner_twice(owners)
    before, after = area_normals(vertices, faces), area_normals(moved, faces)
    product = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    turned = (before * after).sum(axis=1) < _LEAST_COSINE * product
    keep = np.ones(len(chosen), bool)
    bad = owners[turned & ~vanishing]
    keep[bad[bad >= 0]] = False
    return keep


def _same_owner_twice(owners: Ints) -> NDArray[np.bool_]:
    a, b, c = owners.T
    return ((a == b) & (a >= 0)) | ((b == c) & (b >= 0)) | ((c == a) & (c >= 0))


def _collapse(
    vertices: Floats,
    faces: Ints,
    wanted_length: Floats,
    chosen: Ints,
    border: NDArray[np.bool_],
) -> tuple[Floats, Ints, Floats, NDArray[np.bool_]]:
    middle = _merged(vertices, chosen, border)
    border = border.copy()
    border[chosen[:, 0]] |= border[chosen[:, 1]]
    place = np.arange(len(vertices))
    place[chosen[:, 1]] = chosen[:, 0]
    vertices = vertices.copy()
    vertices[chosen[:, 0]] = middle
    faces = place[faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    kept = place == np.arange(len(vertices))
    number = np.cumsum(kept) - 1
    return vertices[kept], number[faces], wanted_length[kept], border[kept]
