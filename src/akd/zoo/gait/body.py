"""Puts a whole body together: the trunk first, then legs that reach from it to their feet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from akd.zoo.gait.carriage import Turns
from akd.zoo.gait.legs import STANCE_REACH, FootPath, LegShape, leg_end, pose_blade, pose_leg
from akd.zoo.gait.puppet import Posed, Puppet, turn_x, turn_y
from akd.zoo.gait.wings import folded_wings
from akd.zoo.mesh.shapes import Array


@dataclass
class BodyPath:
    """Path of the trunk: place, heading, local rotations and shifts of the body."""

    x: Array
    z: Array
    """Of the root on the ground, metres."""
    heading: Array
    turns: Turns
    """Local rotations of all joints but root and legs."""
    sway: Array
    """Sideways shift of the body in the root's frame, metres."""
    surge: Array
    """Forward shift of the body in the root's frame, metres."""
    rise: Array
    """Height of the centre of mass above its height in the bind pose, metres."""


def pose_trunk(puppet: Puppet, body: BodyPath, height: Array) -> Posed:
    """Pose everything but the legs, the middle of the trunk `height` [T] above its bind place."""
    frames = len(body.x)
    posed = Posed.empty(puppet, frames)
    heading = turn_y(body.heading)
    legs = {name for foot in puppet.feet for name in foot.leg.bones}
    turns = folded_wings(puppet) | body.turns
    root, pelvis = puppet.index["root"], puppet.index["pelvis"]
    posed.rotation[:, root] = heading
    posed.position[:, root] = np.stack((body.x, np.zeros(frames), body.z), axis=-1)
    posed.follow(puppet, pelvis, body.turns.get("pelvis"))
    for joint, name in enumerate(puppet.names):
        if joint not in (root, pelvis) and name not in legs:
            posed.follow(puppet, joint, turns.get(name))
    # The trunk turns about its middle, not about the pelvis.
    chest = _chest(puppet)
    middle = 0.5 * (posed.position[:, pelvis] + posed.position[:, chest])
    rest = 0.5 * (puppet.bind[pelvis] + puppet.bind[chest])
    wanted = rest + np.stack((body.sway, height, body.surge), axis=-1)
    wanted = posed.position[:, root] + (heading @ wanted[..., None])[..., 0]
    shift = wanted - middle
    moving = np.ones(len(puppet.names), bool)
    moving[root] = False
    posed.position[:, moving] += shift[:, None]
    return posed


def _chest(puppet: Puppet) -> int:
    """The joint at the front end of what carries the legs."""
    quadruped = "left_fore_upper" in puppet.index
    return puppet.index["neck_1" if quadruped else "pelvis"]


def pose_body(
    puppet: Puppet,
    body: BodyPath,
    feet: Sequence[FootPath],
    *,
    drop: tuple[float, float],
    correction: Array,
) -> Posed:
    """Pose the whole body, the trunk lowered by `drop` (hind, fore) metres."""
    posed = pose_trunk(puppet, _dropped(puppet, body, drop), body.rise + correction - np.mean(drop))
    if puppet.feet:
        posed.keep_off_ground(puppet)
    for foot, path in zip(puppet.feet, feet, strict=True):
        pose_blade(posed, puppet, foot.leg, path)
        pose_leg(posed, puppet, LegShape.of(puppet, foot.leg), path)
    return posed


def _dropped(puppet: Puppet, body: BodyPath, drop: tuple[float, float]) -> BodyPath:
    """Pitch the trunk so that its two ends sink by different amounts."""
    hind, fore = drop
    if hind == fore or "left_fore_upper" not in puppet.index:
        return body
    length = puppet.place("neck_1")[2] - puppet.place("pelvis")[2]
    turns = dict(body.turns)
    tilt = turn_x((fore - hind) / length)
    turns["pelvis"] = tilt @ turns.get("pelvis", np.eye(3))
    return BodyPath(body.x, body.z, body.heading, turns, body.sway, body.surge, body.rise)


def missing_reach(puppet: Puppet, posed: Posed, feet: Sequence[FootPath]) -> list[Array]:
    """For each foot, how far its hip or shoulder must sink to be in reach of it, metres, [T].

    Minus infinity where the foot is in the air.
    """
    needs = []
    for foot, path in zip(puppet.feet, feet, strict=True):
        shape = LegShape.of(puppet, foot.leg)
        leg = leg_end(puppet, foot.leg, path) - posed.position[:, puppet.index[foot.leg.upper]]
        reach = STANCE_REACH[foot.leg.kind] * shape.reach(path.fold)
        level = (leg[:, [0, 2]] ** 2).sum(axis=1)
        room = np.sqrt(np.maximum(reach**2 - level, (0.3 * reach) ** 2))
        needs.append(np.where(path.contact, -leg[:, 1] - room, -np.inf))
    return needs


def _needed_drop(puppet: Puppet, needs: Sequence[Array]) -> tuple[float, float]:
    """The greatest need of the hind legs and of the fore legs."""
    most = {"hind": -np.inf, "fore": -np.inf}
    for foot, need in zip(puppet.feet, needs, strict=True):
        end = "fore" if foot.leg.kind == "fore" else "hind"
        most[end] = max(most[end], float(need.max()))
    return most["hind"], most["hind"] if most["fore"] == -np.inf else most["fore"]


def settle_body(
    puppet: Puppet,
    body: BodyPath,
    feet: Sequence[FootPath],
    *,
    least_drop: float = 0.0,
    rounds: int = 4,
) -> tuple[Posed, tuple[float, float]]:
    """Pose the body so that planted feet are in reach and its centre of mass rises as told.

    The centre of mass follows the changes of `rise`; the body is as high as its legs allow, but at
    least `least_drop` below the bind pose. Both are found in a few `rounds`, each of which brings
    the error down tenfold.
    """
    drop = (least_drop, least_drop)
    correction = np.zeros(len(body.x))
    posed = pose_body(puppet, body, feet, drop=drop, correction=correction)
    for _ in range(rounds):
        centre = puppet.centre_of_mass(posed.rotation, posed.position)[:, 1] - puppet.rest_height
        error = centre - body.rise
        correction = correction - (error - error.mean())
        hind, fore = _needed_drop(puppet, missing_reach(puppet, posed, feet))
        drop = (max(drop[0] + hind, least_drop), max(drop[1] + fore, least_drop))
        posed = pose_body(puppet, body, feet, drop=drop, correction=correction)
    return posed, drop
