"""What a motion owes apart from what the prior says: smoothness, the ground, feet that stand, a
pull to the neutral pose."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.constants import GRAVITY
from akd.distill.settings import LossSettings
from akd.motion.parameters import MotionParameters
from akd.motion.smooth import laplacian
from akd.rig.control import ControlPose
from akd.rig.limits import AngleLimits
from akd.rig.skin import skin_points
from akd.scene.stage import Stage
from akd.splat.cloud import SplatCloud

_GROUND_POINTS = 400
_TOUCH, _SOFTNESS = 0.14, 0.03
"""A sole may be standing below this height, more or less, in body heights."""
_CLEARANCE = 0.04
"""A foot that swings is at least so high, in body heights."""
_SLOW = 0.01
"""A foot goes back under the body if it does so by more than this a frame, in leg lengths."""
_RUNS = 0.5
"""Above this Froude number v^2 / (g L) two legs run: there is a time at which no foot stands."""
_STRIKES, _ROLLS = 0.5, 0.15
"""A foot that runs stands only while it goes back faster than this part of its fastest, more or
less."""


def regularisers(
    stage: Stage,
    unknowns: MotionParameters,
    controls: ControlPose,
    bones: Float[Tensor, "T B 4 4"],
    weights: LossSettings,
) -> dict[str, Tensor]:
    """All parts of the loss but the pictures', weighted; on the CPU."""
    height = stage.character.height
    parts = {
        "smooth": weights.smooth * smoothness(controls, leg_length=unknowns.leg_length),
        "ground": weights.ground * depth(stage.cloud, bones, body_height=height),
        "rest": weights.rest * departure(controls, unknowns.limits),
    }
    if stage.soles and len(bones) > 1:
        feet = Feet.of(stage, controls, bones, unknowns)
        parts["support"] = weights.support * hovering(feet, body_height=height)
        parts["skate"] = weights.skate * sliding(feet, leg_length=unknowns.leg_length)
    return {name: part.to("cpu") for name, part in parts.items()}


@dataclass(frozen=True)
class Feet:
    """The soles over time, and when each of them stands."""

    soles: list[Float[Tensor, "T _ 3"]]
    """World, metres."""
    stance: Float[Tensor, "F T-1"]
    """0..1 between two frames; no gradient."""
    back: Float[Tensor, "F T-1"]
    """How far a foot goes back under the body from frame to frame, metres; no gradient."""

    @classmethod
    def of(
        cls,
        stage: Stage,
        controls: ControlPose,
        bones: Float[Tensor, "T B 4 4"],
        unknowns: MotionParameters,
    ) -> Feet:
        """A foot stands while it goes back under the body and is near the ground; in a run only
        while it goes back fast.

        Pictures of few pixels show well how a foot swings and hardly how high it is lifted. So the
        swing decides what the height should be, and the height only what cannot be a stance.
        """
        soles = [sole.at(bones) for sole in stage.soles]
        height = stage.character.height
        with torch.no_grad():
            middle = torch.stack([sole.mean(1) for sole in soles]).cpu()
            low = torch.stack([sole[..., 1].amin(1) for sole in soles]).cpu() / height
            level = middle.new_tensor((1.0, 0.0, 1.0))
            under = (middle - controls.translation.to(middle)) * level
            ahead = _heading(stage, controls).to(middle)
            back = -((under[:, 1:] - under[:, :-1]) * ahead[1:]).sum(-1)
            near = torch.sigmoid((_TOUCH - torch.minimum(low[:, 1:], low[:, :-1])) / _SOFTNESS)
            goes = torch.sigmoid(back / (_SLOW * unknowns.leg_length))
            runs = unknowns.speed**2 > _RUNS * GRAVITY * unknowns.leg_length
            if runs and len(soles) == 2:
                fastest = back.amax(1, keepdim=True).clamp_min(1e-9)
                goes = goes * torch.sigmoid((back / fastest - _STRIKES) / _ROLLS)
            stance = near * goes
        return cls(soles, stance, back)

    def speed(self) -> float | None:
        """How far the body must go from frame to frame for the feet to stand still, metres."""
        # A foot that is just set down or lifted goes back more slowly than one that stands.
        weight = self.stance * self.back.clamp_min(0.0)
        total = float(weight.sum())
        return float((weight * self.back).sum()) / total if total > 0.0 else None


def _heading(stage: Stage, controls: ControlPose) -> Float[Tensor, "T 3"]:
    """The way the body faces at every frame."""
    _, left, forward = stage.rig.root_axes.to(controls.root_rotation).unbind(0)
    yaw = controls.root_rotation[:, :1]
    return yaw.cos() * forward + yaw.sin() * left


def hovering(feet: Feet, *, body_height: float) -> Tensor:
    """Mean height of standing feet above the ground, and how much lower than a stride's clearance
    swinging ones are, in body heights."""
    low = torch.stack([sole[..., 1].amin(1) for sole in feet.soles]) / body_height
    low = 0.5 * (low[:, 1:] + low[:, :-1])
    stance = feet.stance.to(low)
    high = stance * low.clamp_min(0.0)
    drags = (1.0 - stance) * (_CLEARANCE - low).clamp_min(0.0)
    comes_down = low.amin(1).clamp_min(0.0)
    return high.mean() + drags.mean() + comes_down.mean()


def sliding(feet: Feet, *, leg_length: float) -> Tensor:
    """Mean way that standing feet go along the ground from frame to frame, in leg lengths."""
    middle = torch.stack([sole.mean(1) for sole in feet.soles])[..., (0, 2)]
    steps = (middle[:, 1:] - middle[:, :-1]).square().sum(-1).add(1e-12).sqrt()
    return (feet.stance.to(steps) * steps).mean() / leg_length


def smoothness(controls: ControlPose, *, leg_length: float) -> Tensor:
    """Mean absolute second difference of the coordinates over time."""
    parts = torch.cat(
        (
            controls.angles.flatten(1),
            controls.root_rotation,
            controls.translation / leg_length,
        ),
        dim=1,
    )
    return laplacian(parts).abs().mean()


def depth(cloud: SplatCloud, bones: Float[Tensor, "T B 4 4"], *, body_height: float) -> Tensor:
    """How deep the surface is under the ground: the mean over it and, frame by frame, the deepest
    point of it, in body heights."""
    step = max(1, len(cloud) // _GROUND_POINTS)
    some = cloud[torch.arange(0, len(cloud), step, device=cloud.means.device)]
    points = skin_points(bones.to(some.means), some.means, some.bones, some.weights)
    below = (-points[..., 1]).clamp_min(0.0)
    return (below.mean() + 0.05 * below.amax(1).mean()) / body_height


def departure(controls: ControlPose, limits: AngleLimits) -> Tensor:
    """Mean square of the angles in parts of how far each may go, and of how far the root leans."""
    lean = controls.root_rotation[:, 1:].square().mean()
    if not controls.angles.numel():
        return lean
    return lean + limits.parts(controls.angles).square().mean()
