"""Fits the pose sheets of flight to a body: attitude, altitude, wing beat and speed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from akd.zoo.acts.act import Act
from akd.zoo.acts.wings import STROKE
from akd.zoo.creature import Creature
from akd.zoo.gait.footfalls import hip_height
from akd.zoo.gait.wings import beat_frequency, flight_speed, wing_span
from akd.zoo.species.parameters import Theropod


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


_TRAILING = (
    ("leg", "ahead", -0.55), ("leg", "up", 0.30), ("leg", "pitch", 70.0),
    ("fore", "ahead", -0.20), ("fore", "up", 0.12), ("fore", "pitch", 60.0),
    ("hind", "ahead", -0.50), ("hind", "up", 0.20), ("hind", "pitch", 75.0),
)  # fmt: skip
