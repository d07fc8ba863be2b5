"""Gaits of the quadruped of `bodies_for_tests`: a floating trot, a walk in place."""

from __future__ import annotations

import math

import torch

from akd.math import quaternion
from akd.physics.body import Body
from akd.physics.tracking import TargetMotion

FEET = torch.tensor([False] + [False, False, True] * 4)
"""Which parts of the quadruped are feet."""


def trot(
    frames: int = 25, fps: float = 20.0, speed: float = 0.5, lift: float = 0.03
) -> TargetMotion:
    """A quadruped's trot with its feet in the air and sliding: a motion no body can make."""
    t = torch.arange(frames, dtype=torch.float64) / fps
    phase = 2 * math.pi * 1.5 * t
    ramp = (t / 0.3).clamp(0.0, 1.0)
    angles = torch.zeros(frames, 12, 3, dtype=torch.float64)
    for leg, shift in enumerate((0.0, math.pi, math.pi, 0.0)):
        bend = (-torch.cos(phase + shift)).clamp_min(0.0) ** 1.5 * 0.6 * ramp
        angles[:, 3 * leg, 0] = 0.22 * torch.sin(phase + shift) * ramp + 0.45 * bend
        angles[:, 3 * leg + 1, 0] = -bend
        angles[:, 3 * leg + 2, 0] = bend - angles[:, 3 * leg, 0]
    travel = torch.cumsum(ramp * speed / fps, 0)
    zero = torch.zeros_like(t)
    position = torch.stack((travel, 0.53 + lift + zero, zero), -1)
    return TargetMotion(position, quaternion.identity(frames, like=position), angles, fps)


def walk_in_place(body: Body) -> TargetMotion:
    """Legs swing back steadily while they stand and forth while they are lifted; no travel."""
    frames, fps = 48, 24.0
    phase = torch.arange(frames, dtype=torch.float64) / fps % 1.0
    angles = torch.zeros(frames, 12, 3, dtype=torch.float64)
    for leg, shift in enumerate((0.0, 0.5, 0.5, 0.0)):
        p = (phase + shift) % 1.0
        stance = p < 0.6
        swing = (p - 0.6) / 0.4
        back = torch.where(stance, 0.2 - 0.4 * p / 0.6, -0.2 + 0.4 * swing)
        bend = torch.where(
            stance, torch.zeros_like(p), 0.7 * torch.sin(math.pi * swing.clamp(0, 1))
        )
        angles[:, 3 * leg, 0] = back + 0.5 * bend
        angles[:, 3 * leg + 1, 0] = -bend
        angles[:, 3 * leg + 2, 0] = -(back - 0.5 * bend)
    position = body.pivots[0].expand(frames, 3).clone()
    return TargetMotion(position, quaternion.identity(frames, like=position), angles, fps)
