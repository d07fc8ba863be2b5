"""The queue: every call is started when there is room, and again when it failed."""

from __future__ import annotations

import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from akd.engine.call import Busy, Call, Ended, Engine, Refused

ATTEMPTS = 3
"""How often a call is tried before it counts as failed."""
BUSY_SECONDS = 2.0
"""Until a call is tried again whose work another process is at."""
_POLL_SECONDS = 0.5
_LOOKAHEAD = 64
"""Waiting calls that are looked at for one that fits: a large one holds up no more than these."""


@dataclass(frozen=True)
class Progress:
    """A change in the state of one call."""

    call: Call
    attempt: int
    ended: Ended | None = None
    """None: it was started."""
    final: bool = False
    """Whether it is over: succeeded, or failed as often as it may."""


def run_calls(
    calls: Iterable[Call],
    engine: Engine,
    *,
    attempts: int = ATTEMPTS,
    until: float | None = None,
    again: Callable[[Call], Call] = lambda call: call,
) -> Iterator[Progress]:
    """Run calls and report each start and each end, as they happen.

    Args:
        calls: In the order in which they should start; taken from as there is room.
        engine: Where they run. It stays open.
        attempts: How often a call is tried.
        until: `time.monotonic()` after which no further call is started.
        again: Changes a call before it is tried again.

    Yields:
        One `Progress` for each start and each end. A call that fails waits behind the others and
        stops none of them.
    """
    source = iter(calls)
    waiting: deque[tuple[Call, int]] = deque()
    postponed: list[tuple[float, int, Call, int]] = []
    running: dict[str, tuple[Call, int]] = {}
    order = itertools.count()
    while True:
        now = time.monotonic()
        while postponed and postponed[0][0] <= now:
            _, _, call, attempt = heapq.heappop(postponed)
            waiting.append((call, attempt))
        started = []
        if until is None or now < until:
            started = list(_start(source, waiting, engine))
        elif not running:
            return
        for call, attempt in started:
            running[call.key] = call, attempt
            yield Progress(call, attempt)
        if not (running or waiting or postponed):
            return
        for ended in engine.collect(_POLL_SECONDS):
            call, attempt = running.pop(ended.key)
            if isinstance(ended.error, Busy):
                heapq.heappush(
                    postponed, (time.monotonic() + BUSY_SECONDS, next(order), call, attempt)
                )
                continue
            failed = ended.error is not None
            final = not failed or attempt >= attempts or isinstance(ended.error, Refused)
            if not final:
                waiting.append((again(call), attempt + 1))
            yield Progress(call, attempt, ended, final)


def _start(
    source: Iterator[Call], waiting: deque[tuple[Call, int]], engine: Engine
) -> Iterator[tuple[Call, int]]:
    """Submit the calls for which there is room, the first ones first."""
    while True:
        while len(waiting) < _LOOKAHEAD and (call := next(source, None)) is not None:
            waiting.append((call, 1))
        fits = next((k for k, (c, _) in enumerate(waiting) if engine.accepts(c.resources)), None)
        if fits is None:
            return
        call, attempt = waiting[fits]
        del waiting[fits]
        engine.submit(call)
        yield call, attempt
