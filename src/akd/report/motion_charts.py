"""Charts of a motion: joint angles, the root, foot contact, and the loss of a search."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from akd.motion.contact import touches
from akd.motion.feet import track_feet
from akd.motion.motion import Motion
from akd.report.plots import contact_chart, line_chart
from akd.rig.character import Character
from akd.rig.control import ControlRig
from akd.rig.roles.role import Role


def group_of(role: Role) -> tuple[str, str]:
    """The chart that a joint is drawn in, and its name there."""
    group = "tail" if role.part == "tail" else "trunk and head"
    if role.limb is not None:
        group = f"{role.side.value} {role.limb.value}"
    return group, str(role).removeprefix(group).strip() or str(role)


def angle_charts(rig: ControlRig, motion: Motion) -> list[str]:
    """Flexion of the driven joints over time, degrees: a chart for each limb, trunk and tail."""
    if len(motion) < 2:
        return []
    angles = rig.from_pose(motion.pose).angles[..., 0].numpy(force=True)
    seconds = (motion.times - motion.times[0]).numpy(force=True)
    groups: dict[str, dict[str, np.ndarray]] = defaultdict(dict)
    for place, role in enumerate(rig.roles):
        group, label = group_of(role)
        groups[group][label] = np.degrees(angles[:, place])
    return [
        line_chart(curves, x=seconds, title=f"flexion: {name}", unit="degrees")
        for name, curves in groups.items()
    ]


def root_charts(rig: ControlRig, motion: Motion, *, height: float) -> list[str]:
    """Where the root goes, in body heights, and how it leans, in degrees."""
    if len(motion) < 2:
        return []
    pose = rig.from_pose(motion.pose)
    seconds = (motion.times - motion.times[0]).numpy(force=True)
    along = (pose.translation @ rig.root_axes.to(pose.translation).T).numpy(force=True) / height
    lean = np.degrees(pose.root_rotation.numpy(force=True))
    places = {"up": along[:, 0], "left": along[:, 1], "forward": along[:, 2]}
    leans = {"yaw": lean[:, 0], "pitch": lean[:, 1], "roll": lean[:, 2]}
    return [
        line_chart(places, x=seconds, title="root position", unit="body heights"),
        line_chart(leans, x=seconds, title="root rotation", unit="degrees"),
    ]


def feet_chart(character: Character, rig: ControlRig, motion: Motion, *, title: str) -> str | None:
    """When each foot is on the ground."""
    feet = track_feet(character, rig, motion)
    if not feet or len(motion) < 2:
        return None
    seconds = (motion.times - motion.times[0]).numpy(force=True)
    touching = {
        f"{f.leg.side.value} {f.leg.kind.value}": touches(
            f.lowest, body_height=character.height
        ).numpy()
        for f in feet
    }
    return contact_chart(touching, x=seconds, title=title)


_LOSSES = {
    "loss": "total",
    "score": "score distillation",
    "smooth": "smoothness",
    "ground": "below the ground",
    "rest": "distance from the neutral pose",
    "support": "foot height",
    "skate": "sliding feet",
    "score_rms": "score distillation gradient, RMS",
}
"""Titles of loss terms on the page; others keep their own names."""


def loss_charts(history: Sequence[Mapping[str, float]]) -> list[str]:
    """Each part of the loss over the iterations, and its mean over the last few."""
    if len(history) < 2:
        return []
    x = np.arange(1, len(history) + 1)
    charts = []
    for name in history[0]:
        values = np.array([row.get(name, math.nan) for row in history])
        curves = {"each iteration": values, "mean of the last 25": _running_mean(values, 25)}
        chart = line_chart(
            curves, x=x, title=_LOSSES.get(name, name), unit="", x_label="iteration",
            faint=("each iteration",),
        )  # fmt: skip
        charts.append(chart)
    return charts


def _running_mean(values: np.ndarray, over: int) -> np.ndarray:
    total = np.concatenate(([0.0], np.cumsum(values)))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - over)
    return (total[ends] - total[starts]) / (ends - starts)
