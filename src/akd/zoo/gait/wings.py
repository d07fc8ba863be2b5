"""Wings: how they fold against the body, how fast they beat, and how a body flies by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from akd.base.constants import GRAVITY
from akd.zoo.acts.act import Act
from akd.zoo.acts.others import STROKE
from akd.zoo.creature import Creature
from akd.zoo.gait.carriage import Turns
from akd.zoo.gait.footfalls import hip_height
from akd.zoo.gait.puppet import Puppet
from akd.zoo.mesh.shapes import Array
from akd.zoo.species.parameters import Quadruped, Theropod

_FOLDED = {
    "upper": ((0.42, -0.70, 0.05), (-0.60, 0.10, -0.80)),
    "lower": ((0.02, 0.10, -1.0), (-0.90, 0.42, 0.0)),
    "hand": ((-0.14, -0.16, -0.98), (-0.92, 0.40, 0.0)),
}
"""Of a folded left wing's segments: where its span and its trailing edge point."""
_HALF_FOLDED = {
    "upper": ((0.35, 0.78, -0.52), (0.0, -0.50, -0.86)),
    "lower": ((0.16, -0.22, -0.96), (0.20, -0.96, 0.22)),
    "hand": ((0.00, -0.34, -0.94), (0.25, -0.92, 0.30)),
}
"""The same of a wing above the fore legs, which trails over the back."""
_MIRROR = np.diag((-1.0, 1.0, 1.0))
_AIR = 1.225
"""Density of air, kg/m^3."""
_DENSITY = 380.0
"""Mass over the volume of the outline, which is largely plumage, kg/m^3."""
_STROUHAL = 0.28
"""Tip excursion times frequency over speed in cruising flight: 0.2 to 0.4 in nature (Taylor, Nudds
and Thomas 2003)."""
_TRAILING = (
    ("leg", "ahead", -0.55), ("leg", "up", 0.30), ("leg", "pitch", 70.0),
    ("fore", "ahead", -0.20), ("fore", "up", 0.12), ("fore", "pitch", 60.0),
    ("hind", "ahead", -0.50), ("hind", "up", 0.20), ("hind", "pitch", 75.0),
)  # fmt: skip
"""Where trailing legs are held, as in `Act.feet`."""


def folded_wings(puppet: Puppet) -> Turns:
    """Local rotations of wings folded against the flanks."""
    if "left_wing_upper" not in puppet.index:
        return {}
    folded = _HALF_FOLDED if "left_fore_upper" in puppet.index else _FOLDED
    places = [puppet.place(f"left_wing_{s}") for s in folded]
    hand = places[2] + (places[2] - places[1])
    spans = np.diff(np.stack((*places, hand)), axis=0)
    turns: Turns = {}
    above = np.eye(3)
    for (name, (span, back)), rest in zip(folded.items(), spans, strict=True):
        world = _axes(np.asarray(span), np.asarray(back)) @ _axes(rest, np.array((0, 0, -1.0))).T
        local = above.T @ world
        above = world
        turns[f"left_wing_{name}"] = local
        turns[f"right_wing_{name}"] = _MIRROR @ local @ _MIRROR
    return turns


def _axes(first: Array, second: Array) -> Array:
    """Columns of an orthonormal frame from a direction and one that is roughly across it."""
    x = first / np.linalg.norm(first)
    y = second - (second @ x) * x
    y = y / np.linalg.norm(y)
    return np.stack((x, y, np.cross(x, y)), axis=-1)


def wing_span(creature: Creature) -> float:
    """From tip to tip, metres."""
    x = creature.mesh.vertices[:, 0]
    return float(x.max() - x.min())


def beat_frequency(creature: Creature) -> float:
    """Wing beats a second in cruising flight (Pennycuick 1996): m^3/8 g^1/2 b^-23/24 S^-1/3
    rho^-3/8, with mass m, span b, wing area S and the density of air."""
    p = creature.parameters
    assert isinstance(p, Quadruped | Theropod)
    assert p.wing is not None
    span = wing_span(creature)
    area = 0.85 * span * p.wing.chord * p.height
    # The vanes of the zoo are as thick as its grid needs them, so only the trunk is weighed.
    names = creature.skeleton.names
    light = sum(float(creature.mass[i, 3]) for i, n in enumerate(names) if "_wing_" in n)
    mass = _DENSITY * _volume(creature) * (1.0 - light / float(creature.mass[:, 3].sum()))
    return float(
        mass ** (3 / 8) * GRAVITY**0.5 * span ** (-23 / 24) * area ** (-1 / 3) * _AIR ** (-3 / 8)
    )


def flight_speed(creature: Creature, *, stroke: float) -> float:
    """Cruising speed, metres per second, for wings that beat `stroke` radians to either side."""
    excursion = wing_span(creature) * np.sin(stroke)
    return beat_frequency(creature) * float(excursion) / _STROUHAL


def in_flight(creature: Creature, act: Act) -> tuple[Act, float, float]:
    """A flight sheet for one body: level in the air, with its period and speed."""
    hip, span = hip_height(creature), wing_span(creature)
    up = -0.55 * span / hip
    p = creature.parameters
    level = p.trunk_pitch - 6.0 if isinstance(p, Theropod) else 0.0
    body = {**act.body, "drop": (up,) * len(act.at)}
    turns = {**act.turns, "pelvis.pitch": (level,) * len(act.at)}
    # Legs trail behind.
    feet = {f"{pair}.{name}": (value,) * len(act.at) for pair, name, value in _TRAILING}
    beat = 1.0 / beat_frequency(creature)
    period = beat if act.name == "fly" else max(4.0 * beat, 1.5)
    speed = flight_speed(creature, stroke=np.radians(STROKE))
    return replace(act, body=body, turns=turns, feet=feet), period, speed


def _volume(creature: Creature) -> float:
    """Of the closed mesh, cubic metres."""
    corners = creature.mesh.vertices.double()[creature.mesh.faces]
    a, b, c = corners.unbind(dim=1)
    return float((a * b.cross(c, dim=-1)).sum() / 6.0)
