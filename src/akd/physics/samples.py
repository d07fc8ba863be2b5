"""Domain randomisation: a tracked motion simulated again under many variations of the world."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.base.files import write_arrays
from akd.math import quaternion
from akd.physics.body import Body, State
from akd.physics.forces import forces_between
from akd.physics.simulator import Variation, WarpSimulator
from akd.physics.tracking import Tracking


@dataclass(frozen=True)
class SampleSettings:
    """How far the environments may differ from the one that was tracked."""

    friction: tuple[float, float] = (0.5, 1.0)
    """Range of Coulomb's coefficient."""
    mass: float = 0.2
    """Masses of the parts are scaled by 1 - mass to 1 + mass."""
    push: float = 0.3
    """Greatest horizontal push on the root, in body weights."""
    push_seconds: float = 0.15
    """How long it lasts."""
    velocity: float = 0.05
    """Spread of the initial velocities, in sqrt(g h) and its turning equivalent."""

    def __post_init__(self) -> None:
        low, high = self.friction
        if not 0 <= low <= high:
            raise ValueError(f"friction must be a range from 0 up, got {self.friction}")
        if not 0 <= self.mass < 1:
            raise ValueError(f"mass must be in [0, 1), got {self.mass}")


@dataclass(frozen=True)
class Samples:
    """E rollouts of one motion, at the frames of its target. SI units, Y up."""

    states: State
    """[E, F, ...]."""
    fps: float
    targets: Float[Tensor, "F D 3"]
    """Joint targets at the frames; the same in every environment."""
    contacts: Float[Tensor, "E F B 3"]
    """Contact force on each part, N."""
    torques: Float[Tensor, "E F D 3"]
    variation: Variation
    upright: Bool[Tensor, "E"]
    """Whether the root stayed within 60 degrees of the tracked root's up, and finite."""

    def save(self, path: Path | str) -> None:
        """Write an npz file."""
        v = self.variation
        arrays = {
            "time": torch.arange(len(self.targets)) / self.fps,
            **self.states.arrays(), "targets": self.targets,
            "contact_forces": self.contacts, "torques": self.torques, "friction": v.friction,
            "mass_scale": v.mass_scale, "push": v.push, "push_first_substep": v.push_first,
            "push_last_substep": v.push_last, "upright": self.upright,
        }  # fmt: skip
        numbers = {
            name: (a.float() if a.is_floating_point() else a).numpy(force=True)
            for name, a in arrays.items()
        }
        write_arrays(Path(path), numbers)


def simulate_samples(
    body: Body,
    tracking: Tracking,
    count: int,
    *,
    generator: torch.Generator,
    settings: SampleSettings | None = None,
    device: torch.device | str = "cpu",
    batch: int = 512,
) -> Samples:
    """Simulate a tracked motion in `count` environments that differ in friction, masses, pushes and
    how they begin; `batch` of them in one launch."""
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    settings = settings or SampleSettings()
    variation, start = _draw(body, tracking, count, generator, settings)
    simulator = WarpSimulator(body, tracking.parameters, device=device)
    substeps = len(tracking.targets)
    frames = torch.arange(len(tracking.states.position))
    frames = frames * (substeps // (len(frames) - 1))
    pieces: list[tuple[State, Tensor, Tensor]] = []
    for first in range(0, count, batch):
        part = slice(first, first + batch)
        some = Variation(
            variation.friction[part], variation.mass_scale[part], variation.push[part],
            variation.push_first[part], variation.push_last[part],
        )  # fmt: skip
        size = len(some.friction)
        targets = tracking.targets.expand(size, *tracking.targets.shape)
        with torch.no_grad():
            rollout = simulator.rollout(start[part], targets, tracking.up, variation=some)
        pieces.append(_at_frames(body, tracking, rollout.to("cpu", torch.float64), frames, some))
    states = State(
        *(torch.cat(parts) for parts in zip(*(p[0].parts() for p in pieces), strict=True))
    )
    return Samples(
        states=states,
        fps=tracking.target.fps,
        targets=tracking.targets[frames.clamp(max=substeps - 1)],
        contacts=torch.cat([p[1] for p in pieces]),
        torques=torch.cat([p[2] for p in pieces]),
        variation=variation,
        upright=_stayed_up(states, tracking.states),
    )


def _draw(
    body: Body, tracking: Tracking, count: int, generator: torch.Generator, s: SampleSettings
) -> tuple[Variation, State]:
    """Variations and initial states."""

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    p = tracking.parameters
    gravity = abs(p.gravity[1])
    low, high = s.friction
    heading = 2 * torch.pi * uniform(count)
    size = s.push * body.mass * gravity * uniform(count)
    push = torch.stack((size * heading.cos(), torch.zeros(count), size * heading.sin()), -1)
    substeps = len(tracking.targets)
    first = (uniform(count) * substeps).long()
    variation = Variation(
        friction=low + (high - low) * uniform(count),
        mass_scale=1 + s.mass * (2 * uniform(count, len(body)) - 1),
        push=push,
        push_first=first,
        push_last=first + max(1, round(s.push_seconds / p.step)),
    )
    start = State(*(part.expand(count, *part.shape) for part in tracking.rollout[0].parts()))
    speed = s.velocity * (gravity * body.height) ** 0.5
    turn = s.velocity * (gravity / body.height) ** 0.5
    return variation, replace(
        start,
        velocity=start.velocity + speed * normal(count, 3),
        angular_velocity=start.angular_velocity + turn * normal(count, 3),
        joint_velocity=start.joint_velocity + turn * normal(*start.joint_velocity.shape),
    )


def _at_frames(
    body: Body, tracking: Tracking, rollout: State, frames: Tensor, variation: Variation
) -> tuple[State, Tensor, Tensor]:
    """States, contact forces and torques of every environment at the frames.

    A force acts during a substep: that of a frame is of the substep that begins there, that of the
    last frame of the one that ends there.
    """
    at = frames.clamp(max=len(tracking.targets) - 1)
    environments = len(rollout.position)
    before, after = (State(*(p.flatten(0, 1) for p in rollout[:, k].parts())) for k in (at, at + 1))
    forces = forces_between(
        body, tracking.parameters, before, after, tracking.targets[at].repeat(environments, 1, 1),
        friction=variation.friction.repeat_interleave(len(at)),
    )  # fmt: skip
    shape = (environments, len(at))
    contacts = forces.contacts.sum(-2).unflatten(0, shape)
    return rollout[:, frames], contacts, forces.torques.unflatten(0, shape)


def _stayed_up(states: State, tracked: State) -> Bool[Tensor, "E"]:
    up = torch.tensor((0.0, 1.0, 0.0), dtype=torch.float64)
    made = quaternion.rotate(states.rotation, up)
    wanted = quaternion.rotate(tracked.rotation, up)
    close = (made * wanted).sum(-1) > 0.5
    return close.all(1) & torch.isfinite(states.position).all(-1).all(-1)
