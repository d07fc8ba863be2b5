"""Limb phase: how long after a hind foot the fore foot of its side comes down.

Recognisers take any phase for a walk, and videos of a walk that a prior samples have any. The body
shows it: a walk with its fore and hind legs in the phase of a trot goes up and down as a trot does.
"""

from __future__ import annotations

import cmath
import math

import torch
from jaxtyping import Float
from torch import Tensor

from akd.motion.parameters import ControlCurves
from akd.rig.roles.role import LimbKind
from akd.scene.stage import Stage

_SAMPLES = 48
"""Times of a cycle at which feet are looked at."""
_NEAR = 0.05
"""A phase as near as this is left as it is, cycles: less than a frame of the tiny prior."""
_HEIGHT, _PITCH = 1, 4
"""Columns of the root's coefficients."""


@torch.no_grad()
def limb_phase_of(stage: Stage, curves: ControlCurves) -> float | None:
    """Share of the cycle by which fore feet follow the hind feet of their side, 0 to 1; None where
    there is no cycle, or not a pair of feet on either side.

    A foot comes down about when it is furthest ahead of the body.
    """
    kinds = [(sole.leg.kind, sole.leg.side) for sole in stage.soles]
    pairs = [
        (kinds.index((LimbKind.FORE, side)), hind)
        for hind, (kind, side) in enumerate(kinds)
        if kind is LimbKind.HIND and (LimbKind.FORE, side) in kinds
    ]
    if stage.sole_points is None or curves.period is None or len(pairs) < 2:
        return None
    parts = torch.arange(_SAMPLES).to(curves.angles) / _SAMPLES
    controls = curves.controls(parts * curves.cycle())
    _, middles = stage.sole_points.at(stage.transforms(controls))
    ahead = (middles - controls.translation[:, None]) @ stage.rig.root_axes[2].to(middles)
    turns = torch.exp(-2j * math.pi * parts)
    waves = (ahead.T.to(turns) @ turns).tolist()
    if min(abs(wave) for pair in pairs for wave in (waves[pair[0]], waves[pair[1]])) < 1e-6:
        return None
    lag = sum(wave / abs(wave) for wave in (waves[hind] / waves[fore] for fore, hind in pairs))
    return cmath.phase(lag) / (2.0 * math.pi) % 1.0


@torch.no_grad()
def set_limb_phase(stage: Stage, curves: ControlCurves, phase: float) -> None:
    """Delay the fore legs of a cycle so that they follow the hind legs by a share of it.

    The trunk then goes level: its rise and pitch went with the phase that was. Nothing is changed
    where the phase is near already, or is not known.
    """
    found = limb_phase_of(stage, curves)
    if found is None:
        return
    delay = (phase - found + 0.5) % 1.0 - 0.5
    if abs(delay) < _NEAR:
        return
    fore = [i for i, role in enumerate(curves.rig.roles) if role.limb is LimbKind.FORE]
    curves.angles[:, fore] = _later(curves.angles[:, fore], delay)
    curves.root[1:, [_HEIGHT, _PITCH]] = 0.0


def _later(waves: Float[Tensor, "K *n"], share: float) -> Float[Tensor, "K *n"]:
    """A constant, and cosine and sine of harmonics, a share of the cycle later."""
    later = waves.clone()
    for k in range(1, len(waves) // 2 + 1):
        turn = 2.0 * math.pi * k * share
        cos, sin = waves[2 * k - 1], waves[2 * k]
        later[2 * k - 1] = math.cos(turn) * cos - math.sin(turn) * sin
        later[2 * k] = math.sin(turn) * cos + math.cos(turn) * sin
    return later
