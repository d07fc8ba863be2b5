"""Tracking: the controls under which a simulated body follows a motion (paper, section 4.5).

Everything runs in the body's own units (height, mass and gravity are one), so that step, learning
rates and clipping mean the same for every body.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion, spline
from akd.physics.body import Body, Placement, State, lowest, place
from akd.physics.forces import Forces, measure_forces
from akd.physics.parameters import GRAVITY, Parameters, scale_parameters
from akd.physics.settings import SimulatorSettings, TrackingSettings
from akd.physics.simulator import Simulator, WarpSimulator

Progress = Callable[[int, int, float], None]
"""Called with the iteration, their number and the loss."""
MakeSimulator = Callable[[Body, Parameters], Simulator]


@dataclass(frozen=True)
class Reference:
    """The motion to follow, at a fixed frame rate."""

    position: Float[Tensor, "F 3"]
    """World position of the root's pivot, metres."""
    rotation: Float[Tensor, "F 4"]
    """Of the root from the neutral pose, wxyz."""
    angles: Float[Tensor, "F D 3"]
    """Joint coordinates, radians, continuous."""
    fps: float

    def __post_init__(self) -> None:
        if len(self.position) < 2:
            raise ValueError(f"a motion to track needs at least 2 frames, got {len(self.position)}")
        if not self.fps > 0:
            raise ValueError(f"fps must be above zero, got {self.fps}")


@dataclass(frozen=True)
class Tracking:
    """A motion a simulated body made, and what it took. SI units."""

    states: State
    """At every frame of the reference, [F, ...]."""
    rollout: State
    """Before and after every substep, [K + 1, ...]."""
    targets: Float[Tensor, "K D 3"]
    """Joint targets of every substep, radians."""
    up: Float[Tensor, "K 3"]
    """Where the upright help aligned the root's up to."""
    forces: Forces
    """During every substep."""
    parameters: Parameters
    reference: Reference
    """What was followed: the motion given, lowered or raised on to the ground."""
    lift: float
    """By how much it was raised, metres."""
    losses: tuple[float, ...]
    """Of every iteration, in body units."""
    error: float
    """Mean distance of the parts' centres from the reference, as a share of body height."""
    retries: int
    """How often the run diverged and was begun again with a smaller step."""
    failed: bool
    """It still diverged after all retries: the states are of the last good iteration."""


def track(
    body: Body,
    reference: Reference,
    *,
    settings: TrackingSettings | None = None,
    world: SimulatorSettings | None = None,
    make_simulator: MakeSimulator = WarpSimulator,
    progress: Progress | None = None,
) -> Tracking:
    """Find joint targets and an initial velocity under which the body follows a motion.

    The motion is first moved up or down so that it stands on the ground (all frames alike). A run
    that diverges is begun again with half the substep; what was best so far is kept.
    """
    settings, world = settings or TrackingSettings(), world or SimulatorSettings()
    if reference.angles.shape[1] != len(body) - 1:
        raise ValueError(
            f"the reference moves {reference.angles.shape[1]} joints, the body has {len(body) - 1}"
        )
    units = _Units(body.height, body.mass)
    unit_body = body.scaled(length=1 / units.length, mass=1 / units.mass)
    unit_reference, lift = _on_the_ground(unit_body, units.reference_in(reference))
    duration = (len(reference.position) - 1) / reference.fps
    knots = max(4, math.ceil(duration * settings.knots_per_second) + 3)
    best: tuple[_Problem, _Solution] | None = None
    retries = 0
    while True:
        problem = _Problem(unit_body, unit_reference, knots, settings, world, make_simulator)
        result = problem.solve(progress)
        if result is not None and (best is None or not result.failed):
            best = problem, result
        if (result is not None and not result.failed) or retries == settings.retries:
            break
        retries += 1
        world = replace(world, step=world.step / 2)
    if best is None:
        raise FloatingPointError(
            f"the simulation diverged at its first iteration, with steps down to {world.step:g} "
            "body times: the motion's velocities are not physical, or the body is degenerate"
        )
    problem, result = best
    return _finish(body, units, problem, result, lift * units.length, retries)


@dataclass(frozen=True)
class _Units:
    """SI units in one body unit."""

    length: float
    mass: float

    @property
    def time(self) -> float:
        return math.sqrt(self.length / GRAVITY)

    def reference_in(self, reference: Reference) -> Reference:
        return Reference(
            reference.position.double() / self.length,
            quaternion.normalize(reference.rotation.double()),
            reference.angles.double(),
            reference.fps * self.time,
        )

    def reference_out(self, reference: Reference) -> Reference:
        return replace(
            reference, position=reference.position * self.length, fps=reference.fps / self.time
        )

    def state_out(self, state: State) -> State:
        speed = self.length / self.time
        return State(
            state.position * self.length, state.rotation, state.angles,
            state.velocity * speed, state.spin / self.time, state.rates / self.time,
        )  # fmt: skip


def _on_the_ground(body: Body, reference: Reference) -> tuple[Reference, float]:
    """The motion moved vertically so that its lowest corner is on the ground in the lower half of
    its frames, which are those that stand where the other half flies; and by how much."""
    placement = place(body, reference.position, reference.rotation, reference.angles)
    lift = -float(lowest(body, placement).quantile(0.25))
    raised = reference.position + reference.position.new_tensor((0.0, lift, 0.0))
    return replace(reference, position=raised), lift


@dataclass(frozen=True)
class _Solution:
    rollout: State
    targets: Tensor
    losses: tuple[float, ...]
    failed: bool


class _Problem:
    """One attempt, with one length of substep, in body units."""

    def __init__(
        self,
        body: Body,
        reference: Reference,
        knots: int,
        settings: TrackingSettings,
        world: SimulatorSettings,
        make_simulator: MakeSimulator,
    ) -> None:
        self.body, self.reference, self.settings = body, reference, settings
        frame = 1.0 / reference.fps
        per_frame = math.ceil(frame / world.step - 1e-9)
        self.parameters = scale_parameters(body, world, gravity=1.0, step=frame / per_frame)
        self.simulator = make_simulator(body, self.parameters)
        frames = len(reference.position)
        self.substeps = (frames - 1) * per_frame
        self.frames = torch.arange(frames) * per_frame
        self.wanted = place(body, reference.position, reference.rotation, reference.angles)
        up = quaternion.rotate(reference.rotation, reference.rotation.new_tensor((0.0, 1.0, 0.0)))
        up = _at_substeps(up, per_frame)
        self.up = up / up.norm(dim=-1, keepdim=True).clamp_min(1e-9)
        phases = torch.arange(self.substeps, dtype=torch.float64) / self.substeps
        self.basis = spline.cubic_basis(phases, knots)
        self.knots = self._first_knots(per_frame)
        self.start = self._first_state()

    def _first_knots(self, per_frame: int) -> Float[Tensor, "M D 3"]:
        """Knots of the reference's own angles, ahead by what the servos' damping holds back."""
        angles = self.reference.angles
        rates = torch.gradient(angles, spacing=1.0 / self.reference.fps, dim=0)[0]
        lag = self.parameters.damping / max(self.parameters.stiffness, 1e-12)
        dense = _at_substeps(angles + lag * rates, per_frame).flatten(1)
        normal = self.basis.T @ self.basis
        normal = normal + 1e-6 * normal.diagonal().mean() * torch.eye(len(normal)).double()
        knots = torch.linalg.solve(normal, self.basis.T @ dense)
        return knots.unflatten(1, angles.shape[1:])

    def _first_state(self) -> State:
        """The first frame, its lowest corner on the ground, moving as the first two frames do."""
        r = self.reference
        first = Placement(self.wanted.origins[:1], self.wanted.rotations[:1])
        height = float(lowest(self.body, first)[0])
        turn = quaternion.multiply(r.rotation[1], quaternion.conjugate(r.rotation[0]))
        return State(
            r.position[0] - r.position.new_tensor((0.0, height, 0.0)),
            r.rotation[0],
            r.angles[0],
            (r.position[1] - r.position[0]) * r.fps,
            quaternion.to_rotation_vector(turn) * r.fps,
            (r.angles[1] - r.angles[0]) * r.fps,
        )

    def errors(self, rollout: State) -> Float[Tensor, "G"]:
        """L1 distance of the parts from the reference, summed over parts, for all frames but the
        first."""
        at = rollout[self.frames[1:]]
        made = place(self.body, at.position, at.rotation, at.angles)
        centres = self.body.centres[:, None]
        wanted = self.wanted.points(self.body, centres)[1:]
        apart = (made.points(self.body, centres) - wanted.to(at.position)).abs().flatten(1).sum(1)
        turns = self.wanted.rotations[1:].to(at.position)
        sign = torch.where((made.rotations * turns).sum(-1, keepdim=True) < 0, -1.0, 1.0)
        return apart + (made.rotations - sign * turns).abs().flatten(1).sum(1)

    def reach(self, iteration: int) -> Float[Tensor, "G"]:
        """Weights of the frames: those of the beginning first, then more and more of the rest. What
        comes late depends on all before it, and says little while that is still wrong."""
        frames = len(self.frames) - 1
        if not self.settings.grow:
            return torch.ones(frames)
        share = self.settings.reach + iteration / (self.settings.grow * self.settings.iterations)
        return ((share * frames - torch.arange(frames)) / 2.0).clamp(0.0, 1.0)

    def solve(self, progress: Progress | None) -> _Solution | None:
        """Adam on knots and initial velocity. None where even the first rollout diverged."""
        s = self.settings
        knots = self.knots.float().requires_grad_()
        start = self.start.to(dtype=torch.float32)
        motion = [p.clone().requires_grad_() for p in (start.velocity, start.spin, start.rates)]
        basis, up = self.basis.float(), self.up.float()
        optimiser = torch.optim.Adam(
            [
                {"params": [knots], "lr": s.learning_rate},
                {"params": motion, "lr": s.velocity_learning_rate},
            ],
            betas=(0.9, 0.99),
        )
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            optimiser, s.iterations, eta_min=0.05 * s.learning_rate
        )
        losses: list[float] = []
        best: tuple[float, State, Tensor] | None = None
        for iteration in range(s.iterations + 1):
            targets = (basis @ knots.flatten(1)).unflatten(1, knots.shape[1:])
            state = State(start.position, start.rotation, start.angles, *motion)
            rollout = self.simulator.rollout(
                State(*(part[None] for part in state.parts())), targets[None], up,
                clip=s.clip, clip_every=s.clip_every,
            )[0]  # fmt: skip
            errors = self.errors(rollout)
            bend = (knots[2:] - 2 * knots[1:-1] + knots[:-2]).abs().mean()
            weights = self.reach(iteration).to(errors)
            loss = (weights * errors).sum() / weights.sum() + s.smoothness * bend
            value = float((errors.mean() + s.smoothness * bend).detach())
            if not _is_sane(rollout, value):
                return None if best is None else self._solution(best, losses, failed=True)
            losses.append(value)
            if best is None or value < best[0]:
                best = value, rollout.detach(), targets.detach()
            if progress is not None:
                progress(iteration, s.iterations, value)
            if iteration == s.iterations:
                break
            optimiser.zero_grad()
            loss.backward()
            if not all(bool(torch.isfinite(p.grad).all()) for p in (knots, *motion)):  # pyright: ignore
                return self._solution(best, losses, failed=True)
            optimiser.step()
            schedule.step()
        assert best is not None
        return self._solution(best, losses, failed=False)

    def _solution(
        self, best: tuple[float, State, Tensor], losses: list[float], *, failed: bool
    ) -> _Solution:
        _, rollout, targets = best
        return _Solution(rollout.to(dtype=torch.float64), targets.double(), tuple(losses), failed)


def _is_sane(rollout: State, loss: float) -> bool:
    """Finite, and nowhere faster than a hundred body heights a body time."""
    with torch.no_grad():
        fastest = max(float(p.abs().max()) for p in (rollout.velocity, rollout.spin))
    return math.isfinite(loss) and fastest < 100.0


def _at_substeps(values: Float[Tensor, "F *n"], per_frame: int) -> Float[Tensor, "K *n"]:
    """Linear interpolation of frames at the start of every substep."""
    share = torch.arange(per_frame, dtype=values.dtype) / per_frame
    share = share.view(1, -1, *([1] * (values.ndim - 1)))
    dense = values[:-1, None] * (1 - share) + values[1:, None] * share
    return dense.flatten(0, 1)


def _finish(
    body: Body, units: _Units, problem: _Problem, solution: _Solution, lift: float, retries: int
) -> Tracking:
    """Back to SI units, with what acted."""
    parameters = _parameters_out(problem.parameters, units)
    rollout = units.state_out(solution.rollout)
    reference = units.reference_out(problem.reference)
    states = rollout[problem.frames]
    made = place(body, states.position, states.rotation, states.angles)
    wanted = place(body, reference.position, reference.rotation, reference.angles)
    centres = body.centres[:, None]
    apart = (made.points(body, centres) - wanted.points(body, centres)).norm(dim=-1)
    return Tracking(
        states=states,
        rollout=rollout,
        targets=solution.targets,
        up=problem.up,
        forces=measure_forces(body, parameters, rollout, solution.targets, problem.up),
        parameters=parameters,
        reference=reference,
        lift=lift,
        losses=solution.losses,
        error=float(apart.mean()) / units.length,
        retries=retries,
        failed=solution.failed,
    )


def _parameters_out(p: Parameters, units: _Units) -> Parameters:
    """Parameters in SI units from those in body units."""
    length, mass, time = units.length, units.mass, units.time
    torque, inertia = mass * length**2 / time**2, mass * length**2
    x, y, z = (g * length / time**2 for g in p.gravity)
    return Parameters(
        step=p.step * time,
        stiffness=p.stiffness * torque,
        damping=p.damping * torque * time,
        armature=p.armature * inertia,
        contact_stiffness=p.contact_stiffness * mass / time**2,
        contact_damping=p.contact_damping * mass / time,
        contact_rounding=p.contact_rounding * length,
        contact_light=p.contact_light * mass * length / time**2,
        friction=p.friction,
        creep=p.creep * length / time,
        upright=p.upright * torque,
        upright_damping=p.upright_damping * torque * time,
        upright_cap=p.upright_cap * torque,
        turn_limit=p.turn_limit,
        gravity=(x, y, z),
    )
