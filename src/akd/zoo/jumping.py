"""A standing jump: crouch, push off, fly free, land, recover.

While no foot is down the centre of mass falls freely: y'' = -g. Quadrupeds leave the ground with
the fore feet first and land on them first; bipeds take both feet at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BPoly, PchipInterpolator

from akd.zoo.body import BodyPath, missing_reach, pose_body
from akd.zoo.carriage import Turns, chain
from akd.zoo.creature import Creature, Foot
from akd.zoo.footfalls import GRAVITY, hip_height
from akd.zoo.legs import FootPath, LegShape, leg_end
from akd.zoo.puppet import Posed, Puppet, bend
from akd.zoo.rhythm import ease
from akd.zoo.shapes import Array
from akd.zoo.style import Style

_ROUNDS = 6
_RISE = {"quadruped": 0.42, "humanoid": 0.30, "theropod": 0.16}
"""How high the centre of mass rises in the air, over hip height."""
_SLANT = {"quadruped": 1.15, "humanoid": 0.75, "theropod": 0.8}
"""Forward over upward speed at take-off."""
_AT_SPEED = 0.45
"""Mean speed while pushing off or coming to rest, over the speed in the air."""
_STOPPING = 0.35
"""Share of the recovery in which the body still moves forward."""


@dataclass(frozen=True)
class Leap:
    """Times (seconds) and the path of the centre of mass of one jump."""

    crouched: float
    off: float
    """The last foot leaves the ground."""
    land: float
    """The first foot comes down."""
    deepest: float
    end: float
    distance: float
    """Travelled in all, metres."""
    rise: Array
    """Knots of the centre of mass's height: values at the times above, 0 first."""
    climb: float
    """Upward speed at take-off, metres a second."""
    sink: float
    """Downward speed at landing."""
    speed: float
    """Forward speed in the air."""

    @property
    def times(self) -> tuple[float, ...]:
        """0 and the times above."""
        return 0.0, self.crouched, self.off, self.land, self.deepest, self.end

    def height(self, time: Array) -> Array:
        """Height of the centre of mass above its standing height."""
        t, y = self.times, self.rise
        knots = [
            (y[0], 0.0, 0.0),
            (y[1], 0.0, 0.0),
            (y[2], self.climb, -GRAVITY),
            (y[3], -self.sink, -GRAVITY),
            (y[4], 0.0, 0.0),
            (y[5], 0.0, 0.0),
        ]
        return BPoly.from_derivatives(t, knots)(time)

    def travel(self, time: Array) -> Array:
        """Distance the body has travelled."""
        push = self.off - self.crouched
        at_off = _AT_SPEED * self.speed * push
        at_land = at_off + self.speed * (self.land - self.off)
        stop = self.deepest + _STOPPING * (self.end - self.deepest)
        knots = [
            (0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0),
            (at_off, self.speed, 0.0),
            (at_land, self.speed, 0.0),
            (self.distance, 0.0, 0.0),
            (self.distance, 0.0, 0.0),
        ]
        return BPoly.from_derivatives(
            (0.0, self.crouched, self.off, self.land, stop, self.end), knots
        )(time)


def plan_leap(creature: Creature, puppet: Puppet, style: Style, fps: float) -> Leap:
    """Choose the jump's height and distance by the creature's size and how far its legs reach."""
    hip = hip_height(creature)
    off_rise, land_rise = 0.03 * hip, 0.0
    leap = _leap(creature, style, fps, off_rise, land_rise)
    for _ in range(3):
        off_rise = _stretched(creature, puppet, leap, leap.off, "last", 0.95)
        land_rise = _stretched(creature, puppet, leap, leap.land, "first", 0.93)
        leap = _leap(creature, style, fps, off_rise, land_rise)
    return leap


def _leap(creature: Creature, style: Style, fps: float, off_rise: float, land_rise: float) -> Leap:
    """A jump whose centre of mass leaves the ground at one height and returns at another."""
    hip = hip_height(creature)
    climb = float(np.sqrt(2.0 * GRAVITY * _RISE[creature.plan] * hip * style.height))
    speed = _SLANT[creature.plan] * climb
    pace = float(np.sqrt(hip / 0.9))
    crouch, sit = -0.20 * hip, min(-0.16 * hip, land_rise - 0.15 * hip)
    crouched = 0.42 * pace + 0.12
    push = 2.1 * (off_rise - crouch) / climb
    off = crouched + push
    root = float(np.sqrt(max(climb**2 - 2.0 * GRAVITY * (land_rise - off_rise), 0.0)))
    air = (climb + root) / GRAVITY
    sink = GRAVITY * air - climb
    land = off + air
    deepest = land + 2.1 * (land_rise - sit) / sink
    # The whole jump lasts a whole number of frames.
    end = float(np.ceil((deepest + 0.55 * pace + 0.2) * fps - 1e-6) / fps)
    stop = deepest + _STOPPING * (end - deepest)
    distance = _AT_SPEED * speed * push + speed * air + _AT_SPEED * speed * (stop - land)
    stand = -0.012 * hip
    rise = np.array((stand, crouch + stand, off_rise, land_rise, sit + stand, stand))
    return Leap(crouched, off, land, deepest, end, distance, rise, climb, sink, speed)


def _stretched(
    creature: Creature, puppet: Puppet, leap: Leap, time: float, which: str, share: float
) -> float:
    """Height of the centre of mass at which the legs that leave last, or land first, are nearly
    straight."""
    when = np.array([time])
    body = _body(creature, puppet, leap, when, Style())
    feet = [_foot_path(puppet, foot, leap, when) for foot in puppet.feet]
    posed = pose_body(puppet, body, feet, drop=(0.0, 0.0), correction=-body.rise)
    best = np.inf
    for foot, path in zip(puppet.feet, feet, strict=True):
        fore = foot.leg.kind == "fore"
        if len(puppet.feet) == 4 and fore != (which == "first"):
            continue
        hip = posed.position[0, puppet.index[foot.leg.upper]]
        end = leg_end(puppet, foot.leg, path)[0]
        reach = share * float(LegShape.of(puppet, foot.leg).reach(path.fold)[0])
        level = float(np.hypot(end[0] - hip[0], end[2] - hip[2]))
        best = min(best, end[1] + np.sqrt(max(reach**2 - level**2, 0.0)) - hip[1])
    rest = float(puppet.mass[:, 1].sum() / puppet.mass[:, 3].sum())
    return best + float(puppet.centre_of_mass(posed.rotation, posed.position)[0, 1]) - rest


def pose_jump(
    creature: Creature, puppet: Puppet, leap: Leap, time: Array, style: Style
) -> tuple[Posed, list[FootPath]]:
    """Pose the creature at times of the jump."""
    body = _body(creature, puppet, leap, time, style)
    feet = [_foot_path(puppet, foot, leap, time) for foot in puppet.feet]
    rest = float(puppet.mass[:, 1].sum() / puppet.mass[:, 3].sum())
    grounded = np.any([path.contact for path in feet], axis=0)
    correction, sink = np.zeros(len(time)), np.zeros(len(time))
    posed = pose_body(puppet, body, feet, drop=(0.0, 0.0), correction=correction)
    for _ in range(_ROUNDS):
        centre = puppet.centre_of_mass(posed.rotation, posed.position)[:, 1] - rest
        need = np.max(missing_reach(puppet, posed, feet), axis=0)
        # On the ground the legs have the last word, in the air gravity has.
        sink = np.where(grounded, np.maximum(sink + need, 0.0), 0.0)
        correction = correction - (centre - body.rise + sink)
        posed = pose_body(puppet, body, feet, drop=(0.0, 0.0), correction=correction)
    return posed, feet


def _keys(leap: Leap, time: Array, values: tuple[float, ...]) -> Array:
    """A smooth curve, in radians, through degrees at: start, crouched, off, mid-air, land, deepest,
    end."""
    at = (
        0.0,
        leap.crouched,
        leap.off,
        0.5 * (leap.off + leap.land),
        leap.land,
        leap.deepest,
        leap.end,
    )
    return np.radians(PchipInterpolator(at, values)(time))


def _body(creature: Creature, puppet: Puppet, leap: Leap, time: Array, style: Style) -> BodyPath:
    zero = np.zeros_like(time)
    travel = leap.travel(time)
    turns = _turns(creature, puppet, leap, time, style)
    return BodyPath(zero, travel, zero, turns, zero, zero, leap.height(time))


def _turns(creature: Creature, puppet: Puppet, leap: Leap, time: Array, style: Style) -> Turns:
    plan = creature.plan
    soft = creature.parameters.manner.supple
    if plan == "quadruped":
        pitch = _keys(leap, time, (0, 3, -24, -3, 19, 5, 0)) * (0.6 + 0.5 * soft)
        arch = _keys(leap, time, (0, 9, -10, 6, 3, 8, 0)) * (0.5 + soft)
    elif plan == "humanoid":
        pitch = _keys(leap, time, (0, 26, 8, 10, 12, 24, 0))
        arch = _keys(leap, time, (0, 26, 2, 14, 14, 24, 0))
    else:
        pitch = _keys(leap, time, (0, 8, -8, 0, 6, 8, 0))
        arch = _keys(leap, time, (0, 4, -4, 2, 2, 4, 0))
    turns: Turns = {}
    if plan == "quadruped":
        turns["pelvis"] = bend(pitch - 0.5 * arch)
        chest = pitch + 0.5 * arch
    else:
        turns["pelvis"] = bend(pitch)
        chest = pitch + arch
    spine = chain(puppet, "spine")
    for name in spine:
        turns[name] = bend(arch / len(spine))
    neck = chain(puppet, "neck")
    for name in (*neck, "head"):
        lower = np.radians(style.neck) * (1.0 / len(neck) if name != "head" else -0.85)
        turns[name] = bend(-0.8 * chest / (len(neck) + 1) + lower)
    fall = _keys(leap, time, (0, 4, -14, 4, 22, -8, 0))
    tail = chain(puppet, "tail")
    for i, name in enumerate(tail):
        late = np.interp(time - 0.03 * i, time, fall) if len(time) > 1 else fall
        lift = np.radians(style.tail) * (0.7, 0.3, 0.0, 0.0, 0.0, 0.0)[i]
        turns[name] = bend(late / (1.5 + 0.3 * len(tail)) + lift - (0.5 * pitch if i == 0 else 0.0))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        if f"{side}_ear" in puppet.index:
            turns[f"{side}_ear"] = bend(-0.7 * fall, 0.0, sign * 0.3 * fall)
        if f"{side}_arm_shoulder" in puppet.index:
            down = puppet.place(f"{side}_arm_lower") - puppet.place(f"{side}_arm_upper")
            spread = np.arctan2(sign * down[0], -down[1]) - np.radians(10.0)
            swing = _keys(leap, time, (0, 55, -120, -75, -50, -20, 0))
            turns[f"{side}_arm_upper"] = bend(swing, 0.0, -sign * spread)
            turns[f"{side}_arm_lower"] = bend(_keys(leap, time, (-6, -15, -35, -30, -35, -30, -6)))
        elif f"{side}_arm_upper" in puppet.index:
            turns[f"{side}_arm_upper"] = bend(_keys(leap, time, (0, 8, -12, -6, -8, 4, 0)))
    return turns


def _foot_path(puppet: Puppet, foot: Foot, leap: Leap, time: Array) -> FootPath:
    fore = foot.leg.kind == "fore"
    push, absorb = leap.off - leap.crouched, leap.deepest - leap.land
    off = leap.off - 0.42 * push if fore else leap.off
    on = leap.land if fore or len(puppet.feet) == 2 else leap.land + 0.45 * absorb
    contact = (time <= off) | (time >= on)
    swing = np.clip((time - off) / (on - off), 0.0, 1.0)
    roll_from = off - 0.5 * push
    hip = float(puppet.place(foot.leg.upper)[1])

    def curve(values: tuple[float, ...]) -> Array:
        at = (0.0, roll_from, off, off + 0.3 * (on - off), off + 0.85 * (on - off), on, leap.end)
        return np.radians(PchipInterpolator(at, values)(time))

    bend_at_toes = np.zeros_like(time)
    if foot.leg.kind == "plantigrade":
        fold = curve((0, 0, 62, 40, 4, 0, 0))
        bend_at_toes = np.minimum(curve((0, 0, 38, 8, 0, 0, 0)), np.maximum(fold, 0.0))
        pitch = fold - bend_at_toes
    else:
        pitch = curve((0, 0, 48, 62, 10, 0, 0))
        fold = -curve((0, 0, 5, 70 if fore else 24, 4, 0, 0))
    roll, height = foot.sole.joint(pitch)
    stand = puppet.place(foot.leg.toes)
    base = stand[2] + leap.distance * ease(swing)
    arch = 16.0 * swing**2 * (1.0 - swing) ** 2
    body = np.maximum(leap.height(time) - leap.rise[2] * (1 - swing) - leap.rise[3] * swing, 0.0)
    lift = np.where(
        contact, 0.0, body * ease(np.minimum(1.0, 6.0 * swing * (1.0 - swing))) + 0.20 * hip * arch
    )
    target = np.stack((np.full_like(time, stand[0]), height + lift, base + roll), axis=-1)
    return FootPath(target, np.zeros_like(time), pitch, fold, contact)
