"""One `akd.animate` of the demo's fox on a GPU: seconds, busy share and launches, phase by phase.

    python -m benchmarks.gpu_profile [--device cuda] [--graphs both] [--set NAME=VALUE]

Two runs, cold and warm, are timed without a profiler; a third one is profiled, which slows the host
down. `busy` is the time in which a kernel or a copy runs, over that of the phase in the profiled
run; `busy (timed)` is the same kernel time over that of the warm run. `launches` are calls of the
driver and of the runtime that start work on the GPU, a graph being one. Without a GPU it counts
operators.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

import akd
from akd.export.creature import write_creature
from akd.physics.settings import TrackingSettings
from akd.presets import TINY, with_values
from akd.zoo.creature import build_creature
from benchmarks.animate import PROMPT, timed

PHASES = ("sample", "fit", "distil", "physics")
LAUNCHES = ("LaunchKernel", "GraphLaunch", "MemcpyAsync", "MemsetAsync")


def covered(spans: list[tuple[float, float]]) -> float:
    """Length of the union of intervals."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


class Profiled(akd.Observer):
    """A profile of every phase, and how many iterations it had."""

    def __init__(self, *, cuda: bool) -> None:
        self.found: dict[str, dict[str, float]] = {}
        self._cuda, self._phase = cuda, ""
        self._profile: Any = None
        self._since, self._steps = 0.0, 0

    def begin(self, phase: str) -> None:
        if self._profile is not None:
            if self._cuda:
                torch.cuda.synchronize()
            wall = time.perf_counter() - self._since
            self._profile.__exit__(None, None, None)
            self.found[self._phase] = self._read(wall)
            self._profile = None
        self._phase, self._steps = phase, 0
        if phase in PHASES:
            kind = ProfilerActivity.CUDA if self._cuda else ProfilerActivity.CPU
            self._profile = profile(activities=[kind])
            self._profile.__enter__()
            self._since = time.perf_counter()

    def step(self, iteration: int, iterations: int, values: Any) -> None:
        self._steps += 1

    def _read(self, wall: float) -> dict[str, float]:
        events, steps = self._profile.events() or [], max(1, self._steps)
        if not self._cuda:
            operators = sum(event.name.startswith("aten::") for event in events)
            return {"wall": wall, "steps": steps, "operators": operators / steps}
        device = [e for e in events if str(e.device_type).endswith("CUDA")]
        calls = [e.name for e in events if not str(e.device_type).endswith("CUDA")]
        return {
            "wall": wall,
            "steps": steps,
            "busy": covered([(e.time_range.start, e.time_range.end) for e in device]) * 1e-6,
            "kernels": len(device) / steps,
            "launches": sum(any(part in name for part in LAUNCHES) for name in calls) / steps,
            "graphs": sum("GraphLaunch" in name for name in calls) / steps,
        }


def profile_run(fox: akd.Character, options: argparse.Namespace, *, graphs: bool) -> None:
    """Print the table of one way to run."""
    cuda = torch.cuda.is_available() and options.device != "cpu"
    os.environ["AKD_CUDA_GRAPHS"] = str(int(graphs))
    runs = [timed(fox, seed, options) for seed in range(options.runs)]
    watch = Profiled(cuda=cuda)
    akd.animate(
        fox, PROMPT, preset=with_values(TINY, options.set), seed=1, device=options.device,
        physics=TrackingSettings(iterations=options.tracking), observer=watch,
    )  # fmt: skip
    watch.begin("")
    print(f"\ngraphs {'on' if graphs else 'off'}; seconds of each run")
    for phase in runs[-1]:
        print(f"  {phase:10s}" + "".join(f"{run.get(phase, 0.0):9.2f}" for run in runs))
    for phase, row in watch.found.items():
        if not cuda:
            print(f"  {phase:10s}{row['operators']:9.0f} operators an iteration")
            continue
        warm = runs[-1].get(phase, row["wall"])
        print(
            f"  {phase:10s} GPU {row['busy']:6.2f} s, busy {row['busy'] / row['wall']:4.0%}, busy "
            f"(timed) {row['busy'] / max(warm, 1e-9):4.0%}; an iteration of {row['steps']:.0f}: "
            f"{row['launches']:6.0f} launches, {row['graphs']:.2f} graphs, "
            f"{row['kernels']:6.0f} kernels and copies",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--graphs", choices=("on", "off", "both"), default="both")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--tracking", type=int, default=TrackingSettings.iterations)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fox.glb"
        write_creature(build_creature("fox"), [], path)
        fox = akd.load(path)
        for graphs in (True, False):
            if options.graphs in ("both", "on" if graphs else "off"):
                profile_run(fox, options, graphs=graphs)


if __name__ == "__main__":
    main()
