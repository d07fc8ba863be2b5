"""`measure`: travel, contact, skate, penetration and other measures of a motion on the ground.

The ground is y = 0. Lengths are in body heights or leg lengths, speeds in fractions of the body's
own speed, so that a mouse and an elephant are measured alike.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.constants import GRAVITY
from akd.math import quaternion
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.shape import mesh_edges, shape_change
from akd.motion.actions import ACTION_LABELS, ACTIONS
from akd.motion.contact import skate_speed, touches
from akd.motion.feet import FootTrack, leg_length, track_feet
from akd.motion.loop import loop_gap
from akd.motion.motion import Motion
from akd.motion.smooth import laplacian
from akd.motion.undulation import slip
from akd.rig.character import Character
from akd.rig.control import ControlRig
from akd.rig.limits import BodyPlan

FPS = 30.0
_SHAPE_FRAMES = 12


def measure(
    character: Character, rig: ControlRig, motion: Motion, *, asked: str | None = None
) -> MotionMetrics:
    """Measure a motion, at 30 frames a second.

    `asked` is the action it should show, one of `ACTION_LABELS`, where that is known: it decides
    whether left and right legs should alternate.

    Raises:
        ValueError: `asked` is no action, or there is no body to measure by.
    """
    if not len(rig) or not character.height > 0.0:
        raise ValueError(
            f"{character.asset.path.name}: must have a body with joints that can be driven, for "
            f"its motion to be measured"
        )
    if asked is not None and asked not in ACTION_LABELS:
        raise ValueError(f"asked must be one of {', '.join(ACTION_LABELS)}; got {asked!r}")
    frames = motion.resample(FPS)
    height = max(character.height, 1e-9)
    world = frames.world()
    root = world[:, rig.root, :3, 3]
    level = root.new_tensor((1.0, 0.0, 1.0))
    path = root * level
    seconds = max(frames.duration, 1e-9)
    gone = float((path[-1] - path[0]).norm())
    feet = track_feet(character, rig, frames)
    leg = leg_length(character, rig)
    body_from_world = _body_from_world(rig, world)
    relative = feet_in_body(rig, world, feet)
    along = _travel_axis(_in_body(path[-1:] - path[:1], body_from_world[:1])[0], asked)
    joints = world[:, [rig.root, *rig.joints], :3, 3]
    from_root = _in_body(joints - root[:, None], body_from_world[:, None])
    return MotionMetrics(
        duration=frames.duration,
        travel=gone / leg,
        speed=gone / seconds,
        foot_travel=_mean([float(x[:, along].max() - x[:, along].min()) / leg for x in relative]),
        contact=tuple(float(touches(f.lowest, body_height=height).float().mean()) for f in feet),
        skate=tuple(_skate(f, height, gone / seconds) for f in feet),
        penetration=_penetration(character, world) / height,
        float_=_float(feet, height),
        alternation=_alternation([x[:, along] for x in relative]),
        tilt=_tilt(rig, world),
        roughness=_roughness(joints),
        loop_gap=loop_gap(rig, frames, height=height),
        limb_stretch=_stretch(rig, world) / height,
        shape_change=_shape_change(character, rig, world),
        seam=_seam(_in_body(joints - root[:, None] * level, body_from_world[:, None])),
        swing=float((from_root.amax(0) - from_root.amin(0)).norm(dim=-1).max()) / leg,
        slip=_slip(rig, frames, gone, asked),
        pace=gone / seconds / math.sqrt(GRAVITY * leg),
        asked=asked,
    )


def feet_in_body(
    rig: ControlRig, world: Float[Tensor, "T J 4 4"], feet: list[FootTrack]
) -> list[Float[Tensor, "T 3"]]:
    """Middle of each sole from the root, in axes of the body: x left, y up, z forward."""
    body_from_world, root = _body_from_world(rig, world), world[:, rig.root, :3, 3]
    return [_in_body(foot.centre - root, body_from_world) for foot in feet]


def _travel_axis(gone: Float[Tensor, "3"], asked: str | None) -> int:
    """Axis of the body along which feet step: the one along which it went further in an action that
    may go sideways, else forward."""
    sideways = asked is not None and ACTIONS[asked].sideways
    return 0 if sideways and abs(gone[0]) > abs(gone[2]) else 2


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _body_from_world(rig: ControlRig, world: Float[Tensor, "T J 4 4"]) -> Float[Tensor, "T 4"]:
    """Rotation about up that brings the way the body faces back to +Z."""
    yaw = rig.from_world(world).root_rotation[:, 0]
    forward = rig.root_axes[2]
    own = torch.atan2(forward[0], forward[2])
    return quaternion.about_axis(rig.root_axes[0].to(world), -(yaw + own.to(yaw)))


def _in_body(
    offset: Float[Tensor, "T *b 3"], body_from_world: Float[Tensor, "T *#b 4"]
) -> Float[Tensor, "T *b 3"]:
    """Offsets in axes of the body: x left, y up, z forward."""
    return quaternion.rotate(body_from_world, offset)


def _skate(foot: FootTrack, height: float, speed: float) -> float:
    """Skate over the body's speed, or over a tenth of a body height a second where the body hardly
    travels."""
    slid = skate_speed(foot.under, fps=FPS, body_height=height)
    return slid / max(speed, 0.1 * height)


def _slip(rig: ControlRig, frames: Motion, gone: float, asked: str | None) -> float:
    """Sideways motion of an undulating body's bones over the distance it travels; 0 for other
    bodies, and for actions that do not travel over the ground."""
    action = None if asked is None else ACTIONS[asked]
    travels = action is not None and action.medium == "ground" and action.froude > 0.0
    if len(frames) < 2 or not travels or not BodyPlan.of(rig.roles).undulates:
        return 0.0
    moved, across = slip(rig, rig.from_pose(frames.pose))
    lying = across.norm(dim=-1).sum(1).clamp_min(1e-9)
    sideways = (moved * across).sum(-1).abs().sum(1) / lying
    return float(sideways.sum()) / max(gone, 1e-9)


def _penetration(character: Character, world: Float[Tensor, "T J 4 4"]) -> float:
    """Depth of the lowest vertex of the body under the ground, metres."""
    if character.body_mesh is None:
        return float((-world[..., 1, 3]).amax().clamp_min(0.0))
    lowest = min(float(character.body_mesh.pose(some)[..., 1].min()) for some in world.split(16))
    return max(-lowest, 0.0)


def _float(feet: list[FootTrack], height: float) -> float:
    if not feet:
        return 0.0
    lowest = torch.stack([f.lowest for f in feet]).amin(dim=0)
    return float(lowest.clamp_min(0.0).mean()) / height


def _alternation(places: list[Float[Tensor, "T"]]) -> tuple[float, ...]:
    """Of each foot's place along the way of its steps. Pairs stand side by side in the list: left,
    then right."""
    found = []
    for i in range(0, len(places) - 1, 2):
        left, right = (places[i + k] - places[i + k].mean() for k in (0, 1))
        scale = float(left.norm() * right.norm())
        found.append(float(left @ right) / scale if scale > 1e-12 else 0.0)
    return tuple(found)


def _tilt(rig: ControlRig, world: Float[Tensor, "T J 4 4"]) -> float:
    root_rotation = rig.from_world(world).root_rotation
    upright = torch.cos(root_rotation[:, 1]) * torch.cos(root_rotation[:, 2])
    return math.degrees(math.acos(max(-1.0, min(1.0, float(upright.min())))))


def _roughness(joints: Float[Tensor, "T D 3"]) -> float:
    if len(joints) < 3:
        return 0.0
    return float(laplacian(joints).norm(dim=-1).mean()) * FPS * FPS / GRAVITY


def _seam(joints: Float[Tensor, "T D 3"]) -> float:
    """Worst jump from the last frame to the first, over the 90th percentile of a joint's steps."""
    if len(joints) < 4:
        return 0.0
    steps = (joints[1:] - joints[:-1]).norm(dim=-1)
    usual = steps.quantile(0.9, dim=0)
    jump = torch.minimum(
        (joints[-1] - joints[0]).norm(dim=-1), (joints[-2] - joints[0]).norm(dim=-1)
    )
    # What hardly moves has no seam to see.
    return float((jump / usual.clamp_min(0.25 * float(usual.max()))).max())


def _shape_change(character: Character, rig: ControlRig, world: Float[Tensor, "T J 4 4"]) -> float:
    mesh = character.mesh
    if mesh is None:
        return 0.0
    some = world[:: max(1, len(world) // _SHAPE_FRAMES)]
    still = mesh.pose(rig.neutral_world)
    return shape_change(mesh.pose(some), still, mesh_edges(mesh.faces))


def _stretch(rig: ControlRig, world: Float[Tensor, "T J 4 4"]) -> float:
    """Largest change of a bone's length against the neutral pose, metres."""
    if not len(rig):
        return 0.0
    parents = [rig.root if p < 0 else rig.joints[p] for p in rig.parents]
    children = list(rig.joints)

    def lengths(positions: Tensor) -> Tensor:
        return (positions[..., children, :] - positions[..., parents, :]).norm(dim=-1)

    neutral = lengths(rig.neutral_world[:, :3, 3])
    return float((lengths(world[..., :3, 3]) - neutral).abs().max())
