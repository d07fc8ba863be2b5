"""What each part of the distillation's budget buys, on bodies of the training side.

    python -m benchmarks.budget run OUT.jsonl [--only fox] [--set warm_start.steps=12 iterations=75]
        [--at 0 25 50 75] [--ground 75] [--tracking 200]
    python -m benchmarks.budget table OUT.jsonl

All finalists of a run are distilled, and measured after each number of iterations `--at`, so that
one run shows what fewer iterations give, what the first finalist alone gives, and what choosing
between them adds. Seconds are those of the process, user and system, on one thread or several.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import torch

import akd
from akd.base.splits import zoo_seed_trains
from akd.distill.loop import distil
from akd.export.creature import write_creature
from akd.fit.warm_start import fit_finalists, sample_videos
from akd.metrics.motion import judged
from akd.metrics.recognise.recogniser import find_recogniser, reporting_recognisers
from akd.metrics.selection import lowered, selection_score, video_score
from akd.motion.feet import leg_length
from akd.motion.grid import CLIP_FPS
from akd.motion.motion import Motion
from akd.motion.parametrization import MotionParameters
from akd.physics.ground import ground
from akd.physics.settings import TrackingSettings
from akd.presets import TINY, with_values
from akd.prior.protocol import for_body
from akd.request import Request, make_request
from akd.search import motion_of, set_stage, starting_point
from akd.zoo.creature import build_creature

CASES: tuple[tuple[str, int, str], ...] = (
    ("fox", 1001, "walking"), ("man", 1004, "walking"), ("horse", 1002, "galloping"),
    ("trex", 1006, "running"), ("tiger", 1003, "trotting"), ("woman", 1005, "running"),
    ("child", 1008, "waving"), ("deer", 1007, "jumping"),
)  # fmt: skip
"""Species, seed and what it is asked to do; chosen before anything was run."""


class Snapshots(akd.Observer):
    """Copies of all finalists after some numbers of iterations."""

    def __init__(self, finalists: Sequence[MotionParameters], at: Sequence[int]) -> None:
        self.finalists, self.at = finalists, at
        self.kept: dict[int, list[MotionParameters]] = {}
        self.seconds: dict[int, float] = {}
        self._began = time.process_time()
        self.step(0, 0, {})

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        """Keep them where it is time."""
        if iteration in self.at:
            self.kept[iteration] = [one.with_values(one.values()) for one in self.finalists]
            self.seconds[iteration] = time.process_time() - self._began


def animate(case: tuple[str, int, str], options: argparse.Namespace) -> list[dict[str, Any]]:
    """One row for each finalist and number of iterations."""
    noun, seed, word = case
    assert zoo_seed_trains(seed), f"seed {seed} is for measuring"
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{noun}.glb"
        write_creature(build_creature(noun, seed=seed), [], path)
        character = akd.load(path)
    settings = with_values(TINY, options.set)
    request = make_request(character, f"a {noun} {word}", preset=settings, device="cpu")
    prior = for_body(request.load_prior(), leg_length(character, character.control_rig))
    stage = set_stage(request, prior)
    chooser = find_recogniser("a")
    score = video_score(
        chooser, request.action, style=prior.style, size=(prior.frames, prior.height, prior.width)
    )
    clock, seconds = time.process_time(), {}
    generator = torch.Generator().manual_seed(options.seed)
    warm = settings.warm_start
    videos = sample_videos(stage, prior, request.asked, warm, generator=generator)
    seconds["sample"], clock = time.process_time() - clock, time.process_time()

    def begin(video: torch.Tensor) -> MotionParameters:
        return request.parametrization.begin(starting_point(request, prior, video), stage)

    finalists = fit_finalists(stage, videos, begin, request.losses, warm, score=score)
    seconds["fit"] = time.process_time() - clock
    snapshots = Snapshots(finalists, options.at)
    seeds = torch.randint(2**62, (len(finalists),), generator=generator).tolist()
    distil(
        stage, prior, request.asked, finalists, settings, losses=request.losses,
        generators=[torch.Generator().manual_seed(s) for s in seeds], observer=snapshots,
    )  # fmt: skip
    rows = []
    for iterations, kept in snapshots.kept.items():
        spent = seconds | {"distil": snapshots.seconds[iterations]}
        for finalist, one in enumerate(kept):
            row = {
                "case": f"{noun} {seed}, {word}", "steps": warm.steps, "run": settings.iterations,
                "iterations": iterations, "finalist": finalist, "seconds": spent,
            }  # fmt: skip
            motion = motion_of(one, "clip", stage, CLIP_FPS)
            rows += judge(request, motion, row, options if iterations in options.ground else None)
    return rows


def judge(
    request: Request, motion: Motion, row: dict[str, Any], options: argparse.Namespace | None
) -> list[dict[str, Any]]:
    """Measures of a distilled motion and, where there are options, of the grounded ones."""
    character, recognisers = request.character, reporting_recognisers()
    chooser = find_recogniser("a")

    def measured(clip: Motion, **more: Any) -> dict[str, Any]:
        found = judged(character, clip, recognisers, request.action)
        return row | more | {
            "b": found.action and found.action.probability,
            "b said": found.action and found.action.said,
            "c": found.action_c and found.action_c.probability,
            "score": found.score, "fails": found.fails, "asked": request.action,
            "selection": selection_score(character, clip, chooser, request.action),
        }  # fmt: skip

    rows = [measured(motion, tracking=None)]
    for tracking in options.tracking if options else ():
        clock = time.process_time()
        tracked = ground(
            character.control_rig, character.body_mesh, motion, fps=CLIP_FPS,
            settings=replace(TrackingSettings(), iterations=tracking),
        )  # fmt: skip
        spent = time.process_time() - clock
        before, after = (
            judged(character, m, {}, request.action) for m in (motion, tracked.motion)
        )
        worse = lowered(before, after)
        rows.append(measured(tracked.motion, tracking=tracking, physics=spent, worse=worse))
    return rows


def print_table(path: Path) -> None:
    """Means over the cases that have all of the compared rows."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    groups: dict[tuple, dict[str, list[dict]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        key = (row["steps"], row["run"], row["iterations"], row["tracking"])
        groups[key][row["case"]].append(row)
    print("| steps | iterations | tracking | kept | cases | B | named | C | score | conditions |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (steps, run, iterations, tracking), by_case in sorted(groups.items(), key=str):
        firsts = [min(found, key=lambda r: r["finalist"]) for found in by_case.values()]
        bests = [max(found, key=lambda r: r["selection"]) for found in by_case.values()]
        for name, kept in (("first", firsts), ("selected", bests)):
            named = sum(r["b said"] == r["asked"] for r in kept)
            sound = sum(not r["fails"] for r in kept)
            print(
                f"| {steps} | {iterations} of {run} | {tracking or 'none'} | {name} | {len(kept)} "
                f"| {fmean(r['b'] or 0.0 for r in kept):.3f} | {named} "
                f"| {fmean(r['c'] or 0.0 for r in kept):.3f} "
                f"| {fmean(r['score'] for r in kept):.3f} | {sound} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at", type=int, nargs="+", default=[0, 40, 75, 100, 150])
    parser.add_argument("--ground", type=int, nargs="*", default=[150])
    parser.add_argument("--tracking", type=int, nargs="+", default=[200])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[])
    options = parser.parse_args()
    if options.what == "table":
        print_table(options.out)
        return
    torch.set_num_threads(options.threads)
    for case in CASES:
        if options.only not in f"{case[0]} {case[1]}, {case[2]}":
            continue
        rows = animate(case, options)
        with options.out.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
