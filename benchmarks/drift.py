"""Do grounded gaits loop, and go where the character faces? Cheap fits.

    python -m benchmarks.drift --assets FOLDER             gallops of the training side
    python -m benchmarks.drift --assets FOLDER --cases     the gaits of benchmarks/distill.py

One sample, few iterations: the course counts, not the gait's quality. A row has the largest jump of
a joint over the seam of the grounded clip, its fastest joint there over its own 90th percentile,
and the sideways displacement over the clip across the way the character faces, in % of body
height.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch

import akd
from akd.base.splits import asset_trains, zoo_seed_trains
from akd.physics.settings import TrackingSettings
from akd.presets import find_preset, with_values
from akd.rig.character import Character
from benchmarks.distill_cases import CASES, played
from benchmarks.seam import measure_seam, sideways

ZOO = (("horse", 1001), ("deer", 1003), ("dog", 1002), ("fox", 1000))
ARTISTS = ("quaternius/animals_pack/Donkey.glb", "quaternius/animals_pack/Bull.glb")
CHEAP = (
    "warm_start.samples=1", "warm_start.finalists=1", "warm_start.steps=6", "warm_start.trial=10",
    "warm_start.iterations=10", "iterations=5", "splats=1000",
)  # fmt: skip
GAITS = ("walk", "trot", "run", "gallop")
FPS = 30.0
PROMPT = "galloping"


def cheap_clip(character: Character, prompt: str, seed: int) -> akd.Animation:
    """A clip of few iterations."""
    return akd.animate(
        character, prompt, preset=with_values(find_preset("tiny"), CHEAP), seed=seed,
        physics=TrackingSettings(iterations=20), fps=FPS, device="cpu", steering=False,
    )  # fmt: skip


def measured(name: str, character: Character, prompt: str, seed: int) -> str:
    """A row of the table: seam and sideways drift of the grounded clip."""
    began = time.process_time()
    grounded = cheap_clip(character, prompt, seed).grounded
    assert grounded is not None
    rig, motion = character.control_rig, grounded.motion
    seam = measure_seam(rig, motion, height=character.height)
    across = 100 * sideways(rig, motion, character.forward, height=character.height)
    spent = time.process_time() - began
    return f"| {name} | {seam.jump:.2f} | {seam.step:.2f} | {across:.4f} | {spent:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--assets", type=Path, help="folder of real files")
    parser.add_argument("--cases", action="store_true", help="gaits of the measuring side")
    parser.add_argument("--only", default="", help="only characters whose name holds this")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| clip | jump | step | sideways, % | CPU s |\n| --- | --- | --- | --- | --- |")
    if options.cases:
        for case in CASES:
            if case.action in GAITS and options.only in case.name:
                with played(case, options.assets) as (character, _):
                    print(measured(case.name, character, case.prompt, options.seed), flush=True)
        return
    for species, seed in ZOO:
        assert zoo_seed_trains(seed)
        if options.only in species:
            creature = akd.zoo(species, seed=seed)
            print(measured(f"{species} {seed}", creature, PROMPT, options.seed), flush=True)
    for path in ARTISTS if options.assets else ():
        assert asset_trains(path)
        if options.only in path:
            creature = akd.load(options.assets / path)
            print(measured(Path(path).stem, creature, PROMPT, options.seed), flush=True)


if __name__ == "__main__":
    main()
