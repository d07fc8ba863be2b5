"""Distillation measured: 48 cases, what each part is worth, and a deformation field beside it.

    python -m benchmarks.distill cases ablation field --assets FOLDER --out out/distill
    python -m benchmarks.distill controls --assets FOLDER --out out/distill
    python -m benchmarks.distill people --pose-prior 3 --assets FOLDER --out out/people
    python -m benchmarks.distill paper --out out/distill        10,000 iterations a row
    python -m benchmarks.distill full --out out/distill         10,000 iterations; hours
    python -m benchmarks.distill table --out out/distill --doc docs/benchmarks/distill.md

Every row is printed and appended to OUT/rows.jsonl as it ends; a run that was stopped goes on where
it was, rows of `paper` and `full` amid their iterations, and rows of other settings, seeds or
weights are made anew (of other code they are not: take another folder). Clips go to OUT/clips,
strips of frames to OUT/strips, checkpoints of long rows to OUT/runs.

cases: start, distilled, grounded and true clip of each case. ablation: six cases without each part,
and with some more.
controls: every case with another action than the words say, a prior of noise, no score, and a sine
gait without a video model.
people: six people without and with the pose model as a loss, in turn.
paper: the preset `paper` with the tiny prior and the paper's physics (no planting, no foot-plant
loss), as it is and without ground rendering, L_ground and L_smooth.
field: no skeleton, as many steps. full: 10,000 iterations of the ablation's cases.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from akd.distill.settings import DistillSettings
from akd.physics.settings import TrackingSettings
from akd.presets import TRACKING, find_preset, with_values
from benchmarks.distill_cases import ABLATED, CASES, PAPER_CASES, PEOPLE
from benchmarks.distill_controls import CONTROLS
from benchmarks.distill_parts import (
    ALL,
    CHANGES,
    PAPER_TRACKING,
    PAPER_VARIANTS,
    POSE_PRIOR,
    alone,
)
from benchmarks.distill_rows import FIELDS, Job, work
from benchmarks.distill_sheet import write_sheet
from benchmarks.distill_tables import line, write_tables
from benchmarks.natural_range import NaturalRange
from benchmarks.rows import append_row, read_rows

FULL, FULL_ITERATIONS = "one finalist, for long", 10_000


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """What was asked for, the longest rows first and the controls last."""
    tracking = replace(TrackingSettings(), iterations=options.physics) if options.physics else None
    settings = with_values(find_preset("tiny"), options.set)
    paper = find_preset("paper")
    if options.iterations is not None:
        settings, paper = (replace(s, iterations=options.iterations) for s in (settings, paper))
    plan: list[Job] = []

    def add(
        part: str,
        case: str,
        variant: str,
        settings: DistillSettings,
        physics: TrackingSettings | None = tracking,
        seed: int = options.seeds[0],
        pose_prior: float = options.pose_prior,
    ) -> None:
        plan.append(Job(
            part, case, variant, settings, seed, physics, options.weights, pose_prior,
            options.pose_weights,
        ))  # fmt: skip

    if "paper" in options.parts:
        physics = tracking and replace(PAPER_TRACKING, iterations=options.physics)
        for name in PAPER_VARIANTS:
            for case in PAPER_CASES:
                add("paper", case.name, name, CHANGES[name].change(paper), physics)
    if "cases" in options.parts:
        for seed in options.seeds:
            for case in CASES:
                add("cases", case.name, ALL, settings, seed=seed)
    if "people" in options.parts:
        for seed in options.seeds:
            for case in PEOPLE:
                add("people", case, ALL, settings, seed=seed, pose_prior=0.0)
                add("people", case, POSE_PRIOR, settings, seed=seed)
    if "controls" in options.parts:
        for case in CASES:
            for name, variant in CONTROLS.items():
                add("controls", case.name, name, variant.change(settings))
    if "ablation" in options.parts:
        for name, variant in CHANGES.items():
            for case in ABLATED:
                add("ablation", case, name, variant.change(alone(settings)))
    if "field" in options.parts:
        for case in CASES:
            for name in FIELDS:
                add("field", case.name, name, settings, None)
    if "full" in options.parts:
        for case in ABLATED:
            add("full", case, FULL, replace(alone(settings), iterations=FULL_ITERATIONS))
    kept = [job for job in plan if options.only in job.case or options.only in job.variant]
    names = list(dict.fromkeys(job.case for job in kept))
    if options.cases is not None and options.cases < len(names):
        # Real files come last in the list, and prompts take turns: some from all over it.
        places = torch.linspace(0, len(names) - 1, options.cases).round().long().tolist()
        names = [names[i] for i in places]
    return [job for job in kept if job.case in names]


def prepare(threads: int) -> None:
    """Few threads for this process, of torch and of the renderer, which takes the cores it may."""
    torch.set_num_threads(threads)
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        number = multiprocessing.current_process()._identity  # of a worker, from 1 on
        if number:
            first = (number[0] - 1) * threads % len(cores)
            os.sched_setaffinity(0, (cores + cores)[first : first + threads])


def run(jobs: list[Job], options: argparse.Namespace) -> None:
    """Do the jobs that are not done, side by side where that was asked for."""
    path: Path = options.out / "rows.jsonl"
    done = {row["key"] for row in read_rows(path) if "error" not in row}
    todo = [job for job in jobs if job.key not in done]
    print(f"{len(jobs)} rows, {len(jobs) - len(todo)} of them done before", flush=True)
    given = (options.device, options.assets, options.out)

    def report(row: dict[str, Any]) -> None:
        append_row(path, row)
        print(line(row), flush=True)

    if options.processes == 1:
        prepare(options.threads)
        for job in todo:
            report(work(job, *given))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        options.processes, mp_context=context, initializer=prepare, initargs=(options.threads,)
    ) as pool:
        for future in as_completed([pool.submit(work, job, *given) for job in todo]):
            report(future.result())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts = ("cases", "controls", "people", "paper", "ablation", "field", "full", "table")
    parser.add_argument("parts", nargs="+", choices=parts)
    parser.add_argument("--assets", type=Path, help="folder of real files")
    parser.add_argument("--out", type=Path, default=Path("out/distill"))
    parser.add_argument("--weights", type=Path, help="folder of a tiny prior that does not ship")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--only", default="", help="rows whose case or variant holds this text")
    parser.add_argument("--cases", type=int, help="so many of the cases, evenly taken")
    parser.add_argument("--processes", type=int, default=1, help="rows made side by side")
    parser.add_argument("--threads", type=int, default=2, help="of each process")
    parser.add_argument("--iterations", type=int, help="in place of the preset's")
    parser.add_argument("--set", nargs="+", default=[], help="such as warm_start.samples=1")
    parser.add_argument(
        "--physics",
        type=int,
        default=TRACKING.iterations,
        help="iterations of grounding; 0: none",
    )
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[0], help="of the cases; the rest takes the first"
    )
    parser.add_argument("--pose-prior", type=float, default=0.0, help="weight of the pose model")
    parser.add_argument("--pose-weights", type=Path, help="a pose model that does not ship")
    parser.add_argument(
        "--naturalness", type=Path, help="with table: ranges written by benchmarks/naturalness.py"
    )
    parser.add_argument("--doc", type=Path, help="with table: the page whose tables are replaced")
    parser.add_argument("--sheet", type=Path, help="with table: a picture of all cases")
    options = parser.parse_args()
    run(jobs_of(options), options)
    if "table" in options.parts:
        ranges = options.naturalness and NaturalRange.read(options.naturalness)
        write_tables(read_rows(options.out / "rows.jsonl"), options.doc, ranges)
        if options.sheet is not None:
            write_sheet(options.out, options.sheet)


if __name__ == "__main__":
    main()
