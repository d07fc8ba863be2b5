"""What a pair of limbs is: leg, arm, wing, fin, or no limb at all.

Two witnesses are added up as log-probabilities. The shape is judged by a multinomial logistic
regression over thirteen measures; `benchmarks/fit_roles.py` fits it to the development half of
the labelled rigs and to creatures of the zoo. Names exclude what they do not fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
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
    # Pieces of a leg's girdle that hang apart from it are no limb.
    "leg": {LimbKind.LEG: 0.0, LimbKind.ARM: -4.0, None: -4.0},
    "foot": {LimbKind.LEG: 0.0, LimbKind.ARM: -4.0, None: -4.0},
    # Artists call the fore legs of a fox its arms, and the wings of a dragon.
    "arm": {LimbKind.ARM: 0.0, LimbKind.LEG: -1.0, LimbKind.WING: -3.0},
    "hand": {LimbKind.ARM: 0.0, LimbKind.LEG: -1.0, LimbKind.WING: -3.0},
    "wing": {LimbKind.WING: 0.0},
    "fin": {LimbKind.FIN: 0.0},
    "ear": {None: 0.0},
    "face": {None: 0.0},
    "flesh": {None: 0.0},
    "tentacle": {None: 0.0},
    # The necks of two heads.
    "head": {None: 0.0},
    "neck": {None: 0.0},
    "tail": {None: 0.0, LimbKind.FIN: -2.0},
}
"""What each part that names mention speaks for."""
_MIXED = -2.0
"""Log-probability of a fin on a body that walks or flies, and of another limb on one that swims."""
_PLANS = (
    np.array([0.0 if k in (LimbKind.FIN, None) else _MIXED for k in KINDS]),
    np.array([_MIXED if k is LimbKind.FIN else 0.0 for k in KINDS]),
)
"""Of each kind, for bodies that swim and for all others."""
_ON_FOUR_LEGS = np.array([_MIXED if k is LimbKind.ARM else 0.0 for k in KINDS])
"""Of each kind, on two pairs of legs or more: what looks like arms there is ears."""

_SMALL_ARMS = 1.5
"""Log-odds of small arms or wings on two legs where nothing else looks like a limb."""
_BEND, _BENDS = 7, 0.3
"""Place of the bend among the measures, and the least of a chain that has an elbow, radians."""
_TOP, _HIGH = 6, 0.8
"""Place of the height of a pair among the measures; ears begin above it, in body heights."""
_SECOND_ARMS = np.array([_MIXED if k is LimbKind.ARM else 0.0 for k in KINDS])
"""Of each kind, beside a pair that is likelier to be arms."""


@dataclass(frozen=True)
class LimbVerdict:
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
    """The bundled weights."""
    table = json.loads(files("akd.rig.roles").joinpath("shape_model.json").read_text("utf-8"))
    rows = np.array(list(table["limbs"].values()))
    facing = np.array(list(table["facing"].values()))
    return ShapeModel(rows[:, 0], rows[:, 1], rows[:, 2:], np.array(table["bias"]), facing)


def standardise(
    features: Float[np.ndarray, "*n F"], mean: Float[np.ndarray, "F"], scale: Float[np.ndarray, "F"]
) -> Float[np.ndarray, "*n F"]:
    """Features in standard deviations, cut at three: no measure decides alone."""
    return np.clip((features - mean) / scale, -3.0, 3.0)


def classify(
    features: Sequence[Float[np.ndarray, "F"]],
    parts: Sequence[Iterable[str]],
    stands: Sequence[bool],
) -> list[LimbVerdict]:
    """Weigh the measures of each pair of a body (`LimbFinder.measure`) and the parts that its names
    mention.

    Legs are limbs that stand on the ground: `stands` is False where they cannot be. Fins and other
    limbs seldom occur on one body, so all pairs together decide which of the two it has; nor do
    arms and four legs.
    """
    shapes = [_by_shape(f, can_stand) for f, can_stand in zip(features, stands, strict=True)]
    named = [_by_names(set(p), can_stand) for p, can_stand in zip(parts, stands, strict=True)]
    totals = [shape + (0.0 if n is None else n) for shape, n in zip(shapes, named, strict=True)]
    # How likely the body is with the kinds of each plan alone; the other kinds stay possible.
    plans = [sum(float((t + plan).max()) for t in totals) for plan in _PLANS]
    plan = _PLANS[int(np.argmax(plans))]
    if sum(KINDS[int((t + plan).argmax())] is LimbKind.LEG for t in totals) > 1:
        plan = plan + _ON_FOUR_LEGS
    totals = [total + plan for total in totals]
    totals = _with_one_pair_of_arms(_with_arms_on_two_legs(totals, features))
    return [
        _conclude(total, shape, names)
        for total, shape, names in zip(totals, shapes, named, strict=True)
    ]


def _with_one_pair_of_arms(totals: list[Float[np.ndarray, "K"]]) -> list[Float[np.ndarray, "K"]]:
    """Of several pairs that look like arms the likeliest is; others that may be wings are those of
    an angel."""
    arm, wing = KINDS.index(LimbKind.ARM), KINDS.index(LimbKind.WING)
    arms = [k for k, total in enumerate(totals) if int(total.argmax()) == arm]
    likeliest = max(arms, key=lambda k: totals[k][arm] - totals[k][wing], default=-1)
    return [
        t + _SECOND_ARMS if k in arms and k != likeliest and t[wing] == np.sort(t)[-2] else t
        for k, t in enumerate(totals)
    ]


def _with_arms_on_two_legs(
    totals: list[Float[np.ndarray, "K"]], features: Sequence[Float[np.ndarray, "F"]]
) -> list[Float[np.ndarray, "K"]]:
    """A body on one pair of legs mostly has arms, wings or fins; where it has none, the pair that
    bends and is most like arms may be small ones, as those of a T. rex, and else the pair that is
    most like wings, those of a hen."""
    kinds = [KINDS[int(total.argmax())] for total in totals]
    if kinds.count(LimbKind.LEG) != 1 or set(kinds) - {LimbKind.LEG, None}:
        return totals
    others = [k for k, kind in enumerate(kinds) if kind is None]
    bent = [k for k in others if features[k][_BEND] > _BENDS]
    low = [k for k in others if features[k][_TOP] < _HIGH]
    none = KINDS.index(None)
    for kind, among in ((LimbKind.ARM, bent), (LimbKind.WING, low)):
        place = KINDS.index(kind)
        gains = {k: float(totals[k][place] - totals[k][none]) for k in among}
        nearest = max(gains, key=gains.__getitem__, default=-1)
        raised = totals[nearest] + _SMALL_ARMS * (np.arange(len(KINDS)) == place)
        if nearest >= 0 and int(raised.argmax()) == place:
            return [*totals[:nearest], raised, *totals[nearest + 1 :]]
    return totals


def _by_shape(features: Float[np.ndarray, "F"], can_stand: bool) -> Float[np.ndarray, "K"]:
    model = shape_model()
    shape = standardise(features, model.mean, model.scale) @ model.weights + model.bias
    if not can_stand:
        shape[KINDS.index(LimbKind.LEG)] = -np.inf
    return shape


def _by_names(parts: set[str], can_stand: bool) -> Float[np.ndarray, "K"] | None:
    """None where names say nothing. Limbs carry more than one word, as the thumb of a wing does:
    the best of them counts. Fore legs have shoulders too; arms have no thighs."""
    if can_stand and "leg" in parts and "hand" not in parts:
        parts = parts - {"arm"}
    said = [_NAMED[p] for p in parts if p in _NAMED]
    if parts == {"finger"}:
        said = [_NAMED["face"]]
    return np.array([max(s.get(k, _UNLIKELY) for s in said) for k in KINDS]) if said else None


def _conclude(
    total: Float[np.ndarray, "K"],
    shape: Float[np.ndarray, "K"],
    names: Float[np.ndarray, "K"] | None,
) -> LimbVerdict:
    chance = np.exp(total - total.max())
    best = int(chance.argmax())
    by_name = None if names is None else KINDS[int(names.argmax())]
    confidence = float(chance[best] / chance.sum())
    return LimbVerdict(KINDS[best], confidence, KINDS[int(shape.argmax())], by_name)
