"""`Unknowns`: a few coefficients that are curves over time on a control rig."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.distill.limits import angle_limits
from akd.distill.settings import UnknownSettings
from akd.math.spline import cubic_basis
from akd.rig.control import ControlPose, ControlRig

_SPEED_RANGE = 0.6
"""The speed may change by this fraction of the starting one, either way."""
_SWAY = (0.06, 0.35, 0.08)
"""How far the root may leave its straight path, left, up and forward, in leg lengths."""
_LEAN = (0.6, 0.3, 0.2)
"""How far it may yaw, pitch and roll, radians."""


@dataclass(frozen=True)
class Unknowns:
    """Coefficients to be searched for, and how they become coordinates of the control rig."""

    rig: ControlRig
    settings: UnknownSettings
    frames: int
    fps: float
    leg_length: float
    speed: float
    """Metres a second to start with."""
    angles: Float[Tensor, "K D 3"]
    root: Float[Tensor, "K 6"]
    """Sway left, up and forward, then yaw, pitch and roll, before they are bounded."""
    pace: Float[Tensor, "1"]
    """Change of the speed, before it is bounded."""

    @classmethod
    def start(
        cls,
        rig: ControlRig,
        settings: UnknownSettings,
        *,
        frames: int,
        fps: float,
        leg_length: float,
        speed: float,
    ) -> Unknowns:
        """The neutral pose, travelling."""
        count = settings.knots if 0 < settings.knots < frames else frames
        new = rig.pivots.new_zeros
        leaves = [new(count, len(rig), 3), new(count, 6), new(1)]
        for leaf in leaves:
            leaf.requires_grad_()
        return cls(rig, settings, frames, fps, leg_length, speed, *leaves)

    def leaves(self) -> list[Tensor]:
        """What an optimiser changes."""
        return [self.angles, self.root, self.pace]

    def basis(self) -> Float[Tensor, "T K"]:
        """Curves at the frames: a spline, or nothing but the frames themselves."""
        count = len(self.angles)
        if count == self.frames:
            return torch.eye(self.frames).to(self.angles)
        span = self.frames if self.settings.periodic else self.frames - 1
        phase = torch.arange(self.frames) / span
        return cubic_basis(phase, count, periodic=self.settings.periodic).to(self.angles)

    def controls(self) -> ControlPose:
        """Coordinates at every frame."""
        basis = self.basis()
        angles = torch.einsum("tk,kdc->tdc", basis, self.angles)
        root = basis @ self.root
        pace = self.pace
        if self.settings.bounded:
            angles = _bounded(angles, angle_limits(self.rig).to(angles))
            root = _bounded(root, root.new_tensor((*_SWAY, *_LEAN)))
            pace = _bounded(pace, pace.new_tensor(_SPEED_RANGE))
        seconds = torch.arange(self.frames).to(root) / self.fps
        gone = self.speed * (1.0 + pace) * seconds
        sway = self.leg_length * root[:, :3]
        up, left, forward = self.rig.root_axes.to(root).unbind(0)
        # The body goes where it looks, so a yaw bends the path.
        yaw = root[:, 3]
        step = gone[1:] - gone[:-1]
        middle = 0.5 * (yaw[1:] + yaw[:-1])
        start = yaw.new_zeros(1)
        ahead = torch.cat((start, (step * middle.cos()).cumsum(0)))
        aside = torch.cat((start, (step * middle.sin()).cumsum(0)))
        translation = (
            (ahead + sway[:, 2])[:, None] * forward
            + (aside + sway[:, 0])[:, None] * left
            + sway[:, 1, None] * up
        )
        return ControlPose(translation, root[:, 3:], angles)


def _bounded(values: Tensor, limit: Tensor) -> Tensor:
    """Values that come no further than the limit, and are unchanged near zero."""
    return limit * torch.tanh(values / limit)
