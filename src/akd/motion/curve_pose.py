"""Coordinates of a control rig that follow from coefficients of curves, of one clip or of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math.resident import constant, resident
from akd.motion.curves import waves
from akd.rig.control import ControlPose

if TYPE_CHECKING:
    from akd.motion.parameters import ControlCurves

SPEED_RANGE = 0.6
"""The speed may change by this fraction of the starting one, either way."""
TURN_RANGE = 2.0
"""How far the path may turn over the clip, radians."""
_TEMPO_RANGE = 0.3
"""A cycle may become longer or shorter by this fraction."""
_INSIDE = 0.98
"""Share of a limit up to which `bounded` is inverted: beyond, its gradient is all but zero."""


def bounded(values: Tensor, limit: Tensor) -> Tensor:
    """Squash values smoothly to within the limit; near zero they are unchanged."""
    return limit * torch.tanh(values / limit)


def unbounded(values: Tensor, limit: Tensor) -> Tensor:
    """The inverse of `bounded`; values near or beyond the limit are clamped just inside it."""
    return limit * torch.atanh((values / limit).clamp(-_INSIDE, _INSIDE))


def cycle_length(
    period: float | Float[Tensor, "B 1"], tempo: Float[Tensor, "*b 1"]
) -> Float[Tensor, "*b 1"]:
    """Seconds of a cycle whose length has changed from `period`."""
    return period * (1.0 + bounded(tempo, constant((_TEMPO_RANGE,), tempo)))


def joint_angles(
    curves: ControlCurves, basis: Float[Tensor, "*c T K"], angles: Float[Tensor, "*b K D 3"]
) -> Float[Tensor, "*b T D 3"]:
    """Angles over time that follow from their coefficients."""
    angles = torch.einsum("...tk,...kdc->...tdc", basis, angles)
    return curves.limits.bounded(angles) if curves.bounded else angles


def pose_curves(
    curves: ControlCurves,
    basis: Float[Tensor, "*c T K"],
    seconds: Float[Tensor, "T"],
    *,
    angles: Float[Tensor, "*b K D 3"],
    root: Float[Tensor, "*b K 6"],
    pace: Float[Tensor, "*b 1"],
    turn: Float[Tensor, "*b 1"],
    speed: float | Float[Tensor, "B 1"],
    altitude: float | Float[Tensor, "B 1"],
) -> ControlPose:
    """Coordinates at some seconds, at which the curves have the values `basis`.

    Coefficients may have a leading axis; rig, limits and symmetry are those of `curves`.
    """
    if curves.mirror is not None:
        angles, root = curves.mirror.balanced(angles, root)
    angles = joint_angles(curves, basis, angles)
    root = _root_curves(curves, basis, root)
    if curves.bounded:
        pace = bounded(pace, constant((SPEED_RANGE,), pace))
        turn = bounded(turn, constant((TURN_RANGE,), turn))
    gone = speed * (1.0 + pace) * seconds.to(root)
    sway = curves.leg_length * root[..., :3]
    up, left, forward = resident(curves.rig.root_axes, root.device, root.dtype).unbind(0)
    # The body goes where it looks, or to its side, so a yaw bends the path.
    turned = turn * seconds.to(root) / max((curves.frames - 1) / curves.fps, 1e-9)
    yaw = root[..., 3] + turned
    step = gone[..., 1:] - gone[..., :-1]
    middle = 0.5 * (yaw[..., 1:] + yaw[..., :-1]) + curves.way
    start = torch.zeros_like(yaw[..., :1])
    ahead = torch.cat((start, (step * middle.cos()).cumsum(-1)), dim=-1)
    aside = torch.cat((start, (step * middle.sin()).cumsum(-1)), dim=-1)
    translation = (
        (ahead + sway[..., 2])[..., None] * forward
        + (aside + sway[..., 0])[..., None] * left
        + (altitude + sway[..., 1])[..., None] * up
    )
    return ControlPose(translation, torch.cat((yaw[..., None], root[..., 4:]), dim=-1), angles)


def _root_curves(
    curves: ControlCurves, basis: Float[Tensor, "*c T K"], root: Float[Tensor, "*b K 6"]
) -> Float[Tensor, "*b T 6"]:
    """Sway and lean of the root over time, within their limits."""
    values = basis @ root
    if curves.root_is_free:
        return values
    limits = curves.root_limits
    found = bounded(values, constant((*limits.sway, *limits.lean), values))
    if limits.bounce is None or curves.period is None:
        return found
    # The first curve is the constant: the mean height, about which the others go up and down.
    mean = basis[..., :1] @ root[..., :1, 1:2]
    up = bounded(mean, constant((limits.sway[1],), mean))
    up = up + bounded(values[..., 1:2] - mean, constant((limits.bounce,), values))
    return torch.cat((found[..., :1], up, found[..., 2:]), dim=-1)


def pose_curves_together(many: Sequence[ControlCurves]) -> ControlPose:
    """Coordinates of several curves at every frame, in a leading axis.

    Curves that differ only in their coefficients, speed, period and altitude are computed at once,
    so that many cost a GPU hardly more launches than one.
    """
    poses: list[ControlPose | None] = [None] * len(many)
    for rows in _alike(many):
        found = _pose_alike([many[k] for k in rows])
        if len(rows) == len(many):
            return found
        parts = zip(
            found.translation.unbind(0), found.root_rotation.unbind(0), found.angles.unbind(0),
            strict=True,
        )  # fmt: skip
        for k, part in zip(rows, parts, strict=True):
            poses[k] = ControlPose(*part)
    known = [pose for pose in poses if pose is not None]
    return ControlPose(
        torch.stack([pose.translation for pose in known]),
        torch.stack([pose.root_rotation for pose in known]),
        torch.stack([pose.angles for pose in known]),
    )


def _pose_alike(many: Sequence[ControlCurves]) -> ControlPose:
    first = many[0]
    angles, root, pace, turn, tempo = (
        torch.stack([getattr(one, name) for one in many])
        for name in ("angles", "root", "pace", "turn", "tempo")
    )

    def column(values: Sequence[float]) -> Float[Tensor, "B 1"]:
        return constant(tuple(values), pace)[:, None]

    seconds = first.frame_times
    if first.period is None:
        basis = first.frame_bumps
    else:
        periods = column([one.period or 0.0 for one in many])
        basis = waves(seconds, cycle_length(periods, tempo), angles.shape[1] // 2)
    return pose_curves(
        first, basis, seconds, angles=angles, root=root, pace=pace, turn=turn,
        speed=column([one.speed for one in many]),
        altitude=column([one.altitude for one in many]),
    )  # fmt: skip


def _alike(many: Sequence[ControlCurves]) -> list[list[int]]:
    """Indices of curves that can be computed at once."""
    groups: list[list[int]] = []
    for k, one in enumerate(many):
        for rows in groups:
            if _same_kind(many[rows[0]], one):
                rows.append(k)
                break
        else:
            groups.append([k])
    return groups


def _same_kind(one: ControlCurves, other: ControlCurves) -> bool:
    names = ("frames", "fps", "leg_length", "bounded", "periodic", "root_limits", "free_root",
             "way")  # fmt: skip
    mirrors = [None if c.mirror is None else c.mirror.at_once for c in (one, other)]
    return (
        one.rig is other.rig
        and (one.period is None) == (other.period is None)
        and one.angles.shape == other.angles.shape
        and mirrors[0] == mirrors[1]
        and all(getattr(one, name) == getattr(other, name) for name in names)
        and one.limits.values == other.limits.values
    )
