"""`Skin`: which bones move which points, and linear blend skinning of points and covariances."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding_bag

_DENSE = 2**22
"""Most weights, points times bones, that a GPU holds as a dense matrix."""


@dataclass(frozen=True)
class Skin:
    """A binding of V points to B bones. A bone is a joint together with its inverse bind matrix.

    One joint may serve as several bones where a file has several skins that bind it differently.
    """

    bone_joints: Int[Tensor, "B"]
    """Index of each bone's joint in the skeleton."""
    inverse_bind: Float[Tensor, "B 4 4"]
    """joint_from_mesh at bind time, metres."""
    bones: Int[Tensor, "V K"]
    """The bones that move each point."""
    weights: Float[Tensor, "V K"]
    """How much; non-negative, each row sums to one."""

    @property
    def owners(self) -> Int[Tensor, "V"]:
        """The joint that moves each point most."""
        strongest = self.weights.argmax(dim=1, keepdim=True)
        return self.bone_joints[self.bones.gather(1, strongest).squeeze(1)]

    def bone_transforms(
        self, world_from_joint: Float[Tensor, "*b J 4 4"]
    ) -> Float[Tensor, "*b B 4 4"]:
        """world_from_mesh of every bone, from the joints' world transforms."""
        return world_from_joint.index_select(-3, self.bone_joints) @ self.inverse_bind

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> Skin:
        """Move, or convert the floating-point parts."""
        return Skin(
            self.bone_joints.to(device=device),
            self.inverse_bind.to(device=device, dtype=dtype),
            self.bones.to(device=device),
            self.weights.to(device=device, dtype=dtype),
        )


def blend_transforms(
    world_from_mesh: Float[Tensor, "*b B 4 4"],
    bones: Int[Tensor, "V K"],
    weights: Float[Tensor, "V K"],
) -> Float[Tensor, "*b V 3 4"]:
    """Weighted sum of each point's bone transforms: phi as an affine map, a point.

    The 3x3 part is grad phi with the weights held: sum of w_i R_i.
    """
    rows = _blended_rows(world_from_mesh, bones, weights)
    maps = rows.unflatten(1, (rows.shape[1] // 3, 3)).movedim(1, 0)
    return maps.reshape(*world_from_mesh.shape[:-3], len(bones), 3, 4)


def _blended_rows(
    world_from_mesh: Float[Tensor, "*b B 4 4"],
    bones: Int[Tensor, "V K"],
    weights: Float[Tensor, "V K"],
) -> Float[Tensor, "V R 4"]:
    """The three rows of phi of all frames, point by point."""
    affine = world_from_mesh[..., :3, :]
    rows = affine.reshape(-1, affine.shape[-3], 12).movedim(0, 1)  # a row a bone, all frames in it
    if affine.is_cuda and len(bones) * len(rows) <= _DENSE:
        # One product each way: the gradient of an embedding sorts its indices first.
        shares = affine.new_zeros(len(bones), len(rows))
        blended = shares.scatter_add(1, bones.long(), weights.to(affine)) @ rows.flatten(1)
    else:
        blended = embedding_bag(
            bones, rows.flatten(1), per_sample_weights=weights.to(affine), mode="sum"
        )
    return blended.view(len(bones), 3 * rows.shape[1], 4)


def skin_points(
    world_from_mesh: Float[Tensor, "*b B 4 4"],
    points: Float[Tensor, "V 3"],
    bones: Int[Tensor, "V K"],
    weights: Float[Tensor, "V K"],
) -> Float[Tensor, "*b V 3"]:
    """Linear blend skinning: phi(x) = sum of w_i M_i x, in metres."""
    # One product a point for all frames: of 3 x 3 matrices each by itself it would take four times
    # as long.
    rows = _blended_rows(world_from_mesh, bones, weights)
    moved = rows @ torch.cat((points, torch.ones_like(points[:, :1])), 1)[..., None].to(rows)
    moved = moved.view(len(bones), rows.shape[1] // 3, 3).movedim(1, 0)
    return moved.reshape(*world_from_mesh.shape[:-3], len(bones), 3)


def skin_covariances(
    world_from_mesh: Float[Tensor, "*b B 4 4"],
    covariances: Float[Tensor, "V 3 3"],
    bones: Int[Tensor, "V K"],
    weights: Float[Tensor, "V K"],
) -> Float[Tensor, "*b V 3 3"]:
    """Covariances carried along: grad phi S grad phi^T."""
    gradient = blend_transforms(world_from_mesh, bones, weights)[..., :3]
    return gradient @ covariances @ gradient.transpose(-1, -2)
