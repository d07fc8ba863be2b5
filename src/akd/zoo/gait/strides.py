"""Where the feet go: planted on the ground in stance, carried through the air in swing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from akd.zoo.creature import Foot
from akd.zoo.gait.footfalls import Gait, stride_place
from akd.zoo.gait.legs import FootPath
from akd.zoo.gait.puppet import Puppet
from akd.zoo.mesh.shapes import Array, smoothstep


@dataclass(frozen=True)
class Route:
    """The root's way over the ground: straight on, or round an arc."""

    speed: float
    """Metres per second."""
    turning: float = 0.0
    """Radians per second to the left."""
    drift: float = 0.0
    """Direction of a straight way, radians to the left of the heading."""

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """x, z and heading of the root at times (seconds); it starts at the origin facing +Z."""
        heading = self.turning * time
        if abs(self.turning) < 1e-9:
            way = self.speed * time
            return np.sin(self.drift) * way, np.cos(self.drift) * way, heading
        radius = self.speed / self.turning
        return radius * (1.0 - np.cos(heading)), radius * np.sin(heading), heading


@dataclass(frozen=True)
class StepStyle:
    """How a foot is carried through one stride. Angles in degrees."""

    lift: float
    """Greatest height of the sole, metres."""
    peel: float
    """Pitch of the toes when they leave the ground."""
    droop: float
    """Greatest pitch of the toes in the air."""
    fold: float
    """Greatest bend of hock or wrist in the air, backwards."""
    narrow: float = 1.0
    """Sideways distance of the feet, relative to standing."""
    ahead: float = 0.0
    """How far before its standing place the foot is at mid-stance, metres."""
    balance: float = 1.0
    """How far `ahead` is moved to stretch the leg equally at both ends of the stance, 0..1."""
    early: float = 0.85
    """Below one, the foot is highest early in its swing; not below 0.75."""
    heel: float = 0.0
    """Pitch at which a plantigrade foot comes down (negative: heel first)."""
    heel_off: float = 0.0
    """Pitch of a plantigrade foot when its toes leave the ground."""


def walk_path(
    puppet: Puppet,
    foot: Foot,
    gait: Gait,
    style: StepStyle,
    route: Route,
    *,
    phase: Array,
    period: float,
) -> FootPath:
    """A foot's path over frames at given phases; phase 0 is at time 0."""
    number, since = stride_place(gait, foot.name, phase)
    duty = gait.duty_of(foot.name)
    contact = since < duty
    swing = np.clip((since - duty) / (1.0 - duty), 0.0, 1.0)

    standing = puppet.place(foot.leg.toes)
    x, z, yaw = _plants(route, gait, foot.name, number, period, standing, style)
    share = np.where(contact, 0.0, smoothstep(swing))
    base_x, base_z, yaw = (a + share * (b - a) for a, b in (x, z, yaw))

    pitch, fold = _angles(foot, gait, style, since)
    roll, height = foot.sole.joint(pitch)
    lift = style.lift * _arch(swing, style.early)
    target = np.stack((base_x + roll * np.sin(yaw), height + lift, base_z + roll * np.cos(yaw)), -1)
    return FootPath(target, yaw, pitch, fold, contact)


def _plants(
    route: Route,
    gait: Gait,
    leg: str,
    number: Array,
    period: float,
    standing: Array,
    style: StepStyle,
) -> list[tuple[Array, Array]]:
    """Where a foot is planted in this stride and the next: pairs for x, z and heading."""
    pairs = []
    for stride in (number, number + 1):
        # A foot stands where its hip or shoulder will pass in the middle of its stance.
        time = (gait.touchdown[leg] + stride + 0.5 * gait.duty_of(leg)) * period
        x, z, heading = route.at(time)
        side, ahead = style.narrow * standing[0], standing[2] + style.ahead
        pairs.append(
            (
                x + side * np.cos(heading) + ahead * np.sin(heading),
                z - side * np.sin(heading) + ahead * np.cos(heading),
                heading,
            )
        )
    return list(zip(*pairs, strict=True))


def _arch(swing: Array, early: float) -> Array:
    """0 at both ends of the swing with no speed, 1 at the top."""
    t = swing + (1.0 - early) * 4.0 * swing * (1.0 - swing) * (1.0 - 0.5 * swing)
    return 16.0 * t * t * (1.0 - t) ** 2


def _angles(foot: Foot, gait: Gait, style: StepStyle, since: Array) -> tuple[Array, Array]:
    """Pitch of the toes and fold of the foot, radians, since touchdown."""
    duty = gait.duty_of(foot.name)
    rest = 1.0 - duty

    def curve(keys: tuple[float, ...], degrees: tuple[float, ...]) -> Array:
        """A smooth curve; keys are shares of the stance, or 1 plus shares of the swing."""
        at = np.asarray([k * duty if k <= 1.0 else duty + (k - 1.0) * rest for k in keys])
        values = np.tile(np.radians(degrees), 3)
        return PchipInterpolator(np.concatenate((at - 1.0, at, at + 1.0)), values)(since)

    if foot.leg.kind == "plantigrade":
        down, off, peel = style.heel, style.heel_off, style.peel
        pitch = curve(
            (0.0, 0.16, 0.40, 0.76, 1.0, 1.16, 1.55, 1.86),
            (down, 0.0, 0.0, 0.40 * off, off, 1.05 * off, 0.0, 1.1 * down),
        )
        bend = curve((0.0, 0.40, 0.76, 1.0, 1.4, 1.9), (0.0, 0.0, 0.40 * off, off - peel, 0.0, 0.0))
        # The toes never bend further than the foot has risen, or they would dig in.
        bend = np.minimum(bend, np.maximum(pitch, 0.0))
        return pitch - bend, pitch
    droop, fold = style.droop, style.fold
    pitch = curve(
        (0.0, 0.60, 1.0, 1.22, 1.62, 1.88), (0.0, 0.0, style.peel, droop, 0.25 * droop, 0.0)
    )
    bend = curve(
        (0.0, 0.80, 1.0, 1.38, 1.80, 1.92), (0.0, 0.0, 0.12 * fold, fold, 0.05 * fold, 0.0)
    )
    return pitch, -bend
