"""`Pose`: local translation, rotation and scale of every joint, for any number of frames."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion, transform


@dataclass(frozen=True)
class Pose:
    """Transforms of joints relative to their parents. Leading dimensions are free (frames)."""

    translation: Float[Tensor, "*b J 3"]
    """Metres."""
    rotation: Float[Tensor, "*b J 4"]
    """Unit quaternions, wxyz."""
    scale: Float[Tensor, "*b J 3"]

    @classmethod
    def identity(cls, joints: int, *, dtype: torch.dtype = torch.float32) -> Pose:
        """The pose in which every joint sits on its parent, unturned and unscaled."""
        zeros = torch.zeros(joints, 3, dtype=dtype)
        return cls(zeros, quaternion.identity(joints, like=zeros), torch.ones_like(zeros))

    @classmethod
    def from_matrices(cls, parent_from_joint: Float[Tensor, "*b J 4 4"]) -> Pose:
        """Decompose local matrices. Shear is dropped."""
        return cls(*transform.decompose(parent_from_joint))

    def matrices(self) -> Float[Tensor, "*b J 4 4"]:
        """parent_from_joint of every joint."""
        return transform.compose(self.translation, self.rotation, self.scale)

    def __getitem__(self, frames: int | slice | Tensor) -> Pose:
        """The poses of some frames (the first dimension)."""
        if self.translation.ndim < 3:
            raise IndexError("a pose without a frame dimension cannot be indexed by frame")
        return Pose(self.translation[frames], self.rotation[frames], self.scale[frames])

    def continuous(self) -> Pose:
        """The same pose at all frames, each quaternion of the sign nearest to the frame before."""
        return Pose(self.translation, quaternion.make_continuous(self.rotation), self.scale)

    def expand(self, *frames: int) -> Pose:
        """The same pose for several frames."""
        return Pose(
            self.translation.expand(*frames, -1, -1),
            self.rotation.expand(*frames, -1, -1),
            self.scale.expand(*frames, -1, -1),
        )

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> Pose:
        """Move or convert."""
        return Pose(
            self.translation.to(device=device, dtype=dtype),
            self.rotation.to(device=device, dtype=dtype),
            self.scale.to(device=device, dtype=dtype),
        )
