"""Phase search: how each limb swings in a video, by exhaustive search over phases.

Seen pixel by pixel, a leg in the wrong phase is at a standstill: it overlaps with nothing that
would draw it on. But limbs have hues of their own and a cycle has one phase for each of them, so
that a few dozen images show all that a limb can do, and all limbs are compared in the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.fit.hues import hue_maps, thinned
from akd.motion.gait_symmetry import Mirror
from akd.motion.parameters import ControlCurves
from akd.rig.control import ControlRig
from akd.rig.limits import BodyPlan
from akd.rig.roles.role import LimbKind, Part, Role
from akd.scene.roles import role_colours
from akd.scene.stage import Stage

_PHASES = 8
_SWINGS = (0.25, 0.5)
_LEANS = (-0.3, 0.0, 0.3)
_BENDS = (-1.2, -0.6, 0.0, 0.6, 1.2)
_FOLDS = (0.0, 0.5)
"""Radians: how far the upper joint of a limb swings and leans, how far the lower one is bent for
good, and how far it folds in the cycle."""
_TOGETHER = {"cpu": 8, "cuda": 64}
"""Choices in one rendering: on a GPU, launches cost more than images."""
_ASKEW = 0.4
"""Sine of the angle between a limb and the way that its end is to move, at least: else it cannot be
swung that way."""


@dataclass(frozen=True)
class LimbControls:
    """The controls of one limb that are guessed."""

    upper: int
    lower: int | None
    role: Role
    swing: Float[Tensor, "3"]
    """Angles of the upper control that swing the limb by one radian."""
    fold: Float[Tensor, "3"]
    """Angles of the lower control that fold it by one radian."""


@dataclass(frozen=True)
class _Turn:
    """What is guessed of one limb at a time: a control, and the angles it turns by."""

    control: int
    angles: Float[Tensor, "3"]


def search_phases(stage: Stage, curves: ControlCurves, target: Float[Tensor, "T H W 3"]) -> None:
    """Set each limb's first wave to the one that puts its hue where the video has it."""
    limbs = limb_controls(curves.rig)
    if not limbs or curves.period is None:
        return
    colours = role_colours([limb.role for limb in limbs])
    stage, target, frames = thinned(stage, target)
    wanted = hue_maps(target, colours)
    uppers = [_Turn(limb.upper, limb.swing) for limb in limbs]
    waves = [(lean, swing, turn) for lean in _LEANS for swing in _SWINGS for turn in _turns()]
    _choose(stage, curves, uppers, [(0.0, 0.0, 0.0), *waves], frames, wanted, colours)
    lowers = [None if limb.lower is None else _Turn(limb.lower, limb.fold) for limb in limbs]
    folds = [(bend, 0.0, 0.0) for bend in _BENDS] + [
        (bend, fold, turn) for bend in _BENDS for fold in _FOLDS[1:] for turn in _turns()[::2]
    ]
    _choose(stage, curves, lowers, folds, frames, wanted, colours)


def _turns() -> list[float]:
    return [2.0 * math.pi * k / _PHASES for k in range(_PHASES)]


def limb_controls(rig: ControlRig) -> list[LimbControls]:
    """Limbs by the roles of the controls: the upper joint, and the one below it."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, role in enumerate(rig.roles):
        if role.limb_id is not None:
            groups.setdefault(role.limb_id, []).append(i)
    found = []
    radial = BodyPlan.of(rig.roles).radial
    for members in groups.values():
        parts = {rig.roles[i].part: i for i in reversed(members)}
        upper = parts.get(Part.UPPER, members[0])
        lower, role = parts.get(Part.LOWER), rig.roles[upper]
        plain = torch.tensor((1.0, 0.0, 0.0))
        swing = fold = plain
        reach = rig.pivots[members[-1]] - rig.pivots[upper]
        up, _, forward = rig.root_axes
        if role.limb in (LimbKind.WING, LimbKind.FIN):
            swing = _about(rig, upper, reach, up)
        elif radial:
            swing = _about(rig, upper, reach, forward)
            fold = plain if lower is None else _about(rig, lower, reach, up)
        found.append(LimbControls(upper, lower, role, swing, fold))
    return found


def _about(
    rig: ControlRig, control: int, reach: Float[Tensor, "3"], way: Float[Tensor, "3"]
) -> Float[Tensor, "3"]:
    """Small angles of a control that move the end of a limb that reaches so far in a given way;
    flexion where the limb points that way itself."""
    axis = torch.linalg.cross(reach, way)
    if not float(axis.norm()) > _ASKEW * float(reach.norm()):
        return torch.tensor((1.0, 0.0, 0.0))
    return rig.axes[control] @ (axis / axis.norm())


@torch.no_grad()
def _choose(
    stage: Stage,
    curves: ControlCurves,
    limbs: Sequence[_Turn | None],
    choices: Sequence[tuple[float, float, float]],
    frames: Int[Tensor, "F"],
    wanted: Float[Tensor, "F K h w"],
    colours: Float[Tensor, "K 3"],
) -> None:
    """Give each limb's control the constant, amplitude and phase that look best: all limbs at once,
    then those that share a hue one after the other."""
    turning = {turn.control: turn for turn in limbs if turn is not None}
    unit = math.sqrt(2.0 / len(curves.angles))
    before = curves.angles.clone()
    mirror = curves.mirror
    # Of a symmetrical gait one side is put, and the other one follows.
    follows = {} if mirror is None else _followers(list(turning), mirror)
    leaders = [control for control in turning if control not in follows]

    amounts = torch.tensor([
        (constant / math.sqrt(0.5), amplitude * math.cos(phase), -amplitude * math.sin(phase))
        for constant, amplitude, phase in choices
    ]).to(before)  # fmt: skip
    axes = {control: turn.angles.to(before) for control, turn in turning.items()}

    def put(chosen: Mapping[int, slice]) -> Float[Tensor, "C K D 3"]:
        """Coefficients for each of the choices that the controls have, some of them the same."""
        count = max((len(amounts[rows]) for rows in chosen.values()), default=1)
        angles = before.repeat(count, 1, 1, 1)
        for control, rows in chosen.items():
            angles[:, :3, control] += amounts[rows][..., None] * axes[control] / unit
        if mirror is not None and follows:
            later, _ = mirror.mirrored(angles, curves.root)
            angles[:, :, list(follows)] = later[:, :, list(follows)]
        return angles

    def errors_of(varied: Sequence[int], kept: Mapping[int, slice]) -> Float[Tensor, "C K"]:
        errors = []
        together = _TOGETHER[before.device.type]
        for first in range(0, len(choices), together):
            rows = slice(first, first + together)
            posed = curves.pose(stage, choices=put({**kept, **dict.fromkeys(varied, rows)}))
            videos = stage.show_body(posed.transforms, frames=frames)
            maps = hue_maps(videos.flatten(0, 1), colours).unflatten(0, videos.shape[:2])
            errors.append((maps - wanted).square().mean((1, 3, 4)).cpu())
        return torch.cat(errors)

    kept: dict[int, slice] = {}
    hues = {t.control: tuple(c) for t, c in zip(limbs, colours.tolist(), strict=True) if t}
    for varied in _passes(leaders, hues):
        errors = errors_of(varied, kept)
        columns = zip(limbs, errors.unbind(1), strict=True)
        by_limb = {turn.control: column for turn, column in columns if turn is not None}
        for follower, leader in follows.items():
            by_limb[leader] = by_limb[leader] + by_limb[follower]
        best = {control: int(by_limb[control].argmin()) for control in varied}
        kept |= {control: slice(k, k + 1) for control, k in best.items()}
    curves.angles.copy_(put(kept)[0])


def _passes(controls: Sequence[int], hues: Mapping[int, object]) -> list[list[int]]:
    """Which limbs are varied together: all of them, then of those that share a hue, as the middle
    legs of a spider do, one of each hue at a time, the last first."""
    ranks = {c: [o for o in controls if hues[o] == hues[c]].index(c) for c in controls}
    most = max(ranks.values(), default=0)
    shared = {c for c in controls if sum(hues[o] == hues[c] for o in controls) > 1}
    again = [[c for c in controls if c in shared and ranks[c] == r] for r in range(most, -1, -1)]
    return [list(controls), *(again if most else [])]


def _followers(controls: Sequence[int], mirror: Mirror) -> dict[int, int]:
    """For the second of each pair among the controls, the first."""
    pairs = ((i, int(mirror.partners[i])) for i in controls if bool(mirror.known[i]))
    return {other: i for i, other in pairs if i < other and other in controls}
