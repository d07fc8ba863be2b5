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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

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


TINY = Prior("tiny", at_a_time=13, seconds=9.5, start=8.0)
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
    files: int
    """That a job renames into its results."""
    asset_mb: float
    """Of an asset in the object store."""


DEFAULTS = Assumptions(
    gpus_a_node=8, node_days=30.0, repair_hours=1.0, spread=0.41, checkpoint=60.0, overhead=0.005,
    price=3.0, files=10, asset_mb=10.0,
)  # fmt: skip


class Simulated:
    """An engine of GPUs whose clock runs as fast as it is asked to."""

    def __init__(self, prior: Prior, gpus: int, given: Assumptions, *, seed: int = 0) -> None:
        self.prior, self.given, self.now = prior, given, 0.0
        self._draw = random.Random(seed)
        each = given.gpus_a_node * prior.at_a_time
        slots = gpus * prior.at_a_time
        self._free = {k: min(each, slots - k * each) for k in range(math.ceil(slots / each))}
        self._slots = dict(self._free)
        # Ordered, unlike sets of strings: the same seed gives the same day.
        self._running: dict[int, dict[str, None]] = {node: {} for node in self._free}
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
        if call.key not in self._progress:
            spread = self.given.spread
            factor = self._draw.lognormvariate(-0.5 * spread**2, spread)  # one on average
            self._progress[call.key] = self.prior.seconds * factor, 0.0
        total, kept = self._progress[call.key]
        self._running[node][call.key] = None
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
        del self._running[node][key]
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
    """A day from a standing start; or as much of it as `most_jobs` last, counted from when the GPUs
    are busy and taken up to a day."""
    slots = gpus * prior.at_a_time
    a_day = 86_400.0 * slots / (prior.seconds + prior.start)
    until = 86_400.0 * min(1.0, most_jobs / a_day)
    filling = slots * given.overhead + prior.start + 2.0 * prior.seconds
    since = 0.0 if most_jobs >= a_day else min(filling, 0.5 * until)
    engine = Simulated(prior, gpus, given, seed=seed)

    def jobs() -> Iterator[Call]:
        number = 0
        while engine.now < until:
            yield Call(str(number), print)
            number += 1

    finished = failed = 0
    for progress in run_calls(jobs(), engine):
        if engine.now > until:
            break
        if progress.ended is None or not progress.final:
            continue
        if progress.ended.error is not None:
            failed += 1
        elif engine.now >= since:
            finished += 1
    hours = (until - since) / 3600.0
    return Day(
        clips=24.0 * finished / hours,
        share=finished * prior.seconds / (slots * 3600.0 * hours),
        losses=engine.losses * 86_400.0 / until,
        retried=engine.lost * 86_400.0 / until,
        failed=failed * 86_400.0 / until,
        dollars=given.price * gpus * hours / max(finished, 1),
        hours=until / 3600.0,
    )


def row(prior: Prior, gpus: int, day: Day) -> str:
    """A row of the table in docs/scale.md."""
    return (
        f"| {prior.name} | {gpus:,} | {day.clips:,.0f} | {100 * day.share:.0f} % | "
        f"{day.losses:.1f} | {day.retried:,.0f} | {day.failed:.1f} | {day.dollars:.4f} | "
        f"{day.hours:.1f} |"
    )


def print_days(
    priors: Sequence[Prior], gpus: Sequence[int], given: Assumptions, **how: int
) -> None:
    """A table of days."""
    print("| prior | GPUs | clips a day | useful GPU time | node losses | attempts lost | "
          "jobs given up | $ a clip | hours simulated |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for prior in priors:
        for count in gpus:
            print(row(prior, count, simulate(prior, count, given, **how)), flush=True)


def print_bottlenecks(priors: Sequence[Prior], gpus: int, given: Assumptions) -> None:
    """What the most GPUs ask of the driver and of storage, computed from the assumptions."""
    print("| prior | GPUs | clips per second, GPUs | clips per second, driver | files renamed "
          "a second | minutes of a clip | GB of 1,000 assets on a node |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for prior in priors:
        rate = gpus * prior.at_a_time / (prior.seconds + prior.start)
        print(
            f"| {prior.name} | {gpus:,} | {rate:.1f} | {1 / given.overhead:.0f} | "
            f"{rate * given.files:,.0f} | {(prior.seconds + prior.start) / 60:.0f} | "
            f"{given.asset_mb:.0f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--gpus", type=int, nargs="*", default=[1, 8, 64, 1000])
    parser.add_argument("--most-jobs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--spot-days", type=float, default=1.0, help="between losses of a spot node"
    )
    for name, prior in (("tiny", TINY), ("large", LARGE)):
        parser.add_argument(f"--{name}-seconds", type=float, default=prior.seconds)
        parser.add_argument(f"--{name}-at-a-time", type=int, default=prior.at_a_time)
        parser.add_argument(f"--{name}-start", type=float, default=prior.start)
    for field in fields(Assumptions):
        option, default = field.name.replace("_", "-"), getattr(DEFAULTS, field.name)
        parser.add_argument(f"--{option}", type=type(default), default=default)
    given = parser.parse_args()
    cluster = Assumptions(
        **{field.name: getattr(given, field.name) for field in fields(Assumptions)}
    )
    priors = (
        Prior(TINY.name, given.tiny_at_a_time, given.tiny_seconds, given.tiny_start),
        Prior(LARGE.name, given.large_at_a_time, given.large_seconds, given.large_start),
    )
    how = {"most_jobs": given.most_jobs, "seed": given.seed}
    print(f"a job is tried {ATTEMPTS} times; {cluster}\n")
    print_days(priors, given.gpus, cluster, **how)
    print(f"\nspot instances, a node lost every {given.spot_days:g} days:\n")
    spot = replace(cluster, node_days=given.spot_days)
    print_days(priors[1:], given.gpus[-2:], spot, **how)
    print("\nwhere it ends:\n")
    print_bottlenecks(priors, max(given.gpus), cluster)


if __name__ == "__main__":
    main()
