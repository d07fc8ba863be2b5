"""`KeyPoses`: poses that a motion must meet, and the bend that makes it meet them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.math import davenport
from akd.math.resident import constant
from akd.motion.motion import Motion
from akd.motion.smooth import closing
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
        return KeyPoses(self.seconds[:count], self.pose[:count])

    def lowered(self, by: float) -> KeyPoses:
        """The same with the root lower by this many metres."""
        shift = self.pose.translation.new_tensor((0.0, by, 0.0))
        lower = replace(self.pose, translation=self.pose.translation - shift)
        return KeyPoses(self.seconds, lower)


def last_poses(rig: ControlRig, motion: Motion, count: int, fps: float) -> KeyPoses:
    """The last `count` poses of a motion at a frame rate, the first of them at second 0."""
    seconds = torch.arange(count) / fps
    pose = rig.from_pose(motion.sample(motion.times[-1] - seconds.flip(0)).pose)
    return KeyPoses(tuple(seconds.tolist()), pose.rigid())


@dataclass(frozen=True)
class Bend:
    """Closes the gap between a motion and its key poses smoothly around each of them; between those
    that are near each other it goes from one to the next without a stop."""

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
        chosen = keys.pose[list(nearest.values())]
        return cls(
            torch.tensor(list(nearest), device=like.device),
            weights.to(like),
            chosen.each(lambda value: value.detach().to(like)),
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
    """How much each key pose counts: 1 at its own time, 0 at the others' and far from all.

    Between two that are near each other the gap goes on as a curve through the gaps around it, and
    after the last of them it closes from the rate that it has there.
    """
    keys = torch.tensor(moments, dtype=times.dtype)
    gaps, rates = torch.eye(len(keys), dtype=times.dtype), _rates(keys)
    weights = torch.zeros(len(times), len(keys), dtype=times.dtype)
    after = torch.searchsorted(keys, times, right=True) - 1
    for k in range(-1, len(keys)):
        rows = (after == k).nonzero().flatten()
        at = times[rows, None]
        if 0 <= k < len(keys) - 1 and _near(keys[k], keys[k + 1]):
            weights[rows] = _between(at, keys[k : k + 2], gaps[k : k + 2], rates[k : k + 2])
            continue
        for one, way in ((k, 1.0), (k + 1, -1.0)):
            if 0 <= one < len(keys):
                still, moving = closing(way * (at - keys[one]) / _REACH)
                weights[rows] += still * gaps[one] + way * _REACH * moving * rates[one]
    return weights


def _near(one: Tensor, other: Tensor) -> bool:
    return float(other - one) <= _REACH


def _rates(keys: Float[Tensor, "K"]) -> Float[Tensor, "K K"]:
    """By how much a second the curve through the gaps changes at each key pose, for a gap of one at
    each: that of a parabola through three that are near, of a line through two."""
    count = len(keys)
    gaps = torch.eye(count, dtype=keys.dtype)
    steps = (gaps[1:] - gaps[:-1]) / (keys[1:] - keys[:-1])[:, None]
    joined = [_near(keys[k], keys[k + 1]) for k in range(count - 1)]
    rates = torch.zeros_like(gaps)
    for k in range(count):
        before, after = k > 0 and joined[k - 1], k < count - 1 and joined[k]
        if before and after:
            share = (keys[k] - keys[k - 1]) / (keys[k + 1] - keys[k - 1])
            rates[k] = (1.0 - share) * steps[k - 1] + share * steps[k]
        elif before or after:
            rates[k] = steps[k if after else k - 1]
    for k in range(count):  # the ends of three or more
        before, after = k > 0 and joined[k - 1], k < count - 1 and joined[k]
        if after and not before and k + 2 < count and joined[k + 1]:
            rates[k] = 2.0 * steps[k] - rates[k + 1]
        if before and not after and k > 1 and joined[k - 2]:
            rates[k] = 2.0 * steps[k - 1] - rates[k - 1]
    return rates


def _between(
    at: Float[Tensor, "t 1"],
    ends: Float[Tensor, "2"],
    values: Float[Tensor, "2 K"],
    rates: Float[Tensor, "2 K"],
) -> Float[Tensor, "t K"]:
    """The cubic with these values and rates at its ends."""
    length = ends[1] - ends[0]
    u = (at - ends[0]) / length
    first = (1 + 2 * u) * (1 - u) ** 2 * values[0] + u * (1 - u) ** 2 * length * rates[0]
    return first + u * u * (3 - 2 * u) * values[1] - u * u * (1 - u) * length * rates[1]
