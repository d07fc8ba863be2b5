"""`Skeleton`: a forest of named joints, and forward kinematics over it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.rig.pose import Pose


@dataclass(frozen=True)
class Skeleton:
    """Named joints with parents, in any order, and the pose they rest in.

    For a glTF file every node of the file is a joint here, so that nothing that can move is lost.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    """Index of each joint's parent; -1 for a root. There may be several roots."""
    rest: Pose
    """Local transforms as the file has them, no leading dimension."""

    def __post_init__(self) -> None:
        count = len(self.names)
        if len(self.parents) != count or self.rest.translation.shape != (count, 3):
            raise ValueError(
                f"a skeleton needs one parent and one rest transform per joint: {count} names, "
                f"{len(self.parents)} parents, rest {tuple(self.rest.translation.shape)}"
            )
        if sum(len(level) for level in self._levels) != count:
            raise ValueError("parents must form a forest: there is a cycle or an unknown parent")

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each joint."""
        lists: list[list[int]] = [[] for _ in self.parents]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                lists[parent].append(joint)
        return tuple(tuple(c) for c in lists)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Joints without a parent."""
        return tuple(j for j, p in enumerate(self.parents) if p < 0)

    def ancestors(self, joint: int) -> Iterator[int]:
        """The joint's parent, its parent's parent, and so on."""
        while (joint := self.parents[joint]) >= 0:
            yield joint

    def subtree(self, joint: int) -> Iterator[int]:
        """The joint and everything below it, parents first."""
        stack = [joint]
        while stack:
            joint = stack.pop()
            yield joint
            stack.extend(reversed(self.children[joint]))

    @cached_property
    def _levels(self) -> list[list[int]]:
        """Joints by depth; joints in a cycle appear in no level."""
        level = [j for j, p in enumerate(self.parents) if p == -1]
        children: dict[int, list[int]] = {}
        for joint, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(joint)
        levels = []
        while level:
            levels.append(level)
            level = [c for j in level for c in children.get(j, [])]
        return levels

    @cached_property
    def _schedule(self) -> tuple[list[tuple[Int[Tensor, "L"], Int[Tensor, "L"]]], Int[Tensor, "J"]]:
        """For each level its joints and its parents' places in the level before; and the order in
        which the concatenated levels must be read to be in joint order."""
        steps = []
        place: dict[int, int] = {}
        for level in self._levels:
            above = [place.get(self.parents[j], 0) for j in level]
            steps.append((torch.tensor(level), torch.tensor(above)))
            place = {j: i for i, j in enumerate(level)}
        flat = torch.tensor([j for level in self._levels for j in level], dtype=torch.long)
        return steps, torch.argsort(flat)

    def forward(self, pose: Pose) -> Float[Tensor, "*b J 4 4"]:
        """world_from_joint of every joint: forward kinematics."""
        return self.forward_matrices(pose.matrices())

    def forward_matrices(
        self, parent_from_joint: Float[Tensor, "*b J 4 4"]
    ) -> Float[Tensor, "*b J 4 4"]:
        """world_from_joint from local matrices, one batched product a level of the tree."""
        if parent_from_joint.shape[-3] != len(self):
            raise ValueError(
                f"the pose has {parent_from_joint.shape[-3]} joints, the skeleton {len(self)}"
            )
        steps, order = self._schedule
        device = parent_from_joint.device
        worlds: list[Tensor] = []
        for joints, above in steps:
            local = parent_from_joint.index_select(-3, joints.to(device))
            if worlds:
                local = worlds[-1].index_select(-3, above.to(device)) @ local
            worlds.append(local)
        if not worlds:
            return parent_from_joint
        return torch.cat(worlds, dim=-3).index_select(-3, order.to(device))

    def localize(self, world_from_joint: Float[Tensor, "*b J 4 4"]) -> Pose:
        """Local transforms that give these world transforms. The inverse of `forward`.

        Joints below one of scale zero, whose own transform is lost, get zero scale as well.
        """
        from akd.math import transform

        parents = torch.tensor(self.parents, dtype=torch.long, device=world_from_joint.device)
        is_root = (parents < 0)[:, None, None]
        above = world_from_joint.index_select(-3, parents.clamp_min(0))
        below = transform.pseudo_inverse(above) @ world_from_joint
        local = torch.where(is_root, world_from_joint, below)
        return Pose.from_matrices(local)
