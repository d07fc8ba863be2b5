"""Heads of quadrupeds: skull and muzzle, eyes, nose, ears, horns, and an elephant's trunk."""

from __future__ import annotations

from functools import partial

import numpy as np

from akd.zoo.mesh.shapes import Array, Cone, Ellipsoid, Loft, Tube, frame, vector
from akd.zoo.species.anatomy import Add, Anatomy, Place
from akd.zoo.species.parameters import Quadruped
from akd.zoo.species.parts import Head


def add_head(body: Anatomy, p: Quadruped) -> None:
    """Flesh of the head on the joint `head`, with joints for the ears (and the proboscis)."""
    head, h = p.head, p.height
    length = head.length * h
    pitch = np.radians(head.pitch)
    forward = vector(0.0, np.sin(pitch), np.cos(pitch))
    turn = frame(forward)
    start = body.position("head") - 0.10 * length * forward
    add = partial(body.add, group="trunk", bone="head")

    def place(side: float, up: float, along: float) -> Array:
        """A point in the head, in head lengths from the back of the skull."""
        return start + length * (side * turn[0] + up * turn[1] + along * forward)

    skull = _skull(add, head, start, forward, length)
    _eyes(add, head, skull, place, length)
    if p.proboscis > 0.0:
        _proboscis(body, p, place(0.0, -0.02, 0.86), length)
    else:
        _nose(add, head, place, forward, length)
    _ear(body, head, place, length)
    _horns(add, head, place, length)


def _skull(add: Add, head: Head, start: Array, forward: Array, length: float) -> Loft:
    """Skull and muzzle as one loft."""
    s, b = head.skull, head.blunt
    eye = 1.0 - s.muzzle
    at = (0.0, 0.45 * eye, eye - 0.04, eye + 0.16 * s.muzzle, eye + 0.66 * s.muzzle, 1.0)
    mw, mh, sw, sh = s.muzzle_width, s.muzzle_height, s.width, s.height
    width = (0.72 * sw, sw, 0.86 * sw, 0.45 * sw + 0.62 * mw, 1.04 * mw, (0.66 + 0.40 * b) * mw)
    up = (0.72 * sh, sh, 0.90 * sh, 0.35 * sh + 0.42 * mh, 0.60 * mh, (0.42 + 0.16 * b) * mh)
    cheek = 0.50 * s.jaw + 0.42 * mh
    down = (0.65 * s.jaw, 0.95 * s.jaw, s.jaw, cheek, 0.70 * mh, (0.36 + 0.36 * b) * mh)
    end = start + length * forward
    skull = Loft(
        start,
        end,
        at,
        [w * length for w in width],
        [u * length for u in up],
        [d * length for d in down],
        cap=(0.12 * length, (0.035 + 0.035 * b) * length),
        boxy=2.15 + 0.35 * b,
    )
    add(skull, material="face", blend=0.16 * length, detail=0.55)
    if head.cheek > 0.0:
        turn = frame(forward)
        offset = 0.62 * sw * turn[0] - 0.35 * s.jaw * turn[1] + 0.5 * eye * forward
        radii = (head.cheek * length, 0.9 * s.jaw * length, 0.22 * length)
        puff = Ellipsoid(start + length * offset, radii, axis=forward + 0.25 * turn[0])
        add(puff, material="cheek", blend=0.12 * length, detail=0.6)
    return skull


def _eyes(add: Add, head: Head, skull: Loft, place: Place, length: float) -> None:
    """Eyes sit on the surface of the skull, above its middle, beside the bridge of the nose."""
    along = 1.0 - head.skull.muzzle + 0.01
    up = 0.42 * head.skull.height
    sides = np.linspace(0.02, 1.5 * head.skull.width, 160)
    line = np.stack([place(s, up, along) for s in sides])
    outside = skull.distance(line)
    edge = sides[int(np.argmax(outside > 0.0))] if (outside > 0.0).any() else head.skull.width
    radius = head.eye * length
    centre = place(float(edge) - 0.5 * head.eye, up, along)
    ball = Ellipsoid(centre, (radius, radius, radius))
    add(ball, material="eye", blend=0.08 * radius, detail=0.28)


def _nose(add: Add, head: Head, place: Place, forward: Array, length: float) -> None:
    """A dark pad (dogs, cats, bears), a flat disc (pigs) or nostrils (the others)."""
    width, height = head.skull.muzzle_width, head.skull.muzzle_height
    wide, tall = width * length, height * length
    front = 1.0 + 0.6 * (0.035 + 0.035 * head.blunt)
    match head.nose:
        case "pad":
            centre = place(0.0, (0.30 + 0.06 * head.blunt) * height, front)
            pad = Ellipsoid(centre, (0.50 * wide, 0.40 * wide, 0.40 * wide), axis=forward)
            add(pad, material="nose", blend=0.06 * wide, detail=0.40)
        case "disc":
            centre = place(0.0, -0.04 * height, front)
            disc = Ellipsoid(centre, (1.02 * wide, 0.62 * tall, 0.035 * length), axis=forward)
            add(disc, material="nose", blend=0.02 * length, detail=0.5)
        case "nostrils":
            centre = place(0.66 * width, 0.22 * height, front - 0.05)
            hole = Ellipsoid(centre, (0.34 * wide, 0.13 * tall, 0.035 * length), axis=forward)
            add(hole, material="nose", action="paint", detail=0.45)


def _ear(body: Anatomy, head: Head, place: Place, length: float) -> None:
    ear, skull = head.ear, head.skull
    long, wide = ear.length * length, 0.5 * ear.width * length
    back = 0.30 * (1.0 - skull.muzzle)
    root = place(0.62 * skull.width, 0.78 * skull.height, back)
    add = partial(body.add, group="left_ear", material="ear")
    match ear.kind:
        case "none":
            return
        case "pointed":
            _cupped_ear(body, head, root, vector(0.35, 0.0, 1.0), long, wide, sharp=0.10)
        case "round":
            _cupped_ear(body, head, root, vector(0.3, 0.0, 1.0), long, wide, sharp=0.75)
        case "leaf":
            facing = vector(0.25, 0.1, 1.0)
            _cupped_ear(body, head, root, facing, long, wide, sharp=0.22, middle=1.2)
        case "flop":
            root = place(0.86 * skull.width, 0.62 * skull.height, back)
            tip = root + long * vector(0.30, -0.88, 0.22)
            _ear_bone(body, root, tip)
            fold = 0.4 * root + 0.6 * tip
            upper = Cone(root, fold, 0.55 * wide, wide, flat=0.34)
            add(upper, blend=0.4 * wide, detail=0.6)
            lower = Cone(fold, tip, wide, 0.6 * wide, flat=0.30)
            add(lower, blend=0.3 * wide, detail=0.6)
        case "fan":
            root = place(0.92 * skull.width, 0.35 * skull.height, 0.34)
            out = vector(0.66, -0.06, -0.75)
            _ear_bone(body, root, root + long * out)
            thick, side = 0.055 * long, (float(out[2]), 0.0, -float(out[0]))
            lobes = ((0.46, 0.10, 0.52, 0.50), (0.50, -0.28, 0.40, 0.46), (0.18, 0.05, 0.34, 0.40))
            for along, up, half, tall in lobes:
                centre = root + long * (along * out + vector(0.0, up, 0.0))
                lobe = Ellipsoid(centre, (thick, tall * long, half * long), axis=out, side=side)
                add(lobe, blend=0.05 * long, detail=0.75)


def _ear_bone(body: Anatomy, root: Array, tip: Array) -> None:
    body.joint("left_ear", "head", root)
    body.chain("left_ear", ["left_ear"], tip)


def _cupped_ear(
    body: Anatomy,
    head: Head,
    root: Array,
    facing: Array,
    long: float,
    wide: float,
    *,
    sharp: float,
    middle: float = 0.86,
) -> None:
    """An upright ear: a flat cone, hollow in front."""
    lean = np.radians(head.ear.lean)
    direction = vector(np.sin(lean), np.cos(lean), -0.12)
    up = direction / np.linalg.norm(direction)
    look = facing - np.dot(facing, up) * up
    look /= np.linalg.norm(look)
    across = np.asarray(np.cross(up, look), float)
    tip = root + long * up
    _ear_bone(body, root, tip)
    centre = root + 0.42 * long * up
    thin = 0.42
    add = partial(body.add, group="left_ear")
    low, waist = wide / thin * 0.42, middle * wide / thin * 0.42
    high = max(sharp, 0.10) * wide / thin * 0.42
    lower = Cone(root - 0.08 * long * up, centre, low, waist, flat=thin, side=look)
    add(lower, material="ear", blend=0.35 * wide, detail=0.5)
    upper = Cone(centre, tip, waist, high, flat=thin, side=look)
    add(upper, material="ear", blend=0.15 * wide, detail=0.36)
    centre = root + 0.46 * long * up + 0.52 * wide * look
    hollow = Ellipsoid(centre, (0.66 * wide, 0.40 * wide, 0.42 * long), axis=up, side=across)
    add(hollow, material="ear_inner", blend=0.10 * wide, detail=0.45, action="carve")


def _horns(add: Add, head: Head, place: Place, length: float) -> None:
    size = head.horns.length * length
    if head.horns.kind == "none" or size <= 0.0:
        return
    skull = head.skull
    back = 0.42 * (1.0 - skull.muzzle)
    root = place(0.42 * skull.width, 0.86 * skull.height, back)
    tines = ()
    match head.horns.kind:
        case "cow":
            curve = ((0, 0, 0), (0.42, 0.10, 0.0), (0.72, 0.36, 0.12), (0.74, 0.72, 0.26))
            thick = (0.13, 0.11, 0.075, 0.03)
        case "goat":
            curve = ((0, 0, 0), (0.06, 0.40, -0.12), (0.16, 0.66, -0.46), (0.28, 0.62, -0.86))
            thick = (0.12, 0.11, 0.08, 0.035)
        case "tusks":
            root = place(0.42 * skull.width, -0.55 * skull.jaw, 0.90)
            curve = ((0, 0, 0), (0.06, -0.36, 0.20), (0.08, -0.56, 0.50), (0.02, -0.54, 0.86))
            thick = (0.085, 0.08, 0.065, 0.03)
        case "antlers":
            curve = ((0, 0, 0), (0.16, 0.30, -0.16), (0.36, 0.62, -0.16), (0.34, 1.0, 0.06))
            thick = (0.045, 0.042, 0.038, 0.026)
            tines = (
                (0.35, (0.10, 0.20, 0.30)),
                (1.6, (0.12, 0.26, 0.24)),
                (2.2, (-0.02, 0.26, -0.22)),
            )
    points = [root + size * np.array(c) for c in curve]
    for start, tine in tines:
        low = int(start)
        a = points[low] + (start - low) * (points[low + 1] - points[low])
        prong = Cone(a, a + size * np.array(tine), 0.036 * size, 0.022 * size)
        add(prong, material="horn", blend=0.02 * size, detail=0.42)
    horn = Tube(points, [t * size for t in thick], bent=True)
    add(horn, material="horn", blend=0.03 * size, detail=0.5)


def _proboscis(body: Anatomy, p: Quadruped, root: Array, length: float) -> None:
    """An elephant's trunk: six bones that hang down and curl forward at the end."""
    lean = np.radians(np.array((48.0, 14.0, -4.0, -6.0, 10.0, 38.0)))
    step = p.proboscis * p.height / len(lean)
    places = [root]
    for angle in lean:
        places.append(places[-1] + step * vector(0.0, -np.cos(angle), np.sin(angle)))
    names = [f"trunk_{i + 1}" for i in range(len(lean))]
    body.string(names, "head", places[:-1])
    body.chain("proboscis", names, places[-1])
    thick = np.linspace(0.30, 0.095, len(places)) * length
    body.add(Tube(places, thick, bent=True, finer=3), "proboscis", blend=0.2 * length, detail=0.75)
