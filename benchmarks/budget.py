"""What each part of the distillation's budget buys, on bodies of the training side.

    python -m benchmarks.budget run OUT.jsonl [--only fox] [--set warm_start.steps=12 iterations=75]
        [--at 0 40 75] [--ground 75] [--tracking 100 200] [--seeds 0 1 2]
        [--device cuda --processes 12]
    python -m benchmarks.budget samples OUT.jsonl [--only fox] [--steps 24 12]
    python -m benchmarks.budget table OUT.jsonl

`run` distils all finalists and measures them after each number of iterations `--at`, so that one
run shows what fewer iterations give, what the first finalist alone gives, and what the choice
between them adds. `samples` compares one video of each case, from the same noise, between numbers
of denoising steps. Seconds are processor time, user and system.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

import akd
from akd.api.request import Request, make_request
from akd.api.search import motion_of, set_stage, starting_point
from akd.base.splits import zoo_seed_trains
from akd.distill.loop import distil
from akd.export.creature import write_creature
from akd.fit.warm_start import fit_finalists, sample_videos
from akd.metrics.motion import judged
from akd.metrics.recognise.recogniser import find_recogniser, reporting_recognisers
from akd.metrics.selection import selection_score, video_score
from akd.motion.feet import leg_length
from akd.motion.grid import CLIP_FPS
from akd.motion.motion import Motion
from akd.motion.parametrization import MotionParameters
from akd.physics.ground import ground
from akd.physics.settings import TrackingSettings
from akd.presets import TINY, with_values
from akd.prior.protocol import VideoPrior, for_body
from akd.scene.stage import Stage
from akd.zoo.creature import build_creature
from benchmarks.rows import append_row, read_rows

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A creature of the zoo's training side, and what it is asked to do."""

    noun: str
    seed: int
    word: str

    @property
    def name(self) -> str:
        """Such as `fox 1001, walking`."""
        return f"{self.noun} {self.seed}, {self.word}"

    def request(self, settings: Sequence[str], device: str) -> Request:
        """The preset `tiny` with some settings changed, on a file without clips."""
        if not zoo_seed_trains(self.seed):
            raise ValueError(f"seed {self.seed}: is for measuring, and must choose no setting")
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"{self.noun}.glb"
            write_creature(build_creature(self.noun, seed=self.seed), [], path)
            character = akd.load(path)
        preset = with_values(TINY, settings)
        return make_request(character, f"a {self.noun} {self.word}", preset=preset, device=device)


CASES = (
    Case("fox", 1001, "walking"), Case("man", 1004, "walking"), Case("horse", 1002, "galloping"),
    Case("trex", 1006, "running"), Case("tiger", 1003, "trotting"), Case("woman", 1005, "running"),
    Case("child", 1008, "waving"), Case("deer", 1007, "jumping"),
)  # fmt: skip
"""Chosen before anything was run."""


class Snapshots(akd.Observer):
    """Copies of all finalists after some numbers of iterations."""

    def __init__(self, finalists: Sequence[MotionParameters], at: Sequence[int]) -> None:
        self.finalists, self.at = finalists, at
        self.kept: dict[int, tuple[float, list[MotionParameters]]] = {}
        self._began = time.process_time()
        self.step(0, 0, {})

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        """Keep them where it is time."""
        if iteration in self.at:
            copies = [one.with_values(one.values()) for one in self.finalists]
            self.kept[iteration] = time.process_time() - self._began, copies


def set_up(case: Case, options: argparse.Namespace) -> tuple[Request, VideoPrior, Stage]:
    """What sampling and distillation need."""
    request = case.request(options.set, options.device)
    character = request.character
    prior = for_body(request.load_prior(), leg_length(character, character.control_rig))
    return request, prior, set_stage(request, prior)


def run(case: Case, seed: int, options: argparse.Namespace) -> Iterator[Row]:
    """Rows of each finalist after each number of iterations, distilled and grounded."""
    request, prior, stage = set_up(case, options)
    settings, warm = request.settings, request.settings.warm_start
    generator = torch.Generator().manual_seed(seed)
    began = time.process_time()
    videos = sample_videos(stage, prior, request.asked, warm, generator=generator)
    seconds = {"sample": time.process_time() - began}
    score = video_score(
        find_recogniser("a"), request.action, style=prior.style,
        size=(prior.frames, prior.height, prior.width),
    )  # fmt: skip

    def begin(video: Tensor) -> MotionParameters:
        return request.parametrization.begin(starting_point(request, prior, video), stage)

    began = time.process_time()
    finalists = fit_finalists(stage, videos, begin, request.losses, warm, score=score)
    seconds["fit"] = time.process_time() - began
    snapshots = Snapshots(finalists, options.at)
    seeds = torch.randint(2**62, (len(finalists),), generator=generator).tolist()
    distil(
        stage, prior, request.asked, finalists, settings, losses=request.losses,
        generators=[torch.Generator().manual_seed(s) for s in seeds], observer=snapshots,
    )  # fmt: skip
    for iterations, (spent, kept) in snapshots.kept.items():
        for finalist, one in enumerate(kept):
            row = {
                "case": case.name, "seed": seed, "asked": request.action, "steps": warm.steps,
                "run": settings.iterations, "iterations": iterations, "finalist": finalist,
                "seconds": {**seconds, "distil": spent},
            }  # fmt: skip
            motion = motion_of(one, case.name, stage, CLIP_FPS)
            yield row | measures(request, motion, tracking=0)
            for tracking in options.tracking if iterations in options.ground else ():
                grounded = ground(
                    request.character.control_rig, request.character.body_mesh, motion,
                    fps=CLIP_FPS, settings=replace(TrackingSettings(), iterations=tracking),
                )  # fmt: skip
                yield row | measures(request, grounded.motion, tracking=tracking)


def measures(request: Request, motion: Motion, *, tracking: int) -> Row:
    """What recognisers, conditions and selection say of a motion."""
    character, action = request.character, request.action
    found = judged(character, motion, reporting_recognisers(), action)
    assert found.action is not None
    assert found.action_c is not None
    return {
        "tracking": tracking, "b": found.action.probability, "said": found.action.said,
        "c": found.action_c.probability, "score": found.score, "fails": found.fails,
        "selection": selection_score(character, motion, find_recogniser("a"), action),
    }  # fmt: skip


def samples(case: Case, seed: int, options: argparse.Namespace) -> Iterator[Row]:
    """One video of a case for each number of denoising steps, all from the same noise."""
    request, prior, stage = set_up(case, options)
    recognisers = {"a": find_recogniser("a"), **reporting_recognisers()}
    first = None
    for steps in options.steps:
        warm = replace(request.settings.warm_start, samples=1, steps=steps)
        generator = torch.Generator().manual_seed(seed)
        began = time.process_time()
        video = sample_videos(stage, prior, request.asked, warm, generator=generator)
        spent = time.process_time() - began
        first = video if first is None else first
        row: Row = {
            "case": case.name, "seed": seed, "steps": steps, "seconds": spent,
            "difference": float((video - first).square().mean()), "variance": float(first.var()),
        }  # fmt: skip
        for name, recogniser in recognisers.items():
            if recogniser is not None and request.action in recogniser.classes:
                place = recogniser.classes.index(request.action)
                row[name] = float(recogniser(video)[0, place])
        yield row


def print_table(rows: Sequence[Row]) -> None:
    """Means over cases: of the finalist that the fit ranks first, and of the one selected."""
    groups: dict[tuple[int, ...], dict[object, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        key = (row["steps"], row["run"], row["iterations"], row["tracking"])
        groups[key][row["case"], row["seed"]].append(row)
    print("| steps | iterations | tracking | kept | cases | B | named | C | score | conditions |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (steps, planned, iterations, tracking), by_case in sorted(groups.items()):
        firsts = [min(found, key=lambda row: row["finalist"]) for found in by_case.values()]
        bests = [max(found, key=lambda row: row["selection"]) for found in by_case.values()]
        for name, kept in (("first", firsts), ("selected", bests)):
            named = sum(row["said"] == row["asked"] for row in kept)
            sound = sum(not row["fails"] for row in kept)
            b, c, score = (fmean(row[k] or 0.0 for row in kept) for k in ("b", "c", "score"))
            print(
                f"| {steps} | {iterations} of {planned} | {tracking} | {name} | {len(kept)} "
                f"| {b:.3f} | {named} | {c:.3f} | {score:.3f} | {sound} |"
            )


def rows_of(case: Case, seed: int, options: argparse.Namespace) -> list[Row]:
    """All rows of one case and seed."""
    torch.set_num_threads(options.threads)
    made = (run if options.what == "run" else samples)(case, seed, options)
    told = ("case", "seed", "steps", "run", "iterations", "finalist", "tracking")
    return [row | {"key": str([options.set, *(row.get(k) for k in told)])} for row in made]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "samples", "table"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--at", type=int, nargs="+", default=[0, 40, 75, 100, 150])
    parser.add_argument("--ground", type=int, nargs="*", default=[150])
    parser.add_argument("--tracking", type=int, nargs="+", default=[200])
    parser.add_argument("--steps", type=int, nargs="+", default=[24, 12])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[])
    options = parser.parse_args()
    if options.what == "table":
        print_table(read_rows(options.out))
        return
    cases = [case for case in CASES if options.only in case.name]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=context) as pool:
        jobs = [pool.submit(rows_of, case, s, options) for s in options.seeds for case in cases]
        for job in as_completed(jobs):
            for row in job.result():
                append_row(options.out, row)


if __name__ == "__main__":
    main()
