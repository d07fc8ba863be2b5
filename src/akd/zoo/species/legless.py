"""Anatomy of snakes and fish: a spine that does all the work."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from akd.zoo.mesh.shapes import Array, Cone, Ellipsoid, Loft, Tube, vector
from akd.zoo.species.anatomy import Anatomy
from akd.zoo.species.parameters import Fish, Serpent

_SPINE, _TAIL = 7, 6


def build_serpent(p: Serpent) -> Anatomy:
    """Joints and flesh of a snake, straight on the ground, its middle over the origin."""
    body = Anatomy()
    length, r = p.length, p.radius * p.length
    at = np.linspace(0.0, 0.42, _SPINE + 3)
    body.joint("root", None, (0.0, 0.0, 0.0))
    names = ["pelvis", *(f"spine_{i + 1}" for i in range(_SPINE)), "neck_1", "head"]
    places = [vector(0.0, 0.95 * r, t * length) for t in at]
    body.string(names, "root", places)
    nose = vector(0.0, 0.95 * r, 0.5 * length)
    body.chain("trunk", names, nose)
    back = [vector(0.0, 0.95 * r, -t * length) for t in np.linspace(0.0, 0.5, _TAIL + 2)[1:]]
    body.limb("tail", "pelvis", [str(i + 1) for i in range(_TAIL)], back[:-1], back[-1])
    t = np.linspace(-0.5, 0.44, 12)
    thick = r * np.interp(t, (-0.5, -0.35, -0.15, 0.15, 0.34, 0.44), (0.12, 0.6, 1, 1, 0.8, 0.62))
    line = [vector(0.0, 0.95 * r, z * length) for z in t]
    front = [i for i, z in enumerate(t) if z > -0.05]
    rear = [i for i, z in enumerate(t) if z <= 0.06]
    for group, rows in (("trunk", front), ("tail", rear)):
        tube = Tube([line[i] for i in rows], thick[rows], flat=1.08)
        body.add(tube, group, material="coat" if group == "trunk" else "tail", blend=0.4 * r)
    add = partial(body.add, group="trunk", bone="head")
    centre = vector(0.0, 1.0 * r, 0.455 * length)
    add(Ellipsoid(centre, (0.95 * r, 0.62 * r, 0.045 * length)), material="face", blend=0.3 * r,
        detail=0.6)  # fmt: skip
    if p.hood > 0.0:
        hood = Ellipsoid(
            vector(0.0, 0.95 * r, 0.385 * length), (p.hood * r, 0.42 * r, 0.055 * length)
        )
        body.add(hood, "trunk", blend=0.4 * r, detail=0.7)
    eye = centre + vector(0.72 * r, 0.30 * r, 0.012 * length)
    add(Ellipsoid(eye, (0.16 * r, 0.16 * r, 0.16 * r)), material="eye", detail=0.4)
    return body


def build_fish(p: Fish) -> Anatomy:
    """Joints and flesh of a fish above the ground, its middle over the origin."""
    body = Anatomy()
    length, deep, wide = p.length, 0.5 * p.depth * p.length, 0.5 * p.width * p.length
    fin = p.fin * length
    axis = deep + 0.55 * fin + 0.02 * length

    def at(t: float, up: float = 0.0, side: float = 0.0) -> Array:
        """A point by its place from the tail's root (-0.5) to the nose (0.5), in lengths."""
        return vector(side, axis + up, t * length)

    body.joint("root", None, (0.0, 0.0, 0.0))
    names = ("pelvis", "spine_1", "spine_2", "head")
    body.string(names, "root", [at(t) for t in (0.02, 0.12, 0.20, 0.28)])
    body.chain("trunk", names, at(0.5))
    tail = (-0.08, -0.18, -0.28, -0.37)
    body.limb("tail", "pelvis", [str(i + 1) for i in range(4)], [at(t) for t in tail], at(-0.52))
    stations = np.array((-0.40, -0.28, -0.10, 0.10, 0.28, 0.42, 0.50))
    girth = np.array((0.16, 0.42, 0.86, 1.0, 0.90, 0.58, 0.22))
    for group, low, high in (("tail", -0.40, 0.06), ("trunk", -0.04, 0.50)):
        rows = np.linspace(low, high, 7)
        size = np.interp(rows, stations, girth)
        loft = Loft(
            at(low), at(high), (rows - low) / (high - low), wide * size, deep * size,
            deep * size * np.interp(rows, (-0.4, 0.2, 0.5), (1.0, 1.0, 0.8)),
            cap=(0.03 * length, 0.03 * length),
        )  # fmt: skip
        body.add(loft, group, blend=0.02 * length)
    _fins(body, p, at, deep, wide, fin)
    eye = 0.032 * length * p.eye
    place = at(0.40, 0.22 * deep, 0.60 * wide)
    body.add(Ellipsoid(place, (0.6 * eye, eye, eye)), "trunk", material="eye", detail=0.4,
             bone="head")  # fmt: skip
    return body


def _fins(
    body: Anatomy, p: Fish, at: Callable[..., Array], deep: float, wide: float, fin: float
) -> None:
    length = p.length
    thin = 0.010 * length
    vane = partial(Cone, side=(0.0, 0.0, 1.0))
    for up in (1.0, -1.0):
        # The two lobes of the tail fin.
        lobe = 1.0 if up > 0 else p.lobes
        tip = at(-0.56, up * lobe * 1.15 * fin)
        shape = Cone(at(-0.40), tip, 1.2 * thin, thin, flat=4.0, side=(0.0, 0.0, 1.0))
        body.add(shape, "tail", material="mane", blend=thin, detail=0.8, bone="tail_4")
    top = vane(at(0.06, 0.75 * deep), at(-0.05, deep + 0.85 * fin), 1.3 * thin, thin, flat=7.0)
    body.add(top, "trunk", material="mane", blend=thin, detail=0.8, bone="pelvis")
    low = vane(at(-0.16, -0.45 * deep), at(-0.24, -deep - 0.30 * fin), 1.2 * thin, thin, flat=4.0)
    body.add(low, "tail", material="mane", blend=thin, detail=0.8, bone="tail_1")
    root = at(0.22, -0.30 * deep, 0.80 * wide)
    elbow = root + fin * vector(0.55, -0.25, -0.30)
    tip = root + fin * vector(1.05, -0.42, -0.70)
    body.limb("left_fin", "spine_2", ("upper", "lower"), (root, elbow), tip)
    shape = Tube(
        (root, elbow, tip), (1.3 * thin, 1.1 * thin, thin), flat=(3.0, 5.0, 3.5),
        side=(0.0, -0.3, 1.0),
    )  # fmt: skip
    body.add(shape, "left_fin", material="mane", blend=thin, detail=0.75)
