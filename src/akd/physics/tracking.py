"""Tracking: the controls under which a simulated body follows a motion (paper, section 4.5).

Everything runs in the body's own units (height, mass and gravity are one), so that step, learning
rates and clipping mean the same for every body.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.math import quaternion, spline
from akd.physics.body import Body, Placement, State, lowest, place
from akd.physics.cycle import OVERLAP, repeat_cycle
from akd.physics.footing import find_stance, plant_feet, sole_weights
from akd.physics.forces import Forces, measure_forces
from akd.physics.kinematics import Kinematics
from akd.physics.parameters import Parameters, scale_parameters
from akd.physics.settings import SimulatorSettings, TrackingSettings
from akd.physics.simulator import Simulator, WarpSimulator
from akd.physics.target import TargetMotion, stand_on_ground
from akd.physics.units import BodyUnits

Progress = Callable[[int, int, float], None]
"""Called with the iteration, their number and the loss."""
MakeSimulator = Callable[[Body, Parameters], Simulator]
SLIDE_TIME = 0.15
"""Body times over which the speed of a sliding sole counts like a distance."""
_MOST_VALUES = 2**28
"""Substeps times knots: a table of 2 GiB. Two minutes of a fox, less of a smaller body."""


@dataclass(frozen=True)
class Tracking:
    """A motion a simulated body made, and what it took. SI units."""

    states: State
    """At every frame of the target, [F, ...]."""
    rollout: State
    """Before and after every substep, [K + 1, ...]."""
    targets: Float[Tensor, "K D 3"]
    """Joint targets of every substep, radians."""
    up: Float[Tensor, "K 3"]
    """Where the root assist torque aligned the root's up to."""
    forces: Forces
    """During every substep."""
    parameters: Parameters
    given: TargetMotion
    """The motion given, lowered or raised on to the ground."""
    target: TargetMotion
    """What was followed: the same with its standing feet at rest."""
    stance: Bool[Tensor, "F B"]
    """When each part stands in it; nowhere where no feet were named."""
    lift: float
    """By how much it was raised, metres."""
    losses: tuple[float, ...]
    """Of every iteration, in body units: over the frames that were simulated."""
    error: float
    """Mean distance of the parts' centres from the motion given, as a share of body height."""
    retries: int
    """How often the run diverged and was begun again with a smaller step."""
    failed: bool
    """It still diverged after all retries: the states are of the last good iteration."""


def track(
    body: Body,
    target: TargetMotion,
    *,
    feet: Bool[Tensor, "B"] | None = None,
    walks: bool = False,
    settings: TrackingSettings | None = None,
    world: SimulatorSettings | None = None,
    make_simulator: MakeSimulator = WarpSimulator,
    progress: Progress | None = None,
) -> Tracking:
    """Find joint targets and an initial velocity under which the body follows a motion.

    The motion is first moved up or down so that it stands on the ground (all frames alike), and
    the feet that stand in it are made to keep their place, where the parts that are feet are named
    (`walks` says that it is no run, however fast it is).
    A run that diverges is begun again with half the substep; what was best so far is kept.

    Raises:
        ValueError: The motion is not the body's, or takes too many steps of simulation.
        FloatingPointError: The simulation diverged, with short steps too.
    """
    settings, world = settings or TrackingSettings(), world or SimulatorSettings()
    if target.angles.shape[1] != len(body) - 1:
        raise ValueError(
            f"the target moves {target.angles.shape[1]} joints, the body has {len(body) - 1}"
        )
    units = BodyUnits(body.height, body.mass)
    unit_body = body.scaled(length=1 / units.length, mass=1 / units.mass)
    duration = (len(target.position) - 1) / target.fps
    # More than two knots a frame have nothing to hold them.
    rate = min(settings.knots_per_second, 2.0 * target.fps)
    knots = math.ceil(duration * rate) + 3
    scaled = units.motion_in(target)
    substeps = len(scaled.position) / (scaled.fps * world.step)
    if substeps * knots > _MOST_VALUES:
        raise ValueError(
            f"{duration:g} s of a body of {body.height:.3g} m take {substeps:.3g} steps of "
            f"simulation and {knots} knots, whose product must be at most {_MOST_VALUES:.3g}: cut "
            f"the clip, or give a greater height"
        )
    given, lift = stand_on_ground(unit_body, scaled)
    feet = torch.zeros(len(body), dtype=torch.bool) if feet is None else feet
    given, planted, stance = _plant(unit_body, feet, given, settings, walks=walks)
    best: tuple[_Problem, _Solution] | None = None
    retries = 0
    while True:
        problem = _Problem(unit_body, planted, stance, knots, settings, world, make_simulator)
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
    return _finish(body, units, problem, result, given, lift * units.length, retries)


def _plant(
    body: Body,
    feet: Bool[Tensor, "B"],
    given: TargetMotion,
    settings: TrackingSettings,
    *,
    walks: bool,
) -> tuple[TargetMotion, TargetMotion, Bool[Tensor, "F B"]]:
    """The motion, the same with its stance feet pinned, and when each part stands in it.

    A cycle goes on into its next repetition. It is planted with another one at either end, so that
    stances continue over all seams.
    """
    longer, kept = given, slice(None)
    if given.cyclic:
        frames = len(given.position) - 1
        longer = repeat_cycle(given, before=1, after=2)
        kept = slice(frames, 2 * frames + math.ceil(OVERLAP * frames) + 1)
    stance, planted = find_stance(body, feet, longer, walks=walks), longer
    if settings.plant:
        planted = plant_feet(body, feet, longer, stance, clearance=settings.clearance)
    if planted is longer:
        stance = torch.zeros_like(stance)
    return longer[kept], planted[kept], stance[kept]


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
        target: TargetMotion,
        stance: Bool[Tensor, "F B"],
        knots: int,
        settings: TrackingSettings,
        world: SimulatorSettings,
        make_simulator: MakeSimulator,
    ) -> None:
        self.body, self.target, self.settings, self.world = body, target, settings, world
        self.stance, self.feet = stance, stance.any(0)
        # A speed, not a distance a frame: tall bodies have more frames in a body time.
        self.slide_weight = SLIDE_TIME * target.fps
        frame = 1.0 / target.fps
        per_frame = math.ceil(frame / world.step - 1e-9)
        self.parameters = scale_parameters(body, world, gravity=1.0, step=frame / per_frame)
        self.simulator = make_simulator(body, self.parameters)
        self.kinematics = Kinematics(body, dtype=torch.float32)
        frames = len(target.position)
        self.substeps = (frames - 1) * per_frame
        self.per_frame, self.frames = per_frame, slice(None, None, per_frame)
        self.wanted = place(body, target)
        self.wanted_centres = self.wanted.centres(body)[1:].float()
        self.wanted_rotations = self.wanted.rotations[1:].float()
        soles = sole_weights(body, self.feet, self.wanted, stance)
        self.soles = torch.minimum(soles[1:], soles[:-1]).float()
        height = self.wanted.corners(body)[1:, self.feet][..., 1].amin(-1)
        self.swing = height.clamp_max(settings.clearance).float()
        self.foot_parts = self.feet.nonzero().flatten()
        self.standing = stance[1:, self.feet]
        up = quaternion.rotate(target.rotation, target.rotation.new_tensor((0.0, 1.0, 0.0)))
        up = _at_substeps(up, per_frame)
        self.up = up / up.norm(dim=-1, keepdim=True).clamp_min(1e-9)
        phases = torch.arange(self.substeps, dtype=torch.float64) / self.substeps
        self.basis = spline.cubic_basis(phases, knots)
        self.knots = self._first_knots(per_frame)
        self.start = self._first_state()

    def _first_knots(self, per_frame: int) -> Float[Tensor, "M D 3"]:
        """Knots of the target's own angles, ahead by what the servos' damping holds back."""
        angles = self.target.angles
        joint_velocity = torch.gradient(angles, spacing=1.0 / self.target.fps, dim=0)[0]
        lag = self.parameters.damping / max(self.parameters.stiffness, 1e-12)
        dense = _at_substeps(angles + lag * joint_velocity, per_frame).flatten(1)
        normal = self.basis.T @ self.basis
        normal = normal + 1e-6 * normal.diagonal().mean() * torch.eye(len(normal)).double()
        knots = torch.linalg.solve(normal, self.basis.T @ dense)
        return knots.unflatten(1, angles.shape[1:])

    def _first_state(self) -> State:
        """The first frame, its lowest corner on the ground, moving as the first two frames do."""
        r = self.target
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

    def errors(self, made: Placement) -> Float[Tensor, "G"]:
        """L1 distance of the parts from the target, summed over parts, for all frames made but
        the first."""
        own = made.rotations[1:]
        centres, turns = self.wanted_centres[: len(own)], self.wanted_rotations[: len(own)]
        apart = (made.centres(self.body)[1:] - centres).abs().flatten(1).sum(1)
        sign = torch.where((own * turns).sum(-1, keepdim=True) < 0, -1.0, 1.0)
        return apart + (own - sign * turns).abs().flatten(1).sum(1)

    def footing(self, made: Placement) -> Float[Tensor, "G"]:
        """By how much soles slide from frame to frame and hover while they should stand, and feet
        drag where they should swing, summed over the feet; for all frames made but the
        first."""
        soles = made.corners(self.body).index_select(1, self.foot_parts)
        slide = (soles[1:] - soles[:-1])[..., ::2].contiguous().norm(dim=-1) * self.slide_weight
        low = soles[1:, ..., 1].amin(-1)
        weights, standing, swing = (
            value[: len(low)] for value in (self.soles, self.standing, self.swing)
        )
        slides = (weights * slide).sum((1, 2))
        misses = torch.where(standing, low.abs(), (swing - low).clamp_min(0.0))
        return slides + misses.sum(1)

    def bend(self, knots: Float[Tensor, "M D 3"]) -> Float[Tensor, ""]:
        """Mean absolute second difference of the knots."""
        return (knots[2:] - 2 * knots[1:-1] + knots[:-2]).abs().mean()

    def reach(self, iteration: int) -> Float[Tensor, "G"]:
        """Weights of the frames: those of the beginning first, then more and more of the rest. What
        comes late depends on all before it, and says little while that is still wrong."""
        frames = len(self.wanted_centres)
        s = self.settings
        grow = s.grow if self.target.cyclic else s.grow_once
        if not grow:
            return torch.ones(frames)
        share = s.reach + iteration / (grow * s.iterations)
        return ((share * frames - torch.arange(frames)) / 2.0).clamp(0.0, 1.0)

    def solve(self, progress: Progress | None) -> _Solution | None:
        """Adam on knots and initial velocity. None where even the first rollout diverged.

        Frames beyond the reach have no weight, and are not simulated but for the first time: there
        is then a whole rollout to keep.
        """
        s = self.settings
        knots = self.knots.float().requires_grad_()
        start = self.start.to(dtype=torch.float32)
        motion = [
            p.clone().requires_grad_()
            for p in (start.velocity, start.angular_velocity, start.joint_velocity)
        ]
        basis, up = self.basis.float(), self.up.float()
        groups = [
            {"params": [knots], "lr": s.learning_rate},
            {"params": motion, "lr": s.velocity_learning_rate},
        ]
        optimiser = torch.optim.Adam(groups, betas=(0.9, 0.99))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            optimiser, s.iterations, eta_min=0.05 * s.learning_rate
        )
        losses: list[float] = []
        best: tuple[float, State, Tensor] | None = None
        for iteration in range(s.iterations + 1):
            weights = self.reach(iteration)
            whole = iteration == 0 or bool((weights > 0.0).all())
            if not whole:
                weights = weights[weights > 0.0]
            substeps = len(weights) * self.per_frame
            targets = (basis[:substeps] @ knots.flatten(1)).unflatten(1, knots.shape[1:])
            state = State(start.position, start.rotation, start.angles, *motion)
            rollout = self.simulator.rollout(
                State(*(part[None] for part in state.parts())), targets[None], up[:substeps],
                clip=s.clip, clip_every=s.clip_every,
            )[0]  # fmt: skip
            at = rollout[self.frames]
            made = self.kinematics.place(at)
            errors = self.errors(made) + s.footing * self.footing(made)
            bend = s.smoothness * self.bend(knots)
            loss = (weights * errors).sum() / weights.sum() + bend
            value = float(((errors.mean() + bend) if whole else loss).detach())
            if not _is_sane(rollout, value):
                return None if best is None else self._solution(best, losses, failed=True)
            losses.append(value)
            if whole and (best is None or value < best[0]):
                best = value, rollout.detach(), targets.detach()
            if progress is not None:
                progress(iteration, s.iterations, value)
            if iteration == s.iterations:
                break
            optimiser.zero_grad()
            loss.backward()
            assert best is not None  # the first rollout was a whole one
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
        fastest = max(float(p.abs().max()) for p in (rollout.velocity, rollout.angular_velocity))
    return math.isfinite(loss) and fastest < 100.0


def _at_substeps(values: Float[Tensor, "F *n"], per_frame: int) -> Float[Tensor, "K *n"]:
    """Linear interpolation of frames at the start of every substep."""
    share = torch.arange(per_frame, dtype=values.dtype) / per_frame
    share = share.view(1, -1, *([1] * (values.ndim - 1)))
    dense = values[:-1, None] * (1 - share) + values[1:, None] * share
    return dense.flatten(0, 1)


def _finish(
    body: Body, units: BodyUnits, problem: _Problem, solution: _Solution, given: TargetMotion,
    lift: float, retries: int,
) -> Tracking:  # fmt: skip
    """Back to SI units, with what acted."""
    step = problem.parameters.step * units.time
    parameters = scale_parameters(body, problem.world, step=step)
    rollout = units.state_out(solution.rollout)
    target, given = units.motion_out(problem.target), units.motion_out(given)
    states = rollout[problem.frames]
    apart = (place(body, states).centres(body) - place(body, given).centres(body)).norm(dim=-1)
    return Tracking(
        states=states,
        rollout=rollout,
        targets=solution.targets,
        up=problem.up,
        forces=measure_forces(body, parameters, rollout, solution.targets, problem.up),
        parameters=parameters,
        given=given,
        target=target,
        stance=problem.stance,
        lift=lift,
        losses=solution.losses,
        error=float(apart.mean()) / units.length,
        retries=retries,
        failed=solution.failed,
    )
