"""`PoseCodec`: between the control poses of a character and the states of the pose model.

A state holds three numbers for each token. For a joint: the rotation vector since the neutral pose,
in the joint's own orthonormal axes (flexion, abduction, bone), in units of `ANGLE_UNIT`. For the
root: its tilt about left and about forward, in the same unit, and its height above that of the
neutral pose, in units of `HEIGHT_UNIT` body sizes. Heading and horizontal position are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import davenport, quaternion
from akd.motion.motion import Motion
from akd.posespace.body import PoseBody
from akd.posespace.features import describe_body
from akd.posespace.settings import ANGLE_UNIT, HEIGHT_UNIT
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig


@dataclass(frozen=True)
class PoseCodec:
    """The body of a character as the pose model sees it, and the way to it and back."""

    rig: ControlRig
    body: PoseBody
    size: float
    """Metres that count as one in the body."""

    @classmethod
    def of(cls, character: Character) -> PoseCodec:
        """The codec of a character."""
        body, size = describe_body(character)
        return cls(character.control_rig, body, size)

    @cached_property
    def _frames(self) -> Float[Tensor, "D 3 3"]:
        """Joint axes as rows, in the world of the neutral pose."""
        axes = self.rig.axes
        return torch.stack(
            (axes[:, 0], axes[:, 1], torch.linalg.cross(axes[:, 0], axes[:, 1])), dim=1
        )

    def encode(self, pose: ControlPose) -> Float[Tensor, "T J 3"]:
        """States of control poses. Joint translation is dropped."""
        turn = davenport.to_quaternion(self.rig.axes, pose.angles)
        joints = (self._frames @ quaternion.to_rotation_vector(turn)[..., None]).squeeze(-1)
        up, left, forward = self.rig.root_axes
        root = davenport.to_quaternion(self.rig.root_axes, pose.root_rotation)
        tilt = quaternion.to_rotation_vector(
            quaternion.multiply(quaternion.conjugate(_about(root, up)), root)
        )
        height = (pose.translation @ up) / (self.size * HEIGHT_UNIT)
        first = torch.stack((tilt @ left / ANGLE_UNIT, tilt @ forward / ANGLE_UNIT, height), dim=-1)
        return torch.cat((first[..., None, :], joints / ANGLE_UNIT), dim=-2)

    def decode(self, state: Float[Tensor, "T J 3"]) -> ControlPose:
        """Control poses of states, at heading zero, above the place of the neutral pose."""
        up, left, forward = self.rig.root_axes
        vectors = (state[:, 1:, None] * ANGLE_UNIT @ self._frames).squeeze(-2)
        angles = davenport.from_quaternion(self.rig.axes, quaternion.from_rotation_vector(vectors))
        tilt = ANGLE_UNIT * (state[:, 0, :1] * left + state[:, 0, 1:2] * forward)
        root = davenport.from_quaternion(self.rig.root_axes, quaternion.from_rotation_vector(tilt))
        height = state[:, 0, 2:] * (HEIGHT_UNIT * self.size)
        return ControlPose(height * up, root, angles)

    def in_body(self, point: Float[Tensor, "3"]) -> Float[Tensor, "3"]:
        """A point of the world (metres) in the body's frame (left, up, forward) and size."""
        up, left, forward = self.rig.root_axes
        return torch.stack((left, up, forward)) @ (point - self.rig.root_pivot) / self.size

    def in_world(self, points: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b 3"]:
        """Points in the body's frame and size in the world (metres), of the character in place."""
        up, left, forward = self.rig.root_axes
        return self.size * points @ torch.stack((left, up, forward)) + self.rig.root_pivot

    def motion(
        self, states: Float[Tensor, "T J 3"], *, fps: float = 24.0, name: str = ""
    ) -> Motion:
        """States as frames of a motion of the file's joints."""
        pose = self.rig.to_pose(self.decode(states)).continuous()
        return Motion(self.rig.skeleton, torch.arange(len(states)) / fps, pose, name)


def _about(rotation: Float[Tensor, "*b 4"], axis: Float[Tensor, "3"]) -> Float[Tensor, "*b 4"]:
    """The part of a rotation that turns about an axis (swing-twist decomposition)."""
    along = rotation[..., 1:] @ axis
    # A body exactly upside down has no heading of its own: it keeps zero.
    straight = rotation[..., 0].square() + along.square() < 1e-12
    w = torch.where(straight, torch.ones_like(along), rotation[..., 0])
    return quaternion.normalize(torch.cat((w[..., None], along[..., None] * axis), dim=-1))
