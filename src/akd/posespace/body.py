"""`PoseBody`: what the pose model knows of a character, and the batched kinematics of bodies.

A body is a list of tokens, the root and its driven joints, in the character's own frame (left, up,
forward) and in units of its size: the model sees neither heading nor scale. A pose is three numbers
a token, described in `akd.posespace.state`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.math import quaternion
from akd.posespace.settings import ANGLE_UNIT, HEIGHT_UNIT

DOUBLINGS = 6
"""Doublings that reach the root from the deepest token, at most 40 edges away."""


@dataclass(frozen=True)
class PoseBody:
    """One body, or with a leading batch axis many, padded to the same number of tokens."""

    present: Bool[Tensor, "*b J"]
    """False for padding."""
    parents: Int[Tensor, "*b J"]
    """Token of each token's parent; the root, token 0, is its own."""
    depth: Int[Tensor, "*b J"]
    """Edges between a token and the root."""
    pivots: Float[Tensor, "*b J 3"]
    """In the neutral pose, from the root's pivot: body sizes, (left, up, forward)."""
    frames: Float[Tensor, "*b J 3 3"]
    """Orthonormal axes as rows: flexion, abduction and bone; for the root left, forward, up."""
    ends: Float[Tensor, "*b J 3"]
    """Far end of each token's bone, from its pivot, in the neutral pose: body sizes."""
    mirror: Int[Tensor, "*b J"]
    """Token on the other side of the body: itself on the midline, -1 where there is none."""
    relation: Int[Tensor, "*b J J"]
    """Bucket of each pair of tokens by the steps up and down the tree between them."""
    features: Float[Tensor, "*b J F"]
    """Limits and position in the tree; see `akd.posespace.features`."""
    roles: Int[Tensor, "*b J 3"]
    """Part, limb and side as indices; 0 is unknown."""
    names: Float[Tensor, "*b J N"]
    """Embedding of the joints' names by hashed n-grams."""
    points: Float[Tensor, "*b J P 3"]
    """Surface points that the token's joint moves, from its pivot, in the neutral pose."""
    has_points: Bool[Tensor, "*b J"]
    """False for joints that move no surface."""

    @property
    def tokens(self) -> int:
        """Tokens, padding included."""
        return self.present.shape[-1]

    def __getitem__(self, index: Tensor | int | slice) -> PoseBody:
        """Bodies of a batch."""
        return PoseBody(**{f.name: getattr(self, f.name)[index] for f in fields(self)})

    def to(self, device: torch.device | str) -> PoseBody:
        """Move to a device."""
        return PoseBody(**{f.name: getattr(self, f.name).to(device) for f in fields(self)})

    def expand(self, count: int) -> PoseBody:
        """A batch that holds this one body `count` times."""
        return PoseBody(
            **{f.name: (v := getattr(self, f.name)).expand(count, *v.shape) for f in fields(self)}
        )

    def stretched(self, factors: Float[Tensor, "*b 3"]) -> PoseBody:
        """The body stretched along its left, up and forward axes."""
        by = factors[..., None, :]
        return replace(
            self,
            pivots=self.pivots * by,
            ends=self.ends * by,
            points=self.points * by[..., None, :],
        )


def stack_bodies(bodies: list[PoseBody], *, tokens: int | None = None) -> PoseBody:
    """A batch of bodies, padded to `tokens` or to the largest of them."""
    tokens = tokens or max(body.tokens for body in bodies)
    padded = [_padded(body, tokens) for body in bodies]
    return PoseBody(
        **{f.name: torch.stack([getattr(b, f.name) for b in padded]) for f in fields(PoseBody)}
    )


def _padded(body: PoseBody, tokens: int) -> PoseBody:
    missing = tokens - body.tokens
    if not missing:
        return body

    def pad(value: Tensor, axes: int = 1) -> Tensor:
        shape = [n + missing if axis < axes else n for axis, n in enumerate(value.shape)]
        result = value.new_zeros(shape)
        result[tuple(slice(n) for n in value.shape)] = value
        return result

    values = {f.name: pad(getattr(body, f.name)) for f in fields(body) if f.name != "relation"}
    values["relation"] = pad(body.relation, axes=2)
    values["frames"][body.tokens :] = torch.eye(3)
    values["mirror"][body.tokens :] = torch.arange(body.tokens, tokens)
    return PoseBody(**values)


def kinematics(
    body: PoseBody, state: Float[Tensor, "B J 3"]
) -> tuple[Float[Tensor, "B J 3"], Float[Tensor, "B J 3 3"]]:
    """Pivots, from the root's neutral place, and rotations since the neutral pose, by FK.

    Body sizes, in the body's frame (left, up, forward) at heading zero. Bone lengths are those of
    the body whatever the state is.
    """
    local = local_rotations(body, state)
    above = body.parents[..., None].expand_as(body.pivots)
    places = body.pivots - body.pivots.gather(-2, above)
    unturned = torch.eye(3, dtype=local.dtype, device=local.device).expand_as(local[:, :1])
    turned = torch.cat((unturned, local[:, 1:]), dim=1)
    places, turned = descend(body.parents, places, turned)
    root = local[:, :1]
    height = HEIGHT_UNIT * state[:, :1, 2:]
    lift = torch.cat((torch.zeros_like(height), height, torch.zeros_like(height)), dim=-1)
    return lift + (root @ places[..., None]).squeeze(-1), root @ turned


def descend(
    parents: Int[Tensor, "B J"], places: Float[Tensor, "B J 3"], turned: Float[Tensor, "B J 3 3"]
) -> tuple[Float[Tensor, "B J 3"], Float[Tensor, "B J 3 3"]]:
    """Transforms in the root's frame of tokens whose transforms in their parents' are given."""
    # Pointer jumping: after k rounds a token knows its transform in its 2^k-th ancestor, and the
    # root is its own.
    ancestor = parents
    for _ in range(DOUBLINGS):
        index = ancestor[..., None].expand_as(places)
        parent = turned.gather(-3, index[..., None].expand_as(turned))
        places = places.gather(-2, index) + (parent @ places[..., None]).squeeze(-1)
        turned = parent @ turned
        ancestor = ancestor.gather(-1, ancestor)
    return places, turned


def local_rotations(body: PoseBody, state: Float[Tensor, "B J 3"]) -> Float[Tensor, "B J 3 3"]:
    """Rotation of each token in its parent's frame, since the neutral pose, in body axes."""
    # The third number of the root is a height, not an angle.
    is_height = torch.zeros_like(state)
    is_height[:, 0, 2] = 1.0
    vector = (state * (1.0 - is_height) * ANGLE_UNIT)[..., None, :] @ body.frames
    return quaternion.to_matrix(quaternion.from_rotation_vector(vector.squeeze(-2)))


def bone_ends(
    body: PoseBody, places: Float[Tensor, "B J 3"], turned: Float[Tensor, "B J 3 3"]
) -> Float[Tensor, "B J 3"]:
    """Far ends of the bones, from what `kinematics` returns."""
    return places + (turned @ body.ends[..., None]).squeeze(-1)


def mirrored(body: PoseBody, state: Float[Tensor, "B J 3"]) -> Float[Tensor, "B J 3"]:
    """The pose with left and right exchanged, where a body has a mirror partner for every token."""
    partner = body.mirror.clamp_min(0)
    swapped = state.gather(-2, partner[..., None].expand_as(state))
    on_midline = body.mirror == torch.arange(body.tokens, device=state.device)
    odd = on_midline[..., None] & state.new_tensor((0.0, 1.0, 1.0)).bool()
    odd[:, 0, 2] = False  # the root's height
    sign = 1.0 - 2.0 * odd.to(state)
    whole = (body.mirror >= 0).all(-1)[:, None, None]
    return torch.where(whole, swapped * sign, state)
