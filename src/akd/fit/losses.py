"""Regularisation losses: smoothness, the ground, feet, and the pose regulariser.

A loss is a list of `LossTerm`s, each a function of a `LossState`. To add one of your own, extend
the default list: `[*default(), LossTerm("mine", 0.1, mine)]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.constants import GRAVITY
from akd.fit.settings import LossSettings
from akd.math.resident import constant, resident
from akd.motion.actions import FASTEST_WALK
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionParameters, MotionStart, PosedFrames
from akd.motion.undulation import sideways
from akd.rig.control import ControlPose
from akd.rig.limits import BodyPlan
from akd.rig.roles.role import LimbKind, Part, Role
from akd.rig.skin import skin_points
from akd.scene.stage import Stage

_STANCE_REACH, _SOFTNESS = 0.14, 0.03
"""Soft height below which the loss takes a foot for standing, in body heights. Far above
`contact.TOUCH`: it is to pull down feet that hover."""
_CLEARANCE = 0.04
"""Height of a swing foot, at least, in body heights."""
_SLOW = 0.01
"""A foot moves back under the body if it does so by more than this a frame, in leg lengths."""
_STEPS, _STILL = 0.06, 0.02
"""Where the body stays in its place, a foot that moves by more than this a frame steps or kicks,
and one that moves less stands, with a soft edge: leg lengths."""
_STRIKES, _ROLLS = 0.5, 0.15
"""In a run, a foot stands only while it moves back faster than this fraction of its fastest, with a
soft edge."""
_STRAIGHT = 1e-6
"""Second differences of coordinates, at most, that count as none: radians or leg lengths."""
_FAR = 0.3
"""Angles beyond this, radians, cost hardly more: a limb that is raised sideways may stay there."""
_UNSURE = 0.2
"""Factor on the foot terms while a fit has not settled which feet stand."""


@dataclass(frozen=True)
class LossState:
    """The input of a loss term at one iteration.

    A term that is `batched` sees all candidates at once: tensors have a leading axis K, and
    `parameters` are the first candidate's.
    """

    stage: Stage
    parameters: MotionParameters
    posed: PosedFrames
    video: Float[Tensor, "*k T H W 3"]
    """The rendered frames, sRGB 0..1."""
    progress: float
    """Fraction of the iterations that are done."""

    @property
    def transforms(self) -> Float[Tensor, "*k T B 4 4"]:
        """world_from_mesh of the bones."""
        return self.posed.transforms

    @property
    def controls(self) -> ControlPose:
        """Coordinates of the control rig.

        Raises:
            ValueError: The parametrization has none, such as a deformation field.
        """
        if self.posed.controls is None:
            raise ValueError(f"{type(self.parameters).__name__} has no control coordinates")
        return self.posed.controls

    @property
    def curves(self) -> ControlCurves:
        """The parameters as curves on a control rig, which the default terms are for."""
        if not isinstance(self.parameters, ControlCurves):
            raise ValueError(
                f"the default losses need ControlCurves, got {type(self.parameters).__name__}; "
                f"pass losses of your own"
            )
        return self.parameters

    @cached_property
    def heights(self) -> Float[Tensor, "*k T P"]:
        """Heights of some points of the body above the ground, metres."""
        some = self.stage.ground_points
        bones = self.transforms.to(some.means)
        return skin_points(bones, some.means, some.bones, some.weights)[..., 1]

    @cached_property
    def feet(self) -> Feet | None:
        """The feet over time; None where there are none, where they do not carry the body, or in a
        single frame."""
        if not self.stage.soles or not self.curves.on_feet or self.transforms.shape[-4] < 2:
            return None
        return Feet.of(self.stage, self.controls, self.transforms, self.curves)


@dataclass(frozen=True)
class LossTerm:
    """One term of the loss: `weight * function(state)`."""

    name: str
    weight: float
    function: Callable[[LossState], Tensor]
    """Returns a scalar; one value for each candidate where the term is `batched`."""
    unsure: float = 1.0
    """Factor on the weight in a first fit, while which feet stand is a guess."""
    batched: bool = False
    """Whether the function takes all candidates at once; otherwise it is called for each."""
    capturable: bool = False
    """Whether the function may run in a CUDA graph: it reads no value back to the host, copies none
    to the device, and does not use `progress`."""


def default(settings: LossSettings | None = None) -> list[LossTerm]:
    """The terms that `akd animate` uses beside the prior's score.

    Args:
        settings: Their weights; those of the `tiny` preset if left out.
    """
    weights = settings or LossSettings()
    return [
        _ours("smooth", weights.smooth, smoothness),
        _ours("ground", weights.ground, ground_depth),
        _ours("rest", weights.rest, pose_regulariser),
        _ours("support", weights.support, foot_height, unsure=_UNSURE),
        _ours("skate", weights.skate, foot_skate, unsure=_UNSURE),
    ]


def _ours(
    name: str, weight: float, function: Callable[[LossState], Tensor], *, unsure: float = 1.0
) -> LossTerm:
    return LossTerm(name, weight, function, unsure=unsure, batched=True, capturable=True)


def evaluate(
    terms: Sequence[LossTerm],
    stage: Stage,
    candidates: Sequence[MotionParameters],
    posed: PosedFrames,
    video: Float[Tensor, "K T H W 3"],
    progress: float,
) -> dict[str, Float[Tensor, "K"]]:
    """The weighted terms by name, one value for each candidate.

    `posed` has a leading axis: see `pose_together`.
    """
    together = LossState(stage, candidates[0], posed, video, progress)
    alone: list[LossState] = []
    if not all(term.batched for term in terms):
        alone = [
            LossState(stage, candidate, posed[k], video[k], progress)
            for k, candidate in enumerate(candidates)
        ]
    values = {}
    for term in terms:
        if term.batched:
            value = term.function(together)
        else:
            value = torch.stack([term.function(state) for state in alone])
        values[term.name] = term.weight * value.to(video.device)
    return values


def evaluated_alike(start: MotionStart) -> tuple[bool | float, ...]:
    """What candidates of one `evaluate` must have in common, because the default terms take it from
    the first one: whether they go, fast, on their feet, in a cycle, and which way."""
    return (start.speed == 0.0, _runs(start), start.on_feet, start.period is None, start.way)


def _runs(path: MotionStart | ControlCurves) -> bool:
    """Whether a body goes faster than any walk."""
    return path.speed**2 > FASTEST_WALK * GRAVITY * path.leg_length


def while_unsure(terms: Sequence[LossTerm]) -> list[LossTerm]:
    """The terms with their weights for a first fit."""
    return [replace(term, weight=term.unsure * term.weight) for term in terms]


@dataclass(frozen=True)
class Feet:
    """The soles over time, and when each of them stands."""

    low: Float[Tensor, "*k T F"]
    """Height of the lowest point, metres."""
    middle: Float[Tensor, "*k T F 3"]
    """World, metres."""
    stance: Float[Tensor, "*k T-1 F"]
    """0..1 between two frames; no gradient."""
    back: Float[Tensor, "*k T-1 F"]
    """How far a foot goes back under the body from frame to frame, metres; no gradient."""

    @classmethod
    def of(
        cls,
        stage: Stage,
        controls: ControlPose,
        transforms: Float[Tensor, "*k T B 4 4"],
        curves: ControlCurves,
    ) -> Feet:
        """A foot stands while it moves back under the body near the ground; in a run only while it
        moves back fast; where the body stays in its place, while it hardly moves.

        Images of few pixels show how a foot swings, but hardly how high it is lifted. So the swing
        decides what the height should be, and the height only what cannot be a stance.
        """
        assert stage.sole_points is not None
        low, middle = stage.sole_points.at(transforms)
        with torch.no_grad():
            under = middle - controls.translation.to(middle)[..., None, :]
            ahead = _heading(stage, controls, curves.way).to(middle)[..., 1:, None, :]
            back = -((under[..., 1:, :, :] - under[..., :-1, :, :]) * ahead).sum(-1)
            lower = torch.minimum(low[..., 1:, :], low[..., :-1, :]) / stage.character.height
            near = torch.sigmoid((_STANCE_REACH - lower) / _SOFTNESS)
            if curves.speed == 0.0:
                stands = torch.sigmoid((_STEPS - _steps(middle) / curves.leg_length) / _STILL)
                return cls(low, middle, near * stands, back)
            goes = torch.sigmoid(back / (_SLOW * curves.leg_length))
            if _runs(curves) and len(stage.soles) == 2:
                fastest = back.amax(-2, keepdim=True).clamp_min(1e-9)
                goes = goes * torch.sigmoid((back / fastest - _STRIKES) / _ROLLS)
        return cls(low, middle, near * goes, back)

    def height_loss(self, body_height: float) -> Float[Tensor, "*k"]:
        """Height of stance feet, and how far swing feet lack clearance: means, in body heights."""
        low = 0.5 * (self.low[..., 1:, :] + self.low[..., :-1, :]) / body_height
        high = self.stance * low.clamp_min(0.0)
        drags = (1.0 - self.stance) * (_CLEARANCE - low).clamp_min(0.0)
        comes_down = low.amin(-2).clamp_min(0.0)
        return (high + drags).mean((-2, -1)) + comes_down.mean(-1)

    def skate_loss(self, leg_length: float) -> Float[Tensor, "*k"]:
        """Mean distance that stance feet slide from frame to frame, in leg lengths."""
        return (self.stance * _steps(self.middle)).mean((-2, -1)) / leg_length

    def speeds(self) -> list[float | None]:
        """How far each body of a batch must go from frame to frame for the feet to stand still,
        metres; None where none stands."""
        # A foot that is just set down or lifted goes back more slowly than one that stands.
        weight = self.stance * self.back.clamp_min(0.0) ** 3
        sums = torch.stack((weight.sum((-2, -1)), (weight * self.back).sum((-2, -1))), dim=-1)
        return [gone / total if total > 0.0 else None for total, gone in sums.view(-1, 2).tolist()]


def _steps(places: Float[Tensor, "*k T F 3"]) -> Float[Tensor, "*k T-1 F"]:
    """Horizontal distance from frame to frame."""
    x, _, z = places.diff(dim=-3).unbind(-1)
    return (x * x + z * z + 1e-12).sqrt()


def _heading(stage: Stage, controls: ControlPose, way: float) -> Float[Tensor, "*k T 3"]:
    """Direction `way` radians to the left of where the body faces, at every frame; level."""
    yaw = controls.root_rotation[..., :1] + way
    _, left, forward = resident(stage.rig.root_axes, yaw.device, yaw.dtype).unbind(0)
    level = constant((1.0, 0.0, 1.0), yaw)
    return (yaw.cos() * forward + yaw.sin() * left) * level


def foot_height(state: LossState) -> Float[Tensor, "*k"]:
    """`Feet.height_loss` of the state; zero without feet.

    A body that stays in its place is carried in every frame. The camera follows the root, so an
    image shows that the legs are folded to sit down, but not that the body has come down on them.
    """
    feet, height = state.feet, state.stage.character.height
    if feet is None:
        return state.transforms.new_zeros(state.transforms.shape[:-4])
    loss = feet.height_loss(height)
    if state.curves.speed == 0.0:
        lowest = torch.minimum(feet.low.amin(-1), state.heights.amin(-1))
        loss = loss + lowest.clamp_min(0.0).mean(-1) / height
    return loss


def foot_skate(state: LossState) -> Float[Tensor, "*k"]:
    """`Feet.skate_loss` of the state; how far an undulating body slips sideways; else zero."""
    feet = state.feet
    if feet is None and state.stage.undulates:
        return _slip(state)
    if feet is None:
        return state.transforms.new_zeros(state.transforms.shape[:-4])
    return feet.skate_loss(state.curves.leg_length)


def _slip(state: LossState) -> Float[Tensor, "*k"]:
    """Mean distance that the bones of an undulating body's midline move across themselves from
    frame to frame, in leg lengths; zero in water, and for what stays in its place."""
    bones, points = state.stage.midline_bones
    curves, transforms = state.curves, state.transforms
    if not curves.on_feet or not curves.speed > 0.0 or not len(bones) or transforms.shape[-4] < 2:
        return transforms.new_zeros(transforms.shape[:-4])
    carried = transforms.index_select(-3, bones.to(transforms.device))
    ends = torch.einsum("...sij,sej->...sei", carried, points.to(transforms))[..., :3]
    moved, across = sideways(ends[..., 0, :], ends[..., 1, :])
    return (moved * across).sum(-1).abs().mean((-2, -1)) / curves.leg_length


def smoothness(state: LossState) -> Float[Tensor, "*k"]:
    """Mean absolute second difference of the coordinates over time."""
    controls = state.controls
    parts = torch.cat(
        (
            controls.angles.flatten(-2),
            controls.root_rotation,
            controls.translation / state.curves.leg_length,
        ),
        dim=-1,
    )
    if parts.shape[-2] < 3:
        return parts.new_zeros(parts.shape[:-2])
    bends = parts.diff(n=2, dim=-2).abs()
    # Below this a bend is rounding, and its sign must not steer.
    return (bends - _STRAIGHT).clamp_min(0.0).mean((-2, -1))


def ground_depth(state: LossState) -> Float[Tensor, "*k"]:
    """Depth of the surface below the ground: its mean and, frame by frame, its deepest point, in
    body heights."""
    below = (-state.heights).clamp_min(0.0)
    return (below.mean((-2, -1)) + 0.05 * below.amax(-1).mean(-1)) / state.stage.character.height


def pose_regulariser(state: LossState) -> Float[Tensor, "*k"]:
    """Mean square of the joint angles, as fractions of their limits, and of the root's lean."""
    controls = state.controls
    lean = controls.root_rotation[..., 1:].square().mean((-2, -1))
    if not controls.angles.numel():
        return lean
    return lean + state.curves.limits.parts(controls.angles).square().mean((-3, -2, -1))


def sagittal_regulariser(state: LossState) -> Float[Tensor, "*k"]:
    """Mean square of twist, abduction and the root's lean, bounded: limbs swing forward and back.

    From one side, a limb that swings sideways is hardly seen to do so, and noise would swing it.
    """
    controls = state.controls
    values = torch.cat((controls.angles[..., 1:].flatten(-2), controls.root_rotation[..., 1:]), -1)
    squares = values.square()
    return (squares / (1.0 + squares / _FAR**2)).mean((-2, -1))


def hinge_regulariser(state: LossState) -> Float[Tensor, "*k"]:
    """Mean square of abduction and twist of legs and arms, their upper joints left out, radians.

    Knees, elbows and ankles turn about one axis in most of what a body does, and small images show
    little of the other two. Zero for legs that stand out around a body, as a spider's.
    """
    angles = state.controls.angles
    roles = state.stage.rig.roles
    if not angles.numel() or BodyPlan.of(roles).radial:
        return angles.new_zeros(angles.shape[:-3])
    hinges = constant(tuple(float(_is_hinge(role)) for role in roles), angles)
    return (hinges * angles[..., 1:].square().sum(-1)).mean((-2, -1))


def _is_hinge(role: Role) -> bool:
    limb = role.limb
    return (
        limb is not None and (limb.is_leg or limb is LimbKind.ARM) and role.part is not Part.UPPER
    )
