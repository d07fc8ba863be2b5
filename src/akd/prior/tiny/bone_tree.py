"""`BoneTree`: which bone of a skin hangs on which, and where each turns.

The bones of a file need not form a tree: some hang on detached roots, some skins bind a joint
twice. The control rig has one, and each bone is driven by a control.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.math import transform
from akd.rig.control import ROOT, ControlRig
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin


@dataclass(frozen=True)
class BoneTree:
    """The tree over B bones."""

    parents: Int[Tensor, "B"]
    """The bone that each hangs on; -1 where it hangs on none."""
    pivots: Float[Tensor, "B 3"]
    """A point that each turns about, as bound: metres."""

    @classmethod
    def of(cls, rig: ControlRig, skin: Skin) -> BoneTree:
        """The tree of a skin's bones, from the control rig of its character."""
        above = {ROOT: -1} | {ROOT + 1 + c: p + ROOT + 1 for c, p in enumerate(rig.parents)}
        centres = torch.cat((rig.root_pivot[None], rig.pivots))
        drivers = rig.driver_index[skin.bone_joints].tolist()
        joints = skin.bone_joints.tolist()
        turned = dict(zip(above, (rig.root, *rig.joints), strict=True))
        first: dict[int, int] = {}
        """For each driver the bone of its joint, else the first bone that it drives."""
        for bone, driver in enumerate(drivers):
            if turned.get(driver) == joints[bone]:
                first.setdefault(driver, bone)
        for bone, driver in enumerate(drivers):
            if driver in above:
                first.setdefault(driver, bone)
        parents = []
        for bone, driver in enumerate(drivers):
            holder = driver
            if first.get(driver, bone) == bone:
                holder = above.get(driver, -1)
                while holder >= 0 and holder not in first:
                    holder = above[holder]
            parents.append(first.get(holder, -1))
        bound = transform.pseudo_inverse(skin.bone_transforms(rig.neutral_world))
        at = centres[torch.tensor([max(driver - ROOT, 0) for driver in drivers])]
        return cls(torch.tensor(parents), transform.apply(bound, at))

    def to(self, device: torch.device | str) -> BoneTree:
        """Move to a device."""
        return BoneTree(self.parents.to(device), self.pivots.to(device))

    def paths(self) -> Float[Tensor, "B B"]:
        """1 where the column's bone is on the way from the root to the row's, ends included."""
        count = len(self.parents)
        step = torch.zeros(count, count)
        hangs = (self.parents >= 0).nonzero().squeeze(1).cpu()
        step[hangs, self.parents.cpu()[hangs]] = 1.0
        return torch.linalg.inv(torch.eye(count) - step).round().to(self.pivots.device)

    def skeleton(self) -> Skeleton:
        """The bones as a skeleton, for its forward kinematics."""
        count = len(self.parents)
        names = tuple(str(bone) for bone in range(count))
        return Skeleton(names, tuple(self.parents.tolist()), Pose.identity(count))
