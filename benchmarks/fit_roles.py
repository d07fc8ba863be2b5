"""Fit the judgement of shape in `akd.rig.roles` to the development half of the labelled rigs.

Creatures of the zoo are added: the files have too few wings, fins and bodies on many legs.

    python -m benchmarks.fit_roles

Prints the accuracy on families left out of the fit, and writes `shape_model.json`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

import akd.rig.roles
from akd.asset.read import read_asset
from akd.base.splits import roles_family_develops
from akd.rig.character import evidence_of
from akd.rig.roles.assemble import find_body
from akd.rig.roles.body import Evidence
from akd.rig.roles.facing import FACING_FEATURES, UP, measure_facing
from akd.rig.roles.limb_kind import KINDS, standardise
from akd.rig.roles.limbs import FEATURES, LimbFinder
from akd.rig.roles.role import LimbKind
from akd.rig.roles.symmetry import find_sagittal
from akd.rig.up_axis import find_up_axis
from akd.zoo.creature import Creature, build_creature
from akd.zoo.species.catalogue import SPECIES
from benchmarks.roles import ASSETS, LEGS, Label, read_labels
from benchmarks.roles_variants import flattened, without_names
from benchmarks.zoo_character import as_character

_DECAY = 8e-3
_STRETCHED = 2
"""Copies of each body that are stretched along its axes, so that proportions vary more than in the
files."""
_STRETCH = 0.35
"""Greatest log factor of it."""
_ZOO_SEEDS = (1000, 1001, 1002, 1003)


@dataclass(frozen=True)
class Example:
    """What was measured, and the right class of it."""

    family: str
    features: Float[np.ndarray, "F"]
    answer: int
    can_stand: bool = True
    """Of a pair of limbs: where it cannot, that it is legs is not among the answers."""


def examples_of(
    evidence: Evidence, names: tuple[str, ...], label: Label
) -> tuple[list[Example], list[Example]]:
    """Every pair of branches of a file with its kind, and the file seen from both ways round."""
    body = find_body(evidence)
    if body.root < 0:
        return [], []
    plane = find_sagittal(evidence, body)
    finder = LimbFinder(evidence, body, plane)
    limbs = []
    stands = finder.stands([frozenset()] * len(finder.pairs))
    for pair, can_stand in zip(finder.pairs, stands, strict=True):
        joints = {j for start in pair.starts for j in body.subtree(start)}
        kinds = [
            LimbKind.LEG if kind in LEGS else LimbKind(kind)
            for kind, pairs in label.pairs.items()
            if any(names.index(name) in joints for both in pairs for name in both)
        ]
        answer = KINDS.index(kinds[-1] if kinds else None)
        may_be_leg = can_stand or answer == KINDS.index(LimbKind.LEG)
        limbs.append(Example(label.family, finder.measure(pair), answer, may_be_leg))
    across = [
        evidence.positions[names.index(left)] - evidence.positions[names.index(right)]
        for pairs in label.pairs.values()
        for left, right in pairs
    ]
    axis = np.cross(plane.lateral, UP)
    true = float(np.cross(np.sum(across, axis=0), UP) @ axis) if across else 0.0
    if abs(true) < 1e-6:
        return limbs, []
    measured = measure_facing(evidence, body, np.sign(true) * axis, plane, finder.branches())
    return limbs, [Example(label.family, f, i) for i, f in enumerate((-measured, measured))]


def fit(
    inputs: Float[np.ndarray, "N F"],
    answers: Int[np.ndarray, "N"],
    share: Float[np.ndarray, "N"],
    classes: int,
    excluded: Bool[np.ndarray, "N"] | None = None,
) -> Float[np.ndarray, "G K"]:
    """Weights [F, K] of a regularised multinomial logistic regression, and the bias below them.
    Where `excluded` the first class is not among the answers."""
    x = torch.from_numpy(np.column_stack((inputs, np.ones(len(inputs)))))
    y, s = torch.from_numpy(answers), torch.from_numpy(share / share.sum())
    weights = torch.zeros(x.shape[1], classes, dtype=x.dtype, requires_grad=True)
    barred = torch.zeros(len(x), classes, dtype=x.dtype)
    if excluded is not None:
        barred[torch.from_numpy(excluded), 0] = -1e3
    optimiser = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        error = torch.nn.functional.cross_entropy(x @ weights + barred, y, reduction="none") @ s
        total = error + _DECAY * weights[:-1].square().sum()
        total.backward()
        return total

    optimiser.step(loss)  # pyright: ignore[reportArgumentType]
    return weights.detach().numpy()


def fit_examples(
    what: str, examples: list[Example], mean: Float[np.ndarray, "F"], scale: Float[np.ndarray, "F"]
) -> Float[np.ndarray, "G K"]:
    """Fit all; first print how often families that were left out are right."""
    inputs = standardise(np.stack([e.features for e in examples]), mean, scale)
    answers = np.array([e.answer for e in examples])
    families = np.array([e.family for e in examples])
    counts = Counter(families.tolist())
    # Families of many files count more than others, but not in proportion.
    share = np.array([counts[f] ** -0.5 for f in families.tolist()])
    classes = int(answers.max()) + 1
    barred = np.array([not e.can_stand for e in examples])
    right = 0
    for family in counts:
        held = families == family
        weights = fit(inputs[~held], answers[~held], share[~held], classes, barred[~held])
        found = _answers(inputs[held], weights, barred[held])
        right += int((found == answers[held]).sum())
    weights = fit(inputs, answers, share, classes, barred)
    fitted = float((_answers(inputs, weights, barred) == answers).mean())
    print(
        f"{what}: {len(answers)} examples of {len(counts)} families, right {fitted:.3f}, ", end=""
    )
    print(f"on families left out of the fit {right / len(answers):.3f}")
    return weights


def _answers(
    inputs: Float[np.ndarray, "N F"],
    weights: Float[np.ndarray, "G K"],
    barred: Bool[np.ndarray, "N"],
) -> Int[np.ndarray, "N"]:
    scores = inputs @ weights[:-1] + weights[-1]
    scores[barred, 0] = -np.inf
    return scores.argmax(axis=1)


def stretched(evidence: Evidence, factors: Float[np.ndarray, "3"]) -> Evidence:
    """The same body, larger along some axes."""
    return replace(
        evidence, positions=evidence.positions * factors, vertices=evidence.vertices * factors
    )


def zoo_label(creature: Creature, family: str) -> Label:
    """What the zoo calls its joints: `left_hind_foot`, `left_wing_upper`, `left_fin_upper`."""
    pairs: dict[str, list[list[str]]] = {}
    for foot in (f for f in creature.feet if f.name.startswith("left")):
        pairs.setdefault("leg", []).append([foot.leg.foot, foot.leg.foot.replace("left", "right")])
    for kind in ("arm", "wing", "fin"):
        if f"left_{kind}_upper" in creature.skeleton.names:
            pairs[kind] = [[f"{side}_{kind}_upper" for side in ("left", "right")]]
    return Label(creature.name, family, pairs, None, None)


def labelled_bodies() -> Iterator[tuple[Evidence, tuple[str, ...], Label]]:
    """Bodies to learn from, each with the true names of its joints and what they are."""
    for label in (x for x in read_labels() if roles_family_develops(x.family)):
        asset = read_asset(ASSETS / label.path)
        names, up = tuple(n.name for n in asset.nodes), find_up_axis(asset)
        for change in (lambda a: a, without_names, flattened):
            yield evidence_of(change(asset), up=up), names, label
    for species, plan in SPECIES.items():
        for seed in _ZOO_SEEDS:
            creature = build_creature(species, seed=seed, vertices=1500)
            names = creature.skeleton.names
            bare = without_names(as_character(creature).asset)
            yield evidence_of(bare), names, zoo_label(creature, f"zoo {type(plan).__name__}")


def main() -> None:
    """Fit kinds of limbs and facing."""
    limbs: list[Example] = []
    facing: list[Example] = []
    generator = np.random.default_rng(0)
    for evidence, names, label in labelled_bodies():
        for copy in range(1 + _STRETCHED):
            factors = np.exp(generator.uniform(-_STRETCH, _STRETCH, 3)) if copy else np.ones(3)
            more = examples_of(stretched(evidence, factors), names, label)
            limbs += more[0]
            facing += more[1]
    features = np.stack([e.features for e in limbs])
    mean, scale = features.mean(axis=0), features.std(axis=0)
    weights = fit_examples("kinds of limbs", limbs, mean, scale)
    spread = np.sqrt(np.square([e.features for e in facing]).mean(axis=0))
    odds = fit_examples("facing", facing, np.zeros_like(spread), spread)
    rows = np.column_stack((mean, scale, weights[:-1])).round(3).tolist()
    table = {
        "limbs": dict(zip(FEATURES, rows, strict=True)),
        "bias": weights[-1].round(3).tolist(),
        "facing": dict(
            zip(FACING_FEATURES, ((odds[:-1, 1] - odds[:-1, 0]) / spread).round(3), strict=True)
        ),
    }
    text = json.dumps(table, indent=1)
    text = re.sub(r"\[[^\]]*\]", lambda row: " ".join(row[0].split()), text)
    Path(akd.rig.roles.__file__).with_name("shape_model.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
