"""Heads of quadrupeds: skull and muzzle, eyes, nose, ears, horns, and an elephant's trunk."""

from __future__ import annotations

import numpy as np

from akd.zoo.mesh.shapes import Array, Cone, Ellipsoid, Loft, Tube, frame, vector
from akd.zoo.species.anatomy import Anatomy, Place
from akd.zoo.species.parameters import Head, Quadruped


def add_head(body: Anatomy, p: Quadruped) -> None:
    """Flesh of the head on the joint `head`, with joints for the ears (and the proboscis)."""
    head, h = p.head, p.height
    length = head.length * h
    pitch = np.radians(head.pitch)
    forward = vector(0.0, np.sin(pitch), np.cos(pitch))
    turn = frame(forward)
    start = body.position("head") - 0.10 * length * forward

    def place(side: float, up: float, along: float) -> Array:
        """A point in the head, in head lengths from the back of the skull."""
        return start + length * (side * turn[0] + up * turn[1] + along * forward)

    skull = _skull(body, head, start, forward, length)
    _eyes(body, head, skull, place, length)
    if p.proboscis > 0.0:
        _proboscis(body, p, place(0.0, -0.02, 0.86), length)
    else:
        _nose(body, head, place, forward, length)
    _ear(body, head, place, turn, length)
    _horns(body, head, place, turn, length)


def _skull(body: Anatomy, head: Head, start: Array, forward: Array, length: float) -> Loft:
    """Skull and muzzle as one loft."""
    eye = 1.0 - head.muzzle
    at = (0.0, 0.45 * eye, eye - 0.04, eye + 0.16 * head.muzzle, eye + 0.66 * head.muzzle, 1.0)
    b = head.blunt
    mw, mh, sw, sh = (
        head.muzzle_width,
        head.muzzle_height,
        head.skull_width,
        head.skull_height,
    )
    width = (0.72 * sw, sw, 0.86 * sw, 0.45 * sw + 0.62 * mw, 1.04 * mw, (0.66 + 0.40 * b) * mw)
    up = (0.72 * sh, sh, 0.90 * sh, 0.35 * sh + 0.42 * mh, 0.60 * mh, (0.42 + 0.16 * b) * mh)
    down = (
        0.65 * head.jaw,
        0.95 * head.jaw,
        head.jaw,
        0.50 * head.jaw + 0.42 * mh,
        0.70 * mh,
        (0.36 + 0.36 * b) * mh,
    )
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
    body.add(skull, "trunk", material="face", blend=0.16 * length, detail=0.55, bone="head")
    if head.cheek > 0.0:
        turn = frame(forward)
        centre = start + length * (
            0.62 * sw * turn[0] - 0.35 * head.jaw * turn[1] + 0.5 * eye * forward
        )
        body.add(
            Ellipsoid(
                centre,
                (head.cheek * length, 0.9 * head.jaw * length, 0.22 * length),
                axis=forward + 0.25 * turn[0],
            ),
            "trunk",
            material="cheek",
            blend=0.12 * length,
            detail=0.6,
            bone="head",
        )
    return skull


def _eyes(body: Anatomy, head: Head, skull: Loft, place: Place, length: float) -> None:
    """Eyes sit on the surface of the skull, above its middle, beside the bridge of the nose."""
    along = 1.0 - head.muzzle + 0.01
    up = 0.42 * head.skull_height
    sides = np.linspace(0.02, 1.5 * head.skull_width, 160)
    line = np.stack([place(s, up, along) for s in sides])
    outside = skull.distance(line)
    edge = sides[int(np.argmax(outside > 0.0))] if (outside > 0.0).any() else head.skull_width
    radius = head.eye * length
    centre = place(float(edge) - 0.5 * head.eye, up, along)
    body.add(
        Ellipsoid(centre, (radius, radius, radius)),
        "trunk",
        material="eye",
        blend=0.08 * radius,
        detail=0.28,
        bone="head",
    )


def _nose(body: Anatomy, head: Head, place: Place, forward: Array, length: float) -> None:
    """A dark pad (dogs, cats, bears), a flat disc (pigs) or nostrils (the others)."""
    wide, tall = head.muzzle_width * length, head.muzzle_height * length
    front = 1.0 + 0.6 * (0.035 + 0.035 * head.blunt)
    match head.nose:
        case "pad":
            centre = place(0.0, (0.30 + 0.06 * head.blunt) * head.muzzle_height, front)
            radii = (0.50 * wide, 0.40 * wide, 0.40 * wide)
            body.add(
                Ellipsoid(centre, radii, axis=forward),
                "trunk",
                material="nose",
                blend=0.06 * wide,
                detail=0.40,
                bone="head",
            )
        case "disc":
            centre = place(0.0, -0.04 * head.muzzle_height, front)
            body.add(
                Ellipsoid(centre, (1.02 * wide, 0.62 * tall, 0.035 * length), axis=forward),
                "trunk",
                material="nose",
                blend=0.02 * length,
                detail=0.5,
                bone="head",
            )
        case "nostrils":
            centre = place(0.66 * head.muzzle_width, 0.22 * head.muzzle_height, front - 0.05)
            body.add(
                Ellipsoid(centre, (0.34 * wide, 0.13 * tall, 0.035 * length), axis=forward),
                "trunk",
                material="nose",
                action="paint",
                detail=0.45,
                bone="head",
            )


def _ear(body: Anatomy, head: Head, place: Place, turn: Array, length: float) -> None:
    if head.ear == "none":
        return
    spread = np.radians(head.ear_spread)
    long, wide = head.ear_length * length, 0.5 * head.ear_width * length
    back = 0.30 * (1.0 - head.muzzle)
    root = place(0.62 * head.skull_width, 0.78 * head.skull_height, back)
    direction = vector(np.sin(spread), np.cos(spread), -0.12)
    match head.ear:
        case "pointed":
            facing = vector(0.35, 0.0, 1.0)
            _cupped_ear(body, root, direction, facing, long, wide, sharp=0.10)
        case "round":
            facing = vector(0.3, 0.0, 1.0)
            _cupped_ear(body, root, direction, facing, long, wide, sharp=0.75)
        case "leaf":
            facing = vector(0.25, 0.1, 1.0)
            _cupped_ear(body, root, direction, facing, long, wide, sharp=0.22, middle=1.2)
        case "flop":
            root = place(0.86 * head.skull_width, 0.62 * head.skull_height, back)
            body.joint("left_ear", "head", root)
            tip = root + long * vector(0.30, -0.88, 0.22)
            body.chain("left_ear", ["left_ear"], tip)
            body.add(
                Cone(root, 0.4 * root + 0.6 * tip, 0.55 * wide, wide, flat=0.34),
                "left_ear",
                material="ear",
                blend=0.4 * wide,
                detail=0.6,
            )
            body.add(
                Cone(0.4 * root + 0.6 * tip, tip, wide, 0.6 * wide, flat=0.30),
                "left_ear",
                material="ear",
                blend=0.3 * wide,
                detail=0.6,
            )
        case "fan":
            root = place(0.92 * head.skull_width, 0.35 * head.skull_height, 0.34)
            body.joint("left_ear", "head", root)
            out = vector(0.66, -0.06, -0.75)
            body.chain("left_ear", ["left_ear"], root + long * out)
            thick = 0.055 * long
            lobes = ((0.46, 0.10, 0.52, 0.50), (0.50, -0.28, 0.40, 0.46), (0.18, 0.05, 0.34, 0.40))
            for along, up, half, tall in lobes:
                centre = root + long * (along * out + vector(0.0, up, 0.0))
                body.add(
                    Ellipsoid(
                        centre,
                        (thick, tall * long, half * long),
                        axis=out,
                        side=(float(out[2]), 0.0, -float(out[0])),
                    ),
                    "left_ear",
                    material="ear",
                    blend=0.05 * long,
                    detail=0.75,
                )


def _cupped_ear(
    body: Anatomy,
    root: Array,
    direction: Array,
    facing: Array,
    long: float,
    wide: float,
    *,
    sharp: float,
    middle: float = 0.86,
) -> None:
    """An upright ear: a flat cone, hollow in front."""
    up = direction / np.linalg.norm(direction)
    look = facing - np.dot(facing, up) * up
    look /= np.linalg.norm(look)
    across = np.asarray(np.cross(up, look), float)
    body.joint("left_ear", "head", root)
    tip = root + long * up
    body.chain("left_ear", ["left_ear"], tip)
    centre = root + 0.42 * long * up
    thin = 0.42
    body.add(
        Cone(
            root - 0.08 * long * up,
            centre,
            wide / thin * 0.42,
            middle * wide / thin * 0.42,
            flat=thin,
            side=look,
        ),
        "left_ear",
        material="ear",
        blend=0.35 * wide,
        detail=0.5,
    )
    body.add(
        Cone(
            centre,
            tip,
            middle * wide / thin * 0.42,
            max(sharp, 0.10) * wide / thin * 0.42,
            flat=thin,
            side=look,
        ),
        "left_ear",
        material="ear",
        blend=0.15 * wide,
        detail=0.36,
    )
    hollow = root + 0.46 * long * up + 0.52 * wide * look
    body.add(
        Ellipsoid(hollow, (0.66 * wide, 0.40 * wide, 0.42 * long), axis=up, side=across),
        "left_ear",
        material="ear_inner",
        blend=0.10 * wide,
        detail=0.45,
        action="carve",
    )


def _horns(body: Anatomy, head: Head, place: Place, turn: Array, length: float) -> None:
    size = head.horn_length * length
    if head.horns == "none" or size <= 0.0:
        return
    back = 0.42 * (1.0 - head.muzzle)
    root = place(0.42 * head.skull_width, 0.86 * head.skull_height, back)
    match head.horns:
        case "cow":
            curve = ((0, 0, 0), (0.42, 0.10, 0.0), (0.72, 0.36, 0.12), (0.74, 0.72, 0.26))
            thick = (0.13, 0.11, 0.075, 0.03)
        case "goat":
            curve = ((0, 0, 0), (0.06, 0.40, -0.12), (0.16, 0.66, -0.46), (0.28, 0.62, -0.86))
            thick = (0.12, 0.11, 0.08, 0.035)
        case "tusks":
            root = place(0.42 * head.skull_width, -0.55 * head.jaw, 0.90)
            curve = ((0, 0, 0), (0.06, -0.36, 0.20), (0.08, -0.56, 0.50), (0.02, -0.54, 0.86))
            thick = (0.085, 0.08, 0.065, 0.03)
        case "antlers":
            curve = ((0, 0, 0), (0.16, 0.30, -0.16), (0.36, 0.62, -0.16), (0.34, 1.0, 0.06))
            thick = (0.045, 0.042, 0.038, 0.026)
            points = [root + size * np.array(c) for c in curve]
            for start, tine in (
                (0.35, (0.10, 0.20, 0.30)),
                (1.6, (0.12, 0.26, 0.24)),
                (2.2, (-0.02, 0.26, -0.22)),
            ):
                low = int(start)
                a = points[low] + (start - low) * (points[low + 1] - points[low])
                body.add(
                    Cone(a, a + size * np.array(tine), 0.036 * size, 0.022 * size),
                    "trunk",
                    material="horn",
                    blend=0.02 * size,
                    detail=0.42,
                    bone="head",
                )
    points = [root + size * np.array(c) for c in curve]
    body.add(
        Tube(points, [t * size for t in thick], bent=True),
        "trunk",
        material="horn",
        blend=0.03 * size,
        detail=0.5,
        bone="head",
    )


def _proboscis(body: Anatomy, p: Quadruped, root: Array, length: float) -> None:
    """An elephant's trunk: six bones that hang down and curl forward at the end."""
    count = 6
    step = p.proboscis * p.height / count
    lean = np.radians(np.array((48.0, 14.0, -4.0, -6.0, 10.0, 38.0)))
    places = [root]
    for angle in lean:
        places.append(places[-1] + step * vector(0.0, -np.cos(angle), np.sin(angle)))
    parent = "head"
    for number, place in enumerate(places[:-1], 1):
        body.joint(f"trunk_{number}", parent, place)
        parent = f"trunk_{number}"
    body.chain("proboscis", [f"trunk_{i + 1}" for i in range(count)], places[-1])
    thick = np.linspace(0.30, 0.095, count + 1) * length
    body.add(Tube(places, thick, bent=True, finer=3), "proboscis", blend=0.2 * length, detail=0.75)
