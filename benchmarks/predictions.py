"""Predictions of the tiny prior for several jobs at a time: each by itself, or in one batch.

    python -m benchmarks.predictions --jobs 1 8 15 --device cuda

Each job is a process that predicts again and again, as `akd batch` runs them: with weights of its
own, or through the server of `--together`. Only predictions are timed: no rendering, no physics.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

from akd.engine.call import Call, Resources, Seat
from akd.engine.local import Local, Service
from akd.engine.queue import run_calls
from akd.prior.choose import choose_prior
from akd.prior.served import serve_predictions, use_server
from akd.prior.source import PriorSource

_WAIT_SECONDS = 300.0


def predict(
    folder: Path, number: int, jobs: int, rows: int, turns: int, device: str, seat: Seat
) -> tuple[float, float]:
    """When a job's predictions began and ended, once all jobs are ready."""
    torch.set_num_threads(1)
    prior = choose_prior(PriorSource("tiny"), device=device)
    draw = torch.Generator().manual_seed(number)
    size = (prior.frames, prior.height, prior.width, 3)
    latents = torch.randn(rows, *size, generator=draw).to(prior.device)
    t = torch.full((rows,), 0.5, device=prior.device)
    image = torch.rand(size[1:], generator=draw).to(prior.device)
    condition = prior.condition("a fox walking", reference_image=image)
    for _ in range(3):
        float(prior.predict(latents, t, [condition] * rows).mean())
    (folder / f"ready-{number}").touch()
    deadline = time.monotonic() + _WAIT_SECONDS
    while len(list(folder.glob("ready-*"))) < jobs:
        if time.monotonic() > deadline:
            raise TimeoutError("the other jobs are not ready")
        time.sleep(0.01)
    began = time.monotonic()
    for _ in range(turns):
        float(prior.predict(latents, t, [condition] * rows).mean())
    return began, time.monotonic()


def measure(jobs: int, rows: int, turns: int, device: str, *, together: bool) -> float:
    """Rows a second of all jobs, between the first one's start and the last one's end."""
    service = Service(serve_predictions, use_server) if together else None
    engine = Local(cpus=jobs, service=service)
    gpus = 1.0 / jobs if device == "cuda" else 0.0
    spans = []
    with tempfile.TemporaryDirectory() as folder:
        calls = [
            Call(str(k), predict, (Path(folder), k, jobs, rows, turns, device), Resources(1, gpus))
            for k in range(jobs)
        ]
        try:
            for progress in run_calls(calls, engine, attempts=1):
                if progress.ended is not None:
                    if progress.ended.error is not None:
                        raise progress.ended.error
                    spans.append(progress.ended.value)
        finally:
            engine.close()
    seconds = max(end for _, end in spans) - min(began for began, _ in spans)
    return jobs * rows * turns / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 8])
    parser.add_argument("--rows", type=int, default=4, help="two finalists, with and without words")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    given = parser.parse_args()
    print("| jobs | rows a second, each by itself | rows a second, one batch |")
    print("| --- | --- | --- |")
    for jobs in given.jobs:
        alone, together = (
            measure(jobs, given.rows, given.turns, given.device, together=one)
            for one in (False, True)
        )
        print(f"| {jobs} | {alone:.0f} | {together:.0f} |", flush=True)


if __name__ == "__main__":
    main()
