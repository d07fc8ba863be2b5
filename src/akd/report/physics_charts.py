"""Charts of a simulation: ground forces, joint torques, and the optimisation."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from akd.base.constants import GRAVITY
from akd.motion.contact import touches
from akd.physics.body import Body, place
from akd.physics.ground import Grounded
from akd.physics.target import TargetMotion
from akd.report.motion_charts import group_of
from akd.report.plots import contact_chart, line_chart


def contact_charts(grounded: Grounded) -> list[str]:
    """Force of the ground on each foot, in body weights, and when feet touch it."""
    character, tracking = grounded.character, grounded.tracking
    body, fps = character.body, tracking.target.fps
    feet = character.feet if bool(character.feet.any()) else torch.ones_like(character.feet)
    names = [body.names[i] for i in feet.nonzero().flatten()]
    forces = tracking.forces.contacts.sum(-2)[:, feet] / (body.mass * GRAVITY)
    seconds = np.arange(len(forces)) * tracking.parameters.step
    along = body.axes[0, 2] * torch.tensor((1.0, 0.0, 1.0), dtype=torch.float64)
    along = along / along.norm().clamp_min(1e-9)
    everything = tracking.forces.contacts.sum((1, 2))[:, 1] / (body.mass * GRAVITY)
    upward = dict(zip(names, forces[..., 1].T.numpy(), strict=True))
    forward = dict(zip(names, (forces @ along).T.numpy(), strict=True))
    states = tracking.states
    made = TargetMotion(states.position, states.rotation, states.angles, fps)
    frames = np.arange(len(made.position)) / fps
    return [
        line_chart(upward, x=seconds, title="vertical ground force", unit="body weights"),
        line_chart(forward, x=seconds, title="forward ground force", unit="body weights"),
        line_chart(
            {"all parts": everything.numpy()}, x=seconds, title="total vertical ground force",
            unit="body weights",
        ),
        contact_chart(
            dict(zip(names, _touching(body, feet, grounded.clip), strict=True)),
            x=frames[: len(grounded.clip.position)],
            title="feet on the ground: the clip",
        ),
        contact_chart(
            dict(zip(names, _touching(body, feet, made), strict=True)), x=frames,
            title="feet on the ground: grounded",
        ),
        contact_chart(
            dict(zip(names, tracking.stance[:, feet].T.numpy(), strict=True)), x=frames,
            title="planned stance",
        ),
    ]  # fmt: skip


def _touching(body: Body, feet: Bool[Tensor, "B"], motion: TargetMotion) -> Bool[np.ndarray, "N F"]:
    """When each foot is on the ground, or under it."""
    placement = place(body, motion)
    low = placement.corners(body)[:, feet][..., 1].amin(-1)
    return touches(low, body_height=body.height).T.numpy()


def torque_charts(grounded: Grounded) -> list[str]:
    """Size of the torque in every joint: a chart for each limb and one for the rest."""
    character, tracking = grounded.character, grounded.tracking
    size = tracking.forces.torques.norm(dim=-1).numpy()
    seconds = np.arange(len(size)) * tracking.parameters.step
    groups: dict[str, dict[str, np.ndarray]] = defaultdict(dict)
    for joint, control in enumerate(character.controls.tolist()):
        group, name = group_of(character.rig.roles[control])
        groups[group][name] = size[:, joint]
    return [
        line_chart(curves, x=seconds, title=f"torque: {name}", unit="N m")
        for name, curves in groups.items()
    ]


def search_charts(grounded: Grounded) -> list[str]:
    """Distance from the clip over time, and the loss over the iterations."""
    body, tracking = grounded.character.body, grounded.tracking
    states = tracking.states
    made, given, planted = (
        place(body, m).centres(body) for m in (states, tracking.given, tracking.target)
    )
    apart = {
        name: 100 * (made - other).norm(dim=-1).mean(1).numpy() / body.height
        for name, other in (("from the clip", given), ("from the clip with planted feet", planted))
    }
    seconds = np.arange(len(states.position)) / tracking.target.fps
    charts = [line_chart(apart, x=seconds, title="mean distance of the parts", unit="% height")]
    losses = np.array(tracking.losses)
    if len(losses) > 1:
        charts.append(
            line_chart(
                {"loss": losses}, x=np.arange(len(losses)), title="loss", unit="",
                x_label="iteration",
            )
        )  # fmt: skip
    return charts
