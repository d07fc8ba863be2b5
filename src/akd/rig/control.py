"""`ControlRig`: the tree of joints that akd drives, made from a file's skeleton.

One root with six degrees of freedom, and driven joints that turn about three axes each. Zero is the
neutral pose. A control moves part of the neutral body rigidly; the file's joints that belong to
that part go along, wherever they hang in the file: a paw on a detached root travels with its leg.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.math import davenport, quaternion, transform
from akd.rig.pose import Pose
from akd.rig.roles.role import Role
from akd.rig.skeleton import Skeleton

STATIC, TRAVEL, ROOT = 0, 1, 2
"""Driver indices before those of the driven joints: static nodes, nodes that carry root motion, and
nodes that follow the root."""


@dataclass(frozen=True)
class ControlPose:
    """Coordinates of a control rig, for any number of frames. All zero is the neutral pose."""

    translation: Float[Tensor, "*b 3"]
    """Of the root, from where it is in the neutral pose: metres, world axes."""
    root_rotation: Float[Tensor, "*b 3"]
    """Of the root: yaw about up, pitch about left (positive nods), roll about forward: radians."""
    angles: Float[Tensor, "*b D 3"]
    """Of the driven joints: flexion, abduction, twist: radians."""
    joint_translation: Float[Tensor, "*b D 3"] | None = None
    """Displacement of each driven joint from its neutral offset: metres, in its parent's neutral
    axes. Zero in everything that akd makes; an artist's clip may stretch a limb, or have an IK foot
    out of the leg's reach. None means zero."""

    def __getitem__(self, frames: int | slice | list[int] | Tensor) -> ControlPose:
        """Some of the frames: the first dimension."""
        return self.each(lambda value: value[frames])

    def each(self, change: Callable[[Tensor], Tensor]) -> ControlPose:
        """The same with every tensor changed."""
        stretch = self.joint_translation
        return ControlPose(
            change(self.translation), change(self.root_rotation), change(self.angles),
            None if stretch is None else change(stretch),
        )  # fmt: skip

    def rigid(self) -> ControlPose:
        """The same without joint translation."""
        return replace(self, joint_translation=None)

    def to(self, device: torch.device | str) -> ControlPose:
        """Move to a device."""
        return self.each(lambda value: value.to(device))


@dataclass(frozen=True)
class ControlRig:
    """A control tree over a file's skeleton."""

    skeleton: Skeleton
    neutral: Pose
    """Local transforms of the file's joints at zero."""
    neutral_from: str
    """Where the neutral pose was taken from, for a person to read."""
    root: int
    """The file's joint that the root moves: the pelvis."""
    joints: tuple[int, ...]
    """The file's joint that each control turns; parents come before their children."""
    roles: tuple[Role, ...]
    parents: tuple[int, ...]
    """Index of each control's parent among the controls; -1 where it hangs on the root."""
    pivots: Float[Tensor, "D 3"]
    """Where each control turns: metres, world, neutral pose."""
    axes: Float[Tensor, "D 3 3"]
    """Flexion, abduction and twist axes as rows: world, neutral pose."""
    root_pivot: Float[Tensor, "3"]
    root_axes: Float[Tensor, "3 3"]
    """Yaw, pitch and roll axes as rows."""
    driver_index: Int[Tensor, "J"]
    """What moves each of the file's joints: STATIC, TRAVEL, ROOT, or 3 plus a control's index."""
    travel_joint: int
    """The file's joint that carries the horizontal travel of the root in an exported clip."""

    def __len__(self) -> int:
        return len(self.joints)

    @cached_property
    def neutral_world(self) -> Float[Tensor, "J 4 4"]:
        """world_from_joint of the file's joints in the neutral pose."""
        return self.skeleton.forward(self.neutral)

    @cached_property
    def _tree(self) -> Skeleton:
        """The root and the controls as a skeleton of their own, for its forward kinematics."""
        names = ("root", *(str(r) for r in self.roles))
        return Skeleton(names, (-1, *(p + 1 for p in self.parents)), Pose.identity(len(names)))

    def zero(self, *frames: int) -> ControlPose:
        """The neutral pose."""
        new = self.pivots.new_zeros
        return ControlPose(new(*frames, 3), new(*frames, 3), new(*frames, len(self), 3))

    def deltas(self, pose: ControlPose) -> Float[Tensor, "*b M 4 4"]:
        """How each driver displaces the neutral body: rigid transforms of the world, 3 + D of them.

        A point of the neutral body at x is at `deltas[m] x`, where m moves it.
        """
        turned = davenport.to_quaternion(self.axes, pose.angles)
        local = transform.about_point(turned, self.pivots)
        if pose.joint_translation is not None:
            local = _shifted(local, pose.joint_translation)
        root = transform.about_point(
            davenport.to_quaternion(self.root_axes, pose.root_rotation), self.root_pivot
        )
        root = _shifted(root, pose.translation)
        moved = self._tree.forward_matrices(torch.cat((root[..., None, :, :], local), dim=-3))
        still = torch.eye(4).to(moved).expand(*moved.shape[:-3], 1, 4, 4)
        horizontal = pose.translation * pose.translation.new_tensor((1.0, 0.0, 1.0))
        travel = _shifted(still, horizontal[..., None, :])
        return torch.cat((still, travel, moved), dim=-3)

    def world(self, pose: ControlPose) -> Float[Tensor, "*b J 4 4"]:
        """world_from_joint of the file's joints."""
        deltas = self.deltas(pose)
        return deltas.index_select(-3, self.driver_index.to(deltas.device)) @ self.neutral_world.to(
            deltas
        )

    def to_pose(self, pose: ControlPose) -> Pose:
        """Local translation, rotation and scale of the file's joints."""
        return self.skeleton.localize(self.world(pose))

    def from_pose(self, pose: Pose) -> ControlPose:
        """Coordinates of the nearest pose that the control rig can take, continuous over frames.

        Driven joints keep their place and orientation; scale, and the motion of joints that are not
        driven, are lost. The first dimension, where there is one, is time.
        """
        return self.from_world(self.skeleton.forward(pose))

    def from_world(self, world_from_joint: Float[Tensor, "*b J 4 4"]) -> ControlPose:
        """The same as `from_pose`, from world transforms of the file's joints."""
        driven = torch.tensor((self.root, *self.joints), device=world_from_joint.device)
        now = world_from_joint.index_select(-3, driven)
        neutral = self.neutral_world.to(now).index_select(-3, driven)
        turned = _orientation(now @ transform.pseudo_inverse(neutral))  # [*b, 1 + D, 4]
        above = torch.tensor([p + 1 for p in self.parents], device=now.device, dtype=torch.long)
        parent = turned.index_select(-2, above)
        relative = quaternion.multiply(quaternion.conjugate(parent), turned[..., 1:, :])
        angles = davenport.from_quaternion(self.axes.to(now), relative)
        root_rotation = davenport.from_quaternion(self.root_axes.to(now), turned[..., 0, :])
        if angles.ndim > 2:
            angles = davenport.unwrap(self.axes.to(now), angles)
            root_rotation = davenport.unwrap(self.root_axes.to(now), root_rotation)
        translation = now[..., 0, :3, 3] - neutral[0, :3, 3]
        # Where the parent has carried each joint's socket, against where the joint is.
        gap = (now[..., :3, 3] - neutral[..., :3, 3]).index_select(-2, above)
        arm = self.pivots.to(now) - neutral[..., :3, 3].index_select(-2, above)
        socket = neutral[..., :3, 3].index_select(-2, above) + gap + quaternion.rotate(parent, arm)
        joint_translation = quaternion.rotate(
            quaternion.conjugate(parent), now[..., 1:, :3, 3] - socket
        )
        return ControlPose(translation, root_rotation, angles, joint_translation)


def _shifted(
    matrix: Float[Tensor, "*#b 4 4"], by: Float[Tensor, "*#b 3"]
) -> Float[Tensor, "*_ 4 4"]:
    """A transform followed by a translation."""
    return transform.from_linear(matrix[..., :3, :3], matrix[..., :3, 3] + by)


def _orientation(matrix: Float[Tensor, "*b 4 4"]) -> Float[Tensor, "*b 4"]:
    """The rotation of an affine transform."""
    return transform.decompose(matrix)[1]
