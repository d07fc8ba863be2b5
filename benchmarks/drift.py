"""Do distilled gallops go where the character faces? Cheap fits on the training side.

    python -m benchmarks.drift --assets FOLDER
    python -m benchmarks.drift --assets FOLDER --cases     the gaits of benchmarks/distill.py

One sample, few iterations: what is asked for is the course, not a good gallop. Each row has the
sideways displacement over the clip across the way the character faces, in % of body height: of the
curves as they were found, of the distilled clip, of the distilled one with its feet planted
(`akd.motion.footing.replant`, as `akd animate --path` plants them), and of the grounded one
(tracked, blended, its feet pinned again, its seam slowed). With --cases, the seam and the drift of
the grounded clip alone, over the cases that are gaits: these, too, are fitted cheaply.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from unittest import mock

import torch

import akd
from akd.base.splits import asset_trains, zoo_seed_trains
from akd.motion.footing.replant import find_footing, replant
from akd.motion.motion import Motion
from akd.motion.parameters import ControlCurves
from akd.physics.settings import TrackingSettings
from akd.presets import find_preset, with_values
from akd.rig.character import Character
from benchmarks.distill_cases import CASES, Case, played
from benchmarks.seam import measure_seam, sideways

ZOO = (("horse", 1001), ("deer", 1003), ("dog", 1002), ("fox", 1000))
ARTISTS = ("quaternius/animals_pack/Donkey.glb", "quaternius/animals_pack/Bull.glb")
CHEAP = (
    "warm_start.samples=1", "warm_start.finalists=1", "warm_start.steps=6", "warm_start.trial=10",
    "warm_start.iterations=10", "iterations=5", "splats=1000",
)  # fmt: skip
GAITS = ("walk", "trot", "run", "gallop")
FPS = 30.0


def drift(character: Character, motion: Motion) -> float:
    """Sideways displacement over a clip, % of body height."""
    forward = character.control_rig.root_axes[2]
    return 100 * sideways(character.control_rig, motion, forward, height=character.height)


def cheap_clip(character: Character, prompt: str, seed: int) -> akd.Animation:
    """A clip of few iterations."""
    return akd.animate(
        character, prompt, preset=with_values(find_preset("tiny"), CHEAP), seed=seed,
        physics=TrackingSettings(iterations=20), fps=FPS, device="cpu", steering=False,
    )  # fmt: skip


def case_measured(case: Case, assets: Path, seed: int) -> str:
    """A row of the table of cases."""
    began = time.process_time()
    with played(case, assets) as (character, _):
        grounded = cheap_clip(character, case.prompt, seed).grounded
    assert grounded is not None
    rig, motion = character.control_rig, grounded.motion
    seam = measure_seam(rig, motion, height=character.height)
    across = 100 * sideways(rig, motion, character.forward, height=character.height)
    spent = time.process_time() - began
    return f"| {case.name} | {seam.jump:.2f} | {seam.step:.2f} | {across:.4f} | {spent:.0f} |"


def measured(name: str, character: Character, seed: int) -> str:
    """A row of the table."""
    began = time.process_time()
    found: list[ControlCurves] = []
    motion_of = ControlCurves.motion

    def listen(curves: ControlCurves, *given: object, **named: object) -> Motion:
        found.append(curves)
        return motion_of(curves, *given, **named)  # pyright: ignore[reportArgumentType]

    with mock.patch.object(ControlCurves, "motion", listen):
        clip = cheap_clip(character, "galloping", seed)
    assert clip.grounded is not None
    with mock.patch.object(ControlCurves, "_straightened", lambda _, controls: controls):
        before = motion_of(found[-1], "before", lift=0.0, fps=FPS)
    planted = replant(character, clip.motion, find_footing(character, clip.motion, fps=FPS))
    clips = (before, clip.motion, planted, clip.grounded.motion)
    cells = " | ".join(f"{drift(character, motion):.4f}" for motion in clips)
    seam = measure_seam(character.control_rig, clip.grounded.motion, height=character.height)
    spent = time.process_time() - began
    return f"| {name} | {cells} | {seam.step:.2f} | {spent:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--assets", type=Path, help="folder of real files")
    parser.add_argument("--cases", action="store_true", help="gaits of the measuring side")
    parser.add_argument("--only", default="", help="only characters whose name holds this")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.cases:
        print("| case | jump | step | sideways, % | CPU s |\n| --- | --- | --- | --- | --- |")
        for case in CASES:
            if case.action in GAITS and options.only in case.name:
                print(case_measured(case, options.assets, options.seed), flush=True)
        return
    columns = ("gallop", "curves", "distilled", "planted", "grounded", "step", "CPU s")
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)
    for species, seed in ZOO:
        assert zoo_seed_trains(seed)
        if options.only not in species:
            continue
        creature = akd.zoo(species, seed=seed)
        print(measured(f"zoo {species} {seed}", creature, options.seed), flush=True)
    for path in ARTISTS if options.assets else ():
        assert asset_trains(path)
        if options.only not in path:
            continue
        print(measured(Path(path).stem, akd.load(options.assets / path), options.seed), flush=True)


if __name__ == "__main__":
    main()
