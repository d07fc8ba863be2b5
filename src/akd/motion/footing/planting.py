"""Foot planting: the nearest motion whose stance feet keep their place and nothing sinks.

The root's place, the joints of the legs and the arms give way, and the roll of a body on stiff
legs, which lifts a foot by rolling over the other; all other joints keep their angles. Solved for
all frames at once with L-BFGS, in body heights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.math import transform
from akd.math.lbfgs import minimise
from akd.motion.contact import nearness
from akd.motion.footing.points import BodyPoints, DrivenPoints
from akd.motion.footing.stance import number_stands, slide_error, smooth
from akd.motion.root_limits import WADDLE
from akd.motion.smooth import laplacian
from akd.rig.control import ControlPose, ControlRig
from akd.rig.limits import AngleLimits, has_stiff_legs

_ITERATIONS = 100
_STAND = 100.0
"""Weight of feet that slide, hover or sink, against a body part that leaves its path as far."""
_CLEAR = 30.0
"""Weight of swing feet that are lower than the source's, and of angles beyond their limits."""
_TURN = 0.01
"""Weight of a joint turned by one radian, against a part moved by one body height."""
_SMOOTH = 3.0
_SUNK = 0.002
"""Body heights that a body may sink into the ground."""
_NEAR = 0.1
"""Body heights above the ground from which skin may come to sink into it."""


@dataclass(frozen=True)
class Footing:
    """Targets for the feet of a motion."""

    stance: Bool[Tensor, "T F"]
    clearance: Float[Tensor, "T F"]
    """Height that each sole should at least have, metres; zero where it stands."""


def plant_feet(
    rig: ControlRig,
    points: BodyPoints,
    pose: ControlPose,
    footing: Footing,
    limits: AngleLimits,
    *,
    height: float,
) -> ControlPose:
    """The nearest motion with planted feet; the ground is y = 0.

    Args:
        rig: The control rig.
        points: Soles, one for each column of `footing`, and skin.
        pose: The motion, one pose a frame.
        footing: When feet stand, and how high they swing.
        limits: Of the joint angles.
        height: Of the body, metres.
    """
    limbs = [i for i, role in enumerate(rig.roles) if role.limb is not None]
    with torch.no_grad():
        problem = _Problem.of(rig, points, pose, footing, limbs, height=height)
    shift = torch.zeros_like(pose.translation, requires_grad=True)
    turns = torch.zeros_like(pose.angles[:, limbs], requires_grad=True)
    roll = torch.zeros_like(pose.root_rotation[:, :1], requires_grad=True)
    waddles = has_stiff_legs(rig.roles)

    def moved() -> ControlPose:
        angles = pose.angles.index_add(1, torch.tensor(limbs, dtype=torch.long), turns)
        lean = torch.cat((torch.zeros_like(roll), torch.zeros_like(roll), roll), dim=1)
        return replace(
            pose,
            translation=pose.translation + height * shift,
            root_rotation=pose.root_rotation + lean,
            angles=angles,
        )

    def loss() -> Tensor:
        made = moved()
        beyond = made.angles - limits.clamped(made.angles.detach())
        value = problem.misfit(rig, points, made) + beyond.square().sum()
        value = value + _TURN * (turns.square().sum() + roll.square().sum())
        leans = (made.root_rotation[:, 2].abs() - WADDLE).clamp_min(0.0)
        value = value + leans.square().sum()
        return value + _SMOOTH * (
            laplacian(shift).square().sum()
            + 0.09 * laplacian(turns).square().sum()
            + 0.09 * laplacian(roll).square().sum()
        )

    free = (shift, turns, roll) if waddles else (shift, turns)
    minimise(loss, free, iterations=_ITERATIONS, history=12, tolerances=(1e-7, 1e-9))
    with torch.no_grad():
        planted = moved()
    sound = bool(planted.angles.isfinite().all() and planted.translation.isfinite().all())
    return planted if sound else pose


def lift_out(
    rig: ControlRig, points: BodyPoints, pose: ControlPose, *, height: float
) -> ControlPose:
    """The motion raised where the body sinks into the ground, smoothly."""
    deltas = rig.deltas(pose)
    lowest = torch.stack(
        [part.at(deltas)[..., 1].amin(1) for part in (*points.soles, points.skin, points.surface)]
    ).amin(0)
    depth = (-lowest - _SUNK * height).clamp_min(0.0)
    wide = torch.nn.functional.max_pool1d(depth[None, None], 5, 1, 2)[0, 0]
    return replace(pose, translation=pose.translation + upward(smooth(wide[:, None], 2)[:, 0]))


def upward(rise: Float[Tensor, "*b"]) -> Float[Tensor, "*b 3"]:
    """Heights as vectors."""
    return torch.stack((torch.zeros_like(rise), rise, torch.zeros_like(rise)), dim=-1)


@dataclass(frozen=True)
class _Problem:
    """Fixed parts of the objective, in body heights."""

    footing: Footing
    stands: Int[Tensor, "T F"]
    weights: tuple[Float[Tensor, "T _"], ...]
    """How much each point of a sole stands."""
    parts: Int[Tensor, "L"]
    """Drivers of the root and the limbs."""
    pivots: Float[Tensor, "L 3"]
    places: Float[Tensor, "T L 3"]
    """Where those are in the given motion."""
    skin: DrivenPoints
    """Vertices of the skin that come near the ground."""
    height: float

    @classmethod
    def of(
        cls, rig: ControlRig, points: BodyPoints, pose: ControlPose, footing: Footing,
        limbs: list[int], *, height: float,
    ) -> _Problem:  # fmt: skip
        deltas = rig.deltas(pose)
        weights = []
        for foot, sole in enumerate(points.soles):
            y = sole.at(deltas)[..., 1]
            near = nearness(y - y.amin(1, keepdim=True), body_height=height)
            weights.append(near * footing.stance[:, foot, None])
        parts = torch.tensor([2, *(3 + i for i in limbs)])
        pivots = torch.cat((rig.root_pivot[None], rig.pivots[limbs]))
        places = transform.apply(deltas.index_select(1, parts), pivots) / height
        near = points.skin.at(deltas)[..., 1].amin(0) < _NEAR * height
        return cls(
            footing, number_stands(footing.stance), tuple(weights), parts, pivots, places,
            points.skin[near], height,
        )  # fmt: skip

    def misfit(self, rig: ControlRig, points: BodyPoints, pose: ControlPose) -> Tensor:
        """Distance from the given motion and from feet that stand."""
        deltas = rig.deltas(pose)
        places = transform.apply(deltas.index_select(1, self.parts), self.pivots)
        value = (places / self.height - self.places).square().sum()
        sinks = (-self.skin.at(deltas)[..., 1] / self.height).clamp_min(0.0).square().sum()
        for foot, sole in enumerate(points.soles):
            places = sole.at(deltas) / self.height
            low = places[..., 1].amin(1)
            standing = self.footing.stance[:, foot]
            wanted = self.footing.clearance[:, foot] / self.height
            slides = slide_error(places[..., [0, 2]], self.weights[foot], self.stands[:, foot])
            value = value + _STAND * slides
            value = value + _STAND * (low.square() * standing).sum()
            value = value + _CLEAR * ((wanted - low).clamp_min(0.0).square() * ~standing).sum()
            sinks = sinks + (-places[..., 1]).clamp_min(0.0).square().sum()
        return value + _STAND * sinks
