"""Learns where joints are expected in a body, for the automatic rig's templates.

From creatures of the zoo's training side and from artists' rigs that `autorig.py` does not measure
on: what a template's rules leave over is fitted by ridge regression to a few measures of the body.
Writes src/akd/rig/autorig/expectation.json.

    python -m benchmarks.autorig_expectation [--seeds 1001 1002 1003 1004]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import akd.rig.autorig
from akd.rig.autorig.embedding import embed
from akd.rig.autorig.expectation import Expectation, measure
from akd.rig.autorig.fitted import Fitted
from akd.rig.autorig.frame import find_frame
from akd.rig.autorig.landmarks import find_landmarks
from akd.rig.autorig.plans import PLANS
from akd.rig.autorig.solid import fill
from akd.rig.autorig.templates import TEMPLATES
from akd.rig.skinning.surface_repair import weld
from benchmarks.autorig import (
    FOX,
    HUMAN,
    QUATERNIUS_ANIMAL,
    QUATERNIUS_PERSON,
    Case,
    artist_case,
    zoo_cases,
)

RIDGE = 60.0
"""Of the slopes, against measures in spreads."""
ARTISTS = {"quadruped": 8.0, "biped": 1.0}
"""How many creatures of the zoo an artist's rig counts as. Six rigs of quadrupeds and two of
bipeds may train; no such rig of a theropod has joints that mean what ours do."""

RIGS = [
    *(
        ("quadruped", f"quaternius/animals_pack/{name}.glb", QUATERNIUS_ANIMAL)
        for name in ("Alpaca", "Bull", "Cow", "Deer", "Donkey")
    ),
    ("quadruped", "mesh2motion/models-variation/fox-dog.glb", FOX),
    ("biped", "quaternius/modular_men/King.glb", QUATERNIUS_PERSON),
    ("biped", "mesh2motion/models-variation/human-bunny.glb", HUMAN),
]


def sample(case: Case) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The measures of a body, and by how much the template's rules miss its joints, in heights."""
    mesh = weld(case.vertices, case.faces)
    frame = find_frame(mesh.vertices, mesh.faces)
    marks, vote = find_landmarks(fill(frame.into(mesh.vertices), mesh.faces))
    fitted = Fitted(marks, embed(PLANS[case.plan], marks))
    sign = np.array([-1.0, 1.0, -1.0]) if vote < 0 else np.ones(3)
    placed = {p.name: p.position for p in TEMPLATES[case.plan].place(fitted)}
    names = [n for n in placed if n in case.truth]
    truth = frame.into(np.array([case.truth[n] for n in names])) * sign
    gaps = {n: (t - placed[n]) / marks.height for n, t in zip(names, truth, strict=True)}
    return measure(fitted), gaps


def learn(samples: list[tuple[np.ndarray, dict[str, np.ndarray]]], weights: np.ndarray) -> dict:
    """The rows of the file for one template."""
    zoo = np.array([m for (m, _), w in zip(samples, weights, strict=True) if w == 1.0])
    model = Expectation(zoo.mean(axis=0), zoo.std(axis=0) + 1e-6, {}, {})
    joints = {}
    for name in sorted({n for _, gaps in samples for n in gaps}):
        rows = [i for i, (_, gaps) in enumerate(samples) if name in gaps]
        features = np.array([model.features(samples[i][0]) for i in rows])
        gaps = np.array([samples[i][1][name] for i in rows])
        weight = weights[rows, None]
        ridge = RIDGE * np.eye(features.shape[1])
        ridge[0, 0] = 1e-3  # the mean offset is not held back
        slopes = np.linalg.solve(
            features.T @ (weight * features) + ridge, features.T @ (weight * gaps)
        )
        left = np.sqrt((weight * (gaps - features @ slopes) ** 2).sum(axis=0) / weight.sum())
        joints[name] = {"slopes": slopes.round(5).tolist(), "left_over": left.round(4).tolist()}
    mean, spread = model.mean.round(5).tolist(), model.spread.round(6).tolist()
    return {"mean": mean, "spread": spread, "joints": joints}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="*", default=[1001, 1002, 1003, 1004])
    arguments = parser.parse_args()
    cases = [(case, 1.0) for case in zoo_cases(arguments.seeds, trains=True)]
    cases += [(artist_case(*rig, trains=True), ARTISTS[rig[0]]) for rig in RIGS]
    result = {}
    for plan in PLANS:
        chosen = [(case, weight) for case, weight in cases if case.plan == plan]
        weights = np.array([weight for _, weight in chosen])
        result[plan] = learn([sample(case) for case, _ in chosen], weights)
        print(f"{plan}: {len(chosen)} bodies, {len(result[plan]['joints'])} joints", flush=True)
    path = Path(akd.rig.autorig.__file__ or "").parent / "expectation.json"
    rows = json.dumps(result, indent=1)
    path.write_text(rows + "\n")


if __name__ == "__main__":
    main()
