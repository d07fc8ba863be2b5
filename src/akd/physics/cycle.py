"""Cycles: clips whose last frame is their first, up to a horizontal displacement and a yaw."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion
from akd.physics.body import Body, Coordinates, place
from akd.physics.target import TargetMotion

CLOSED = 0.01
"""Greatest mean distance of the parts between the last frame and the first, in body heights."""


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


def cycle_gap(body: Body, motion: TargetMotion) -> float:
    """Mean distance of the parts between the last frame and the first, in body heights."""
    advance = Advance.of(motion)
    centres = place(body, motion).centres(body)
    return float((advance.points(centres[0]) - centres[-1]).norm(dim=-1).mean()) / body.height


def is_cycle(body: Body, motion: TargetMotion) -> bool:
    """Whether a clip leaves the pose it starts with and comes back to it without a jump."""
    if len(motion.position) < 5 or cycle_gap(body, motion) > CLOSED:
        return False
    centres = place(body, motion).centres(body)
    steps = (centres[1:] - centres[:-1]).norm(dim=-1).mean(1)
    shape = centres - motion.position[:, None]
    moves = float((shape - shape[0]).norm(dim=-1).mean(1).max())
    return moves > CLOSED * body.height and bool(steps[-1] <= 1.5 * steps.quantile(0.9))


def repeat_cycle(motion: TargetMotion, times: int) -> TargetMotion:
    """The cycle several times over, each starting where the last one ended."""
    advance = Advance.of(motion)
    position, rotation, angles = [motion.position], [motion.rotation], [motion.angles]
    for _ in range(times - 1):
        position.append(advance.points(position[-1]))
        rotation.append(advance.rotations(rotation[-1]))
        angles.append(motion.angles)
    pieces = (position, rotation, angles)
    joined = (torch.cat([*(p[:-1] for p in piece[:-1]), piece[-1]]) for piece in pieces)
    position_, rotation_, angles_ = joined
    return replace(motion, position=position_, rotation=rotation_, angles=angles_)


def close_cycle(made: Coordinates, clip: TargetMotion) -> TargetMotion:
    """Spread the gap between the last frame and the first evenly over a simulated cycle.

    A linear ramp adds the same velocity at both ends, so the seam stays as smooth as it was. The
    distance covered stays as simulated where the clip travels; drift off its course is removed.
    """
    advance = Advance.of(clip)
    ramp = torch.linspace(0, 1, len(made.position), dtype=made.position.dtype)
    gap = made.position[-1] - advance.points(made.position[0])
    course = advance.end - advance.start
    along = course / course.norm().clamp_min(1e-9)
    gap = gap - (gap @ along) * along
    first = advance.rotations(made.rotation[0])
    turn = quaternion.multiply(made.rotation[-1], quaternion.conjugate(first))
    turn = quaternion.to_rotation_vector(torch.where(turn[0] < 0, -turn, turn))
    back = quaternion.from_rotation_vector(-ramp[:, None] * turn)
    angles = made.angles - ramp[:, None, None] * (made.angles[-1] - made.angles[0])
    return replace(
        clip,
        position=made.position - ramp[:, None] * gap,
        rotation=quaternion.multiply(back, made.rotation),
        angles=angles,
    )
