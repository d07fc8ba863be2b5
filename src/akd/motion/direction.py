"""Direction: how long, how fast and where to a motion goes, and which poses it meets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.interpolate import CubicSpline
from torch import Tensor

from akd.math import quaternion
from akd.motion.footing.replant import find_footing, replant
from akd.motion.grid import on_grid
from akd.motion.key_poses import Bend, KeyPoses
from akd.motion.loop import is_loop, repeat
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig

LONGEST = 120.0
"""Seconds that a clip may be asked to last."""
_SLOWEST, _FASTEST = 0.4, 2.5
"""Factors on the pace of a gait beyond which it would be another gait."""
_TOP_SPEED = 100.0
"""Metres per second that may be asked for."""
_STANDS = 0.05
"""Leg lengths a second. A slower motion does not travel."""


@dataclass(frozen=True)
class Direction:
    """Constraints on a motion besides its action. All lengths in metres."""

    duration: float | None = None
    """Seconds."""
    speed: float | None = None
    """Metres per second."""
    turn: float = 0.0
    """Degrees by which the path turns left over the clip."""
    path: tuple[tuple[float, float], ...] = ()
    """Points (x, z) of the ground to pass, from where the body stands."""
    loop: bool = False
    """Whole cycles only, so that the clip loops."""
    keep: tuple[str, ...] = ()
    """`CLIP:JOINT,JOINT`: joints, by name or role, that stay as a clip of the file has them."""
    keyframes: tuple[str, ...] = ()
    """`SECONDS=CLIP@TIME`: poses to meet."""

    @property
    def is_empty(self) -> bool:
        """Whether there are no constraints."""
        return self == Direction()

    @property
    def retimes(self) -> bool:
        """Whether the motion may be played faster or slower."""
        return self.speed is not None or bool(self.path)

    def check(self) -> None:
        """Check all values.

        Raises:
            ValueError: One is out of range.
        """
        if self.duration is not None and not 0.1 <= self.duration <= LONGEST:
            raise ValueError(f"duration must be from 0.1 to {LONGEST:g} s, got {self.duration:g}")
        if self.speed is not None and not 0.0 < self.speed < _TOP_SPEED:
            raise ValueError(
                f"speed must be above 0 and below {_TOP_SPEED:g} metres per second, got "
                f"{self.speed:g}"
            )
        if not abs(self.turn) <= 3600.0:
            raise ValueError(f"turn must be from -3600 to 3600 degrees, got {self.turn:g}")
        if self.turn and self.path:
            raise ValueError("turn and path exclude each other: a path has its own turns")
        if self.speed is not None and self.path and self.duration is not None:
            raise ValueError("path, speed and duration: give two of them, the third follows")
        if not all(math.isfinite(v) for point in self.path for v in point):
            raise ValueError(f"path must have finite points, got {self.path}")
        if any(math.hypot(*point) > _TOP_SPEED * LONGEST for point in self.path):
            raise ValueError(
                f"path must stay within {_TOP_SPEED * LONGEST:g} metres of its start, got "
                f"{self.path}"
            )


def direct(
    character: Character,
    motion: Motion,
    direction: Direction,
    *,
    fps: float,
    kept: Mapping[int, Motion] | None = None,
    keys: KeyPoses | None = None,
) -> Motion:
    """A motion that goes where, as long and as fast as it is told.

    Args:
        character: Who moves.
        motion: Its motion over y = 0.
        direction: What is asked for.
        fps: Frames per second.
        kept: Motions that controls keep, by control.
        keys: Poses to meet. The motion lasts until the last of them at least.

    Raises:
        ValueError: The direction contradicts itself or the motion: a speed that is out of reach of
            the gait, a path for a body that does not travel.
    """
    direction.check()
    rig = character.control_rig
    motion = on_grid(motion, fps)
    axes, course = _axes_of_travel(rig, motion), None
    if direction.path:
        course = _Course.through(direction.path, axes)
    own = _speed(rig, motion)
    wanted = direction.speed
    if course is not None and direction.duration is not None:
        wanted = course.length / direction.duration
    if (wanted is not None or course is not None) and own < _STANDS * character.height:
        raise ValueError("speed and path need a motion that travels, and this one does not")
    if wanted is not None:
        motion, own = _paced(motion, wanted / own, fps, wanted), wanted
    seconds = course.length / own if course is not None else direction.duration
    if seconds is None and keys is not None and keys.seconds[-1] > motion.duration + 0.5 / fps:
        seconds = keys.seconds[-1]
    if seconds is not None:
        if seconds > LONGEST:
            raise ValueError(f"path would take {seconds:.0f} s, at most {LONGEST:g} are made")
        motion = _lasting(character, motion, seconds, fps, whole=direction.loop)
    if course is None and direction.turn:
        length = _speed(rig, motion) * motion.duration
        course = _Course.arc(length, math.radians(direction.turn), axes)
    footing = find_footing(character, motion, fps=fps)
    changed = False
    if course is not None:
        motion, changed = _along(rig, motion, course, axes), True
    if kept:
        motion = _keeping(rig, motion, kept)
    if keys is not None:
        motion, changed = _meeting(rig, motion, keys, fps), True
    if changed:
        motion = replant(character, motion, footing)
    # Planting moves legs; a pose that was asked for comes before a foot that stands still.
    return motion if keys is None else _meeting(rig, motion, keys, fps)


def _axes_of_travel(rig: ControlRig, motion: Motion) -> Float[Tensor, "3 3"]:
    """Up, left and ahead of the way that a motion goes: the rig's axes, or those turned to a side
    where it goes further to that side than forward or back, as a crab does."""
    pose = rig.from_pose(motion.pose)
    up, left, forward = axes = rig.root_axes.to(pose.translation)
    steps, yaw = pose.translation.diff(dim=0) @ axes.T, pose.root_rotation[:-1, 0]
    aside = float((yaw.cos() * steps[:, 1] - yaw.sin() * steps[:, 2]).sum())
    ahead = float((yaw.cos() * steps[:, 2] + yaw.sin() * steps[:, 1]).sum())
    if abs(aside) <= abs(ahead):
        return axes
    side = math.copysign(1.0, aside)
    return torch.stack((up, -side * forward, side * left))


def _speed(rig: ControlRig, motion: Motion) -> float:
    """Metres per second over the ground from beginning to end."""
    path = motion.world()[:, rig.root, :3, 3][[0, -1]]
    return float((path[1] - path[0])[[0, 2]].norm()) / max(motion.duration, 1e-9)


def _paced(motion: Motion, factor: float, fps: float, wanted: float) -> Motion:
    """The motion played faster or slower."""
    if not _SLOWEST <= factor <= _FASTEST:
        own = wanted / factor
        raise ValueError(
            f"speed must be from {_SLOWEST * own:.2f} to {_FASTEST * own:.2f} metres per second "
            f"for this gait, whose own is {own:.2f}; got {wanted:.2f}: name another gait"
        )
    start = motion.times[0]
    return on_grid(replace(motion, times=start + (motion.times - start) / factor), fps)


def _lasting(
    character: Character, motion: Motion, seconds: float, fps: float, *, whole: bool
) -> Motion:
    """The motion over and over, or its last pose held, until `seconds` are over."""
    rig = character.control_rig
    if is_loop(rig, motion, height=character.height):
        rounds = seconds / motion.duration
        count = max(1, round(rounds)) if whole else math.ceil(rounds - 1e-6)
        motion = repeat(rig, motion, max(1, count))
        if whole:
            return motion
    frames = torch.arange(round(seconds * fps) + 1) / fps
    return replace(motion.sample(motion.times[0] + frames), times=frames)


@dataclass(frozen=True)
class _Course:
    """A curve over the ground by the distance gone along it."""

    distance: Float[np.ndarray, "S"]
    points: Float[np.ndarray, "S 2"]
    """(x, z), metres, from the start."""
    heading: Float[np.ndarray, "S"]
    """Radians to the left of the way the body goes at first."""

    @property
    def length(self) -> float:
        return float(self.distance[-1])

    @classmethod
    def through(
        cls, points: tuple[tuple[float, float], ...], axes: Float[Tensor, "3 3"]
    ) -> _Course:
        """A smooth curve from the origin, leaving ahead, through points."""
        corners = np.array(((0.0, 0.0), *points))
        steps = np.linalg.norm(np.diff(corners, axis=0), axis=1)
        if (steps < 1e-3).any():
            raise ValueError("path must not start at 0,0 or name a point twice in a row")
        knots = np.concatenate(((0.0,), steps.cumsum()))
        forward = axes[2][[0, 2]].double().numpy()
        last = (corners[-1] - corners[-2]) / steps[-1]
        ends: Any = ((1, forward), (1, last))  # scipy's stubs know only its names
        curve = CubicSpline(knots, corners, bc_type=ends)
        return cls._sampled(curve(np.linspace(0.0, knots[-1], 64 * len(knots))), axes)

    @classmethod
    def arc(cls, length: float, turn: float, axes: Float[Tensor, "3 3"]) -> _Course:
        """A curve of even curvature that turns by `turn` radians to the left."""
        heading = np.linspace(0.0, turn, 512)
        forward = axes[2][[0, 2]].double().numpy()
        left = axes[1][[0, 2]].double().numpy()
        ways = np.cos(heading)[:, None] * forward + np.sin(heading)[:, None] * left
        middle = 0.5 * (ways[1:] + ways[:-1]) * length / 511
        return cls._sampled(np.concatenate((np.zeros((1, 2)), middle.cumsum(0))), axes)

    @classmethod
    def _sampled(cls, points: np.ndarray, axes: Float[Tensor, "3 3"]) -> _Course:
        distance = np.linalg.norm(np.diff(points, axis=0), axis=1).cumsum()
        distance = np.concatenate(((0.0,), distance))
        ways = np.gradient(points, distance, axis=0)
        forward = axes[2][[0, 2]].double().numpy()
        left = axes[1][[0, 2]].double().numpy()
        heading = np.unwrap(np.arctan2(ways @ left, ways @ forward))
        return cls(distance, points, heading)

    def at(self, gone: Float[Tensor, "T"]) -> tuple[Float[Tensor, "T 3"], Float[Tensor, "T"]]:
        """Position on the ground and heading after these metres; straight on beyond the ends."""
        s = gone.double().numpy()
        inside = np.clip(s, 0.0, self.length)
        heading = np.interp(inside, self.distance, self.heading)
        x, z = (np.interp(inside, self.distance, self.points[:, k]) for k in range(2))
        place = torch.from_numpy(np.stack((x, 0 * x, z), axis=-1)).to(gone)
        return place, torch.from_numpy(heading).to(gone)


def _along(rig: ControlRig, motion: Motion, course: _Course, axes: Float[Tensor, "3 3"]) -> Motion:
    """The motion with its straight way bent along a course; sway stays sway."""
    pose = rig.from_pose(motion.pose).rigid()
    up, _, forward = axes.to(pose.translation)
    level = pose.translation.new_tensor((1.0, 0.0, 1.0))
    path = (pose.translation - pose.translation[0]) * level
    ahead = path[-1] / path[-1].norm().clamp_min(1e-9)
    gone = path @ ahead
    place, heading = course.at(gone)
    end = course.at(gone[-1:])
    beyond = (gone - course.length).clamp_min(0.0)
    # The way it went before and the way the body faces are the same but for a slight crab.
    sideways = path - gone[:, None] * ahead
    turn = quaternion.about_axis(up, heading)
    onward = quaternion.rotate(quaternion.about_axis(up, end[1]), forward[None])
    moved = place + quaternion.rotate(turn, sideways) + beyond[:, None] * onward
    height = pose.translation * (1.0 - level)
    yaw = torch.stack((heading, 0 * heading, 0 * heading), dim=-1)
    bent = ControlPose(
        pose.translation[0] * level + moved + height, pose.root_rotation + yaw, pose.angles
    )
    return _posed(rig, motion, bent)


def _keeping(rig: ControlRig, motion: Motion, kept: Mapping[int, Motion]) -> Motion:
    """Some controls as other motions have them, those played over and over."""
    pose = rig.from_pose(motion.pose).rigid()
    angles = pose.angles.clone()
    seconds = motion.times - motion.times[0]
    for control, other in kept.items():
        span = max(other.duration, 1e-6)
        at = other.sample(other.times[0] + seconds.remainder(span))
        angles[:, control] = rig.from_pose(at.pose).angles[:, control]
    return _posed(rig, motion, replace(pose, angles=angles))


def _meeting(rig: ControlRig, motion: Motion, keys: KeyPoses, fps: float) -> Motion:
    """The motion bent so that it meets poses."""
    if keys.seconds[-1] > motion.duration + 1.0 / fps:
        raise ValueError(
            f"keyframe must be within the clip, from 0 to {motion.duration:.2f} s, got "
            f"{keys.seconds[-1]:g}"
        )
    pose = rig.from_pose(motion.pose).rigid()
    bend = Bend.of(keys, motion.times - motion.times[0], pose.angles)
    return _posed(rig, motion, bend(pose))


def _posed(rig: ControlRig, motion: Motion, pose: ControlPose) -> Motion:
    return replace(motion, pose=rig.to_pose(pose).continuous())
