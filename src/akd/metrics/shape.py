"""Whether a body keeps its shape while it moves: skeletons do, fields of displacements need not."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

_MOST_EDGES = 4000
_SHORTEST = 1e-3
"""Edges shorter than this share of the mean say more about rounding than about shape."""


def mesh_edges(faces: Int[Tensor, "F 3"]) -> Int[Tensor, "E 2"]:
    """Every edge of a mesh once."""
    pairs = torch.cat((faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]])).long()
    return torch.unique(pairs.sort(dim=1).values, dim=0)


def shape_change(
    moving: Float[Tensor, "T V 3"], still: Float[Tensor, "V 3"], edges: Int[Tensor, "E 2"]
) -> float:
    """How much the lengths of a surface's edges change, mean over time and edges.

    0.05 is five per cent of their length in the still pose; where nothing is stretched it is zero.
    Some thousands of the edges, evenly taken, stand for all.
    """
    step = max(1, len(edges) // _MOST_EDGES)
    edges = edges[::step]

    def lengths(points: Tensor) -> Tensor:
        return (points[..., edges[:, 0], :] - points[..., edges[:, 1], :]).norm(dim=-1)

    before = lengths(still)
    if not len(before):
        return 0.0
    used = before > _SHORTEST * before.mean()
    if not bool(used.any()):
        return 0.0
    return float((lengths(moving)[:, used] / before[used] - 1.0).abs().mean())
