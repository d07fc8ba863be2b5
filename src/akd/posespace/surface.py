"""`PosedSurface`: the skinned mesh of a character as a function of its state, and what is wrong
with it: parts inside each other, and volume that is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.posespace.body import PoseBody, kinematics
from akd.posespace.codec import PoseCodec
from akd.posespace.settings import STEPS
from akd.posespace.validate import Validator
from akd.rig.character import Character
from akd.rig.control import ROOT

PROBES = 400
"""Vertices that are looked for inside other parts."""
DEEP = 0.02
"""Body sizes that a part may be inside another."""
LOST = 0.15
"""Share of the volume that may be lost or gained."""
_REACH = 0.12
"""Body sizes between a vertex and the surface that it may be behind."""
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
    far: Bool[Tensor, "P P"]
    """Pairs of probes that must not come close: far apart in the tree."""

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
        used = mesh.faces.unique()
        draw = torch.Generator().manual_seed(0)
        probes = used[torch.randperm(len(used), generator=draw)[:PROBES]]
        strongest = mesh.skin.weights.argmax(1, keepdim=True)
        owner = tokens.gather(1, strongest)[probes, 0]
        steps = codec.body.relation % (STEPS * STEPS)
        far = (steps // STEPS + steps % STEPS >= _APART)[owner][:, owner]
        return cls(codec.body, vertices, tokens, mesh.skin.weights, mesh.faces, probes, far)

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
        """How far each probe is behind the nearest surface of a part far from it in the tree."""
        points = posed[:, self.probes]
        normals = self._normals(posed)[:, self.probes]
        apart = torch.cdist(points.detach(), points.detach()).masked_fill(~self.far, float("inf"))
        distance, nearest = apart.min(-1)
        index = nearest[..., None].expand_as(points)
        offset = points - points.gather(1, index)
        behind = -(offset * normals.gather(1, index)).sum(-1)
        return torch.where(distance < _REACH, behind, torch.zeros_like(behind)).clamp_min(0.0)

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

    def _normals(self, posed: Float[Tensor, "B V 3"]) -> Float[Tensor, "B V 3"]:
        a, b, c = posed[:, self.faces].unbind(-2)
        faces = torch.linalg.cross(b - a, c - a)
        total = torch.zeros_like(posed)
        for corner in self.faces.unbind(-1):
            total = total.index_add(1, corner, faces)
        return torch.nn.functional.normalize(total, dim=-1)
