"""Charts of a motion: joint angles, the root, foot contact, torques."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from akd.base.constants import GRAVITY
from akd.motion.contact import touches
from akd.motion.feet import track_feet
from akd.motion.motion import Motion
from akd.physics.ground import Grounded
from akd.report.plots import contact_chart, line_chart
from akd.rig.character import Character
from akd.rig.control import ControlRig
from akd.rig.roles.role import Role

_TRUNK = "trunk and head"


def _group(role: Role) -> str:
    """The chart that a joint is drawn in."""
    if role.limb is not None:
        return f"{role.side.value} {role.limb.value}"
    return "tail" if role.part == "tail" else _TRUNK


def angle_charts(rig: ControlRig, motion: Motion) -> list[str]:
    """Flexion of the driven joints over time, degrees: a chart for each limb, trunk and tail."""
    if len(motion) < 2:
        return []
    angles = rig.from_pose(motion.pose).angles[..., 0].numpy(force=True)
    seconds = (motion.times - motion.times[0]).numpy(force=True)
    groups: dict[str, dict[str, np.ndarray]] = defaultdict(dict)
    for place, role in enumerate(rig.roles):
        label = str(role).removeprefix(_group(role)).strip() or str(role)
        groups[_group(role)][label] = np.degrees(angles[:, place])
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
        line_chart(places, x=seconds, title="root", unit="heights"),
        line_chart(leans, x=seconds, title="root leans", unit="degrees"),
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


def loss_charts(history: Sequence[Mapping[str, float]]) -> list[str]:
    """Each part of the loss over the iterations, and its mean over the last few."""
    if len(history) < 2:
        return []
    x = np.arange(1, len(history) + 1)
    charts = []
    for name in history[0]:
        values = np.array([row.get(name, math.nan) for row in history])
        curves = {name: values, "mean of the last 25": _running_mean(values, 25)}
        charts.append(
            line_chart(
                curves, x=x, title=f"loss: {name}", unit="", x_label="iteration", faint=(name,)
            )
        )
    return charts


def physics_charts(grounded: Grounded) -> list[str]:
    """Torques of the joints, and what the ground bears, during the simulation."""
    tracking = grounded.tracking
    forces, body = tracking.forces, grounded.character.body
    steps = len(forces.torques)
    if steps < 2:
        return []
    every = max(1, steps // 600)
    seconds = np.arange(0, steps, every) * tracking.parameters.step
    size = forces.torques.norm(dim=-1)[::every].numpy(force=True)
    rig, controls = grounded.character.rig, grounded.character.controls.tolist()
    groups: dict[str, list[int]] = defaultdict(list)
    for place, control in enumerate(controls):
        groups[_group(rig.roles[control])].append(place)
    torques = {name: size[:, places].max(axis=1) for name, places in groups.items()}
    charts = [line_chart(torques, x=seconds, title="largest joint torque", unit="N m")]
    feet = torch.nonzero(grounded.character.feet).squeeze(-1).tolist()
    weight = body.mass * GRAVITY
    upward = forces.contacts[..., 1].sum(-1)[::every].numpy(force=True) / weight
    names = ["root", *(str(rig.roles[control]) for control in controls)]
    loads = {names[part]: upward[:, part] for part in feet}
    if loads:
        charts.append(line_chart(loads, x=seconds, title="ground bears", unit="weights"))
    return charts


def _running_mean(values: np.ndarray, over: int) -> np.ndarray:
    total = np.concatenate(([0.0], np.cumsum(values)))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - over)
    return (total[ends] - total[starts]) / (ends - starts)
