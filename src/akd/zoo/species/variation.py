"""Individuals: a species' parameters, varied by a seed within plausible bounds."""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any

import numpy as np

from akd.zoo.species.parameters import Fish, Parameters, Serpent
from akd.zoo.species.parts import Clothes, Coat, Colour

_SPREAD = 0.09
"""Standard deviation of a proportion, relative."""
_LEAN = 4.5
"""Standard deviation of an angle, degrees."""
_KEPT = frozenset({"actions", "manner", "weight_fore", "fingers"})
_ANGLES = frozenset({"pitch", "neck_pitch", "lean", "curl", "trunk_pitch", "neck_curl"})
_STEADY = frozenset({"top", "croup", "boxy", "shoulder_height", "neck"})
"""Heights that hold the body together vary less."""


def vary(parameters: Parameters, *, species: str, seed: int) -> Parameters:
    """The individual with this seed; seed 0 is the archetype itself."""
    if seed == 0:
        return parameters
    rng = np.random.default_rng((seed, zlib.crc32(species.encode())))
    varied = _vary(parameters, rng)
    size = float(np.exp(0.15 * _normal(rng)))
    if isinstance(parameters, Serpent | Fish):
        return dataclasses.replace(varied, length=parameters.length * size)
    return dataclasses.replace(varied, height=parameters.height * size)


def _normal(rng: np.random.Generator) -> float:
    """A standard normal number, kept within two deviations."""
    return float(np.clip(rng.standard_normal(), -2.0, 2.0))


def _vary(value: Any, rng: np.random.Generator) -> Any:
    """A copy of any dataclass of parameters with its numbers varied."""
    changes: dict[str, object] = {}
    for field in dataclasses.fields(value):
        old = getattr(value, field.name)
        if field.name in _KEPT or isinstance(old, bool):
            continue
        if isinstance(old, Coat | Clothes):
            changes[field.name] = _vary_coat(old, rng)
        elif dataclasses.is_dataclass(old):
            changes[field.name] = _vary(old, rng)
        elif isinstance(old, float | int):
            changes[field.name] = _vary_number(field.name, float(old), rng)
        elif isinstance(old, tuple) and field.name == "angles":
            # Neighbouring segments lean opposite ways, so that the foot stays under the body.
            lean = 0.8 * _LEAN * _normal(rng)
            changes[field.name] = (old[0] + lean, old[1] - lean, old[2] + 0.3 * lean)
        elif isinstance(old, tuple) and all(isinstance(x, float | int) for x in old):
            common = _normal(rng)
            changes[field.name] = tuple(
                x * float(np.exp(_SPREAD * (0.8 * common + 0.5 * _normal(rng)))) for x in old
            )
    return dataclasses.replace(value, **changes)


def _vary_number(name: str, old: float, rng: np.random.Generator) -> float:
    if name in _ANGLES:
        return old + _LEAN * _normal(rng)
    spread = 0.2 * _SPREAD if name in _STEADY else _SPREAD
    return old * float(np.exp(spread * _normal(rng)))


def _vary_coat(coat: Coat | Clothes, rng: np.random.Generator) -> Coat | Clothes:
    """Lighter or darker, redder or greyer; for people every garment on its own."""
    changes: dict[str, Any] = {}
    person = isinstance(coat, Clothes)
    tone, warmth = _normal(rng), _normal(rng)
    for field in dataclasses.fields(coat):
        old = getattr(coat, field.name)
        if field.name == "pattern_scale":
            changes[field.name] = old * float(np.exp(0.15 * _normal(rng)))
        if not (isinstance(old, tuple) and len(old) == 3):
            continue
        if person and field.name in ("shirt", "trousers", "shoes"):
            changes[field.name] = _any_colour(rng, bright=0.5 if field.name == "shirt" else 0.2)
            continue
        if person:
            tone, warmth = _normal(rng), _normal(rng)
            tone *= 2.2
        light = float(np.exp(0.32 * tone + 0.06 * _normal(rng)))
        warm = 0.15 * warmth
        scaled = np.asarray(old) * light * np.array((1.0 + warm, 1.0, 1.0 - warm))
        changes[field.name] = tuple(float(c) for c in np.clip(scaled, 0.003, 0.92))
    return dataclasses.replace(coat, **changes)


def _any_colour(rng: np.random.Generator, *, bright: float) -> Colour:
    """A garment's colour: any hue, from nearly black to `bright`."""
    red, green, blue = np.clip(bright * (0.15 + rng.random(3)) * rng.random() + 0.02, 0.0, 0.9)
    return float(red), float(green), float(blue)
