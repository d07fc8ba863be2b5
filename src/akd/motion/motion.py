"""`Motion`: poses of a skeleton over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton

MAX_VALUES = 40_000_000
"""Frames times joints times ten numbers that a motion may hold: 160 MB."""
_TOGETHER = 2**18
"""Poses of a joint that are interpolated at a time."""


@dataclass(frozen=True)
class Motion:
    """Poses at increasing times; between two keys, translation and scale are interpolated linearly
    and rotation spherically, exactly as a glTF LINEAR sampler is played."""

    skeleton: Skeleton
    times: Float[Tensor, "T"]
    """Seconds, strictly increasing."""
    pose: Pose
    """[T, J, ...]."""
    name: str = ""
    morphs: Mapping[int, Float[Tensor, "T M"]] = field(default_factory=dict)
    """Morph-target weights over time of the joints (nodes) that show a morphing mesh."""

    def __post_init__(self) -> None:
        frames = self.times.shape[0]
        if frames == 0:
            raise ValueError("a motion needs at least one frame")
        if self.pose.translation.shape[:2] != (frames, len(self.skeleton)):
            raise ValueError(
                f"a motion of {frames} frames and {len(self.skeleton)} joints cannot hold a pose "
                f"of shape {tuple(self.pose.translation.shape)}"
            )
        if frames > 1 and not bool((self.times[1:] > self.times[:-1]).all()):
            raise ValueError("the times of a motion must increase strictly")

    def __len__(self) -> int:
        return self.times.shape[0]

    @property
    def duration(self) -> float:
        """Seconds from the first key to the last."""
        return float(self.times[-1] - self.times[0])

    def world(self) -> Float[Tensor, "T J 4 4"]:
        """Forward kinematics.

        Returns:
            world_from_joint at every key, metres.
        """
        return self.skeleton.forward(self.pose)

    def parent_scale(self) -> Float[Tensor, "J"]:
        """Scale of each joint's translation in the world.

        Returns:
            Metres in the world for a unit of the joint's own translation, where it is largest.
        """
        size = self.world()[..., :3, :3].norm(dim=-2).amax(dim=(0, -1))
        return torch.stack(
            [size[p] if p >= 0 else size.new_ones(()) for p in self.skeleton.parents]
        )

    def sample(self, times: Float[Tensor, "S"]) -> Motion:
        """Interpolate.

        Args:
            times: Seconds; the ends are held outside the motion's span.

        Returns:
            The motion with keys at these times.
        """
        times = times.to(self.times)
        together = max(1, _TOGETHER // max(len(self.skeleton), 1))
        if len(times) > together:  # what is between takes five times the memory of the result
            parts = [self.sample(some) for some in times.split(together)]
            pose = Pose(
                *(
                    torch.cat([getattr(part.pose, name) for part in parts])
                    for name in ("translation", "rotation", "scale")
                )
            )
            morphs = {n: torch.cat([part.morphs[n] for part in parts]) for n in self.morphs}
            return replace(self, times=times, pose=pose, morphs=morphs)
        after = torch.searchsorted(self.times, times, right=True).clamp(1, max(len(self) - 1, 1))
        if len(self) == 1:
            before = after = torch.zeros_like(after)
            t = torch.zeros_like(times)
        else:
            before = after - 1
            span = self.times[after] - self.times[before]
            t = ((times - self.times[before]) / span).clamp(0.0, 1.0)
        a, b = self.pose[before], self.pose[after]
        pose = Pose(
            torch.lerp(a.translation, b.translation, t[:, None, None]),
            quaternion.slerp(a.rotation, b.rotation, t[:, None]),
            torch.lerp(a.scale, b.scale, t[:, None, None]),
        )
        morphs = {n: torch.lerp(w[before], w[after], t[:, None]) for n, w in self.morphs.items()}
        return replace(self, times=times, pose=pose, morphs=morphs)

    def check_frames(self, fps: float) -> None:
        """Check the number of frames at a rate.

        Args:
            fps: Frames per second.

        Raises:
            ValueError: There would be too many.
        """
        if self.duration * fps * len(self.skeleton) * 10 > MAX_VALUES:
            raise ValueError(
                f"clip {self.name!r} must have at most {MAX_VALUES // 10} poses of a joint, got "
                f"{self.duration:g} s at {fps:g} frames per second on {len(self.skeleton)} joints"
            )

    def resample(self, fps: float) -> Motion:
        """Interpolate at a fixed rate.

        Args:
            fps: Frames per second.

        Returns:
            The motion over the same span, its last frame at or just before the end. A single pose
            is returned as it is.

        Raises:
            ValueError: The rate is not positive, or gives too many frames.
        """
        if not fps > 0:
            raise ValueError(f"fps must be above zero, got {fps}")
        if len(self) < 2:
            return self
        self.check_frames(fps)
        count = int(self.duration * fps + 1e-6) + 1
        steps = torch.arange(count, dtype=self.times.dtype, device=self.times.device)
        return self.sample(self.times[0] + steps / fps)
