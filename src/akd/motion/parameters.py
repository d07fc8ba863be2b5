"""`ControlCurves`: few coefficients that are curves over time on a control rig."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math.resident import constant
from akd.motion.curve_clips import curves_to_motion, first_cycle
from akd.motion.curve_pose import (
    SPEED_RANGE,
    TURN_RANGE,
    bounded,
    cycle_length,
    joint_angles,
    pose_curves,
    pose_curves_together,
    unbounded,
)
from akd.motion.curves import bumps, harmonics_within, waves
from akd.motion.gait_symmetry import Mirror
from akd.motion.key_poses import Bend, KeyPoses
from akd.motion.motion import Motion
from akd.motion.parametrization import MotionStart, PosedFrames
from akd.motion.root_limits import GAIT, RootLimits
from akd.rig.control import ControlPose, ControlRig
from akd.rig.limits import AngleLimits

if TYPE_CHECKING:
    from akd.scene.stage import Stage

_VALUES = ("angles", "root", "pace", "turn", "tempo")


@dataclass(frozen=True)
class ControlCurves:
    """Coefficients of curves over time on a control rig: splines, or harmonics of a cycle."""

    rig: ControlRig
    frames: int
    fps: float
    leg_length: float
    limits: AngleLimits
    speed: float
    """Metres per second to start with."""
    period: float | None
    """Seconds of the gait cycle; None for splines over the clip."""
    bounded: bool
    periodic: bool
    angles: Float[Tensor, "K D 3"]
    root: Float[Tensor, "K 6"]
    """Sway left, up and forward, then yaw, pitch and roll, before they are bounded."""
    pace: Float[Tensor, "1"]
    """Change of the speed, before it is bounded."""
    turn: Float[Tensor, "1"]
    """How far the path turns left over the clip, before it is bounded."""
    tempo: Float[Tensor, "1"]
    """Change of the cycle's length, before it is bounded."""
    mirror: Mirror | None = None
    """With it, left repeats right, half a cycle later or at once; None: each side is free."""
    root_limits: RootLimits = GAIT
    """How far the root may leave its path and lean where it is bounded."""
    free_root: bool = False
    """The root goes and turns anywhere, also where the joint angles are bounded."""
    keys: KeyPoses | None = None
    """Poses that the frames meet whatever the coefficients are."""
    on_feet: bool = True
    """Feet carry the body: not where it flies or swims."""
    altitude: float = 0.0
    """Metres above the neutral pose's height at which it flies."""
    way: float = 0.0
    """Radians to the left of the way the body faces in which it travels."""

    @classmethod
    def start(
        cls,
        start: MotionStart,
        *,
        knots: int = 12,
        periodic: bool = False,
        bounded: bool = True,
        harmonics: int = 0,
        mirrored: bool = False,
        free_root: bool = False,
        limits: AngleLimits | None = None,
        device: torch.device | str = "cpu",
    ) -> ControlCurves:
        """The neutral pose on the starting path.

        With `harmonics` and a period in `start`, the curves are a cycle; of a `mirrored` one the
        second half is the first, left and right exchanged. The limits are those of gaits unless
        others are given.
        """
        rig, frames, fps = start.rig, start.frames, start.fps
        period = start.period if harmonics > 0 else None
        if period is not None and not period * fps > 2.2:
            raise ValueError(f"a cycle of {period:g} s is too short for {fps:g} frames per second")
        count = knots if 0 < knots < frames else frames
        if period is not None:
            count = 1 + 2 * harmonics_within(period, fps, harmonics)
        shapes = ((count, len(rig), 3), (count, 6), (1,), (1,), (1,))
        values = [torch.zeros(shape, device=device) for shape in shapes]
        values[3] += start.turn
        for value in values:
            value.requires_grad_()
        mirror = None
        if mirrored and period is not None:
            mirror = Mirror.of(rig, at_once=start.at_once)
        if limits is None:
            strides = period is not None and start.on_feet
            limits = AngleLimits.of_strides(rig) if strides else AngleLimits.of(rig)
        return cls(
            rig, frames, fps, start.leg_length, limits, start.speed, period,
            bounded, periodic, *values, mirror=mirror, root_limits=start.root,
            free_root=free_root, keys=start.keys, on_feet=start.on_feet, altitude=start.altitude,
            way=start.way,
        )  # fmt: skip

    def values(self) -> dict[str, Tensor]:
        """All coefficients by name, copied, and the period of a cycle."""
        found = {n: getattr(self, n).detach().to("cpu", copy=True) for n in _VALUES}
        if self.period is not None:
            found["period"] = torch.tensor(self.period, dtype=torch.float64)
        return found

    def with_values(self, values: Mapping[str, Tensor]) -> ControlCurves:
        """The same character and clip with other coefficients."""
        period = float(values["period"]) if "period" in values else None
        device = self.angles.device
        copies = {n: values[n].to(device, copy=True).requires_grad_() for n in _VALUES}
        return replace(self, period=period, **copies)

    @torch.no_grad()
    def copy_values(self, other: ControlCurves) -> None:
        """Take the coefficients of other curves of the same shape."""
        for name in _VALUES:
            getattr(self, name).copy_(getattr(other, name))
        self.__dict__.pop("turns", None)

    @property
    def root_is_free(self) -> bool:
        """Whether nothing bounds where the root goes and turns."""
        return self.free_root or not self.bounded

    def tensors(self) -> list[Tensor]:
        """The optimised parameters.

        A free root has no speed and no turn besides: they would move the body as its own curves do,
        and noise would drive the two apart without end.
        """
        moving = [self.angles, self.root]
        if not self.root_is_free:
            moving.append(self.pace)
            if self.turns:
                moving.append(self.turn)
        return moving if self.period is None else [*moving, self.tempo]

    @cached_property
    def turns(self) -> bool:
        """Whether the path turns: a straight path stays straight.

        Read from the values once: a CUDA graph may not read any.
        """
        return float(self.turn.detach()) != 0.0

    def pose(self, stage: Stage, *, choices: Float[Tensor, "C K D 3"] | None = None) -> PosedFrames:
        """The body at every frame, standing on the stage's ground.

        With `choices` a batch: one for each of these coefficients of the joint angles, instead of
        the own ones.
        """
        controls, known = self.controls(), None
        if choices is not None:
            controls = self._chosen(controls, choices)
        if self._frame_bend is not None:
            controls, known = self._frame_bend(controls), self._frame_bend.known()
            known = known.expand(controls.translation.shape[:-1])
        return PosedFrames(stage.transforms(controls), controls.translation, controls, known)

    @staticmethod
    def pose_batch(candidates: Sequence[ControlCurves], stage: Stage) -> PosedFrames | None:
        """`pose` of several at once, in a leading axis; None where key poses must be met."""
        if any(one.keys is not None for one in candidates):
            return None
        controls = pose_curves_together(candidates)
        return PosedFrames(stage.transforms(controls), controls.translation, controls)

    def _chosen(self, controls: ControlPose, choices: Float[Tensor, "C K D 3"]) -> ControlPose:
        if self.mirror is not None:
            choices, _ = self.mirror.balanced(choices, self.root)
        angles = joint_angles(self, self._frame_curves(), choices)
        count = len(choices)
        return ControlPose(
            controls.translation.expand(count, -1, -1),
            controls.root_rotation.expand(count, -1, -1),
            angles,
        )

    def motion(self, name: str, *, lift: float, fps: float | None = None) -> Motion:
        """The motion of the character's file; see `curves_to_motion`."""
        return curves_to_motion(self, name, lift=lift, fps=fps)

    def one_cycle(self, name: str, *, lift: float, fps: float) -> Motion | None:
        """The first cycle of that motion; see `first_cycle`."""
        return first_cycle(self, name, lift=lift, fps=fps)

    @torch.no_grad()
    def set_controls(self, pose: ControlPose) -> None:
        """Fit the curves to the given coordinates of all frames, by least squares.

        Raises:
            ValueError: The root is not free, or has a speed of its own.
        """
        if not self.free_root or self.speed != 0.0:
            raise ValueError("set_controls needs free_root and a speed of zero")
        nearest = self._nearest()
        up, left, forward = self.rig.root_axes.to(nearest).unbind(0)
        sway = pose.translation.to(nearest) @ torch.stack((left, up, forward), dim=1)
        root = torch.cat((sway / self.leg_length, pose.root_rotation.to(nearest)), dim=1)
        self.root.copy_(nearest @ root)
        self.set_angles(pose.angles)

    @torch.no_grad()
    def set_angles(self, angles: Float[Tensor, "T D 3"]) -> None:
        """Fit the curves to the given joint angles of all frames, by least squares."""
        nearest = self._nearest()
        angles = angles.to(nearest)
        if self.bounded:
            angles = self.limits.unbounded(angles)
        self.angles.copy_(torch.einsum("kt,tdc->kdc", nearest, angles))

    @torch.no_grad()
    def set_sway(self, sway: Float[Tensor, "T 3"]) -> None:
        """Set the root's offset from its path in each frame (left, up, forward; metres), as
        closely as the bounds allow."""
        nearest, most = self._nearest(), torch.tensor(self.root_limits.sway)
        sway = sway.to(nearest) / self.leg_length
        if not self.root_is_free:
            mean, bounce = sway[:, 1].mean(), self.root_limits.bounce
            free = unbounded(sway, most.to(nearest))
            if bounce is not None and self.period is not None:
                rise = unbounded(sway[:, 1] - mean, mean.new_tensor(bounce))
                free[:, 1] = unbounded(mean, most[1].to(nearest)) + rise
            sway = free
        self.root[:, :3].copy_(nearest @ sway)

    @torch.no_grad()
    def set_translation(self, translation: Float[Tensor, "T 3"]) -> None:
        """Set the root's position in each frame, metres from its neutral position, world axes, as
        closely as its path and the bounds allow."""
        seconds = torch.arange(self.frames) / self.fps
        up, left, forward = self.rig.root_axes
        ahead = math.cos(self.way) * forward + math.sin(self.way) * left
        gone = (self.current_speed() * seconds)[:, None] * ahead
        rest = translation.cpu() - gone - self.altitude * up
        self.set_sway(rest @ torch.stack((left, up, forward), dim=1))

    @torch.no_grad()
    def set_root_rotation(self, rotation: Float[Tensor, "T 3"]) -> None:
        """Set the root's yaw, pitch and roll in each frame, radians, as closely as the bounds
        allow; the turn of the path is subtracted from the yaw."""
        nearest, most = self._nearest(), torch.tensor(self.root_limits.lean)
        seconds = torch.arange(self.frames) / self.fps
        rotation = rotation.to(nearest, copy=True)
        turn = bounded(self.turn, constant((TURN_RANGE,), self.turn)) if self.bounded else self.turn
        share = seconds.to(nearest) / max(float(seconds[-1]), 1e-9)
        rotation[:, 0] -= turn.detach() * share
        if not self.root_is_free:
            rotation = unbounded(rotation, most.to(nearest))
        self.root[:, 3:].copy_(nearest @ rotation)

    def _nearest(self) -> Float[Tensor, "K T"]:
        """Pseudo-inverse of the basis: from values at all frames to least-squares coefficients."""
        basis = self.curves(torch.arange(self.frames) / self.fps)
        # On the CPU: a GPU takes longer for so few numbers.
        return torch.linalg.pinv(basis.double().cpu()).to(basis)

    @torch.no_grad()
    def set_speed(self, speed: float) -> None:
        """Set the speed, m/s, as closely as the bounds allow."""
        if self.speed <= 0.0:
            return
        change = speed / self.speed - 1.0
        if self.bounded:
            change = float(unbounded(torch.tensor(change), torch.tensor(SPEED_RANGE)))
        self.pace.fill_(change)

    def current_speed(self) -> float:
        """Current speed along `way`, m/s."""
        pace = self.pace.detach()
        if self.bounded:
            pace = bounded(pace, constant((SPEED_RANGE,), pace))
        return self.speed * (1.0 + float(pace))

    def cycle(self) -> Float[Tensor, ""]:
        """Current length of the cycle, s."""
        assert self.period is not None
        return cycle_length(self.period, self.tempo)[0]

    def curves(self, seconds: Float[Tensor, "S"]) -> Float[Tensor, "S K"]:
        """The curves at any times of the clip."""
        if self.period is None:
            return bumps(
                seconds, frames=self.frames, fps=self.fps, count=len(self.angles),
                periodic=self.periodic,
            ).to(self.angles)  # fmt: skip
        return waves(seconds.to(self.angles), self.cycle(), len(self.angles) // 2)

    @cached_property
    def frame_times(self) -> Float[Tensor, "T"]:
        """Seconds of the frames, on the device."""
        return (torch.arange(self.frames) / self.fps).to(self.angles.device)

    @cached_property
    def frame_bumps(self) -> Float[Tensor, "T K"]:
        """The splines at the frames: they never change."""
        return self.curves(torch.arange(self.frames) / self.fps)

    @cached_property
    def _frame_bend(self) -> Bend | None:
        return None if self.keys is None else Bend.of(self.keys, self.frame_times, self.angles)

    def _frame_curves(self) -> Float[Tensor, "T K"]:
        """The curves at the frames."""
        return self.frame_bumps if self.period is None else self.curves(self.frame_times)

    def controls(self, seconds: Float[Tensor, "S"] | None = None) -> ControlPose:
        """Coordinates at every frame, or at other times from zero on.

        A cycle repeats for as long as requested; other curves hold still after the last frame.
        """
        basis = self._frame_curves() if seconds is None else self.curves(seconds)
        seconds = self.frame_times if seconds is None else seconds
        return pose_curves(
            self, basis, seconds, angles=self.angles, root=self.root, pace=self.pace,
            turn=self.turn, speed=self.speed, altitude=self.altitude,
        )  # fmt: skip
