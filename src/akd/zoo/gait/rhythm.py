"""Periodic signals of a stride: forces under the feet and how the body answers them.

The body rises and falls as the forces on its feet say: its vertical acceleration is their sum over
its mass, less gravity. Integrated twice that is the bob of a walk, the bounce of a trot, and a free
fall whenever no foot is down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd.base.constants import GRAVITY
from akd.zoo.gait.footfalls import Gait
from akd.zoo.mesh.shapes import Array, smoothstep

_SAMPLES = 1024
_HARMONICS = 64
GRID = np.arange(_SAMPLES) / _SAMPLES


@dataclass(frozen=True)
class Wave:
    """A signal with period 1, as Fourier coefficients: the real part of sum c_k exp(2 pi i k p)."""

    coefficients: NDArray[np.complexfloating]

    @classmethod
    def of(cls, samples: Array) -> Wave:
        """From values on `GRID`."""
        spectrum = np.fft.rfft(samples)[: _HARMONICS + 1] / len(samples)
        spectrum[1:] *= 2.0
        return cls(spectrum)

    def __call__(self, phase: Array, *, lag: float = 0.0) -> Array:
        """Values at phases, `lag` (a fraction of the period) late."""
        k = np.arange(len(self.coefficients))
        return (self.coefficients * np.exp(2j * np.pi * (phase[..., None] - lag) * k)).real.sum(-1)

    def swing(self) -> Wave:
        """Without its mean."""
        coefficients = self.coefficients.copy()
        coefficients[0] = 0.0
        return Wave(coefficients)

    def slow(self, harmonics: int) -> Wave:
        """Only its first harmonics, without its mean."""
        coefficients = np.zeros_like(self.coefficients)
        coefficients[1 : harmonics + 1] = self.coefficients[1 : harmonics + 1]
        return Wave(coefficients)

    def times(self, factor: float) -> Wave:
        """Scaled."""
        return Wave(self.coefficients * factor)

    def at_most(self, amplitude: float) -> Wave:
        """Scaled down, where needed, so that it stays within +-amplitude."""
        peak = float(np.abs(self(GRID[::4])).max())
        return self if peak <= amplitude else self.times(amplitude / peak)

    def integrated_twice(self, period: float) -> Wave:
        """The signal, with zero mean, whose second derivative in time this is (less its mean)."""
        k = np.arange(len(self.coefficients))
        k[0] = 1
        out = -self.coefficients * (period / (2.0 * np.pi * k)) ** 2
        out[0] = 0.0
        return Wave(out)

    def followed(self, natural: float, damping: float = 0.35) -> Wave:
        """The response of a damped pendulum with `natural` swings a period to this signal."""
        k = np.arange(len(self.coefficients))
        answer = natural**2 / (natural**2 - k**2 + 2j * damping * natural * k)
        return Wave(self.coefficients * answer)


def foot_load(gait: Gait, leg: str) -> Array:
    """Vertical force on a foot over the stride, on `GRID`; its mean is one."""
    since = (GRID - gait.touchdown[leg]) % 1.0
    duty = gait.duty_of(leg)
    place = since / duty - 0.5
    shape = np.cos(np.pi * place) - gait.hump * np.cos(3.0 * np.pi * place)
    load = np.where(since < duty, shape, 0.0)
    return load / load.mean()


def foot_lead(gait: Gait, leg: str) -> Array:
    """How far a foot is before (+1) or behind (-1) its middle place, over the stride, on `GRID`."""
    since = (GRID - gait.touchdown[leg]) % 1.0
    duty = gait.duty_of(leg)
    swing = np.clip((since - duty) / (1.0 - duty), 0.0, 1.0)
    return np.where(since < duty, 1.0 - 2.0 * since / duty, -1.0 + 2.0 * smoothstep(swing))


@dataclass(frozen=True)
class Rhythm:
    """Motion of the body that the ground reaction forces of a stride cause."""

    bob: Wave
    """Height of the centre of mass about its mean, metres."""
    pitch: Wave
    """Pitch of the trunk that the forces call for, radians, nose down positive."""
    hind_load: Wave
    """Load on the left hind (or only) foot less that on the right, slow part."""
    fore_load: Wave
    hind_lead: Wave
    """How far the left hind (or only) foot is before the right one, -1..1, slow part."""
    fore_lead: Wave
    lame_at: float = 0.0
    """Phase in the middle of a lame leg's stance, where there is one."""

    @classmethod
    def of(cls, gait: Gait, period: float, *, weight_fore: float, trunk: float) -> Rhythm:
        """From a gait, the stride's duration, and the distance between hips and shoulders."""
        loads = {leg: foot_load(gait, leg) for leg in gait.touchdown}
        leads = {leg: foot_lead(gait, leg) for leg in gait.touchdown}
        hind = "hind" if "left_hind" in loads else "leg"
        share = dict.fromkeys(loads, 1.0 / len(loads))
        if hind == "hind":
            share = {
                leg: 0.5 * (weight_fore if "fore" in leg else 1.0 - weight_fore) for leg in loads
            }
        total = sum(share[leg] * load for leg, load in loads.items())
        bob = Wave.of(GRAVITY * (np.asarray(total) - 1.0)).integrated_twice(period)
        pitch = Wave.of(np.zeros(_SAMPLES))
        if hind == "hind":
            # Levers that balance the standing animal; a fore foot's push raises the nose.
            lever = {"fore": (1.0 - weight_fore) * trunk, "hind": -weight_fore * trunk}
            torque = sum(
                share[leg] * load * lever[leg.split("_")[1]] for leg, load in loads.items()
            )
            inertia = (0.45 * trunk) ** 2
            pitch = Wave.of(-GRAVITY * np.asarray(torque) / inertia).integrated_twice(period)

        def between(signals: dict[str, Array], pair: str) -> Wave:
            if f"left_{pair}" not in signals:
                return Wave.of(np.zeros(_SAMPLES))
            return Wave.of(0.5 * (signals[f"left_{pair}"] - signals[f"right_{pair}"])).slow(2)

        lame = [(gait.touchdown[leg] + 0.5 * duty) % 1.0 for leg, duty in gait.short.items()]
        return cls(
            bob,
            pitch,
            between(loads, hind),
            between(loads, "fore"),
            between(leads, hind),
            between(leads, "fore"),
            *lame[:1],
        )
