"""A first guess of each limb's pose in every frame of a video whose limbs have hues of their own.

A punch, a kick or a wave has no phase that could be tried (see `phase_search`), and an arm that is
not where the video has it overlaps with nothing that would draw it on. So every pose of a limb is
rendered once, compared with every frame by the limb's hue, and a path through the poses is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as nn
from jaxtyping import Float, Int
from torch import Tensor

from akd.fit.hues import hue_maps
from akd.fit.limb_search import chain
from akd.fit.phase_search import LimbControls, limb_controls
from akd.motion.parameters import ControlCurves
from akd.rig.control import ControlPose
from akd.rig.limits import AngleLimits
from akd.rig.roles.role import LimbKind
from akd.scene.roles import role_colours
from akd.scene.stage import Stage

_FLEXIONS = (-2.5, -1.9, -1.3, -0.6, 0.0, 0.6)
_ABDUCTIONS = (0.0, 0.9, 1.8, 2.5)
_BENDS = (0.0, 0.7, 1.4, 2.1)
"""Radians: of the upper joint forward and back, of an arm sideways, and of the lower joint the way
it bends. What is beyond the limits is not tried."""
_JUMP = 0.05
"""Cost of a change from frame to frame, per radian squared, against the share of the limb's hue
that is not where the video has it."""
_STRAIN = (0.03, 0.09, 0.03)
"""Cost of the distance from the neutral pose, likewise, of each angle: from the side, an arm that
is raised sideways looks much like one that is raised forward, which is more common."""
_SHIFT = 6
"""The camera follows the root at the mean distance of the body's centre, which is not known yet:
the body may be so many cells of the hue maps aside of where its neutral pose is."""


@dataclass(frozen=True)
class _Poses:
    """A limb and the poses of it that are tried."""

    limb: LimbControls
    angles: Float[Tensor, "C 3"]
    """Flexion and abduction of the upper joint, flexion of the lower one, radians."""

    @classmethod
    def of(cls, limb: LimbControls, limits: AngleLimits) -> _Poses:
        """All poses on the grid that are within the limits."""
        forth, back = limits.forth, limits.back
        bends = torch.zeros(1)
        if limb.lower is not None:
            way = 1.0 if forth[limb.lower, 0] > back[limb.lower, 0] else -1.0
            bends = way * torch.tensor(_BENDS)
        sideways = _ABDUCTIONS if limb.role.limb is LimbKind.ARM else (0.0,)
        angles = torch.cartesian_prod(torch.tensor(_FLEXIONS), torch.tensor(sideways), bends)
        within = (angles[:, 0] <= forth[limb.upper, 0]) & (angles[:, 0] >= -back[limb.upper, 0])
        within &= angles[:, 1] <= forth[limb.upper, 1]
        if limb.lower is not None:
            within &= angles[:, 2].abs() <= torch.maximum(forth, back)[limb.lower, 0]
        return cls(limb, angles[within])

    def put(self, angles: Float[Tensor, "T D 3"], chosen: Int[Tensor, "T"] | slice) -> None:
        """Write the chosen poses into the angles of all controls."""
        own = self.angles.to(angles)[chosen]
        angles[: len(own), self.limb.upper, :2] = own[:, :2]
        if self.limb.lower is not None:
            angles[: len(own), self.limb.lower, 0] = own[:, 2]


@torch.no_grad()
def search_poses(
    stage: Stage, candidates: Sequence[ControlCurves], targets: Float[Tensor, "K T H W 3"]
) -> None:
    """Set arms and legs of curves without a cycle to the poses that each one's video shows.

    Of two-legged bodies only: what a four-legged one does turns its root, and its legs in the
    image with it, so that they would be taken for having moved.
    """
    limbs = limb_controls(stage.rig)
    four = any(limb.role.limb in (LimbKind.FORE, LimbKind.HIND) for limb in limbs)
    if not limbs or four or any(curves.period is not None for curves in candidates):
        return
    tried = [_Poses.of(limb, candidates[0].limits) for limb in limbs]
    colours = role_colours([limb.role for limb in limbs])
    shown = _hues_of_poses(stage, tried, colours)
    for curves, target in zip(candidates, targets, strict=True):
        wanted = hue_maps(target, colours)
        costs = _best_shift([_differences(own, wanted[:, k]) for k, own in enumerate(shown)])
        angles = torch.zeros(len(target), len(stage.rig), 3)
        for poses, cost in zip(tried, costs, strict=True):
            own = poses.angles.to(cost)
            strain = own.square() @ own.new_tensor(_STRAIN)
            poses.put(angles, chain(cost + strain, own, jump=_JUMP).cpu())
        curves.set_angles(angles)


def _hues_of_poses(
    stage: Stage, tried: list[_Poses], colours: Float[Tensor, "K 3"]
) -> list[Float[Tensor, "_ h w"]]:
    """Where each limb's hue is in each of its poses.

    The limbs of one side move at once: seen from the side, the near one of a pair would hide the
    far one in the same pose.
    """
    found: dict[int, Tensor] = {}
    device = stage.cloud.means.device
    for side in dict.fromkeys(poses.limb.role.side for poses in tried):
        own = [k for k, poses in enumerate(tried) if poses.limb.role.side is side]
        count = max(len(tried[k].angles) for k in own)
        angles = torch.zeros(count, len(stage.rig), 3, device=device)
        for k in own:
            tried[k].put(angles, slice(None))
        still = angles.new_zeros(count, 3)
        bones = stage.transforms(ControlPose(still, still, angles))
        maps = hue_maps(stage.show_body(bones[None], still[None])[0], colours)
        found |= {k: maps[: len(tried[k].angles), k] for k in own}
    return [found[k] for k in range(len(tried))]


def _differences(
    shown: Float[Tensor, "C h w"], wanted: Float[Tensor, "T h w"]
) -> Float[Tensor, "S T C"]:
    """Mean square difference of every pose from every frame, for every shift of the poses, as a
    share of what the video has."""
    height, width = wanted.shape[1:]
    padded = nn.pad(shown, (_SHIFT, _SHIFT, _SHIFT, _SHIFT))
    span = range(2 * _SHIFT + 1)
    found = []
    for y in span:
        for x in span:
            moved = padded[:, y : y + height, x : x + width].flatten(1)
            found.append(torch.cdist(wanted.flatten(1), moved).square())
    return torch.stack(found) / wanted.flatten(1).square().sum(1).mean().clamp_min(1e-9)


def _best_shift(costs: list[Float[Tensor, "S T _"]]) -> list[Float[Tensor, "T _"]]:
    """The costs under the shift with which all limbs together look most like the video."""
    total = torch.stack([cost.amin(2).mean(1) for cost in costs]).sum(0)
    return [cost[int(total.argmin())] for cost in costs]
