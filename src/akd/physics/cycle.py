"""Cycles: clips whose last frame is their first, up to a horizontal displacement and a yaw."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion
from akd.physics.body import Body, Coordinates, place
from akd.physics.target import TargetMotion

CLOSED = 0.1
"""Greatest distance of the last frame from the first, in mean steps from frame to frame: a clip
that ends one frame before its first is further away."""
STILL = 0.01
"""A clip whose parts stay this near to their first places is no cycle, in body heights."""
OVERLAP = 0.5
"""Share of a cycle that is simulated a second time, to fade the seam out."""


@dataclass(frozen=True)
class Advance:
    """The horizontal rigid motion from the first frame of a cycle to its last."""

    start: Float[Tensor, "3"]
    end: Float[Tensor, "3"]
    """Root position over the ground, metres."""
    yaw: Float[Tensor, "4"]
    """wxyz."""

    @classmethod
    def of(cls, motion: TargetMotion) -> Advance:
        """From a motion's first and last frame."""
        level = motion.position.new_tensor((1.0, 0.0, 1.0))
        first, last = motion.rotation[0], motion.rotation[-1]
        turn = quaternion.multiply(last, quaternion.conjugate(first))
        yaw = quaternion.normalize(turn * turn.new_tensor((1.0, 0.0, 1.0, 0.0)))
        return cls(motion.position[0] * level, motion.position[-1] * level, yaw)

    def inverse(self) -> Advance:
        """From the last frame to the first."""
        return Advance(self.end, self.start, quaternion.conjugate(self.yaw))

    def points(self, points: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b 3"]:
        """World points one cycle later."""
        start, end, yaw = (value.to(points) for value in (self.start, self.end, self.yaw))
        return end + quaternion.rotate(yaw, points - start)

    def vectors(self, vectors: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b 3"]:
        """Directions one cycle later."""
        return quaternion.rotate(self.yaw.to(vectors), vectors)

    def rotations(self, rotations: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b 4"]:
        """Rotations one cycle later."""
        return quaternion.multiply(self.yaw.to(rotations), rotations)


def cycle_gap(body: Body, made: Coordinates, clip: TargetMotion) -> float:
    """Mean distance of the parts between two repetitions of a clip, in body heights: over the
    frames that the second has, the first one alone for the clip itself."""
    last = len(clip.position) - 1
    centres = place(body, made).centres(body)
    again = Advance.of(clip).points(centres[: len(centres) - last])
    return float((again - centres[last:]).norm(dim=-1).mean()) / body.height


def is_cycle(body: Body, motion: TargetMotion) -> bool:
    """Whether a clip leaves the pose it starts with and comes back to it without a jump."""
    if len(motion.position) < 5:
        return False
    centres = place(body, motion).centres(body)
    steps = (centres[1:] - centres[:-1]).norm(dim=-1).mean(1) / body.height
    shape = (centres - motion.position[:, None]) / body.height
    moves = float((shape - shape[0]).norm(dim=-1).mean(1).max()) > STILL
    closed = cycle_gap(body, motion, motion) <= CLOSED * float(steps.mean())
    return moves and closed and bool(steps[-1] <= 1.5 * steps.quantile(0.9))


def repeat_cycle(motion: TargetMotion, *, before: int, after: int) -> TargetMotion:
    """A cycle with repetitions before and after it, each starting where the last one ended."""
    advance = Advance.of(motion)
    position, rotation = [motion.position], [motion.rotation]
    for _ in range(before):
        position.insert(0, advance.inverse().points(position[0]))
        rotation.insert(0, advance.inverse().rotations(rotation[0]))
    for _ in range(after):
        position.append(advance.points(position[-1]))
        rotation.append(advance.rotations(rotation[-1]))
    pieces = position, rotation, [motion.angles] * len(position)
    joined = (torch.cat([*(p[:-1] for p in piece[:-1]), piece[-1]]) for piece in pieces)
    position_, rotation_, angles_ = joined
    return replace(motion, position=position_, rotation=rotation_, angles=angles_)


def close_cycle(made: Coordinates, clip: TargetMotion) -> TargetMotion:
    """One period of a simulation that went on into the next repetition of its clip.

    Where both exist, the start fades from the next repetition to the first. The fade begins and
    ends with no slope and no bend, so the last frame is the first in pose and in velocity, the
    transient of the initial state has no weight, and the cycle advances as its clip does.
    """
    last = len(clip.position) - 1
    overlap = len(made.position) - last
    back = Advance.of(clip).inverse()
    phase = torch.linspace(0, 1, overlap, dtype=made.position.dtype)[:, None]
    fade = phase**3 * (10 - 15 * phase + 6 * phase**2)
    start, next_ = slice(overlap), slice(last, None)
    turned = back.rotations(made.rotation[next_])
    turned = torch.where((turned * made.rotation[start]).sum(-1, keepdim=True) < 0, -turned, turned)
    position = torch.lerp(back.points(made.position[next_]), made.position[start], fade)
    rotation = quaternion.normalize(torch.lerp(turned, made.rotation[start], fade))
    angles = torch.lerp(made.angles[next_], made.angles[start], fade[..., None])
    rest = slice(overlap, last + 1)
    return replace(
        clip,
        position=torch.cat((position, made.position[rest]))[: last + 1],
        rotation=torch.cat((rotation, made.rotation[rest]))[: last + 1],
        angles=torch.cat((angles, made.angles[rest]))[: last + 1],
    )
