"""Anatomy of spiders and crabs: one body, and legs that stand out around it."""

from __future__ import annotations

from functools import partial

import numpy as np

from akd.zoo.mesh.shapes import Array, Cone, Ellipsoid, Tube, vector
from akd.zoo.species.anatomy import LEG, Anatomy
from akd.zoo.species.parameters import Arthropod


def build_arthropod(p: Arthropod) -> Anatomy:
    """Joints and flesh of an arthropod, feet on y = 0, its body over the origin."""
    body = Anatomy()
    h = p.height
    centre = vector(0.0, h, 0.0)
    long, wide, deep = (0.5 * x * h for x in (p.body.length, p.body.width, p.body.depth))
    body.joint("root", None, (0.0, 0.0, 0.0))
    face = centre + vector(0.0, 0.0, 0.55 * long)
    body.string(("pelvis", "head"), "root", (centre, face))
    body.chain("trunk", ("pelvis", "head"), centre + vector(0.0, 0.0, long))
    add = partial(body.add, group="trunk")
    add(Ellipsoid(centre, (wide, deep, long)), blend=0.02 * h, bone="pelvis")
    snout = Ellipsoid(face + vector(0, 0, 0.2 * long), (0.55 * wide, 0.7 * deep, 0.42 * long))
    add(snout, blend=0.15 * h, detail=0.7, bone="head")
    _eyes(body, p, face, wide, deep, long)
    if p.abdomen > 0.0:
        _abdomen(body, p, centre, long, deep)
    for number, azimuth in enumerate(p.azimuths, start=1):
        _leg(body, p, f"left_leg{number}", np.radians(azimuth), centre, (wide, deep, long))
    if p.claw > 0.0:
        _claw(body, p, centre, (wide, deep, long))
    return body


def _eyes(body: Anatomy, p: Arthropod, face: Array, wide: float, deep: float, long: float) -> None:
    r = p.eye * p.height
    add = partial(body.add, group="trunk", material="eye", detail=0.4, bone="head")
    if p.stalks:
        base = face + vector(0.28 * wide, 0.7 * deep, 0.2 * long)
        top = base + vector(0.1 * wide, 3.2 * r, 0.06 * long)
        stalk = Cone(base, top, 0.7 * r, 0.6 * r)
        body.add(stalk, "trunk", blend=0.4 * r, detail=0.5, bone="head")
        add(Ellipsoid(top, (r, r, r)), blend=0.1 * r)
        return
    for side, up, size in ((0.16, 0.52, 1.0), (0.38, 0.42, 0.75)):
        place = face + vector(side * wide, up * deep, 0.52 * long)
        add(Ellipsoid(place, (size * r, size * r, size * r)), blend=0.1 * r)


def _abdomen(body: Anatomy, p: Arthropod, centre: Array, long: float, deep: float) -> None:
    h = p.height
    size = 0.5 * p.abdomen * h
    waist = centre + vector(0.0, 0.10 * deep, -0.85 * long)
    middle = waist + vector(0.0, 0.25 * size, -0.92 * size)
    tip = middle + vector(0.0, -0.1 * size, -size)
    body.limb("tail", "pelvis", ("1",), (waist,), tip)
    shape = Ellipsoid(middle, (0.80 * size, 0.74 * size, size), axis=(0.0, -0.12, 1.0))
    body.add(shape, "tail", material="tail", blend=0.10 * h)
    neck = Cone(centre - vector(0, 0, 0.6 * long), middle, 0.45 * deep, 0.4 * size)
    body.add(neck, "tail", blend=0.08 * h, bone="tail_1")


def _leg(
    body: Anatomy, p: Arthropod, group: str, azimuth: float, centre: Array, size: tuple[float, ...]
) -> None:
    """A leg in the vertical plane of its azimuth: up to the knee, down to the ground."""
    h = p.height
    wide, _, long = size
    out = vector(np.sin(azimuth), 0.0, np.cos(azimuth))
    edge = 1.0 / np.hypot(out[0] / (0.72 * wide), out[2] / (0.72 * long))
    hip = centre + edge * out - vector(0.0, 0.10 * h, 0.0)
    reach = p.reach * h * (1.12 if abs(out[2]) > 0.5 else 1.0)
    toes = 0.10 * p.leg_radius * h + 0.055 * h
    profile = ((0.34, p.knee * h), (0.80, 0.50 * p.knee * h + 0.5 * toes), (0.86, toes))
    places = [hip]
    for share, height in profile:
        at = (edge + share * (reach - edge)) * out
        places.append(np.array((at[0], height, at[2])))
    tip = vector(places[3][0], 0.0, places[3][2]) + 0.09 * reach * out
    body.limb(group, "pelvis", LEG, places, tip)
    body.leg(group, "radial")
    r = p.leg_radius * h
    line = Tube((hip, *places[1:]), (1.25 * r, 1.15 * r, 0.95 * r, 0.80 * r), side=out)
    body.add(line, group, material="toe", blend=0.05 * h, detail=0.8)
    end = Cone(places[3], tip, 0.80 * r, 0.62 * r)
    body.add(end, group, material="hoof", blend=0.1 * r, detail=0.35, bone=f"{group}_toes")


def _claw(body: Anatomy, p: Arthropod, centre: Array, size: tuple[float, ...]) -> None:
    """A crab's pincer, held before the body."""
    h, (wide, _, long) = p.height, size
    length = p.claw * h
    shoulder = centre + vector(0.62 * wide, -0.05 * h, 0.66 * long)
    elbow = shoulder + length * vector(0.34, 0.04, 0.30)
    wrist = elbow + length * vector(-0.16, 0.06, 0.30)
    tip = wrist + length * vector(-0.30, -0.02, 0.42)
    body.limb("left_arm", "pelvis", ("upper", "lower", "hand"), (shoulder, elbow, wrist), tip)
    r = 1.35 * p.leg_radius * h
    add = partial(body.add, group="left_arm", detail=0.7)
    add(Tube((shoulder, elbow, wrist), (r, r, 0.9 * r)), blend=0.05 * h)
    palm = 0.6 * wrist + 0.4 * tip
    flesh = Ellipsoid(palm, (1.5 * r, 1.9 * r, 0.24 * length), axis=tip - wrist)
    add(flesh, blend=0.5 * r, bone="left_arm_hand")
    for up in (-0.5, 0.5):
        root = palm + vector(0.0, 1.1 * up * r, 0.0)
        middle = 0.5 * (root + tip) + vector(0.0, 2.2 * up * r, 0.0)
        end = tip + vector(0.0, 0.5 * up * r, 0.0)
        finger = Tube((root, middle, end), (0.8 * r, 0.6 * r, 0.25 * r))
        add(finger, material="hoof", blend=0.2 * r, bone="left_arm_hand")
