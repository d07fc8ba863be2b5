"""What a pair of limbs is: leg, arm, wing, fin, or no limb at all.

Two witnesses are added up as log-probabilities. The shape is judged by a multinomial logistic
regression over thirteen measures; `benchmarks/fit_roles.py` fits it to the development half of
the labelled rigs. Names exclude what they do not fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from jaxtyping import Float

from akd.rig.roles.role import LimbKind

KINDS: tuple[LimbKind | None, ...] = (
    LimbKind.LEG, LimbKind.ARM, LimbKind.WING, LimbKind.FIN, None,
)  # fmt: skip
"""The order of all arrays here. None is an ear, an eyebrow, a finger, a belt."""
_UNLIKELY = -8.0
"""Log-probability of a kind that a name does not fit."""
_NAMED: dict[str, dict[LimbKind | None, float]] = {
    "leg": {LimbKind.LEG: 0.0, LimbKind.ARM: -4.0},
    "foot": {LimbKind.LEG: 0.0, LimbKind.ARM: -4.0},
    # Artists call the fore legs of a fox its arms.
    "arm": {LimbKind.ARM: 0.0, LimbKind.LEG: -1.0},
    "hand": {LimbKind.ARM: 0.0, LimbKind.LEG: -1.0},
    "wing": {LimbKind.WING: 0.0},
    "fin": {LimbKind.FIN: 0.0},
    "ear": {None: 0.0},
    "face": {None: 0.0},
    "tail": {None: 0.0, LimbKind.FIN: -2.0},
}
"""What each part that names mention speaks for."""


@dataclass(frozen=True)
class Judgement:
    """What a pair of limbs was taken for, and how sure that is."""

    kind: LimbKind | None
    confidence: float
    """Probability of the kind, by shape and names together."""
    by_shape: LimbKind | None
    """What the shape alone says."""
    by_name: LimbKind | None
    """What the names alone say; None where they say nothing."""

    @property
    def doubt(self) -> str:
        """In words, where names and shape speak for different kinds; empty where they agree."""
        if self.by_name is None or self.by_name is self.by_shape:
            return ""
        shape = "no limb" if self.by_shape is None else self.by_shape.value
        return f"names say {self.by_name.value}, shape says {shape}"


@dataclass(frozen=True)
class ShapeModel:
    """Weights of the two logistic regressions that judge shape: kinds of limbs, and facing."""

    mean: Float[np.ndarray, "F"]
    scale: Float[np.ndarray, "F"]
    weights: Float[np.ndarray, "F K"]
    bias: Float[np.ndarray, "K"]
    facing: Float[np.ndarray, "G"]
    """Log-odds for each unit of `facing.FACING_FEATURES`."""


@cache
def shape_model() -> ShapeModel:
    """The weights that ship with akd."""
    table = json.loads(files("akd.rig.roles").joinpath("shape_model.json").read_text("utf-8"))
    rows = np.array(list(table["limbs"].values()))
    facing = np.array(list(table["facing"].values()))
    return ShapeModel(rows[:, 0], rows[:, 1], rows[:, 2:], np.array(table["bias"]), facing)


def standardise(
    features: Float[np.ndarray, "*n F"], mean: Float[np.ndarray, "F"], scale: Float[np.ndarray, "F"]
) -> Float[np.ndarray, "*n F"]:
    """Features in standard deviations, cut at three: no measure decides alone."""
    return np.clip((features - mean) / scale, -3.0, 3.0)


def judge(features: Float[np.ndarray, "F"], parts: Iterable[str], *, stands: bool) -> Judgement:
    """Weigh the measures of a pair (`LimbFinder.measure`) and the parts its names mention.

    Legs are limbs that stand on the ground: `stands` is False where they cannot be.
    """
    model = shape_model()
    shape = standardise(features, model.mean, model.scale) @ model.weights + model.bias
    if not stands:
        shape[KINDS.index(LimbKind.LEG)] = -np.inf
    said = [_NAMED[p] for p in parts if p in _NAMED]
    if set(parts) == {"finger"}:
        said = [_NAMED["face"]]
    # Limbs carry more than one word, as the thumb of a wing does: the best of them counts.
    names = np.array([max((s.get(k, _UNLIKELY) for s in said), default=0.0) for k in KINDS])
    total = shape + names
    chance = np.exp(total - total.max())
    best = int(chance.argmax())
    by_name = KINDS[int(names.argmax())] if said else None
    return Judgement(
        KINDS[best], float(chance[best] / chance.sum()), KINDS[int(shape.argmax())], by_name
    )
