"""`PosedSurface`: the skinned mesh of a character as a function of its state, and what is wrong
with it: parts inside each other, and volume that is lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.posespace.body import PoseBody, kinematics
from akd.posespace.codec import PoseCodec
from akd.posespace.settings import STEPS
from akd.posespace.validate import Validator
from akd.rig.character import Character
from akd.rig.control import ROOT

PROBES = 300
"""Vertices that are looked for inside other parts."""
FACES = 1200
"""Faces that parts are made of when they are looked for; of a finer mesh a random share."""
DEEP = 0.03
"""Body sizes that a part may be inside another."""
LOST = 0.15
"""Share of the volume that may be lost or gained."""
_INSIDE = 0.5
"""Winding number from which on a vertex is inside: parts are open where they join the body."""
_APART = 3
"""Parts fewer steps apart in the tree always touch."""


@dataclass(frozen=True)
class PosedSurface:
    """Vertices in the neutral pose, body frame and sizes, bound to the tokens of a body."""

    body: PoseBody
    vertices: Float[Tensor, "V 3"]
    tokens: Int[Tensor, "V K"]
    weights: Float[Tensor, "V K"]
    faces: Int[Tensor, "F 3"]
    probes: Int[Tensor, "P"]
    """Vertices that are tested for intersection."""
    walls: Int[Tensor, "W 3"]
    """Faces that they are tested with."""
    shares: Float[Tensor, "W"]
    """By how much each of them counts: those of a part stand for all of its area. Negative where
    the mesh is inside out."""
    far: Bool[Tensor, "P W"]
    """Probes and faces that must not meet: of parts far apart in the tree."""

    @classmethod
    def of(cls, character: Character, codec: PoseCodec) -> PosedSurface | None:
        """The surface of a character; None where it has no faces."""
        mesh, rig = character.mesh, codec.rig
        if mesh is None or not len(mesh.faces):
            return None
        up, left, forward = rig.root_axes
        world = mesh.pose(rig.neutral_world) - rig.root_pivot
        vertices = (world @ torch.stack((left, up, forward)).T / codec.size).nan_to_num()
        driver = rig.driver_index[mesh.skin.bone_joints[mesh.skin.bones]]
        tokens = (driver - ROOT).clamp_min(0)
        draw = torch.Generator().manual_seed(0)

        def some(rows: Tensor, most: int) -> Tensor:
            return rows[torch.randperm(len(rows), generator=draw)[:most]]

        probes, walls = some(mesh.faces.unique(), PROBES), some(mesh.faces, FACES)
        owner = tokens.gather(1, mesh.skin.weights.argmax(1, keepdim=True)).squeeze(1)
        steps = codec.body.relation % (STEPS * STEPS)
        far = (steps // STEPS + steps % STEPS >= _APART)[owner[probes]][:, owner[walls[:, 0]]]
        found = cls(
            codec.body, vertices, tokens, mesh.skin.weights, mesh.faces,
            probes, walls, vertices.new_ones(len(walls)), far,
        )  # fmt: skip
        every, chosen = (
            _areas(vertices, faces, owner, codec.body.tokens) for faces in (mesh.faces, walls)
        )
        sign = torch.sign(found.volume(vertices[None]))
        return replace(found, shares=sign * (every / chosen.clamp_min(1e-12))[owner[walls[:, 0]]])

    def pose(self, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B V 3"]:
        """Vertices of posed bodies by linear blend skinning."""
        places, turned = kinematics(self.body.expand(len(states)), states)
        # x' = R (x - pivot) + place
        shift = places - (turned @ self.body.pivots[..., None]).squeeze(-1)
        matrices = torch.cat((turned, shift[..., None]), dim=-1)  # [B J 3 4]
        blended = (matrices[:, self.tokens] * self.weights[..., None, None]).sum(2)
        return (blended[..., :3] @ self.vertices[..., None]).squeeze(-1) + blended[..., 3]

    def volume(self, posed: Float[Tensor, "B V 3"]) -> Float[Tensor, "B"]:
        """Signed volume inside the faces, body sizes cubed; about the middle for open meshes."""
        middle = posed.mean(1, keepdim=True)
        a, b, c = (posed - middle)[:, self.faces].unbind(-2)
        return (a * torch.linalg.cross(b, c)).sum((-1, -2)) / 6.0

    def depth(self, posed: Float[Tensor, "B V 3"]) -> Float[Tensor, "B P"]:
        """How far each probe is inside a part that is far from it in the tree.

        It is inside where the faces of such parts wind around it (each face counts as a dipole at
        its centre), as deep as the nearest of them is away.
        """
        a, b, c = posed[:, self.walls].unbind(-2)
        centres = (a + b + c) / 3.0
        outward = torch.linalg.cross(b - a, c - a) * (0.5 * self.shares[:, None])
        points = posed[:, self.probes]
        depths = []
        for centre, area, point in zip(centres, outward, points, strict=True):
            with torch.no_grad():
                offset = centre - point[:, None]
                apart = offset.norm(dim=-1).masked_fill(~self.far, float("inf"))
                # A dipole is infinite where it is; a face of its size is not.
                size = area.norm(dim=-1).sqrt()
                solid = (offset * area).sum(-1) / torch.maximum(apart, size) ** 3
                winds = solid.masked_fill(~self.far, 0.0).sum(-1) / (4.0 * math.pi)
                nearest = apart.argmin(-1)
            away = (point - centre[nearest]).norm(dim=-1)
            depths.append(torch.where(winds > _INSIDE, away, torch.zeros_like(away)))
        return torch.stack(depths)

    def validators(self) -> list[Validator]:
        """Intersection deeper than in the neutral pose, and change of volume."""
        rest = self.vertices[None]
        depth, volume = self.depth(rest), self.volume(rest).abs().clamp_min(1e-6)

        def intersects(states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B"]:
            return (self.depth(self.pose(states)) - depth).amax(-1).sub(DEEP).clamp_min(0.0)

        def changes(states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B"]:
            share = self.volume(self.pose(states)).abs() / volume
            return (share - 1.0).abs().sub(LOST).clamp_min(0.0)

        return [intersects, changes]


def _areas(
    vertices: Float[Tensor, "V 3"], faces: Int[Tensor, "F 3"], owner: Int[Tensor, "V"], parts: int
) -> Float[Tensor, "J"]:
    """Area of each part."""
    a, b, c = vertices[faces].unbind(-2)
    area = 0.5 * torch.linalg.cross(b - a, c - a).norm(dim=-1)
    return area.new_zeros(parts).index_add(0, owner[faces[:, 0]], area)
