"""What each part of the distillation's budget buys, on bodies of the training side.

    python -m benchmarks.budget run OUT.jsonl [--plans today pool] [--seeds 0 1 2] [--only fox]
        [--device cuda --processes 14]
    python -m benchmarks.budget table OUT.jsonl [--under 90]
    python -m benchmarks.budget samples OUT.jsonl [--steps 24 12 --orders 1 2 --spacings 1 2]

`run` takes each case through each plan. Plans such as `pool` fit, distil and ground all samples,
after several numbers of iterations, so that `table` can say what fewer samples, finalists or
iterations would have given: of n samples it takes the first n, of these the f finalists that the
fit ranks first, and keeps the one with the highest selection score, before or after physics. Rows
are written as cases end, and a run that was killed goes on with the others.
`samples` compares one video of each case, from the same noise, between numbers of denoising steps,
orders of the solver and spacings of the steps. Seconds in rows are processor time, user and system.

The rule of choice, written before the first run: among the settings whose estimated time on two
cores is below `--under`, the one with the highest value, which is the mean over cases and seeds of
B's probability plus the score less 0.1 for each condition that fails. This is the selection score
with recogniser B in place of A, because A chose the finalist. Of settings within one standard error
of the best, the quickest. `table` prints this choice in its last line.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

import akd
from akd.api.request import Request, make_request
from akd.api.search import (
    begin,
    choose_each,
    cycle_of,
    ground_motion,
    measures_for,
    motion_of,
    set_stage,
    spawn,
)
from akd.base.splits import zoo_seed_trains
from akd.distill.loop import distil
from akd.export.creature import write_creature
from akd.fit.warm_start import fit_finalists, sample_videos
from akd.metrics.measures import Measures
from akd.metrics.recognise.recogniser import find_recogniser, reporting_recognisers
from akd.metrics.selection import selection_score, video_score
from akd.motion.feet import leg_length
from akd.motion.grid import CLIP_FPS
from akd.motion.motion import Motion
from akd.motion.parametrization import MotionParameters
from akd.physics.settings import SimulatorSettings, TrackingSettings, world_for
from akd.presets import TINY, with_values
from akd.prior.protocol import VideoPrior, for_body
from akd.prior.sample import draw_noise, sample_latents
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


@dataclass(frozen=True)
class Plan:
    """Settings that one run of a case stands for, and what is measured of it."""

    values: tuple[str, ...] = ()
    """Changes to the preset `tiny`."""
    at: tuple[int, ...] = (150,)
    """Iterations of distillation after which all finalists are grounded."""
    tracking: tuple[str, ...] = ("200",)
    """Names of tracking settings."""


@dataclass(frozen=True)
class Physics:
    """Settings of tracking and of the simulator."""

    tracking: TrackingSettings
    step: float = SimulatorSettings.step
    """Length of a substep."""

    @property
    def iterations(self) -> float:
        """As many of the default substep as take the same time."""
        return self.tracking.iterations * SimulatorSettings.step / self.step


PHYSICS = {
    "200": Physics(TrackingSettings(iterations=200)),
    "100": Physics(TrackingSettings(iterations=100)),
    "60": Physics(TrackingSettings(iterations=60)),
    "60, twice the rate": Physics(TrackingSettings(iterations=60, learning_rate=0.06)),
    "60, growing by 30 %": Physics(TrackingSettings(iterations=60, grow=0.3)),
    "100, longer substeps": Physics(TrackingSettings(iterations=100), step=0.012),
}
_POOL = ("warm_start.samples=4", "warm_start.finalists=4", "warm_start.steps=12",
         "warm_start.trial=50", "warm_start.iterations=50", "learning_rate=0.005")  # fmt: skip
_TWO = (*_POOL, "warm_start.finalists=2", "iterations=50")
PLANS = {
    "before": Plan((*_TWO, "warm_start.steps=24", "warm_start.spacing=1", "iterations=150")),
    "pool": Plan((*_POOL, "iterations=100"), at=(30, 50, 75, 100), tracking=("100",)),
    "tracking": Plan((*_TWO, "warm_start.finalists=1"), (50,), tuple(PHYSICS)),
    "twice the rate": Plan((*_TWO, "learning_rate=0.01"), (30, 50), ("100",)),
    "no trial": Plan((*_TWO, "warm_start.trial=0"), (30, 50), ("100",)),
}
"""In the order in which they are run, each for all cases of a seed."""
UNITS = {
    "guided pair": 0.344, "phase search": 1.5, "trial": 0.046, "second fit": 0.059,
    "distil": 0.36, "tracking": 0.083, "rest": 14.0,
}  # fmt: skip
"""Seconds on two Zen 4 cores with AVX-512: of a sample's denoising step, of a sample's phase
search, of an iteration of a sample's or a finalist's fit, of a finalist's distillation and of
tracking (all finalists at once), and of what does not depend on the settings. From one quiet run of
the demo, where phases that hold two units were divided in the ratio of their processor time."""


def estimated_seconds(
    *, samples: int, steps: int, trial: int, fit: int, finalists: int, iterations: int,
    tracking: float,
) -> float:  # fmt: skip
    """Seconds that a clip takes on two cores."""
    return (
        samples * steps * UNITS["guided pair"]
        + (samples if trial else finalists) * UNITS["phase search"]
        + samples * trial * UNITS["trial"]
        + finalists * fit * UNITS["second fit"]
        + finalists * iterations * UNITS["distil"]
        + tracking * UNITS["tracking"]
        + UNITS["rest"]
    )


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


def set_up(case: Case, values: Sequence[str], device: str) -> tuple[Request, VideoPrior, Stage]:
    """What sampling and distillation need."""
    request = case.request(values, device)
    character = request.character
    prior = for_body(request.load_prior(), leg_length(character, character.control_rig))
    return request, prior, set_stage(request, prior)


def run(case: Case, seed: int, name: str, device: str) -> Iterator[Row]:
    """Rows of each finalist of a plan after each number of iterations, grounded."""
    plan = PLANS[name]
    request, prior, stage = set_up(case, plan.values, device)
    settings, warm = request.settings, request.settings.warm_start
    generator = torch.Generator().manual_seed(seed)
    began = time.process_time()
    videos = sample_videos(stage, prior, request.asked, warm, generator=generator)
    seconds = {"sample": time.process_time() - began}
    chooser = find_recogniser("a")
    score = video_score(
        chooser, request.action, style=prior.style,
        size=(prior.frames, prior.height, prior.width),
    )  # fmt: skip
    begun: list[tuple[MotionParameters, int]] = []

    def start(video: Tensor) -> MotionParameters:
        at = next(k for k, one in enumerate(videos) if torch.equal(one, video))
        begun.append((begin(stage, prior, request, video), at))
        return begun[-1][0]

    began = time.process_time()
    finalists = fit_finalists(stage, videos, start, request.losses, warm, score=score)
    seconds["fit"] = time.process_time() - began
    snapshots = Snapshots(finalists, plan.at)
    distil(
        stage, prior, request.asked, finalists, settings, losses=request.losses,
        generators=spawn(generator, len(finalists)), observer=snapshots,
    )  # fmt: skip
    for iterations, (spent, kept) in snapshots.kept.items():
        for rank, one in enumerate(kept):
            motion = motion_of(one, case.name, stage, CLIP_FPS)
            measured = measures_for(request)
            early = selection_score(measured, motion, chooser)
            for tracking in plan.tracking:
                began = time.process_time()
                physics = PHYSICS[tracking]
                cycle = cycle_of(one, case.name, stage, CLIP_FPS)
                grounded = ground_motion(
                    request.character, motion, cycle, physics.tracking, fps=CLIP_FPS,
                    action=request.action,
                    world=replace(world_for(request.action), step=physics.step),
                )  # fmt: skip
                tracked = time.process_time() - began
                [(chosen, physical, worse)] = choose_each(
                    request,
                    [motion],
                    [cycle],
                    [grounded],
                    fps=CLIP_FPS,
                    measures=measured,
                    chooser=chooser,
                )
                yield {
                    "plan": name, "case": case.name, "seed": seed, "asked": request.action,
                    "steps": warm.steps, "trial": warm.trial, "fit": warm.iterations,
                    "samples": len(videos),
                    "video": next(k for begun_at, k in begun if begun_at is finalists[rank]),
                    "rank": rank, "iterations": iterations, "tracking": tracking,
                    "error": grounded.tracking.error, "early": early,
                    "seconds": {**seconds, "distil": spent, "physics": tracked},
                } | measures(measured, chosen if worse else physical.motion)  # fmt: skip


def measures(measured: Measures, motion: Motion) -> Row:
    """What recognisers, conditions and selection say of a motion."""
    found = measured.with_recognisers(motion, reporting_recognisers(device=measured.device))
    assert found.action is not None
    assert found.action_c is not None
    return {
        "b": found.action.probability, "said": found.action.said,
        "c": found.action_c.probability, "score": found.score, "fails": found.fails,
        "selection": selection_score(measured, motion, find_recogniser("a")),
    }  # fmt: skip


def samples(case: Case, seed: int, options: argparse.Namespace) -> Iterator[Row]:
    """One video of a case for each way to solve, all from the same noise.

    Differences are to the first, many steps of DDIM.
    """
    request, prior, stage = set_up(case, (), options.device)
    recognisers = {"a": find_recogniser("a"), **reporting_recognisers()}
    scale = request.settings.warm_start.guidance
    asked = prior.condition(request.asked, reference_image=stage.reference_images()[0])
    first = None
    ways = [(options.reference, 1, 1.0), *product(options.steps, options.orders, options.spacings)]
    for steps, order, spacing in ways:
        noise = draw_noise(prior, 1, generator=torch.Generator().manual_seed(seed))
        began = time.process_time()
        latents = sample_latents(
            prior, [asked], noise, steps=steps, order=order, spacing=spacing, scale=scale
        )
        video = prior.decode(latents).clamp(0.0, 1.0).cpu()
        spent = time.process_time() - began
        first = video if first is None else first
        row: Row = {
            "case": case.name, "seed": seed, "order": order, "steps": steps,
            "spacing": spacing, "seconds": spent,
            "difference": float((video - first).square().mean()), "variance": float(first.var()),
        }  # fmt: skip
        for name, recogniser in recognisers.items():
            if recogniser is not None and request.action in recogniser.classes:
                place = recogniser.classes.index(request.action)
                row[name] = float(recogniser(video)[0, place])
        yield row


@dataclass(frozen=True)
class Setting:
    """A choice of samples, finalists and iterations, and the motions that it gave."""

    plan: str
    samples: int
    finalists: int
    choice: str
    """Whether the finalist is chosen before or after physics."""
    iterations: int
    tracking: str
    seconds: float
    """Estimated, on two cores."""
    kept: list[Row]
    """The finalist that is kept, of each case and seed."""

    def mean(self, value: Callable[[Row], float]) -> tuple[float, float]:
        """Over cases and seeds, and the standard error of that."""
        values = [value(row) for row in self.kept]
        error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
        return fmean(values), error


def settings_of(rows: Sequence[Row]) -> Iterator[Setting]:
    """All settings that rows can tell about."""
    groups: dict[tuple[str, int, str], dict[object, list[Row]]] = defaultdict(dict)
    for row in rows:
        group = groups[row["plan"], row["iterations"], row["tracking"]]
        group.setdefault((row["case"], row["seed"]), []).append(row)
    for (plan, iterations, tracking), by_case in groups.items():
        every = [row for found in by_case.values() for row in found]
        most, whole = max(row["rank"] for row in every) + 1, every[0]
        # Fewer samples can only be told of where all of them were distilled.
        counts = range(1, most + 1) if most == whole["samples"] else [whole["samples"]]
        chosen = {"early": "before", "selection": "after"}
        for count, finalists, by in product(counts, range(1, most + 1), chosen):
            if finalists > count or (finalists == 1 and by == "early"):
                continue
            kept = []
            for found in by_case.values():
                ranked = sorted((row for row in found if row["video"] < count),
                                key=lambda row: row["rank"])[:finalists]  # fmt: skip
                if len(ranked) == finalists:
                    kept.append(max(ranked, key=lambda row: row[by]))
            seconds = estimated_seconds(
                samples=count, steps=whole["steps"], trial=whole["trial"] if count > 1 else 0,
                fit=whole["fit"], finalists=finalists, iterations=iterations,
                tracking=PHYSICS[tracking].iterations,
            )  # fmt: skip
            yield Setting(plan, count, finalists, chosen[by], iterations, tracking, seconds, kept)


def worth(row: Row) -> float:
    """What the rule of choice counts."""
    return (row["b"] or 0.0) + row["score"] - 0.1 * len(row["fails"])


def print_table(rows: Sequence[Row], *, under: float) -> None:
    """Means and standard errors by setting, and the choice by the rule."""
    found = sorted(settings_of(rows), key=lambda one: -one.mean(worth)[0])
    head = ("plan", "samples", "finalists", "chosen", "iterations", "tracking", "seconds", "clips",
            "value", "B", "named", "C", "score", "sound")  # fmt: skip
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for one in found:
        named = fmean(row["said"] == row["asked"] for row in one.kept)
        sound = fmean(not row["fails"] for row in one.kept)
        value, b, c, score = (
            "{:.3f} ± {:.3f}".format(*one.mean(part))
            for part in (worth, lambda row: row["b"] or 0.0, lambda row: row["c"] or 0.0,
                         lambda row: row["score"])
        )  # fmt: skip
        print(
            f"| {one.plan} | {one.samples} | {one.finalists} | {one.choice} | {one.iterations} "
            f"| {one.tracking} | {one.seconds:.0f} | {len(one.kept)} | {value} | {b} "
            f"| {named:.0%} | {c} | {score} | {sound:.0%} |"
        )
    most = max((len(one.kept) for one in found), default=0)
    fits = [one for one in found if one.seconds <= under and len(one.kept) == most]
    if fits:
        least = fits[0].mean(worth)[0] - fits[0].mean(worth)[1]
        one = min((s for s in fits if s.mean(worth)[0] >= least), key=lambda s: s.seconds)
        print(
            f"choice: plan {one.plan}, {one.samples} samples, {one.finalists} finalists, "
            f"{one.iterations} iterations, {one.tracking} of tracking, {one.seconds:.0f} s"
        )


def print_samples(rows: Sequence[Row]) -> None:
    """Means over cases and seeds of each way to sample."""
    ways: dict[tuple[int, int, float], list[Row]] = defaultdict(list)
    for row in rows:
        ways[row["steps"], row["order"], row["spacing"]].append(row)
    print("| steps | order | spacing | videos | difference | A | B | C |")
    print(f"|{' --- |' * 8}")
    for (steps, order, spacing), found in ways.items():
        away = fmean(row["difference"] / row["variance"] for row in found)
        said = (fmean(row[name] for row in found if name in row) for name in "abc")
        print(
            f"| {steps} | {order} | {spacing} | {len(found)} | {away:.3f} | "
            + " | ".join(f"{value:.3f}" for value in said)
            + " |"
        )


def job(case: Case, seed: int, plan: str, options: argparse.Namespace) -> list[Row]:
    """All rows of one case, seed and plan."""
    torch.set_num_threads(options.threads)
    if options.what == "run":
        made, told = run(case, seed, plan, options.device), (
            "plan", "case", "seed", "rank", "iterations", "tracking"
        )  # fmt: skip
    else:
        made, told = samples(case, seed, options), ("case", "seed", "order", "steps", "spacing")
    return [row | {"key": str([row[name] for name in told])} for row in made]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "samples", "table"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--plans", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--steps", type=int, nargs="+", default=[24, 12, 10, 8])
    parser.add_argument("--orders", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--spacings", type=float, nargs="+", default=[1.0, 1.5, 2.0])
    parser.add_argument("--reference", type=int, default=100, help="steps of the reference")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--under", type=float, default=90.0, help="seconds on two cores")
    options = parser.parse_args()
    rows = read_rows(options.out)
    if options.what == "table":
        if any("plan" in row for row in rows):
            print_table(rows, under=options.under)
        else:
            print_samples(rows)
        return
    done = {(row["case"], row["seed"], row.get("plan", "")) for row in rows}
    plans = options.plans if options.what == "run" else [""]
    cases = [case for case in CASES if options.only in case.name]
    todo = [
        (case, seed, plan)
        for seed in options.seeds for plan in plans for case in cases
        if (case.name, seed, plan) not in done
    ]  # fmt: skip
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=context) as pool:
        jobs = {pool.submit(job, *one, options): one for one in todo}
        for made in as_completed(jobs):
            if (error := made.exception()) is not None:
                print(f"{jobs[made]}: {error!r}", flush=True)
                continue
            for row in made.result():
                append_row(options.out, row)


if __name__ == "__main__":
    main()
