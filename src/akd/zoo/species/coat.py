"""Colours of the skin: what each part is made of, shading from back to belly, markings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from akd.zoo.mesh.noise import dot_distances, value_noise
from akd.zoo.mesh.shapes import Array, Part, smoothstep
from akd.zoo.species.anatomy import Anatomy
from akd.zoo.species.parameters import Humanoid, Parameters
from akd.zoo.species.parts import Clothes, Coat, Colour

_HAIRY = ("coat", "face", "jaw", "cheek", "ear", "tail", "toe")
"""Materials that wear the coat and its markings."""
_BARE = {
    "nose": ("nose",),
    "eye": ("eye",),
    "hoof": ("hoof",),
    "horn": ("horn",),
    "mane": ("mane", "base"),
    "ear_inner": ("ear_inner", "base"),
    "skin": ("skin", "base"),
    "feather": ("base",),
    "plume": ("tail_tip", "base"),
}
"""Other materials of animals, and the coat's fields that colour them."""
_CLOTHES = {name: (name,) for name in ("skin", "hair", "shirt", "trousers", "shoes", "eye", "lips")}


def paint(
    anatomy: Anatomy, parameters: Parameters, vertices: Array, normals: Array, *, seed: int
) -> Array:
    """Linear RGB of vertices [V, 3] on both halves of the body."""
    left = vertices.copy()
    left[:, 0] = np.abs(left[:, 0])
    height = parameters.height
    share = _materials(anatomy, left, softness=0.0035 * height)
    palette: dict[str, Array] = {}
    match parameters:
        case Humanoid():
            palette = _palette(parameters.look, _CLOTHES)
        case _:
            coat = parameters.coat
            palette = _palette(coat, _BARE)
            fur = _fur(anatomy, coat, vertices, left, normals, share, height, seed)
            palette |= dict.fromkeys(_HAIRY, fur)
    colours = np.zeros((len(vertices), 3))
    for material, amount in share.items():
        colours += amount[:, None] * palette[material]
    # No two square centimetres of an animal are quite the same.
    grain = value_noise(vertices, scale=0.045 * height, seed=seed + 7) - 0.5
    return np.clip(colours * (1.0 + 0.16 * grain[:, None]), 0.0, 1.0)


def _palette(look: Coat | Clothes, materials: Mapping[str, tuple[str, ...]]) -> dict[str, Array]:
    """Colour of each material: the first of its fields that is set."""
    return {
        material: np.asarray(next(c for c in (getattr(look, f) for f in fields) if c is not None))
        for material, fields in materials.items()
    }


def _materials(anatomy: Anatomy, points: Array, *, softness: float) -> dict[str, Array]:
    """How much of each material is at every point; sums to one."""
    candidates: list[tuple[Part, Array]] = []
    for part in anatomy.parts:
        distance = np.full(len(points), np.inf)
        low, high = part.shape.bounds()
        margin = part.blend + 6.0 * softness
        near = ((points > low - margin) & (points < high + margin)).all(axis=1)
        if near.any():
            distance[near] = part.shape.distance(points[near])
        candidates.append((part, distance))
    # A coarse mesh can have vertices that are near no part: these take the nearest one's material.
    far = np.isinf([d for p, d in candidates if p.action != "paint"]).all(axis=0)
    if far.any():
        for part, distance in candidates:
            distance[far] = part.shape.distance(points[far])
    # A hollow shows its own lining, not what it was carved from.
    solid = [
        (p, d if p.action == "add" else np.abs(d) - 1.5 * softness)
        for p, d in candidates
        if p.action != "paint"
    ]
    least = np.min([d for _, d in solid], axis=0)
    share: dict[str, Array] = {}
    for part, distance in solid:
        amount = np.exp(-np.minimum((distance - least) / softness, 50.0))
        share[part.material] = np.maximum(share.get(part.material, 0.0), amount)
    total = np.sum(list(share.values()), axis=0)
    share = {material: amount / total for material, amount in share.items()}
    for part, distance in candidates:
        if part.action == "paint":
            cover = _step(0.5 * softness, -0.5 * softness, distance)
            share = {material: amount * (1.0 - cover) for material, amount in share.items()}
            share[part.material] = share.get(part.material, 0.0) + cover
    return share


def _step(start: float | Array, end: float | Array, value: Array) -> Array:
    """0 at `start`, 1 at `end`, smooth between."""
    return smoothstep(np.clip((value - start) / (end - start), 0.0, 1.0))


def _mix(colours: Array, other: Colour | None, amount: Array) -> Array:
    if other is None:
        return colours
    return colours + amount[:, None] * (np.asarray(other) - colours)


def _fur(
    anatomy: Anatomy,
    coat: Coat,
    vertices: Array,
    left: Array,
    normals: Array,
    share: dict[str, Array],
    height: float,
    seed: int,
) -> Array:
    """The coat alone, as if the whole animal wore it."""
    colours = np.tile(np.asarray(coat.base, float), (len(vertices), 1))
    wobble = value_noise(left, scale=0.12 * height, seed=seed) - 0.5
    up = normals[:, 1] + 0.35 * wobble
    legs = _group_share(anatomy, left, 0.02 * height, ("left_fore", "left_hind", "left_leg"))
    tail = _group_share(anatomy, left, 0.02 * height, ("tail",))
    trunk = np.clip(1.0 - legs - tail, 0.0, 1.0)
    colours = _mix(colours, coat.back, (1.0 - legs) * _step(0.25, 0.85, up))
    colours = _mix(colours, coat.belly, trunk * _step(-0.25, -0.70, up))
    if coat.belly is not None:
        inner = _step(-0.2, -0.8, normals[:, 0] * np.sign(vertices[:, 0]))
        colours = _mix(colours, coat.belly, 0.55 * legs * inner)
    colours = _markings(coat, colours, vertices, normals, legs, height, seed)
    colours = _mix(colours, coat.face, _lower_face(anatomy, left, normals, share, wobble, height))
    ears = share.get("ear", np.zeros(len(vertices)))
    colours = _mix(colours, coat.ear_back, ears * _ear_height(anatomy, left))
    if coat.sock_height > 0.0:
        socks = _step(
            coat.sock_height * 1.12, coat.sock_height * 0.88, left[:, 1] / height + 0.05 * wobble
        )
        colours = _mix(colours, coat.socks, legs * socks)
    if "tail" in anatomy.chains:
        along = _along_chain(anatomy, "tail", left) + 0.10 * wobble
        colours = _mix(colours, coat.tail_tip, tail * _step(0.70, 0.78, along))
    return colours


def _group_share(
    anatomy: Anatomy, points: Array, softness: float, groups: tuple[str, ...]
) -> Array:
    """1 on the given groups of parts, 0 on the others, blended over `softness`."""
    mine, others = np.full(len(points), np.inf), np.full(len(points), np.inf)
    for part in anatomy.parts:
        if part.action != "add":
            continue
        distance = part.shape.distance(points)
        if part.group in groups:
            mine = np.minimum(mine, distance)
        else:
            others = np.minimum(others, distance)
    return np.asarray(_step(-softness, softness, np.clip(others - mine, -1.0, 1.0)))


def _along_chain(anatomy: Anatomy, group: str, points: Array) -> Array:
    """Place along a chain of bones, 0 at its root and 1 at its end."""
    bones = anatomy.chains[group]
    lengths = [float(np.linalg.norm(b - a)) for _, a, b in bones]
    best, place = np.full(len(points), np.inf), np.zeros(len(points))
    before = 0.0
    for (_, a, b), length in zip(bones, lengths, strict=True):
        t = (points - a) @ (b - a) / length**2
        inside = np.clip(t, 0.0, 1.0)
        distance = np.linalg.norm(points - a - inside[:, None] * (b - a), axis=1)
        nearer = distance < best
        place = np.where(nearer, before + t * length, place)
        best = np.minimum(best, distance)
        before += length
    return place / before


def _ear_height(anatomy: Anatomy, points: Array) -> Array:
    if "left_ear" not in anatomy.chains:
        return np.zeros(len(points))
    return _step(0.15, 0.55, _along_chain(anatomy, "left_ear", points))


def _lower_face(
    anatomy: Anatomy,
    points: Array,
    normals: Array,
    share: dict[str, Array],
    wobble: Array,
    height: float,
) -> Array:
    """The pale part of a face: below a line from the nose through the eye to under the ear, and the
    throat and breast below it."""
    if not {"head", "neck_1"} <= set(anatomy.names):
        return np.zeros(len(points))
    _, a, b = anatomy.chains["trunk"][-1]
    forward = (b - a) / np.linalg.norm(b - a)
    up = np.cross(forward, (1.0, 0.0, 0.0))
    up = up if up[1] > 0 else -up
    size = float(np.linalg.norm(b - a))
    along, above = (points - a) @ forward / size, (points - a) @ up / size
    head = share.get("face", 0.0) + share.get("cheek", 0.0)
    face = head * _step(0.02, -0.03, above - 0.02 * along + 0.06 * wobble)
    neck = anatomy.position("neck_1")
    ahead = _step(-0.02, 0.10, (points[:, 2] - neck[2]) / height + 0.10 * wobble)
    below = normals @ np.array((0.0, -0.45, 0.9))
    throat = share.get("coat", 0.0) * ahead * _step(0.25, -0.25, above)
    throat = throat * _step(0.30, 0.70, below + 0.3 * wobble)
    return np.clip(face + throat, 0.0, 1.0)


def _markings(
    coat: Coat,
    colours: Array,
    vertices: Array,
    normals: Array,
    legs: Array,
    height: float,
    seed: int,
) -> Array:
    size = coat.pattern_scale * height
    match coat.pattern:
        case "plain":
            return colours
        case "stripes" | "bands":
            # Stripes run round the body: across z on trunk and tail, across y on the legs.
            bend = value_noise(vertices, scale=1.6 * size, seed=seed + 1) - 0.5
            fine = value_noise(vertices, scale=0.7 * size, seed=seed + 2) - 0.5
            axis = (1.0 - legs) * (vertices[:, 2] - 0.25 * vertices[:, 1]) + legs * vertices[:, 1]
            wave = np.sin(2 * np.pi * (axis / size + 0.9 * bend + 0.25 * fine))
            if coat.pattern == "bands":
                amount = _step(-0.15, 0.15, wave)
                amount = amount * (1.0 - _step(-0.55, -0.9, normals[:, 1]))
            else:
                thin = 0.35 + 0.5 * _step(0.5, -0.6, normals[:, 1]) + 0.5 * fine
                amount = _step(thin, thin + 0.25, wave)
            return _mix(colours, coat.pattern_colour, np.asarray(amount))
        case "spots":
            dots, _ = dot_distances(vertices, scale=size, seed=seed + 1)
            amount = _step(0.42, 0.34, dots) * (1.0 - _step(-0.4, -0.9, normals[:, 1]))
            return _mix(colours, coat.pattern_colour, amount)
        case "cells":
            first, second = dot_distances(vertices, scale=size, seed=seed + 1)
            amount = _step(0.08, 0.20, second - first) * (1.0 - _step(-0.4, -0.9, normals[:, 1]))
            return _mix(colours, coat.pattern_colour, amount)
        case "patches":
            lumps = value_noise(vertices, scale=size, seed=seed + 1)
            lumps = lumps + 0.25 * (value_noise(vertices, scale=0.4 * size, seed=seed + 2) - 0.5)
            amount = _step(0.50, 0.54, lumps) * (1.0 - 0.9 * legs)
            return _mix(colours, coat.pattern_colour, np.asarray(amount))
