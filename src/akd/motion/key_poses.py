"""`KeyPoses`: poses that a motion must meet, and the bend that makes it meet them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.math import davenport
from akd.math.resident import constant
from akd.motion.motion import Motion
from akd.rig.control import ControlPose, ControlRig

_REACH = 0.4
"""Seconds before and after a key pose over which the motion goes to it and leaves it."""


@dataclass(frozen=True)
class KeyPoses:
    """Poses by second: joint angles, pitch and roll of the root, and its height.

    Where the body is over the ground, and its heading, are the motion's own.
    """

    seconds: tuple[float, ...]
    """In order."""
    pose: ControlPose
    """K of them."""

    @classmethod
    def of(cls, poses: Mapping[float, ControlPose]) -> KeyPoses | None:
        """Poses of one frame each; None where there are none."""
        if not poses:
            return None
        seconds = sorted(poses)
        return cls(
            tuple(seconds),
            ControlPose(
                torch.stack([poses[s].translation for s in seconds]),
                torch.stack([poses[s].root_rotation for s in seconds]),
                torch.stack([poses[s].angles for s in seconds]),
            ),
        )

    def up_to(self, seconds: float) -> KeyPoses | None:
        """Those of a clip that lasts so long; None where there are none."""
        count = sum(second <= seconds for second in self.seconds)
        if not count:
            return None
        pose = self.pose
        kept = ControlPose(
            pose.translation[:count], pose.root_rotation[:count], pose.angles[:count]
        )
        return KeyPoses(self.seconds[:count], kept)

    def lowered(self, by: float) -> KeyPoses:
        """The same with the root lower by this many metres."""
        shift = self.pose.translation.new_tensor((0.0, by, 0.0))
        pose = ControlPose(self.pose.translation - shift, self.pose.root_rotation, self.pose.angles)
        return KeyPoses(self.seconds, pose)


def last_poses(rig: ControlRig, motion: Motion, count: int, fps: float) -> KeyPoses:
    """The last `count` poses of a motion at a frame rate, the first of them at second 0."""
    seconds = torch.arange(count) / fps
    pose = rig.from_pose(motion.sample(motion.times[-1] - seconds.flip(0)).pose)
    kept = ControlPose(pose.translation, pose.root_rotation, pose.angles)
    return KeyPoses(tuple(seconds.tolist()), kept)


@dataclass(frozen=True)
class Bend:
    """Closes the gap between a motion and its key poses smoothly around each of them; between two
    that are near each other the motion goes from one to the next."""

    frames: Int[Tensor, "K"]
    """At which the key poses are met."""
    weights: Float[Tensor, "T K"]
    """Share of each gap that is added at every frame."""
    keys: ControlPose

    @classmethod
    def of(cls, keys: KeyPoses, times: Float[Tensor, "T"], like: Tensor) -> Bend:
        """For frames at `times`, seconds; on the device of `like`.

        Of several key poses at one frame the last is met.
        """
        times = times.detach().double().cpu()
        nearest = {int((times - second).abs().argmin()): k for k, second in enumerate(keys.seconds)}
        weights = _weights(times, [float(times[frame]) for frame in nearest])
        chosen, pose = list(nearest.values()), keys.pose
        values = (pose.translation[chosen], pose.root_rotation[chosen], pose.angles[chosen])
        return cls(
            torch.tensor(list(nearest), device=like.device),
            weights.to(like),
            ControlPose(*(value.detach().to(like) for value in values)),
        )

    def known(self) -> Bool[Tensor, "T"]:
        """Which frames show a key pose."""
        mask = torch.zeros(len(self.weights), dtype=torch.bool, device=self.weights.device)
        return mask.index_fill(0, self.frames, True)

    def __call__(self, pose: ControlPose) -> ControlPose:
        """The motion bent; differentiable."""
        at = self.frames
        angles = davenport.wrap(self.keys.angles - pose.angles.index_select(-3, at))
        tilt = davenport.wrap(self.keys.root_rotation - pose.root_rotation.index_select(-2, at))
        rise = self.keys.translation - pose.translation.index_select(-2, at)
        return ControlPose(
            pose.translation + self.weights @ (rise * constant((0.0, 1.0, 0.0), rise)),
            pose.root_rotation + self.weights @ (tilt * constant((0.0, 1.0, 1.0), tilt)),
            pose.angles + torch.einsum("tk,...kdc->...tdc", self.weights, angles),
        )


def _weights(times: Float[Tensor, "T"], moments: list[float]) -> Float[Tensor, "T K"]:
    """How much each key pose counts: 1 at its own time, 0 at the others' and far from all."""
    columns = []
    for k, moment in enumerate(moments):
        before = min(_REACH, moment - moments[k - 1]) if k else _REACH
        after = min(_REACH, moments[k + 1] - moment) if k + 1 < len(moments) else _REACH
        gap = times - moment
        share = torch.where(gap < 0, -gap / max(before, 1e-6), gap / max(after, 1e-6))
        u = 1.0 - share.clamp(0.0, 1.0)
        columns.append(u * u * u * (10.0 - 15.0 * u + 6.0 * u * u))
    return torch.stack(columns, dim=1)
