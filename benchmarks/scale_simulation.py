"""A day of `akd batch` on 1 to 1,000 GPUs, simulated with the engine's own queue.

    python -m benchmarks.scale_simulation
    python -m benchmarks.scale_simulation --gpus 16 --price 2.5 --node-days 5

The queue, its retries and its attempts are those of `akd.engine.queue`; only the engine behind them
is replaced by one that counts time instead of spending it. Every other number is an assumption, and
an argument. Defaults are explained in docs/scale.md.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from akd.engine.call import Call, Ended, Resources, WorkerLost
from akd.engine.queue import ATTEMPTS, run_calls


@dataclass(frozen=True)
class Prior:
    """What a clip costs with a prior on one GPU, measured."""

    name: str
    at_a_time: int
    """Clips that share a GPU."""
    seconds: float
    """Of a clip, with so many at a time."""
    start: float
    """Seconds before the first iteration: process, weights, compilation; paid by every attempt."""


TINY = Prior("tiny", at_a_time=15, seconds=45.5, start=8.0)
LARGE = Prior("CogVideoX-5B, fast", at_a_time=1, seconds=600 * 2.21, start=60.0)


@dataclass(frozen=True)
class Assumptions:
    """The cluster."""

    gpus_a_node: int
    node_days: float
    """Mean days between losses of a node."""
    repair_hours: float
    """Until a lost node is back."""
    spread: float
    """Standard deviation of the logarithm of a clip's seconds: stragglers."""
    checkpoint: float
    """Seconds between checkpoints: what a lost clip does again, on average half of it."""
    overhead: float
    """Seconds of the driver for each job: it serves one after the other."""
    price: float
    """Dollars for a GPU and hour."""


class Simulated:
    """An engine of GPUs whose clock runs as fast as it is asked to."""

    def __init__(self, prior: Prior, gpus: int, given: Assumptions, *, seed: int = 0) -> None:
        self.prior, self.given, self.now = prior, given, 0.0
        self._draw = random.Random(seed)
        each = given.gpus_a_node * prior.at_a_time
        slots = gpus * prior.at_a_time
        self._free = {k: min(each, slots - k * each) for k in range(math.ceil(slots / each))}
        self._slots = dict(self._free)
        self._running: dict[int, set[str]] = {node: set() for node in self._free}
        self._began: dict[str, tuple[int, float, int]] = {}
        self._progress: dict[str, tuple[float, float]] = {}
        self._events: list[tuple[float, int, str, int, str]] = []
        self._count = 0
        self._open = sorted(self._free)
        for node in self._free:
            self._next_loss(node)
        self.done = self.lost = self.losses = 0
        self.busy = self.redone = 0.0

    def has_gpus(self) -> bool:
        return True

    def accepts(self, resources: Resources) -> bool:
        while self._open and self._free[self._open[-1]] == 0:
            self._open.pop()
        return bool(self._open)

    def submit(self, call: Call) -> None:
        node = self._open[-1]
        self.now += self.given.overhead
        self._free[node] -= 1
        total, kept = self._progress.setdefault(
            call.key, (self.prior.seconds * self._draw.lognormvariate(0.0, self.given.spread), 0.0)
        )
        self._running[node].add(call.key)
        end = self.now + self.prior.start + total - kept
        self._count += 1
        self._began[call.key] = node, self.now, self._count
        self._push(end, "end", node, call.key)

    def collect(self, timeout: float) -> list[Ended]:
        ended: list[Ended] = []
        while self._events and not ended:
            time, number, kind, node, key = heapq.heappop(self._events)
            if kind == "end":
                where = self._began.get(key)
                if where is None or where[0] != node or where[2] != number:
                    continue  # it was lost with its node
                self.now = max(self.now, time)
                self._leave(key)
                self.done += 1
                ended.append(Ended(key))
            elif kind == "loss":
                self.now = max(self.now, time)
                ended += self._lose(node)
            else:
                self.now = max(self.now, time)
                self._free[node] = self._slots[node]
                self._open.append(node)
                self._next_loss(node)
        return ended

    def close(self) -> None:
        pass

    def _push(self, time: float, kind: str, node: int, key: str = "") -> None:
        heapq.heappush(self._events, (time, self._count, kind, node, key))

    def _next_loss(self, node: int) -> None:
        wait = self._draw.expovariate(1.0 / (86_400.0 * self.given.node_days))
        self._push(self.now + wait, "loss", node)

    def _leave(self, key: str) -> float:
        """Take a clip off its node; returns how long it ran."""
        node, began, _ = self._began.pop(key)
        self._running[node].discard(key)
        if self._free[node] == 0:
            self._open.append(node)
        self._free[node] += 1
        self.busy += self.now - began
        return self.now - began

    def _lose(self, node: int) -> list[Ended]:
        """A node is gone: its clips keep what their last checkpoints hold."""
        self.losses += 1
        ended = []
        for key in list(self._running[node]):
            ran = max(0.0, self._leave(key) - self.prior.start)
            total, kept = self._progress[key]
            saved = min(total, kept + ran - ran % self.given.checkpoint)
            self.redone += kept + ran - saved
            self._progress[key] = total, saved
            self.lost += 1
            ended.append(Ended(key, error=WorkerLost("node")))
        self._open = [k for k in self._open if k != node]
        self._free[node] = 0
        self._push(self.now + 3600.0 * self.given.repair_hours, "back", node)
        return ended


@dataclass(frozen=True)
class Day:
    """What came of it."""

    clips: float
    """Finished in a day."""
    share: float
    """Of the GPU time that made clips."""
    losses: float
    """Of nodes, in a day."""
    retried: float
    """Attempts that were lost, in a day."""
    failed: float
    """Jobs that were given up, in a day."""
    dollars: float
    """For a clip."""
    hours: float
    """That were simulated."""


def simulate(
    prior: Prior, gpus: int, given: Assumptions, *, most_jobs: int = 200_000, seed: int = 0
) -> Day:
    """A day, or as much of it as `most_jobs` last, taken up to a day."""
    slots = gpus * prior.at_a_time
    a_day = 86_400.0 * slots / (prior.seconds + prior.start)
    hours = 24.0 * min(1.0, most_jobs / a_day)
    engine = Simulated(prior, gpus, given, seed=seed)
    failed = 0

    def jobs() -> Iterator[Call]:
        number = 0
        while engine.now < 3600.0 * hours:
            yield Call(str(number), print)
            number += 1

    finished = 0
    for progress in run_calls(jobs(), engine):
        if progress.ended is None:
            continue
        if progress.final and progress.ended.error is not None:
            failed += 1
        if progress.final and engine.now <= 3600.0 * hours:
            finished += progress.ended.error is None
        if engine.now > 3600.0 * hours:
            break
    scale = 24.0 / hours
    useful = finished * prior.seconds
    return Day(
        clips=finished * scale,
        share=useful / (slots * 3600.0 * hours),
        losses=engine.losses * scale,
        retried=engine.lost * scale,
        failed=failed * scale,
        dollars=given.price * gpus * hours / max(finished, 1),
        hours=hours,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--gpus", type=int, nargs="*", default=[1, 8, 64, 1000])
    parser.add_argument("--gpus-a-node", type=int, default=8)
    parser.add_argument("--node-days", type=float, default=30.0, help="between losses of a node")
    parser.add_argument("--repair-hours", type=float, default=1.0)
    parser.add_argument("--spread", type=float, default=0.17, help="of the logarithm of seconds")
    parser.add_argument("--checkpoint", type=float, default=60.0, help="seconds between them")
    parser.add_argument("--overhead", type=float, default=0.01, help="driver's seconds a job")
    parser.add_argument("--price", type=float, default=3.0, help="dollars a GPU and hour")
    parser.add_argument("--tiny-seconds", type=float, default=TINY.seconds)
    parser.add_argument("--tiny-at-a-time", type=int, default=TINY.at_a_time)
    parser.add_argument("--large-seconds", type=float, default=LARGE.seconds)
    parser.add_argument("--most-jobs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    cluster = Assumptions(
        given.gpus_a_node, given.node_days, given.repair_hours, given.spread, given.checkpoint,
        given.overhead, given.price,
    )  # fmt: skip
    priors = (
        Prior("tiny", given.tiny_at_a_time, given.tiny_seconds, TINY.start),
        Prior(LARGE.name, 1, given.large_seconds, LARGE.start),
    )
    print(f"a job is tried {ATTEMPTS} times; {cluster}\n")
    print("| prior | GPUs | clips a day | useful GPU time | node losses | attempts lost | "
          "jobs given up | $ a clip |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for prior in priors:
        for gpus in given.gpus:
            day = simulate(prior, gpus, cluster, most_jobs=given.most_jobs, seed=given.seed)
            print(
                f"| {prior.name} | {gpus:,} | {day.clips:,.0f} | {100 * day.share:.0f} % | "
                f"{day.losses:.1f} | {day.retried:,.0f} | {day.failed:.1f} | {day.dollars:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
