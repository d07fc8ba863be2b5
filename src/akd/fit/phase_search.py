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
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.fit.hues import hue_maps, thinned
from akd.motion.gait_symmetry import Mirror
from akd.motion.parameters import ControlCurves
from akd.rig.control import ControlRig
from akd.rig.limits import PLAIN_BEND, BodyPlan, bends_one_way, neutral_bends
from akd.rig.roles.role import LimbKind, Part, Role
from akd.scene.roles import role_colours
from akd.scene.stage import Stage

_PHASES = 8
_SWINGS = (0.25, 0.5)
_LEANS = (-0.3, 0.0, 0.3)
_BENDS = (0.0, -0.6, 0.6, -1.2, 1.2)
_FOLDS = (0.0, 0.5)
"""Radians: how far the upper joint of a limb swings and leans, how far the lower one is bent for
good, and how far it folds in the cycle."""
_CARRIED: dict[LimbKind, tuple[tuple[float, float], ...]] = {
    LimbKind.LEG: ((0.1, 0.45), (0.75, 0.45)),
    LimbKind.ARM: ((1.2, 0.0),),
}
"""How the lower joint may be carried while the upper one swings, on two legs: bend and fold. Alone,
a straight leg that leans back looks most like one that is bent and swings forward, and from there
no fit finds the knee."""
_FURTHER = 0.2
"""How much further a joint is carried that is bent in the neutral pose."""
FOLDS_AFTER = math.radians(100.0)
"""Phase by which a knee folds after its thigh swings back: it is bent most as the leg comes
forward. In true gaits of the zoo it is 67 to 117 degrees on two legs."""
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


_Wave = tuple[float, float, float]
"""Constant, amplitude and phase of an angle, radians."""


@dataclass(frozen=True)
class _Guess:
    """Controls of one limb that are guessed together, and what is tried."""

    controls: tuple[int, ...]
    axes: tuple[Float[Tensor, "3"], ...]
    """Angles of each control that turn it by one radian."""
    choices: Sequence[tuple[_Wave, ...]]
    """A wave for each control."""


def search_phases(stage: Stage, curves: ControlCurves, target: Float[Tensor, "T H W 3"]) -> None:
    """Set each limb's first wave to the one that puts its hue where the video has it: the upper
    joint with the lower one in each way that it may be carried, then the lower one alone."""
    limbs = limb_controls(curves.rig, curves.way)
    if not limbs or curves.period is None:
        return
    colours = role_colours([limb.role for limb in limbs])
    stage, target, frames = thinned(stage, target)
    wanted = hue_maps(target, colours)
    ways = [_carried(limb, curves.rig) for limb in limbs]
    most = max(len(own) for own in ways)
    swings = [_swings(limb, own, most) for limb, own in zip(limbs, ways, strict=True)]
    _choose(stage, curves, swings, frames, wanted, colours)
    folds = [(wave,) for wave in _folds()]
    lowers = [
        None if limb.lower is None else _Guess((limb.lower,), (limb.fold,), folds) for limb in limbs
    ]
    _choose(stage, curves, lowers, frames, wanted, colours)


def _carried(limb: LimbControls, rig: ControlRig) -> list[tuple[float, float]]:
    """Bends and folds of the lower joint with which the upper one is tried. One that is bent in the
    neutral pose is not bent further."""
    if limb.lower is None or limb.role.limb is None:
        return []
    way = bends_one_way(rig.roles[limb.lower])
    room = _FURTHER if abs(neutral_bends(rig).get(limb.lower, 0.0)) > PLAIN_BEND else math.inf
    ways = _CARRIED.get(limb.role.limb, ())
    return [(way * bend, way * fold) for bend, fold in ways if bend <= room]


def _swings(limb: LimbControls, ways: Sequence[tuple[float, float]], count: int) -> _Guess:
    """All swings of the upper joint, with the lower one as the neutral pose has it, and carried in
    each of `count` ways: the last again where there are fewer."""
    still = (0.0, 0.0, 0.0)
    swings = [(lean, swing, turn) for lean in _LEANS for swing in _SWINGS for turn in _turns()]
    if limb.lower is None:
        again = [(wave,) for wave in swings * (1 + count)]
        return _Guess((limb.upper,), (limb.swing,), [(still,), *again])
    choices = [(still, still), *((wave, still) for wave in swings)]
    for k in range(count):
        bend, fold = ways[min(k, len(ways) - 1)] if ways else (0.0, 0.0)
        choices += [(wave, (bend, fold, wave[2] - FOLDS_AFTER)) for wave in swings]
    return _Guess((limb.upper, limb.lower), (limb.swing, limb.fold), choices)


def _turns() -> list[float]:
    return [2.0 * math.pi * k / _PHASES for k in range(_PHASES)]


def _folds() -> list[_Wave]:
    """What is added to the lower joint: bends, the least first, and folds."""
    return [(bend, 0.0, 0.0) for bend in _BENDS] + [
        (bend, fold, turn) for bend in _BENDS for fold in _FOLDS[1:] for turn in _turns()[::2]
    ]


def limb_controls(rig: ControlRig, way: float = 0.0) -> list[LimbControls]:
    """Limbs by the roles of the controls: the upper joint, and the one below it.

    Args:
        rig: Of the body.
        way: Radians to the left of the way it faces in which legs that stand out around it swing.
    """
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
        up, left, forward = rig.root_axes
        ahead = math.cos(way) * forward + math.sin(way) * left
        if role.limb in (LimbKind.WING, LimbKind.FIN):
            swing = _about(rig, upper, reach, up)
        elif radial:
            swing = _about(rig, upper, reach, ahead)
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
    limbs: Sequence[_Guess | None],
    frames: Int[Tensor, "F"],
    wanted: Float[Tensor, "F K h w"],
    colours: Float[Tensor, "K 3"],
) -> None:
    """Add to each limb's controls the waves that look best: all limbs at once, then those that
    share a hue one after the other."""
    guesses = {k: guess for k, guess in enumerate(limbs) if guess is not None}
    if not guesses:
        return
    unit = math.sqrt(2.0 / len(curves.angles))
    before = curves.angles.clone()
    mirror = curves.mirror
    # Of a symmetrical gait one side is put, and the other one follows.
    follows = {} if mirror is None else _followers(guesses, mirror)
    following = [control for k in follows for control in guesses[k].controls]
    leaders = [k for k in guesses if k not in follows]
    waves = {k: _coefficients(guesses[k]).to(before) / unit for k in leaders}
    allowed = {k: _within_limits(guesses[k], curves, unit) for k in leaders}

    def put(chosen: Mapping[int, slice]) -> Float[Tensor, "C K D 3"]:
        """Coefficients for each of the choices that the limbs have, some of them the same."""
        count = max((len(waves[k][rows]) for k, rows in chosen.items()), default=1)
        angles = before.repeat(count, 1, 1, 1)
        for k, rows in chosen.items():
            for control, wave in zip(guesses[k].controls, waves[k][rows].unbind(1), strict=True):
                angles[:, :3, control] += wave
        if mirror is not None and following:
            later, _ = mirror.mirrored(angles, curves.root)
            angles[:, :, following] = later[:, :, following]
        return angles

    def errors_of(varied: Sequence[int], kept: Mapping[int, slice]) -> Float[Tensor, "C K"]:
        errors = []
        together = _TOGETHER[before.device.type]
        for first in range(0, len(waves[varied[0]]), together):
            rows = slice(first, first + together)
            posed = curves.pose(stage, choices=put({**kept, **dict.fromkeys(varied, rows)}))
            videos = stage.show_body(posed.transforms, frames=frames)
            maps = hue_maps(videos.flatten(0, 1), colours).unflatten(0, videos.shape[:2])
            errors.append((maps - wanted).square().mean((1, 3, 4)).cpu())
        return torch.cat(errors)

    kept: dict[int, slice] = {}
    hues = {k: tuple(colours[k].tolist()) for k in guesses}
    for varied in _passes(leaders, hues):
        errors = errors_of(varied, kept)
        by_limb = {k: errors[:, k] for k in guesses}
        for follower, leader in follows.items():
            by_limb[leader] = by_limb[leader] + by_limb[follower]
        for k in varied:
            best = int(by_limb[k].masked_fill(~allowed[k], torch.inf).argmin())
            kept[k] = slice(best, best + 1)
    curves.angles.copy_(put(kept)[0])


def _coefficients(guess: _Guess) -> Float[Tensor, "C n 3 3"]:
    """Constant, cosine and sine of each control's three angles, for each choice."""
    waves = torch.tensor([
        [(constant / math.sqrt(0.5), size * math.cos(phase), -size * math.sin(phase))
         for constant, size, phase in choice]
        for choice in guess.choices
    ])  # fmt: skip
    return waves[..., None] * torch.stack(guess.axes)[:, None]


def _within_limits(guess: _Guess, curves: ControlCurves, unit: float) -> Bool[Tensor, "C"]:
    """Choices that hold no control at or beyond its limit: there a curve has no gradient that
    would bring it back."""
    if not curves.bounded:
        return torch.ones(len(guess.choices), dtype=torch.bool)
    controls = list(guess.controls)
    own = math.sqrt(0.5) * unit * curves.angles[0, controls].detach().cpu()
    held = own + math.sqrt(0.5) * _coefficients(guess)[:, :, 0]
    back, forth = (side[controls].cpu() for side in (curves.limits.back, curves.limits.forth))
    return ((held < forth) & (held > -back) | (held == own)).all(-1).all(-1)


def _passes(controls: Sequence[int], hues: Mapping[int, object]) -> list[list[int]]:
    """Which limbs are varied together: all of them, then of those that share a hue, as the middle
    legs of a spider do, one of each hue at a time, the last first."""
    ranks = {c: [o for o in controls if hues[o] == hues[c]].index(c) for c in controls}
    most = max(ranks.values(), default=0)
    shared = {c for c in controls if sum(hues[o] == hues[c] for o in controls) > 1}
    again = [[c for c in controls if c in shared and ranks[c] == r] for r in range(most, -1, -1)]
    return [list(controls), *(again if most else [])]


def _followers(guesses: Mapping[int, _Guess], mirror: Mirror) -> dict[int, int]:
    """For the second of each pair among the limbs, the first."""
    firsts = {guess.controls[0]: k for k, guess in guesses.items()}
    pairs = ((i, int(mirror.partners[i])) for i in firsts if bool(mirror.known[i]))
    return {firsts[other]: firsts[i] for i, other in pairs if i < other and other in firsts}
