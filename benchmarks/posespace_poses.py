"""Poses of the measuring side that the benchmark of the pose space looks at."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from akd.posespace.body import PoseBody
from akd.posespace.dataset import PoseSet

FEWEST_TOKENS = 10
"""Bodies with fewer have no limbs to speak of."""


@dataclass(frozen=True)
class Measured:
    """Poses of one source of the measuring side, on the device of the run."""

    poses: PoseSet
    rows: Tensor
    body: PoseBody
    states: Tensor
    number: Tensor
    """Body of each pose."""
    heights: Tensor
    """Of each pose's body, body sizes."""

    @classmethod
    def of(cls, poses: PoseSet, rows: Tensor) -> Measured:
        number = poses.body_of[rows]
        body = trimmed(poses.bodies[number])
        heights = torch.tensor([record.height for record in poses.records]).to(poses.states)
        return cls(poses, rows, body, poses.states[rows, : body.tokens], number, heights[number])

    def __getitem__(self, index: Tensor | slice) -> Measured:
        return Measured.of(self.poses, self.rows[index])

    def pairs(self, most: int) -> tuple[Tensor, Tensor]:
        """Two poses of the same body each."""
        same = torch.triu(self.number[:, None] == self.number, diagonal=1)
        a, b = torch.nonzero(same, as_tuple=True)
        order = torch.randperm(len(a), generator=torch.Generator().manual_seed(2))[:most]
        return a[order.to(a.device)], b[order.to(a.device)]


def choose(poses: PoseSet, count: int, *, source: str, draw: torch.Generator) -> Tensor:
    """Rows of poses of one source, spread over its families."""
    families = defaultdict(list)
    tokens = poses.bodies.present.sum(-1).tolist()
    for row, body in enumerate(poses.body_of.tolist()):
        record = poses.records[body]
        if record.source == source and tokens[body] >= FEWEST_TOKENS:
            families[record.family].append(row)
    each = -(-count // max(len(families), 1))
    rows = []
    for family in families.values():
        order = torch.randperm(len(family), generator=draw)[:each]
        rows += [family[k] for k in order.tolist()]
    order = torch.randperm(len(rows), generator=draw)[:count]
    return torch.tensor(rows, dtype=torch.long)[order]


def trimmed(body: PoseBody) -> PoseBody:
    """A batch without padding that none of its bodies needs."""
    tokens = int(body.present.sum(-1).max())

    def cut(name: str) -> Tensor:
        value = getattr(body, name)[:, :tokens]
        return value[:, :, :tokens] if name == "relation" else value

    return PoseBody(**{f.name: cut(f.name) for f in fields(body)})
