"""Several motions of one body in a row, on one root path, without pops at the joins.

A part is left and the next one entered where their poses and velocities are nearest. What is left
between them decays over the transition as a polynomial that meets value and velocity
(inertialization; Bollo, GDC 2018). The transition is made long enough that joints accelerate there
no more than inside the parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import davenport, quaternion, transform
from akd.motion.grid import on_grid
from akd.motion.loop import is_loop, repeat
from akd.motion.motion import Motion
from akd.motion.smooth import closing, laplacian
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig

_BLENDS = (0.25, 0.35, 0.5, 0.7, 0.9, 1.2)
"""Seconds that a transition may last."""
_LEAST = 2.0
"""Seconds that a part which loops lasts at least."""
_USUAL = 0.95
"""Quantile of the accelerations inside the parts that a transition should not exceed."""
_HEADROOM = 0.75
"""Share of that which a transition should not exceed itself: planting feet adds to it."""
_VELOCITY = 0.1
"""Seconds: a velocity counts as the distance gone in them."""


@dataclass(frozen=True)
class Joined:
    """Motions in a row."""

    motion: Motion
    joins: tuple[float, ...]
    """Seconds at which each part after the first begins."""
    usual: tuple[float, ...]
    """The larger of the 95th percentiles of acceleration inside the two parts around each join,
    metres per frame^2."""


def join(
    character: Character,
    motions: Sequence[Motion],
    *,
    gaits: Sequence[bool],
    leads: Sequence[float] | None = None,
    fps: float,
    name: str = "",
) -> Joined:
    """Join motions of one character.

    Args:
        character: Who moves.
        motions: Its motions, in order.
        gaits: Which of them are gaits: those repeat, and may be entered and left at any step. All
            others are played from beginning to end.
        leads: Seconds at the beginning of each that repeat the end of the one before; by default
            none. A gait in a loop is entered at its best step all the same.
        fps: Frames per second.
        name: Of the result.

    Raises:
        ValueError: There is no motion.
    """
    if not motions:
        raise ValueError("motions must hold at least one motion, got none")
    rig, height = character.control_rig, character.height
    frames = [on_grid(motion, fps) for motion in motions]
    loops = [
        is_gait and is_loop(rig, m, height=height) for m, is_gait in zip(frames, gaits, strict=True)
    ]
    frames = [
        repeat(rig, m, math.ceil(_LEAST / m.duration)) if looping and m.duration < _LEAST else m
        for m, looping in zip(frames, loops, strict=True)
    ]
    poses = [rig.from_pose(m.pose).rigid() for m in frames]
    cuts = [(0, len(m) - 1) for m in frames]
    for k in range(len(frames) - 1):
        lead = 0 if leads is None else round(leads[k + 1] * fps)
        if lead and not loops[k + 1]:
            leave, enter = len(frames[k]) - 1 - lead, 0
        else:
            leave, enter = _nearest(
                rig, frames[k], frames[k + 1], loops[k], loops[k + 1], fps, height
            )
        cuts[k] = (cuts[k][0], max(leave, cuts[k][0] + 1))
        cuts[k + 1] = (enter, cuts[k + 1][1])
    # Where a part is left before its end, the frame after says how fast it was going.
    parts = [pose[a : b + 2] for pose, (a, b) in zip(poses, cuts, strict=True)]
    lefts = [b + 1 < len(pose.angles) for pose, (_, b) in zip(poses, cuts, strict=True)]
    joined, joins, usual = parts[0], [], []
    for (before, left), (part, _) in pairwise(zip(parts, lefts, strict=True)):
        usual.append(_usual(rig, before, part))
        joins.append((len(joined.angles) - 1 - left) / fps)
        joined = _append(rig, joined, part, left=left, fps=fps, limit=usual[-1])
    times = torch.arange(len(joined.angles)) / fps
    motion = Motion(rig.skeleton, times, rig.to_pose(joined).continuous(), name)
    return Joined(motion, tuple(joins), tuple(usual))


def acceleration(rig: ControlRig, pose: ControlPose) -> Float[Tensor, "L"]:
    """Mean over the driven joints of the second difference of their places, metres per frame^2."""
    pivots = torch.cat((rig.root_pivot[None], rig.pivots))
    places = transform.apply(rig.deltas(pose)[..., 2:, :, :], pivots)
    return laplacian(places).norm(dim=-1).mean(-1)


def _usual(rig: ControlRig, *parts: ControlPose) -> float:
    found = [acceleration(rig, part) for part in parts if len(part.angles) > 2]
    return max((float(part.quantile(_USUAL)) for part in found), default=0.0)


def _append(
    rig: ControlRig, first: ControlPose, second: ControlPose, *, left: bool, fps: float,
    limit: float,
) -> ControlPose:  # fmt: skip
    """The second motion after the first, with the shortest transition that is smooth enough.

    A first motion that was `left` early has a frame more than is shown.
    """
    steps = (v[-1] - v[-2] if len(v) > 1 else None for v in _values(first))
    if left:
        first = first[:-1]
    second = _placed(rig, second, first)
    rates = [
        torch.zeros_like(b[0]) if step is None or len(b) < 2 else step - (b[1] - b[0])
        for step, b in zip(steps, _values(second), strict=True)
    ]
    best: tuple[float, ControlPose] | None = None
    for blend in _BLENDS:
        frames = min(round(blend * fps), len(second.angles) - 1)
        joined = _blended(first, second, rates, frames)
        start = len(first.angles) - 1
        around = joined[max(start - 2, 0) : start + frames + 2]
        peak = float(acceleration(rig, around).max()) if len(around.angles) > 2 else 0.0
        if best is None or peak < best[0]:
            best = (peak, joined)
        if peak <= _HEADROOM * limit or frames == len(second.angles) - 1:
            break
    assert best is not None
    return best[1]


def _placed(rig: ControlRig, pose: ControlPose, after: ControlPose) -> ControlPose:
    """The motion turned and moved, over the ground, to begin where another ends."""
    turn = after.root_rotation[-1, 0] - pose.root_rotation[0, 0]
    up = rig.root_axes[0].to(pose.translation)
    level = pose.translation.new_tensor((1.0, 0.0, 1.0))
    heading = quaternion.about_axis(up, turn)
    moved = quaternion.rotate(heading, pose.translation - pose.translation[0] * level)
    yaw = torch.stack((turn, 0 * turn, 0 * turn))
    return ControlPose(moved + after.translation[-1] * level, pose.root_rotation + yaw, pose.angles)


def _values(pose: ControlPose) -> tuple[Tensor, Tensor, Tensor]:
    return pose.translation, pose.root_rotation, pose.angles


def _blended(
    first: ControlPose, second: ControlPose, rates: Sequence[Tensor], frames: int
) -> ControlPose:
    """The second motion's first pose is the first one's last; the gap, which changes by `rates` a
    frame at first, decays over `frames`."""
    values = []
    for a, b, rate in zip(_values(first), _values(second), rates, strict=True):
        gap = a[-1] - b[0]
        if a is not first.translation:
            gap = davenport.wrap(gap)
        near = b + (a[-1] - gap - b[0])  # whole turns
        values.append(torch.cat((a, (near + _decay(gap, rate, frames, len(b)))[1:])))
    return ControlPose(*values)


def _decay(gap: Tensor, rate: Tensor, frames: int, count: int) -> Tensor:
    """[count, ...]: from `gap`, changing by `rate` a frame, to rest at zero after `frames`."""
    length = max(frames, 1)
    u = torch.arange(count).to(gap) / length
    value, slope = closing(u.view(-1, *(1 for _ in gap.shape)))
    return value * gap + slope * rate * length


def _nearest(
    rig: ControlRig, first: Motion, second: Motion, leaves: bool, enters: bool, fps: float,
    height: float,
) -> tuple[int, int]:  # fmt: skip
    """The frames at which one motion is left and the next entered. Only loops may be left before
    their end, in their second half, and entered after their beginning, in their first."""
    features = [_features(rig, motion, fps) / height for motion in (first, second)]
    outs = list(range(len(first) // 2, len(first) - 1)) if leaves else [len(first) - 1]
    ins = list(range(len(second) // 2)) if enters else [0]
    apart = torch.cdist(features[0][outs], features[1][ins])
    at = int(apart.argmin())
    return outs[at // len(ins)], ins[at % len(ins)]


def _features(rig: ControlRig, motion: Motion, fps: float) -> Float[Tensor, "T F"]:
    """Places of the driven joints in the body's heading, and their velocities."""
    world = motion.world()
    places = world[:, [rig.root, *rig.joints], :3, 3]
    yaw = rig.from_world(world).root_rotation[:, 0]
    level = places.new_tensor((1.0, 0.0, 1.0))
    back = quaternion.about_axis(rig.root_axes[0].to(places), -yaw)[:, None]
    places = quaternion.rotate(back, places - places[:, :1] * level)
    moves = torch.gradient(places, dim=0)[0] * fps if len(motion) > 1 else torch.zeros_like(places)
    return torch.cat((places.flatten(1), _VELOCITY * moves.flatten(1)), dim=1)
