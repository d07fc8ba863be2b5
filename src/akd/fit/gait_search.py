"""Gait search: limbs that swing in pairs, over all lengths of a cycle, phases and swings.

Frame by frame, a silhouette leaves open which leg is which and what hides behind the body, and the
poses that leave least of a video are often wrong ones. A gait has few unknowns: every pair of limbs
swings with one period, left and right half a cycle apart or together. The cost of every pair of
poses in every frame is tabulated once, so that tens of thousands of swings are looked up in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.fit.limb_search import Layer, Limb, LimbSearch
from akd.fit.phase_search import FOLDS_AFTER
from akd.rig.limits import bends_one_way
from akd.scene.stage import Stage

_PERIODS = (0.3, 2.0, 18)
"""Seconds of the shortest and the longest cycle, and how many lengths are tried."""
_SEEN = 1.6
"""A cycle that is longer than this part of the video is not looked for."""
_PHASES = 12
_LEANS = (-0.5, -0.25, 0.0, 0.25, 0.5)
_SWINGS = (0.0, 0.2, 0.4, 0.6, 0.8)
_CARRIED = ((0.0, 0.0), (0.25, 0.25), (0.5, 0.4), (0.8, 0.5), (1.2, 0.0), (1.2, 0.3))
"""Radians: how far the upper joint leans and swings, and how far the lower one is bent for good and
folds in the cycle."""
_APART = (math.pi, 0.0)
"""Phase of the right limb against the left one."""
_ROUNDS = 2


@dataclass(frozen=True)
class Gait:
    """Limbs that swing in one period."""

    period: float
    """Seconds."""
    poses: Int[Tensor, "T limbs"]
    """The poses that come nearest, as indices of `Limb.angles`."""
    angles: Float[Tensor, "T D 3"]
    """Of all controls, radians."""


@dataclass(frozen=True)
class _Waves:
    """Swings of one pair of limbs, at every frame."""

    period: Int[Tensor, "W"]
    """Which of the periods."""
    angles: Float[Tensor, "W T 2 2"]
    """Upper and lower angle of both limbs."""
    nearest: Int[Tensor, "W T 2"]
    """The nearest pose of each limb."""


@torch.no_grad()
def search_gait(
    stage: Stage, limbs: list[Limb], found: LimbSearch, *, frames: int, fps: float
) -> Gait | None:
    """The gait that looks most like the targets; None where there is none to be found.

    Limbs without a partner stay as they were found.

    Args:
        stage: The character.
        limbs: Its limbs.
        found: What was found frame by frame.
        frames: Of the video.
        fps: Frames a second.
    """
    pairs = _pairs(limbs)
    shortest, longest, count = _PERIODS
    periods = torch.logspace(math.log10(shortest), math.log10(longest), count)
    periods = periods[periods < _SEEN * frames / fps]
    if not pairs or not len(periods) or frames < 6:
        return None
    seconds = torch.arange(frames) / fps
    waves = [_waves(stage, limbs[left], seconds, periods) for left, _ in pairs]
    chosen, searched = found.poses.clone(), slice(None, None, found.every)
    best = [0] * len(pairs)
    period = 0
    for turn in range(_ROUNDS):
        costs = []
        for (left, right), own in zip(pairs, waves, strict=True):
            table = _pair_costs(found, chosen[searched], left, right)
            table = table + _strains(limbs, left, right).to(table)
            near = own.nearest[:, searched].to(table.device)
            at = torch.arange(len(table), device=table.device)
            costs.append(table[at, near[..., 0], near[..., 1]].mean(1).cpu())
        if turn == 0:
            totals = torch.zeros(len(periods))
            for cost, own in zip(costs, waves, strict=True):
                least = torch.full((len(periods),), torch.inf)
                totals += least.scatter_reduce(0, own.period, cost, "amin")
            period = int(totals.argmin())
        for k, ((left, right), own) in enumerate(zip(pairs, waves, strict=True)):
            best[k] = int(costs[k].masked_fill(own.period != period, torch.inf).argmin())
            chosen[:, [left, right]] = own.nearest[best[k]].to(chosen)
    angles = torch.zeros(frames, len(stage.rig), 3, device=chosen.device)
    for k, limb in enumerate(limbs):
        _put(angles, limb, limb.angles.to(chosen.device)[chosen[:, k]])
    for (left, right), own, k in zip(pairs, waves, best, strict=True):
        for side, limb in enumerate((left, right)):
            _put(angles, limbs[limb], own.angles[k, :, side].to(angles))
    return Gait(float(periods[period]), chosen, angles)


def _put(angles: Float[Tensor, "T D 3"], limb: Limb, own: Float[Tensor, "T 2"]) -> None:
    angles[:, limb.upper, 0] = own[:, 0]
    if limb.lower is not None:
        angles[:, limb.lower, 0] = own[:, 1]


def _pairs(limbs: list[Limb]) -> list[tuple[int, int]]:
    """Left and right limb of each kind that has one of both; legs first."""
    kinds: dict[object, list[int]] = {}
    for k, limb in enumerate(limbs):
        kinds.setdefault(limb.role.limb, []).append(k)
    pairs = [
        (own[0], own[1])
        for own in kinds.values()
        if len(own) == 2 and len(limbs[own[0]].angles) == len(limbs[own[1]].angles)
    ]
    legs = {kind for kind in kinds if getattr(kind, "is_leg", False)}
    return sorted(pairs, key=lambda pair: limbs[pair[0]].role.limb not in legs)


def _waves(
    stage: Stage, limb: Limb, seconds: Float[Tensor, "T"], periods: Float[Tensor, "P"]
) -> _Waves:
    """All swings of a pair; both limbs have the poses of the first one."""
    carried = _CARRIED if limb.lower is not None else _CARRIED[:1]
    way = 1.0 if limb.lower is None else bends_one_way(stage.rig.roles[limb.lower])
    ways = torch.arange(len(carried))
    turns = 2.0 * math.pi * torch.arange(_PHASES) / _PHASES
    grid = torch.cartesian_prod(
        torch.arange(float(len(periods))), turns, torch.tensor(_LEANS), torch.tensor(_SWINGS),
        ways.float(), torch.tensor(_APART),
    )  # fmt: skip
    number, turn, lean, swing, kind, apart = grid.unbind(1)
    still = swing == 0.0
    kept = ~still | ((turn == 0.0) & (apart == 0.0) & (kind < 2))
    number, turn, lean, swing, kind, apart = (
        x[kept] for x in (number, turn, lean, swing, kind, apart)
    )
    bend, fold = torch.tensor(carried)[kind.long()].unbind(1)
    round_ = 2.0 * math.pi * seconds / periods[number.long()][:, None] + turn[:, None]
    sides = torch.stack((round_, round_ + apart[:, None]), dim=-1)
    upper = lean[:, None, None] + swing[:, None, None] * sides.cos()
    moving = (swing > 0.0)[:, None, None]
    folds = fold[:, None, None] * moving * (sides - FOLDS_AFTER).cos()
    lower = way * (bend[:, None, None] + folds)
    angles = torch.stack((upper, lower), dim=-1)
    low, high = limb.angles.amin(0), limb.angles.amax(0)
    angles = torch.minimum(torch.maximum(angles, low), high)
    return _Waves(number.long(), angles, _nearest(angles, limb.angles))


def _nearest(angles: Float[Tensor, "W T 2 2"], poses: Float[Tensor, "C 2"]) -> Tensor:
    """Index of the pose nearest to each pair of angles; poses are a grid."""
    highs, lows = poses[:, 0].unique(), poses[:, 1].unique()
    row, column = _closest(angles[..., 0], highs), _closest(angles[..., 1], lows)
    # The grid may be in another order than the sorted one.
    where = torch.empty(len(highs), len(lows), dtype=torch.long)
    where[_closest(poses[:, 0], highs), _closest(poses[:, 1], lows)] = torch.arange(len(poses))
    return where[row, column]


def _closest(values: Tensor, sorted_to: Float[Tensor, "n"]) -> Tensor:
    if len(sorted_to) == 1:
        return torch.zeros_like(values, dtype=torch.long)
    middles = 0.5 * (sorted_to[1:] + sorted_to[:-1])
    return torch.bucketize(values.contiguous(), middles)


def _strains(limbs: list[Limb], left: int, right: int) -> Float[Tensor, "C C"]:
    return limbs[left].strain[:, None] + limbs[right].strain[None]


def _pair_costs(
    found: LimbSearch, chosen: Int[Tensor, "T limbs"], left: int, right: int
) -> Float[Tensor, "T C C"]:
    """Mean square difference for every pose of two limbs, the others being as chosen."""
    total = None
    for layers, target in zip(found.layers, found.targets, strict=True):
        order = sorted(range(len(layers)), key=lambda i: layers[i].depth)
        near, far = sorted((left, right), key=order.index)
        wanted = target.image.flatten(1)
        root, at = target.colour**0.5, [order.index(near), order.index(far)]
        values = [_value(layer, root) for layer in layers]
        lights = [layer.transmittance.flatten(2).expand(-1, 4, -1).flatten(1) for layer in layers]
        poses = [*chosen.unbind(1), torch.zeros_like(chosen[:, 0])]
        some = [(values[i][poses[i]], lights[i][poses[i]]) if i not in (near, far) else None
                for i in range(len(layers))]  # fmt: skip
        parts = (order[: at[0]], order[at[0] + 1 : at[1]], order[at[1] + 1 :])
        front, between, behind = (_over([some[i] for i in part], wanted) for part in parts)
        wall = torch.cat((values[0].new_full((3, layers[0].colour[0, 0].numel()), 0.5 * root),
                          values[0].new_zeros(1, layers[0].colour[0, 0].numel())))  # fmt: skip
        ground = behind[0] + behind[1] * wall.flatten()
        rows = []
        for t in range(len(chosen)):
            back = between[0][t] + between[1][t] * (values[far] + lights[far] * ground[t])
            fixed = front[0][t] + front[1][t] * values[near] - wanted[t]
            weight = front[1][t] * lights[near]
            rows.append(
                fixed.square().sum(1)[:, None]
                + 2.0 * (fixed * weight) @ back.T
                + weight.square() @ back.square().T
            )
        costs = torch.stack(rows) / wanted.shape[1]
        costs = costs if near == left else costs.mT
        total = costs if total is None else total + costs
    assert total is not None
    return total / len(found.targets)


def _value(layer: Layer, root: float) -> Float[Tensor, "C P"]:
    """Weighted colours and coverage, premultiplied."""
    return torch.cat((root * layer.colour, 1.0 - layer.transmittance), dim=1).flatten(1)


def _over(
    layers: list[tuple[Tensor, Tensor] | None], like: Float[Tensor, "T P"]
) -> tuple[Tensor, Tensor]:
    """Layers, the nearest first, as one; nothing where there is none."""
    shown = [layer for layer in layers if layer is not None]
    if not shown:
        return like.new_zeros(len(like), 1), like.new_ones(len(like), 1)
    value, transmittance = shown[0]
    for own, through in shown[1:]:
        value, transmittance = value + transmittance * own, transmittance * through
    return value, transmittance
