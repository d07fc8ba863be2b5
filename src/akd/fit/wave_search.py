"""Wave search: the travelling wave of an undulating body in a video, by exhaustive search.

Joint by joint, gradients find standing swings: an image from the side shows little of a sideways
bend, and nothing of its direction. So the wave is one guess for the whole midline: the heading
of the body is a sine of the place along it (Hirose 1993) that runs from head to tail.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.hues import thinned
from akd.fit.photometric import photometric_loss, pyramid
from akd.motion.parameters import ControlCurves
from akd.motion.undulation import Midline
from akd.scene.stage import Stage

_AMPLITUDES = (0.3, 0.55, 0.8)
"""Greatest heading to either side, radians; of a body in water, at its tail."""
_LENGTHS = (0.6, 1.0)
"""Of a wave, in body lengths."""
_PHASES = 8
_NOSE = 0.2
"""Share of a fish's amplitude that its front takes part in; its tail swings most (Videler 1984)."""
_TOGETHER = 8
"""Waves in one rendering."""


@dataclass(frozen=True)
class Wave:
    """A sine of the heading along a body."""

    amplitude: float
    length: float
    phase: float

    def coefficients(self, place: Float[Tensor, "N"], *, in_water: bool) -> Float[Tensor, "2 N"]:
        """Cosine and sine over a cycle of the heading at places along the body, radians."""
        size = torch.full_like(place, self.amplitude)
        if in_water:
            size = size * (_NOSE + (1.0 - _NOSE) * (0.5 - place).clamp(0.0, 1.0))
        angle = 2.0 * math.pi * place / self.length + self.phase
        return torch.stack((size * angle.sin(), size * angle.cos()))


@torch.no_grad()
def search_waves(stage: Stage, curves: ControlCurves, target: Float[Tensor, "T H W 3"]) -> None:
    """Set the first harmonic of an undulating body to the wave that matches the video best. Other
    bodies, and curves without a cycle, are left as they are."""
    midline = Midline.of(curves.rig)
    if not stage.undulates or midline is None or curves.period is None:
        return
    stage, target, frames = thinned(stage, target)

    def best(waves: Sequence[Wave]) -> Wave:
        errors = []
        for first in range(0, len(waves), _TOGETHER):
            posed = []
            for wave in waves[first : first + _TOGETHER]:
                _put(curves, midline, wave)
                posed.append(curves.pose(stage))
            bones = torch.stack([one.transforms for one in posed])
            videos = stage.show_body(bones, frames=frames)
            wanted = pyramid(target.expand(len(videos), -1, -1, -1, -1))
            errors.append(photometric_loss(videos, wanted).cpu())
        return waves[int(torch.cat(errors).argmin())]

    turns = [2.0 * math.pi * k / _PHASES for k in range(_PHASES)]
    found = best([Wave(*choice) for choice in product(_AMPLITUDES, _LENGTHS, turns)])
    amplitudes = (found.amplitude + step for step in (-0.12, 0.0, 0.12, 0.25))
    lengths = (factor * found.length for factor in (0.85, 1.0, 1.2))
    turns = [found.phase + step * math.pi / _PHASES for step in (-1.0, 0.0, 1.0)]
    _put(curves, midline, best([Wave(*c) for c in product(amplitudes, lengths, turns)]))


def _put(curves: ControlCurves, midline: Midline, wave: Wave) -> None:
    unit = math.sqrt(2.0 / len(curves.angles))
    water = not curves.on_feet
    root = wave.coefficients(torch.zeros(1), in_water=water)
    own, before = (
        wave.coefficients(place, in_water=water) for place in (midline.place, midline.before)
    )
    bends = midline.signs * (own - before)
    curves.angles[1:3, midline.joints, 1] = bends.to(curves.angles) / unit
    curves.root[1:3, 3] = root[:, 0].to(curves.root) / unit
