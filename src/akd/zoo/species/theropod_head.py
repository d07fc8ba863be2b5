"""Heads of theropods: a skull, a lower jaw on its own joint, and a beak for birds."""

from __future__ import annotations

import numpy as np

from akd.zoo.mesh.shapes import Array, Ellipsoid, Loft, Tube, frame
from akd.zoo.species.anatomy import Anatomy
from akd.zoo.species.parameters import Theropod


def add_theropod_head(body: Anatomy, p: Theropod, base: Array, look: Array) -> None:
    """Upper skull on `head`, lower jaw on its own joint `jaw`."""
    head, h = p.head, p.height
    length = head.length * h
    turn = frame(look)
    start = base - 0.08 * length * look

    def place(side: float, up: float, along: float) -> Array:
        return start + length * (side * turn[0] + up * turn[1] + along * look)

    hinge = place(0.0, -0.35 * head.jaw, 0.22)
    body.joint("jaw", "head", hinge)
    gape = np.radians(9.0 if p.feathers == "none" else 3.0)
    chin = hinge + length * 0.74 * (np.cos(gape) * look - np.sin(gape) * turn[1])
    body.chain("jaw", ["jaw"], chin)
    beak = p.feathers == "ostrich"
    eye = 1.0 - head.muzzle
    at = (0.0, 0.5 * eye, eye, eye + 0.35 * head.muzzle, eye + 0.75 * head.muzzle, 1.0)
    sw, sh, mw, mh = (
        head.skull_width,
        head.skull_height,
        head.muzzle_width,
        head.muzzle_height,
    )
    width = (0.78 * sw, sw, 0.95 * sw, 0.35 * sw + 0.65 * mw, mw, 0.70 * mw)
    up = (0.70 * sh, 0.98 * sh, sh, 0.35 * sh + 0.62 * mh, 0.92 * mh, 0.58 * mh)
    down = (
        0.7 * head.jaw,
        0.75 * head.jaw,
        0.55 * head.jaw,
        0.36 * head.jaw,
        0.30 * head.jaw,
        0.26 * head.jaw,
    )
    body.add(
        Loft(
            start,
            start + 0.96 * length * look,
            at,
            [w * length for w in width],
            [u * length for u in up],
            [d * length for d in down],
            cap=(0.10 * length, 0.05 * length),
            boxy=2.3,
        ),
        "trunk",
        material="skin" if beak else "face",
        blend=0.07 * length,
        detail=0.55,
        bone="head",
    )
    jaw_start = hinge - 0.10 * length * look - 0.10 * head.jaw * length * turn[1]
    body.add(
        Loft(
            jaw_start,
            chin,
            (0.0, 0.4, 0.8, 1.0),
            [w * length for w in (0.80 * sw, 0.62 * sw + 0.2 * mw, 0.86 * mw, 0.52 * mw)],
            [u * length * head.jaw for u in (0.35, 0.22, 0.16, 0.12)],
            [d * length * head.jaw for d in (0.80, 0.62, 0.42, 0.22)],
            cap=(0.05 * length, 0.04 * length),
        ),
        "jaw",
        material="horn" if beak else "jaw",
        blend=0.03 * length,
        detail=0.6,
    )
    if beak:
        tip = place(0.0, -0.02, 1.02)
        body.add(
            Tube(
                (place(0.0, 0.02, eye + 0.25 * head.muzzle), tip),
                (0.75 * mw * length, 0.32 * mw * length),
                flat=1.25,
            ),
            "trunk",
            material="horn",
            blend=0.03 * length,
            detail=0.5,
            bone="head",
        )
    else:
        body.add(
            Ellipsoid(
                place(0.5 * mw, 0.55 * mh, 0.93), (0.035 * length, 0.035 * length, 0.035 * length)
            ),
            "trunk",
            material="nose",
            action="paint",
            detail=0.5,
            bone="head",
        )
    spot = place(0.86 * sw, 0.52 * sh, eye - 0.02)
    radius = head.eye * length
    body.add(
        Ellipsoid(spot, (radius, radius, radius)),
        "trunk",
        material="eye",
        blend=0.1 * radius,
        detail=0.34,
        bone="head",
    )
    if p.feathers != "ostrich":
        brow = (place(0.62 * sw, 0.86 * sh, eye - 0.08), place(0.66 * sw, 0.80 * sh, eye + 0.10))
        body.add(
            Tube(brow, (0.05 * length, 0.042 * length)),
            "trunk",
            material="face",
            blend=0.05 * length,
            detail=0.5,
            bone="head",
        )
