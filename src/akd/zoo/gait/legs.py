"""Legs: from where the hip and the toes are to the angles of the joints between them.

A leg bends in one plane. Its three segments are brought to the two of the textbook: in a hind leg
thigh and foot move in parallel (the pantograph of running mammals and birds), so they count as one
segment; in a fore leg forearm and foot move in line, so those do; in a plantigrade leg the foot's
pitch is given, which leaves thigh and shank. Two segments have one analytic solution with the knee
in front, or the elbow behind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from akd.zoo.gait.puppet import Posed, Puppet, turn_x, turn_y
from akd.zoo.mesh.shapes import Array, Mask
from akd.zoo.species.anatomy import LegPlan

STANCE_REACH = {"fore": 0.970, "hind": 0.970, "plantigrade": 0.991, "radial": 0.97}
"""How straight a leg may become on the ground, as a share of its full length."""
_FULL_REACH = {"fore": 0.992, "hind": 0.992, "plantigrade": 0.998, "radial": 0.992}
_BLADE_GAIN = 0.30
"""How much of a fore leg's swing its shoulder blade follows."""


@dataclass
class FootPath:
    """Path of one foot, in the world."""

    target: Array
    """Where the toes' joint is, [T, 3], metres."""
    yaw: Array
    """Heading of the foot, radians to the left."""
    pitch: Array
    """Of the toes, radians, positive with the heel up."""
    fold: Array
    """Further bend of foot against forearm or thigh (radians, negative folds it backwards); for a
    plantigrade foot, its pitch."""
    contact: Mask
    """Whether it is on the ground, [T], bool."""
    frame: Array | None = None
    """Rotation of the body that carries the foot [T, 3, 3]; the world's where it is None."""

    def turned(self, pitch: Array) -> Array:
        """World rotation of a foot that pitches about its own axis, [T, 3, 3]."""
        rotation = turn_y(self.yaw) @ turn_x(pitch)
        return rotation if self.frame is None else self.frame @ rotation


@dataclass(frozen=True)
class LegShape:
    """Lengths and standing angles of a leg's segments."""

    plan: LegPlan
    lengths: Array
    """Upper, lower, foot; metres."""
    angles: Array
    """Their lean in the bind pose, radians from straight down towards the front."""
    azimuth: float = 0.0
    """Direction of the plane that the leg bends in, in the bind pose: radians from the front."""

    @classmethod
    def of(cls, puppet: Puppet, plan: LegPlan) -> LegShape:
        """Measure a leg in the bind pose."""
        joints = [puppet.place(n) for n in (plan.upper, plan.lower, plan.foot, plan.toes)]
        steps = np.diff(np.stack(joints), axis=0)
        azimuth = 0.0
        if plan.kind == "radial":
            azimuth = float(np.arctan2(*(joints[3] - joints[0])[[0, 2]]))
        steps = steps @ turn_y(azimuth)
        return cls(
            plan, np.linalg.norm(steps[:, 1:], axis=1), np.arctan2(steps[:, 2], -steps[:, 1]),
            azimuth,
        )  # fmt: skip

    @property
    def bent(self) -> float:
        """Angle of the foot against the segment it moves with, in the bind pose."""
        with_foot = 0 if self.plan.kind == "hind" else 1
        return float(self.angles[2] - self.angles[with_foot])

    def two_segments(self, fold: Array) -> tuple[Array, Array, Array]:
        """Lengths of the two equivalent segments, and the angle by which the joint one leans from
        the bone that gives it its direction."""
        a, b, c = self.lengths
        match self.plan.kind:
            case "hind":
                joint = a + c * np.exp(1j * (self.bent + fold))
                return np.abs(joint), np.full_like(fold, b), np.angle(joint)
            case "fore" | "radial":
                joint = b + c * np.exp(1j * (self.bent + fold))
                return np.full_like(fold, a), np.abs(joint), np.angle(joint)
            case "plantigrade":
                return np.full_like(fold, a), np.full_like(fold, b), np.zeros_like(fold)

    def reach(self, fold: Array) -> Array:
        """Length of the straight leg, from its top joint to the toes (the ankle if plantigrade)."""
        first, second, _ = self.two_segments(fold)
        return first + second


def leg_end(puppet: Puppet, plan: LegPlan, path: FootPath) -> Array:
    """The end of the two segments in the world: the toes' joint, or the ankle if plantigrade."""
    if plan.kind != "plantigrade":
        return path.target
    back = puppet.place(plan.foot) - puppet.place(plan.toes)
    return path.target + path.turned(path.fold) @ back


def pose_blade(posed: Posed, puppet: Puppet, plan: LegPlan, path: FootPath) -> None:
    """Swing the shoulder blade, where there is one, part of the way with the leg."""
    if plan.shoulder is None:
        return
    joint = puppet.index[plan.shoulder]
    posed.follow(puppet, joint)
    chest = posed.rotation[:, joint]
    rest = puppet.place(plan.toes) - puppet.place(plan.shoulder)
    line = np.einsum("tba,tb->ta", chest, path.target - posed.position[:, joint])
    swing = np.arctan2(line[:, 2], -line[:, 1]) - np.arctan2(rest[2], -rest[1])
    limit = np.radians(16.0)
    swing = limit * np.tanh(_BLADE_GAIN * swing / limit)
    posed.rotation[:, joint] = chest @ turn_x(-swing)


def pose_leg(posed: Posed, puppet: Puppet, shape: LegShape, path: FootPath) -> None:
    """Set the leg's joints so that its toes are where the path says."""
    plan = shape.plan
    upper, lower, foot, toes = (puppet.index[n] for n in plan.bones[-4:])
    body = posed.rotation[:, puppet.parents[upper]]
    posed.follow(puppet, upper)
    hip = posed.position[:, upper]
    end = leg_end(puppet, plan, path)
    if plan.kind == "radial":
        normal, down, ahead = _upright_plane(body, end - hip)
    else:
        normal, down, ahead = _leg_plane(body, end - hip)
    along_down = ((end - hip) * down).sum(-1)
    along_ahead = ((end - hip) * ahead).sum(-1)

    first, second, lean = shape.two_segments(path.fold)
    distance = _within_reach(np.hypot(along_down, along_ahead), first, second, plan.kind)
    line = np.arctan2(along_ahead, along_down)
    cosine = (first**2 + distance**2 - second**2) / (2.0 * first * distance)
    opening = np.arccos(np.clip(cosine, -1.0, 1.0))
    side = -1.0 if plan.kind == "fore" else 1.0
    first_angle = line + side * opening
    tip = distance * np.exp(1j * line) - first * np.exp(1j * first_angle)
    second_angle = np.angle(tip)
    rest = shape.angles
    match plan.kind:
        case "hind":
            angles = (first_angle - lean, second_angle)
            angles = (*angles, angles[0] + shape.bent + path.fold)
        case "fore" | "radial":
            angles = (first_angle, second_angle - lean)
            angles = (*angles, angles[1] + shape.bent + path.fold)
        case "plantigrade":
            angles = (first_angle, second_angle, None)
    plane = np.stack((normal, -down, ahead), axis=-1)
    bound = turn_y(-shape.azimuth)
    posed.rotation[:, upper] = plane @ turn_x(rest[0] - angles[0]) @ bound
    posed.hang(puppet, lower, plane @ turn_x(rest[1] - angles[1]) @ bound)
    if angles[2] is None:
        posed.hang(puppet, foot, path.turned(path.fold))
    else:
        posed.hang(puppet, foot, plane @ turn_x(rest[2] - angles[2]) @ bound)
    posed.hang(puppet, toes, path.turned(path.pitch))


def _leg_plane(body: Array, leg: Array) -> tuple[Array, Array, Array]:
    """Axes of the plane a leg bends in: across it, down and ahead within it."""
    lateral, upward = body[..., :, 0], body[..., :, 1]
    way = leg / np.linalg.norm(leg, axis=-1, keepdims=True)
    normal = lateral - (lateral * way).sum(-1, keepdims=True) * way
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    up = upward - (upward * normal).sum(-1, keepdims=True) * normal
    up /= np.linalg.norm(up, axis=-1, keepdims=True)
    return normal, -up, np.cross(normal, up)


def _upright_plane(body: Array, leg: Array) -> tuple[Array, Array, Array]:
    """Axes of the plane through a leg that stands out from the body and the body's own up."""
    up = body[..., :, 1]
    ahead = leg - (leg * up).sum(-1, keepdims=True) * up
    ahead /= np.linalg.norm(ahead, axis=-1, keepdims=True)
    return np.cross(up, ahead), -up, ahead


def _within_reach(distance: Array, first: Array, second: Array, kind: str) -> Array:
    """Distances bent smoothly into what the leg can span; on the ground they are planned to be."""
    full = first + second
    start, end = STANCE_REACH[kind] * full, _FULL_REACH[kind] * full
    over = np.maximum(distance - start, 0.0) / (end - start)
    distance = np.where(over > 0.0, start + (end - start) * (1.0 - np.exp(-over)), distance)
    least = 1.15 * np.abs(first - second) + 0.12 * np.minimum(first, second)
    room = 0.5 * least
    under = np.maximum(least - distance, 0.0) / room
    return np.where(under > 0.0, least - room * (1.0 - np.exp(-under)), distance)
