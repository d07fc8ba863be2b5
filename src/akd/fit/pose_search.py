"""Pose search: the pose of each limb in every frame, for videos in the `roles` style.

A punch, a kick or a wave has no phase that could be tried (see `phase_search`), and an arm that is
not where the video has it overlaps with nothing that would draw it on. So every pose of a limb is
rendered once, on a layer of its own. Frame by frame the layers are put together, since a far leg
that cannot be seen is behind the near one and not where it stood, and a path through the poses of
one limb after the other is chosen. Then the body comes down to where its feet carry it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as nn
from jaxtyping import Float, Int
from torch import Tensor

from akd.fit.hues import hue_maps, hue_stride
from akd.fit.limb_search import Layer, chain, render_layer, splats_of, stacked
from akd.fit.phase_search import LimbControls, limb_controls
from akd.fit.photometric import chroma
from akd.motion.parameters import ControlCurves
from akd.rig.control import ControlPose
from akd.rig.limits import AngleLimits
from akd.rig.roles.role import LimbKind
from akd.rig.skin import skin_points
from akd.scene.roles import role_colours
from akd.scene.stage import Stage

_FLEXIONS = (-2.5, -1.9, -1.3, -0.6, 0.0, 0.6)
_ABDUCTIONS = (0.0, 0.9, 1.8, 2.5)
_BENDS = (0.0, 0.7, 1.4, 2.1)
"""Radians: of the upper joint forward and back, of an arm sideways, and of the lower joint the way
it bends. What is beyond the limits is not tried."""
_JUMP = 0.05
"""Cost of a change from frame to frame, per radian squared, against the share of the limb that is
not where the video has it."""
_STRAIN = (0.03, 0.09, 0.03)
"""Cost of the distance from the neutral pose, likewise, of each angle: from the side, an arm that
is raised sideways looks much like one that is raised forward, which is more common."""
_LEG_STRAIN = 0.5
"""Factor on that of legs: to sit down they are folded as far as they go."""
_HIDDEN = 2.0
"""How much more that costs of a limb that cannot be seen: it could be anywhere behind the body."""
_SHIFT = 6
"""The camera follows the centre of the body, so the image does not give the root's position: in
each frame it may be this many cells of the hue maps away from where the neutral pose has it."""
_MOVES = 0.02
"""Cost of a change of that place from frame to frame, per cell squared, as `_JUMP`."""
_ROUNDS = 2
_SIZES = (2, 8)
"""Pixels on a side that are compared as one: small ones tell poses apart, large ones attract."""
_CARRIES = 0.02
"""A foot carries the less, the higher it is above the lowest one: in body heights."""


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
    """Set arms and legs of curves without a cycle to the poses that each one's video shows, and the
    root to where they carry it.

    Of two-legged bodies only: what a four-legged one does turns its root, and its legs in the
    image with it, so that they would be taken for having moved.
    """
    limbs = limb_controls(stage.rig)
    four = any(limb.role.limb in (LimbKind.FORE, LimbKind.HIND) for limb in limbs)
    if not limbs or four or any(curves.period is not None for curves in candidates):
        return
    tried = [_Poses.of(limb, candidates[0].limits) for limb in limbs]
    layers = _layers(stage, tried)
    colours = role_colours([limb.role for limb in limbs])
    for curves, target in zip(candidates, targets, strict=True):
        centred, seen = _centred(target, tried, layers, colours)
        wanted = chroma(centred).movedim(-1, 1)
        angles = torch.zeros(len(target), len(stage.rig), 3)
        for poses, chosen in zip(tried, _chosen(tried, layers, wanted, seen), strict=True):
            poses.put(angles, chosen.cpu())
        curves.set_angles(angles)
        if curves.speed == 0.0:
            _carry(stage, curves)


def _layers(stage: Stage, tried: list[_Poses]) -> list[Layer]:
    """A layer for each limb in all its poses, and one for the rest of the body."""
    device = stage.cloud.means.device
    own = [splats_of(stage, poses.limb.role) for poses in tried]
    found = []
    for poses, splats in zip(tried, own, strict=True):
        angles = torch.zeros(len(poses.angles), len(stage.rig), 3, device=device)
        poses.put(angles, slice(None))
        found.append(render_layer(stage, splats, angles, stage.neutral_camera))
    rest = torch.stack(own).any(0).logical_not()
    still = torch.zeros(1, len(stage.rig), 3, device=device)
    return [*found, render_layer(stage, rest, still, stage.neutral_camera)]


def _centred(
    target: Float[Tensor, "T H W 3"],
    tried: list[_Poses],
    layers: list[Layer],
    colours: Float[Tensor, "K 3"],
) -> tuple[Float[Tensor, "T H W 3"], list[Float[Tensor, "T"]]]:
    """The frames moved to where their legs are most like the layers, and how much of each limb can
    be seen in each frame, 0..1. Arms hang on a trunk that bends, legs on the root itself."""
    wanted = hue_maps(target, colours)
    costs, seen = [], []
    for k, (poses, layer) in enumerate(zip(tried, layers, strict=False)):
        shown = hue_maps(layer.over_grey().movedim(1, -1), colours[k : k + 1])[:, 0]
        whole = shown.flatten(1).square().sum(1).mean().clamp_min(1e-9)
        seen.append((wanted[:, k].flatten(1).square().sum(1) / whole).clamp_max(1.0))
        if poses.limb.role.limb is LimbKind.LEG:
            costs.append(_differences(shown, wanted[:, k]) * seen[k] / whole)
    if not costs:
        return target, seen
    span = torch.arange(-_SHIFT, _SHIFT + 1)
    cells = torch.cartesian_prod(span, span)
    moved = chain(torch.stack(costs).sum(0).T, cells.to(target), jump=_MOVES)
    step = hue_stride(target.shape[2])
    frames = [
        frame.roll(tuple((step * cells[k]).tolist()), dims=(0, 1))
        for frame, k in zip(target, moved.tolist(), strict=True)
    ]
    return torch.stack(frames), seen


def _differences(
    shown: Float[Tensor, "C h w"], wanted: Float[Tensor, "T h w"]
) -> Float[Tensor, "S T"]:
    """Square difference of the best pose from every frame, for every shift of the poses."""
    height, width = wanted.shape[1:]
    padded = nn.pad(shown, (_SHIFT, _SHIFT, _SHIFT, _SHIFT))
    span = range(2 * _SHIFT + 1)
    found = []
    for y in span:
        for x in span:
            moved = padded[:, y : y + height, x : x + width].flatten(1)
            found.append(torch.cdist(wanted.flatten(1), moved).square().amin(1))
    return torch.stack(found)


def _chosen(
    tried: list[_Poses],
    layers: list[Layer],
    wanted: Float[Tensor, "T 2 H W"],
    seen: list[Float[Tensor, "T"]],
) -> list[Int[Tensor, "T"]]:
    """The poses of all limbs with which the layers, put together, look most like the video.

    The nearest limb comes first. Those that have no pose yet are left out: a far leg that stood
    where it is in the neutral pose would keep the near one there, to hide it.
    """
    rest = torch.zeros(len(wanted), dtype=torch.long, device=wanted.device)
    found = {len(tried): rest}  # the rest of the body has one pose
    hues = [
        Layer(chroma(layer.colour.movedim(1, -1)).movedim(-1, 1), layer.transmittance, layer.depth)
        for layer in layers
    ]
    levels = [([layer.smaller(size) for layer in hues], nn.avg_pool2d(wanted, size))
              for size in _SIZES]  # fmt: skip
    nearest = sorted(range(len(tried)), key=lambda k: layers[k].depth)
    for _ in range(_ROUNDS):
        for k in nearest:
            own = tried[k].angles.to(wanted)
            cost = torch.stack([_costs(part, k, found, video) for part, video in levels]).mean(0)
            strain = own.square() @ own.new_tensor(_STRAIN)
            doubt = 1.0 + _HIDDEN * (1.0 - seen[k])
            if tried[k].limb.role.limb is LimbKind.LEG:
                doubt = _LEG_STRAIN * doubt
            found[k] = chain(cost + doubt[:, None] * strain, own, jump=_JUMP)
    return [found[k] for k in range(len(tried))]


def _costs(
    layers: list[Layer],
    k: int,
    found: Mapping[int, Int[Tensor, "T"]],
    wanted: Float[Tensor, "T 2 h w"],
) -> Float[Tensor, "T C"]:
    """Square difference for every pose of limb `k`, the others being as found, as a share of what
    the limb shows where nothing hides it."""
    others = sorted((i for i in found if i != k), key=lambda i: layers[i].depth)
    own = layers[k]
    nearer = [layers[i].at(found[i]) for i in others if layers[i].depth < own.depth]
    farther = [layers[i].at(found[i]) for i in others if layers[i].depth >= own.depth]
    (front, through), (back, _) = stacked(nearer, own), stacked(farther, own)
    seen = own.colour + own.transmittance * back[:, None]
    away = front[:, None] + through[:, None] * seen - wanted[:, None]
    whole = own.colour.square().sum((1, 2, 3)).mean().clamp_min(1e-9)
    return away.square().sum((2, 3, 4)) / whole


def _carry(stage: Stage, curves: ControlCurves) -> None:
    """Set the root of a body that stays in its place: its lowest point is on the ground, and what
    it stands on keeps its place."""
    if stage.sole_points is None:
        return
    controls = curves.controls()
    bones = stage.transforms(ControlPose(
        torch.zeros_like(controls.translation), controls.root_rotation, controls.angles
    ))  # fmt: skip
    low, middle = stage.sole_points.at(bones)
    body = stage.ground_points
    lowest = skin_points(bones.to(body.means), body.means, body.bones, body.weights)[..., 1]
    _, left, forward = stage.rig.root_axes.to(middle).unbind(0)
    weight = torch.softmax(-low / (_CARRIES * stage.character.height), dim=-1)
    weight = 0.5 * (weight[1:] + weight[:-1])
    steps = -(weight[..., None] * middle.diff(dim=0)).sum(1)
    way = torch.cat((steps.new_zeros(1, 3), steps.cumsum(0)))
    rise = -torch.minimum(low.amin(1), lowest.amin(1))
    curves.set_sway(torch.stack((way @ left, rise, way @ forward), dim=1))
