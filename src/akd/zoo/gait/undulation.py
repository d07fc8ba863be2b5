"""Bodies that move by bending: snakes on the ground, fish in water.

A snake follows its own head: every part of the body passes through the same curve on the ground,
Hirose's serpenoid, whose heading is a sine of the length along it (Hirose 1993), so nothing slips
sideways. A fish swings sideways with an amplitude that grows towards its tail, as measured on
saithe (Videler and Hess 1984): 0.02 of its length at the nose, least behind the head, 0.1 at the
tail, in a wave about as long as the fish.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import cumulative_trapezoid

from akd.zoo.creature import Creature
from akd.zoo.gait.puppet import Posed, Puppet, bend, turn_y
from akd.zoo.gait.style import Style
from akd.zoo.mesh.shapes import Array
from akd.zoo.species.parameters import Fish, Serpent

_HEADING = 0.80
"""Greatest heading of a snake's body to either side, radians."""
_SNAKE_WAVE = 0.62
"""Length of a wave along the body, over the snake's length."""
_STROUHAL = 0.30
"""Tail beat (0.2 of the length, peak to peak) times frequency over speed (Triantafyllou 1993)."""
_LOOKS_AHEAD = 0.6
"""How much of the body's bending the head does not take part in."""


def undulation_period(creature: Creature) -> float:
    """Duration of a wave, seconds: tail beats slow down with the root of the length."""
    p = creature.parameters
    assert isinstance(p, Serpent | Fish)
    return 1.15 * (p.length / 1.2) ** 0.5 if isinstance(p, Serpent) else 0.9 * p.length**0.5


def pose_undulation(
    creature: Creature, puppet: Puppet, phase: Array, style: Style
) -> tuple[Posed, float]:
    """Poses at phases of the wave, starting at the origin, and the distance that a wave travels."""
    p = creature.parameters
    assert isinstance(p, Serpent | Fish)
    swing = style.sway**0.4
    if isinstance(p, Serpent):
        curve = _Serpenoid(_HEADING * swing, _SNAKE_WAVE * p.length)
    else:
        curve = _Carangiform(swing, p.length)
    posed = Posed.empty(puppet, len(phase))
    root, pelvis = puppet.index["root"], puppet.index["pelvis"]
    travelled = curve.stride * (phase - phase[0])
    posed.position[:, root, 2] = travelled
    middle = puppet.place("pelvis")
    x, z = curve.place(middle[2], phase)
    # About the mean of a wave, so that the root stays in the middle of the body.
    posed.position[:, pelvis] = np.stack((x, np.full_like(x, middle[1]), z + travelled), axis=-1)
    posed.rotation[:, pelvis] = turn_y(curve.heading(middle[2], phase))
    for joint, name in enumerate(puppet.names):
        if joint in (root, pelvis):
            continue
        if "_fin_" in name:
            side = 1.0 if name.startswith("left") else -1.0
            flap = np.radians(14.0) * np.sin(2 * np.pi * phase + 0.6)
            posed.follow(puppet, joint, bend(0.0, -0.15 * side, side * flap))
            continue
        yaw = curve.heading(_segment_middle(puppet, joint), phase)
        if name == "head":
            yaw = (1.0 - _LOOKS_AHEAD) * yaw
        posed.hang(puppet, joint, turn_y(yaw))
    return posed, curve.stride


def _segment_middle(puppet: Puppet, joint: int) -> float:
    """Place along the body of the middle of the bone that a joint carries."""
    after = [k for k, parent in enumerate(puppet.parents) if parent == joint]
    end = puppet.bind[after[0], 2] if after else puppet.bind[joint, 2]
    return float(0.5 * (puppet.bind[joint, 2] + end))


class _Serpenoid:
    """A curve on the ground that the whole body passes along."""

    def __init__(self, amplitude: float, wave: float) -> None:
        self._amplitude, self._wave = amplitude, wave
        fine = np.linspace(0.0, wave, 801)
        heading = amplitude * np.sin(2 * np.pi * fine / wave)
        self._along = fine
        self._x = cumulative_trapezoid(np.sin(heading), fine, initial=0.0)
        self._x -= 0.5 * (self._x.max() + self._x.min())
        self._z = cumulative_trapezoid(np.cos(heading), fine, initial=0.0)
        self.stride = float(self._z[-1])

    def heading(self, place: float, phase: Array) -> Array:
        return self._amplitude * np.sin(2 * np.pi * (place / self._wave + phase))

    def place(self, place: float, phase: Array) -> tuple[Array, Array]:
        along = (place + self._wave * phase) % self._wave
        z = np.interp(along, self._along, self._z) - self.stride * along / self._wave
        return np.interp(along, self._along, self._x), z + place * self.stride / self._wave


class _Carangiform:
    """A sideways wave in the frame of the swimming fish."""

    def __init__(self, swing: float, length: float) -> None:
        self._swing, self._length = swing, length
        self.stride = 0.2 * length / _STROUHAL

    def _sideways(self, place: float, phase: Array) -> Array:
        back = np.clip(0.5 - place / self._length, 0.0, 1.1)
        amplitude = 0.02 - 0.0825 * back + 0.1625 * back**2
        wave = np.sin(2 * np.pi * (place / self._length + phase))
        return self._swing * self._length * amplitude * wave

    def heading(self, place: float, phase: Array) -> Array:
        step = 0.02 * self._length
        rise = self._sideways(place + step, phase) - self._sideways(place - step, phase)
        return np.arctan2(rise, 2.0 * step)

    def place(self, place: float, phase: Array) -> tuple[Array, Array]:
        return self._sideways(place, phase), np.full_like(phase, place)
