"""`akd.animate` on the demo's fox: seconds by phase.

    python -m benchmarks.animate [--device cuda] [--characters 32] [--processes 16]
        [--set NAME=VALUE] [--tracking 100]

The first run compiles kernels, or reads them from the cache on disk; the second one is warm.
`benchmarks.gpu_profile` says what the phases spend their time on.
`--characters` animates so many at once by `akd.animate_many`. It ends after `--limit` seconds.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
import tempfile
import time
from pathlib import Path

import torch

import akd
from akd.export.creature import write_creature
from akd.physics.settings import TrackingSettings
from akd.presets import TINY, with_values
from akd.zoo.creature import build_creature

PROMPT = "a fox walking"


class Clock(akd.Observer):
    """Seconds of every phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._phase, self._since = "", time.perf_counter()

    def begin(self, phase: str) -> None:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        now = time.perf_counter()
        if self._phase:
            self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now


def timed(fox: akd.Character, seed: int, options: argparse.Namespace) -> dict[str, float]:
    """Seconds by phase of one clip."""
    clock = Clock()
    akd.animate(
        fox, PROMPT, preset=with_values(TINY, options.set), seed=seed, device=options.device,
        physics=TrackingSettings(iterations=options.tracking), observer=clock,
    )  # fmt: skip
    clock.begin("")
    return {**clock.seconds, "in all": sum(clock.seconds.values())}


def print_batch(path: Path, options: argparse.Namespace, ends: float) -> None:
    """Clips a minute of `akd.animate_many`, the start of its processes included."""
    jobs = [akd.Job(path, PROMPT, seed=k) for k in range(options.characters)]
    settings = with_values(TINY, options.set)
    clips = akd.animate_many(
        jobs, preset=settings, physics=TrackingSettings(iterations=options.tracking),
        device=options.device, processes=options.processes,
    )  # fmt: skip
    started = time.perf_counter()
    done = failed = 0
    seconds = 0.0
    for _, clip in clips:
        seconds = time.perf_counter() - started
        failed += isinstance(clip, Exception)
        done += 1
        if isinstance(clip, Exception):
            print(f"  failed: {clip!r}", flush=True)
        elif done == 1:
            print(f"\nmany: the first of {len(jobs)} after {seconds:.1f} s", flush=True)
        if time.perf_counter() > ends:
            break
    clips.close()
    rate = 60.0 * (done - failed) / max(seconds, 1e-9)
    print(f"many: {done - failed} of {len(jobs)} in {seconds:.1f} s, {rate:.1f} clips a minute")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--characters", type=int, default=0, help="of a batch; 0: none")
    parser.add_argument("--processes", type=int, help="of a batch; by default as `animate_many`")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=170.0, help="seconds before it gives up")
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--tracking", type=int, default=TrackingSettings.iterations)
    options = parser.parse_args()
    ends = time.perf_counter() + options.limit - 10.0
    faulthandler.dump_traceback_later(options.limit, exit=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fox.glb"
        write_creature(build_creature("fox"), [], path)
        fox = akd.load(path)
        for run in range(options.runs):
            print(f"run {run + 1} ({'warm' if run else 'cold'}), seconds")
            for phase, seconds in timed(fox, run, options).items():
                print(f"  {phase:10s} {seconds:8.1f}", flush=True)
        if options.characters:
            print_batch(path, options, ends)
    # Jobs that were begun before the time was up would be waited for.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
