"""A first guess of how each limb swings in a video: every phase is tried, limb by limb.

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

from akd.fit.hues import hue_maps
from akd.fit.photometric import halved
from akd.motion.gait_symmetry import Mirror
from akd.motion.parameters import ControlCurves
from akd.rig.control import ControlRig
from akd.rig.roles.role import Part, Role
from akd.scene.roles import role_colours
from akd.scene.stage import Stage

_PHASES = 8
_SWINGS = (0.25, 0.5)
_LEANS = (-0.3, 0.0, 0.3)
_BENDS = (-1.2, -0.6, 0.0, 0.6, 1.2)
_FOLDS = (0.0, 0.5)
"""Radians: how far the upper joint of a limb swings and leans, how far the lower one is bent for
good, and how far it folds in the cycle."""
_TOGETHER = 8
"""Choices in one rendering."""
_FRAMES, _PIXELS = 12, 48
"""Frames, and pixels on a side, that show well enough how limbs swing. Videos of twice as many or
more are thinned out."""


@dataclass(frozen=True)
class LimbControls:
    """The controls of one limb that are guessed."""

    upper: int
    lower: int | None
    role: Role


def search_phases(stage: Stage, curves: ControlCurves, target: Float[Tensor, "T H W 3"]) -> None:
    """Set each limb's first wave to the one that puts its hue where the video has it."""
    limbs = limb_controls(curves.rig)
    if not limbs or curves.period is None:
        return
    colours = role_colours([limb.role for limb in limbs])
    frames = torch.arange(0, len(target), max(1, len(target) // _FRAMES), device=target.device)
    target = target[frames]
    if min(stage.size) >= 2 * _PIXELS:
        stage, target = halved(stage, target)
    wanted = hue_maps(target, colours)
    uppers = [limb.upper for limb in limbs]
    waves = [(lean, swing, turn) for lean in _LEANS for swing in _SWINGS for turn in _turns()]
    _choose(stage, curves, uppers, [(0.0, 0.0, 0.0), *waves], frames, wanted, colours)
    lowers = [limb.lower for limb in limbs]
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
        if role.limb is not None:
            groups.setdefault((role.limb, role.side), []).append(i)
    found = []
    for members in groups.values():
        parts = {rig.roles[i].part: i for i in reversed(members)}
        upper = parts.get(Part.UPPER, members[0])
        found.append(LimbControls(upper, parts.get(Part.LOWER), rig.roles[upper]))
    return found


@torch.no_grad()
def _choose(
    stage: Stage,
    curves: ControlCurves,
    controls: Sequence[int | None],
    choices: Sequence[tuple[float, float, float]],
    frames: Int[Tensor, "F"],
    wanted: Float[Tensor, "F K h w"],
    colours: Float[Tensor, "K 3"],
) -> None:
    """Give each limb's control the constant, amplitude and phase that look best, all at once."""
    turning = [i for i in controls if i is not None]
    unit = math.sqrt(2.0 / len(curves.angles))
    before = curves.angles.clone()
    mirror = curves.mirror
    # Of a symmetrical gait one side is put, and the other one follows half a cycle later.
    follows = {} if mirror is None else _followers(turning, mirror)

    def put(chosen: Mapping[int, tuple[float, float, float]]) -> None:
        curves.angles.copy_(before)
        for control, (constant, amplitude, phase) in chosen.items():
            wave = (
                constant / math.sqrt(0.5),
                amplitude * math.cos(phase),
                -amplitude * math.sin(phase),
            )
            curves.angles[:3, control, 0] += before.new_tensor(wave) / unit
        if mirror is not None and follows:
            later, _ = mirror.half_a_cycle_later(curves.angles, curves.root)
            curves.angles[:, list(follows)] = later[:, list(follows)]

    errors = []
    for first in range(0, len(choices), _TOGETHER):
        posed = []
        for choice in choices[first : first + _TOGETHER]:
            put({control: choice for control in turning if control not in follows})
            posed.append(curves.pose(stage))
        videos = stage.show_body(
            torch.stack([one.transforms for one in posed]),
            torch.stack([one.path for one in posed]),
            frames=frames,
        )
        maps = hue_maps(videos.flatten(0, 1), colours).unflatten(0, videos.shape[:2])
        errors.append((maps - wanted).square().mean((1, 3, 4)).cpu())
    by_limb = dict(zip(controls, torch.cat(errors).unbind(1), strict=True))
    for follower, leader in follows.items():
        by_limb[leader] = by_limb[leader] + by_limb[follower]
    put({c: choices[int(by_limb[c].argmin())] for c in turning if c not in follows})


def _followers(controls: Sequence[int], mirror: Mirror) -> dict[int, int]:
    """For the second of each pair among the controls, the first."""
    pairs = ((i, int(mirror.partners[i])) for i in controls if bool(mirror.known[i]))
    return {other: i for i, other in pairs if i < other and other in controls}
