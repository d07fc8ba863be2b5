"""Tracking runs on random bodies, clips and settings, and what became of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from akd.math import quaternion
from akd.physics.settings import SimulatorSettings, TrackingSettings
from akd.physics.target import TargetMotion
from akd.physics.tracking import Tracking, track
from tests.physics.bodies_for_tests import random_tree


@dataclass(frozen=True)
class Outcome:
    """Of one random run."""

    finite: bool
    """Everything in the result is a finite number."""
    retries: int
    failed: bool
    """It diverged at every step that was tried; its last good iteration was kept."""
    refused: bool
    """It diverged at its first iteration with every step, which was said."""
    error: float
    """From the clip, in body heights; nan where refused."""


def track_random(seed: int) -> Outcome:
    """Two to fourteen parts, a centimetre to tens of metres; clips smooth or leaping, in the air,
    on the ground or in it; settings from gentle to absurd."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(low: float, high: float) -> float:
        return low + (high - low) * float(torch.rand((), generator=generator))

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    body = random_tree(seed, parts=2 + seed % 13)
    scale = 10 ** uniform(-2.0, 1.5)
    body = body.scaled(length=scale, mass=scale**3)
    frames = 3 + int(uniform(0, 16))
    duration = uniform(0.3, 2.0) * math.sqrt(body.height / 9.81)
    angles = _curves(normal, uniform, frames, (len(body) - 1) * 3).unflatten(1, (-1, 3))
    place = 0.2 * body.height * _curves(normal, uniform, frames, 3)
    along = torch.linspace(0, 1, frames, dtype=torch.float64)[:, None]
    place = place + body.pivots[0] + uniform(0, 3) * body.height * along * normal(3)
    turn = quaternion.from_rotation_vector(uniform(0, 0.6) * _curves(normal, uniform, frames, 3))
    if seed % 5 == 0:
        # Frames that have nothing to do with each other.
        angles = angles + 2 * normal(*angles.shape)
        place = place + 0.5 * body.height * normal(frames, 3)
    clip = TargetMotion(place, turn, angles, (frames - 1) / duration)
    world = SimulatorSettings(
        stiffness=10 ** uniform(-1.0, 1.0), damping=10 ** uniform(-2.5, -0.3),
        friction=uniform(0.0, 1.5), penetration=10 ** uniform(-3.3, -2.0),
        assist_limit=uniform(0.0, 1.0), step=10 ** uniform(-2.3, -1.2),
    )  # fmt: skip
    settings = TrackingSettings(
        iterations=2 + int(uniform(0, 10)), knots_per_second=uniform(2, 40) / duration,
        learning_rate=10 ** uniform(-3.0, 0.0), clip=10 ** uniform(-1.0, 3.0),
        smoothness=uniform(0, 1), footing=uniform(0, 10), plant=seed % 6 == 0,
    )  # fmt: skip
    feet = torch.rand(len(body), generator=generator) < 0.4
    try:
        made = track(body, clip, feet=feet, settings=settings, world=world)
    except FloatingPointError:
        return Outcome(True, settings.retries, True, True, math.nan)
    return Outcome(_is_finite(made), made.retries, made.failed, False, made.error)


def _curves(normal, uniform, frames: int, count: int) -> torch.Tensor:
    """Sines of random sizes, frequencies and phases, [frames, count]."""
    time = torch.linspace(0, 1, frames, dtype=torch.float64)[:, None]
    size = uniform(0.05, 1.2) * normal(count)
    return size * torch.sin(2 * math.pi * (uniform(0.2, 4) * time + normal(count)))


def _is_finite(made: Tracking) -> bool:
    tensors = (
        *made.states.parts(), *made.rollout.parts(), made.targets, made.forces.torques,
        made.forces.contacts, made.forces.assist, made.target.position, made.target.angles,
    )  # fmt: skip
    return math.isfinite(made.error) and all(bool(torch.isfinite(t).all()) for t in tensors)
