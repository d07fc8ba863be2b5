"""Walks on four legs of the training side: do legs and trunk move as in a walk?

    python -m benchmarks.walks [--only horse] [--seeds 0 1]

One sample and one finalist, as in `benchmarks/distill.py`. A row for the distilled, the grounded
and the true clip: what recognisers B and C say, limb phase, bounce of the root in leg lengths,
roughness in g, mean duty factor, stride in leg lengths, step over the seam.
"""

from __future__ import annotations

import argparse
import time

import torch

import akd
from akd.base.splits import zoo_seed_trains
from akd.metrics.measures import measure_with_recognisers
from akd.metrics.recognise.recogniser import reporting_recognisers
from akd.motion.motion import Motion
from akd.presets import find_preset, with_values
from akd.rig.character import Character, bound_character
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.natural_range import naturalness_features
from benchmarks.seam import measure_seam

ZOO = (("horse", 1001), ("fox", 1000), ("tiger", 1002), ("deer", 1003), ("dog", 1004),
       ("elephant", 1005))  # fmt: skip
ALONE = ("warm_start.samples=1", "warm_start.finalists=1")
COLUMNS = ("walk", "clip", "B", "C", "limb phase", "bounce", "rough", "duty", "stride", "seam")


def row(name: str, kind: str, character: Character, motion: Motion) -> str:
    """A row of the table."""
    found = measure_with_recognisers(character, motion, reporting_recognisers(), "walk")
    features = naturalness_features(character, motion)
    assert found.action is not None
    assert found.action_c is not None
    says = [f"{score.probability:.2f} {score.said}" for score in (found.action, found.action_c)]
    values = [features.get(key, float("nan")) for key in ("fore_hind", "bounce", "duty", "stride")]
    phase, bounce, duty, stride = values
    seam = measure_seam(character.control_rig, motion, height=character.height).step
    cells = (name, kind, *says, f"{phase:.2f}", f"{bounce:.3f}", f"{found.roughness:.2f}",
             f"{duty:.2f}", f"{stride:.2f}", f"{seam:.2f}")  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="only creatures whose name holds this")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}", flush=True)
    for species, number in ZOO:
        assert zoo_seed_trains(number)
        name = f"{species} {number}"
        if options.only not in name:
            continue
        creature = build_creature(species, seed=number)
        true = bound_character(species, creature.skeleton, creature.mesh)
        print(row(name, "true", true, make_clip(creature, "walk", cycles=3)), flush=True)
        for seed in options.seeds:
            began = time.process_time()
            made = akd.animate(
                akd.zoo(species, seed=number), f"a {species} walking", seed=seed, device="cpu",
                preset=with_values(find_preset("tiny"), ALONE),
            )  # fmt: skip
            for kind, motion in made.motions().items():
                print(row(f"{name}, seed {seed}", kind, made.character, motion), flush=True)
            print(f"{time.process_time() - began:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
