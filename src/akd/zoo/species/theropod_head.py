"""Heads of theropods: a skull, a lower jaw on its own joint, and a beak for birds."""

from __future__ import annotations

from functools import partial

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
    add = partial(body.add, group="trunk", bone="head")

    def place(side: float, up: float, along: float) -> Array:
        return start + length * (side * turn[0] + up * turn[1] + along * look)

    sw, sh, jaw = head.skull.width, head.skull.height, head.skull.jaw
    mw, mh, muzzle = head.skull.muzzle_width, head.skull.muzzle_height, head.skull.muzzle
    hinge = place(0.0, -0.35 * jaw, 0.22)
    body.joint("jaw", "head", hinge)
    gape = np.radians(9.0 if p.feathers == "none" else 3.0)
    chin = hinge + length * 0.74 * (np.cos(gape) * look - np.sin(gape) * turn[1])
    body.chain("jaw", ["jaw"], chin)
    beak = p.beaked
    eye = 1.0 - muzzle
    at = (0.0, 0.5 * eye, eye, eye + 0.35 * muzzle, eye + 0.75 * muzzle, 1.0)
    width = (0.78 * sw, sw, 0.95 * sw, 0.35 * sw + 0.65 * mw, mw, 0.70 * mw)
    up = (0.70 * sh, 0.98 * sh, sh, 0.35 * sh + 0.62 * mh, 0.92 * mh, 0.58 * mh)
    skull = Loft(
        start,
        start + 0.96 * length * look,
        at,
        [w * length for w in width],
        [u * length for u in up],
        [d * jaw * length for d in (0.7, 0.75, 0.55, 0.36, 0.30, 0.26)],
        cap=(0.10 * length, 0.05 * length),
        boxy=2.3,
    )
    cover = {"ostrich": "skin", "bird": "feather"}.get(p.feathers, "face")
    add(skull, material=cover, blend=0.07 * length, detail=0.55)
    lower = Loft(
        hinge - 0.10 * length * look - 0.10 * jaw * length * turn[1],
        chin,
        (0.0, 0.4, 0.8, 1.0),
        [w * length for w in (0.80 * sw, 0.62 * sw + 0.2 * mw, 0.86 * mw, 0.52 * mw)],
        [u * length * jaw for u in (0.35, 0.22, 0.16, 0.12)],
        [d * length * jaw for d in (0.80, 0.62, 0.42, 0.22)],
        cap=(0.05 * length, 0.04 * length),
    )
    body.add(lower, "jaw", material="horn" if beak else "jaw", blend=0.03 * length, detail=0.6)
    if beak:
        ends = (place(0.0, 0.02, eye + 0.25 * muzzle), place(0.0, -0.02, 1.02))
        bill = Tube(ends, (0.75 * mw * length, 0.32 * mw * length), flat=1.25)
        add(bill, material="horn", blend=0.03 * length, detail=0.5)
    else:
        size = 0.035 * length
        nostril = Ellipsoid(place(0.5 * mw, 0.55 * mh, 0.93), (size, size, size))
        add(nostril, material="nose", action="paint", detail=0.5)
    radius = head.eye * length
    ball = Ellipsoid(place(0.86 * sw, 0.52 * sh, eye - 0.02), (radius, radius, radius))
    add(ball, material="eye", blend=0.1 * radius, detail=0.34)
    if not beak:
        ends = (place(0.62 * sw, 0.86 * sh, eye - 0.08), place(0.66 * sw, 0.80 * sh, eye + 0.10))
        brow = Tube(ends, (0.05 * length, 0.042 * length))
        add(brow, material="face", blend=0.05 * length, detail=0.5)
