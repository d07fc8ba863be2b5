"""A standing jump: crouch, push off, fly free, land, recover.

While no foot is down the centre of mass falls freely: y'' = -g. Quadrupeds leave the ground with
the fore feet first and land on them first; bipeds take both feet at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BPoly, PchipInterpolator

from akd.base.constants import GRAVITY
from akd.zoo.creature import Creature, Foot
from akd.zoo.gait.body import BodyPath, missing_reach, pose_body
from akd.zoo.gait.carriage import Turns
from akd.zoo.gait.footfalls import hip_height
from akd.zoo.gait.legs import FootPath, LegShape, leg_end
from akd.zoo.gait.puppet import Posed, Puppet, bend, chain
from akd.zoo.gait.style import Style
from akd.zoo.mesh.shapes import Array, smoothstep

_ROUNDS = 6
_RISE = {"quadruped": 0.42, "humanoid": 0.30, "theropod": 0.16}
"""How high the centre of mass rises in the air, over hip height."""
_SLANT = {"quadruped": 1.15, "humanoid": 0.75, "theropod": 0.8}
"""Forward over upward speed at take-off."""
_AT_SPEED = 0.45
"""Mean speed while pushing off or coming to rest, over the speed in the air."""
_STOPPING = {"quadruped": 0.30, "humanoid": 0.24, "theropod": 0.24}
"""How far the body still moves forward after landing, over hip height."""


@dataclass(frozen=True)
class Leap:
    """Times (seconds) and the path of the centre of mass of one jump."""

    crouched: float
    off: float
    """The last foot leaves the ground."""
    land: float
    """The first foot comes down."""
    deepest: float
    stop: float
    """The body comes to rest; it has still to rise."""
    end: float
    distance: float
    """Travelled in all, metres."""
    rise: Array
    """Heights of the centre of mass at `times`."""
    climb: float
    """Upward speed at take-off, metres per second."""
    sink: float
    """Downward speed at landing."""
    speed: float
    """Forward speed in the air."""

    @property
    def times(self) -> tuple[float, ...]:
        """Times at which the height is given: start, crouched, off, land, deepest, end."""
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
        knots = [
            (0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0),
            (at_off, self.speed, 0.0),
            (at_land, self.speed, 0.0),
            (self.distance, 0.0, 0.0),
            (self.distance, 0.0, 0.0),
        ]
        return BPoly.from_derivatives(
            (0.0, self.crouched, self.off, self.land, self.stop, self.end), knots
        )(time)


def plan_leap(creature: Creature, puppet: Puppet, style: Style, fps: float) -> Leap:
    """Choose the jump's height and distance by the creature's size and how far its legs reach."""
    hip = hip_height(creature)
    off_rise, land_rise = 0.03 * hip, 0.0
    leap = _leap(creature, style, fps, off_rise, land_rise)
    for _ in range(7):
        # A higher take-off means a longer push and a more slanted leg: half steps settle it.
        off_rise += 0.5 * (_stretched(creature, puppet, leap, leap.off, "last", 0.94) - off_rise)
        land_rise += 0.5 * (
            _stretched(creature, puppet, leap, leap.land, "first", 0.88) - land_rise
        )
        leap = _leap(creature, style, fps, off_rise, land_rise)
    return leap


def _leap(creature: Creature, style: Style, fps: float, off_rise: float, land_rise: float) -> Leap:
    """A jump whose centre of mass leaves the ground at one height and returns at another."""
    hip = hip_height(creature)
    aloft = _RISE[creature.plan] * creature.parameters.manner.leap * style.height * hip
    climb = float(np.sqrt(2.0 * GRAVITY * aloft))
    speed = _SLANT[creature.plan] * climb
    pace = float(np.sqrt(hip / 0.9))
    crouch = min(-0.20 * hip, off_rise - 0.08 * hip)
    sit = min(max(min(-0.16 * hip, land_rise - 0.20 * hip), -0.28 * hip), land_rise - 0.08 * hip)
    crouched = 0.42 * pace + 0.12
    push = 2.1 * (off_rise - crouch) / climb
    off = crouched + push
    root = float(np.sqrt(max(climb**2 - 2.0 * GRAVITY * (land_rise - off_rise), 0.0)))
    air = (climb + root) / GRAVITY
    sink = GRAVITY * air - climb
    land = off + air
    deepest = land + 2.1 * (land_rise - sit) / sink
    braking = _STOPPING[creature.plan] * hip
    stop = land + braking / (_AT_SPEED * speed)
    # The whole jump lasts a whole number of frames.
    end = float(np.ceil((max(deepest, stop) + 0.55 * pace + 0.2) * fps - 1e-6) / fps)
    distance = _AT_SPEED * speed * push + speed * air + braking
    stand = -0.012 * hip
    rise = np.array((stand, crouch + stand, off_rise, land_rise, sit + stand, stand))
    return Leap(crouched, off, land, deepest, stop, end, distance, rise, climb, sink, speed)


def _stretched(
    creature: Creature, puppet: Puppet, leap: Leap, time: float, which: str, share: float
) -> float:
    """Height of the centre of mass at which the legs that leave last, or land first, are nearly
    straight."""
    when = np.array([time])
    body = _body(creature, puppet, leap, when, Style())
    feet = [_foot_path(creature, puppet, foot, leap, when) for foot in puppet.feet]
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
    return (
        best
        + float(puppet.centre_of_mass(posed.rotation, posed.position)[0, 1])
        - puppet.rest_height
    )


def pose_jump(
    creature: Creature, puppet: Puppet, leap: Leap, time: Array, style: Style
) -> tuple[Posed, list[FootPath]]:
    """Pose the creature at times of the jump."""
    body = _body(creature, puppet, leap, time, style)
    feet = [_foot_path(creature, puppet, foot, leap, time) for foot in puppet.feet]
    grounded = np.any([path.contact for path in feet], axis=0)
    correction, sink = np.zeros(len(time)), np.zeros(len(time))
    posed = pose_body(puppet, body, feet, drop=(0.0, 0.0), correction=correction)
    for _ in range(_ROUNDS):
        centre = puppet.centre_of_mass(posed.rotation, posed.position)[:, 1] - puppet.rest_height
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


def _attitude(creature: Creature, leap: Leap, time: Array) -> tuple[Array, Array]:
    """Pitch of the trunk (nose down) and arching of the spine, radians."""
    match creature.plan:
        case "quadruped":
            soft = creature.parameters.manner.supple
            pitch = _keys(leap, time, (0, 3, -24, 2, 17, 12, 0)) * (0.6 + 0.5 * soft)
            return pitch, _keys(leap, time, (0, 9, -10, 6, 3, 8, 0)) * (0.5 + soft)
        case "humanoid":
            pitch = _keys(leap, time, (0, 26, 8, 10, 12, 24, 0))
            return pitch, _keys(leap, time, (0, 26, 2, 14, 14, 24, 0))
        case _:
            pitch = _keys(leap, time, (0, 8, -8, 0, 6, 8, 0))
            return pitch, _keys(leap, time, (0, 4, -4, 2, 2, 4, 0))


def _turns(creature: Creature, puppet: Puppet, leap: Leap, time: Array, style: Style) -> Turns:
    plan = creature.plan
    pitch, arch = _attitude(creature, leap, time)
    turns: Turns = {}
    if plan == "quadruped":
        turns["pelvis"] = bend(pitch - 0.5 * arch)
        chest = pitch + 0.5 * arch
    else:
        turns["pelvis"] = bend(pitch)
        chest = pitch + arch
    spine = chain(puppet.names, "spine")
    for name in spine:
        turns[name] = bend(arch / len(spine))
    neck = chain(puppet.names, "neck")
    for name in (*neck, "head"):
        lower = np.radians(style.neck) * (1.0 / len(neck) if name != "head" else -0.85)
        turns[name] = bend(-0.8 * chest / (len(neck) + 1) + lower)
    whip = (0, 4, -14, 4, 22, -8, 0)
    fall = _keys(leap, time, whip)
    tail = chain(puppet.names, "tail")
    for i, name in enumerate(tail):
        # Each bone is later than the one before it, but all are at rest at both ends.
        late = _keys(leap, time - 0.03 * i * np.sin(np.pi * time / leap.end), whip)
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


def _foot_path(creature: Creature, puppet: Puppet, foot: Foot, leap: Leap, time: Array) -> FootPath:
    fore, biped = foot.leg.kind == "fore", len(puppet.feet) == 2
    push, absorb = leap.off - leap.crouched, leap.deepest - leap.land
    off = leap.off - 0.42 * push if fore else leap.off
    on = leap.land if fore or biped else leap.land + 1.2 * absorb
    contact = (time <= off) | (time >= on)
    swing = np.clip((time - off) / (on - off), 0.0, 1.0)

    def curve(values: tuple[float, ...]) -> Array:
        at = (0.0, off - 0.5 * push, off, off + 0.3 * (on - off), off + 0.85 * (on - off), on)
        return np.radians(PchipInterpolator((*at, leap.end), values)(time))

    if foot.leg.kind == "plantigrade":
        fold = curve((0, 0, 62, 40, 4, 0, 0))
        pitch = fold - np.minimum(curve((0, 0, 38, 8, 0, 0, 0)), np.maximum(fold, 0.0))
    else:
        pitch = curve((0, 0, 48, 62, 10, 0, 0))
        fold = -curve((0, 0, 5, 70 if fore else 24, 4, 0, 0))
    roll, height = foot.sole.joint(pitch)
    stand = puppet.place(foot.leg.toes)
    base = stand[2] + leap.distance * smoothstep(swing)
    lift = np.where(contact, 0.0, _lift(creature, puppet, foot, leap, time, swing, (off, on)))
    target = np.stack((np.full_like(time, stand[0]), height + lift, base + roll), axis=-1)
    return FootPath(target, np.zeros_like(time), pitch, fold, contact)


def _lift(
    creature: Creature,
    puppet: Puppet,
    foot: Foot,
    leap: Leap,
    time: Array,
    swing: Array,
    ends: tuple[float, float],
) -> Array:
    """Height of a foot in the air: it follows the top of its leg, drawn up in between."""
    top = puppet.place(foot.leg.upper)
    quadruped = len(puppet.feet) == 4
    lever = top[2] - 0.5 * (puppet.place("pelvis")[2] + puppet.place("neck_1")[2])

    def rise(when: Array) -> Array:
        tilt = np.sin(_attitude(creature, leap, when)[0]) if quadruped else 0.0
        return leap.height(when) - lever * tilt

    start, end = rise(np.asarray(ends))
    follow = np.maximum(rise(time) - start - swing * (end - start), 0.0)
    # Hind feet of quadrupeds stay drawn up until the fore feet have landed.
    late = swing**1.7 if quadruped and foot.leg.kind != "fore" else swing
    tuck = (0.24 if quadruped and foot.leg.kind != "fore" else 0.15) * top[1]
    return follow + tuck * 16.0 * late**2 * (1.0 - late) ** 2
