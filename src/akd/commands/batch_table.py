"""`BatchTable`: a live table of a batch in a terminal; elsewhere a line for each job that ends."""

from __future__ import annotations

import time
from collections import Counter, deque
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from akd.commands.errors import ResultFailed, printable
from akd.commands.terminal import clock
from akd.engine.folder import JobFolder
from akd.engine.run import Event

_SHOWN = 12
"""Running jobs in the table; the last failures below it are fewer."""
_FAILURES = 4
_WIDTH = 60
"""Letters of a value."""


class BatchTable:
    """Shows events as they come, and counts them."""

    def __init__(self, out: Path, total: int) -> None:
        self._out, self._total = out, total
        self._console = Console(stderr=True)
        self._began = time.monotonic()
        self._running: dict[str, tuple[Event, float]] = {}
        self._failures: deque[str] = deque(maxlen=_FAILURES)
        self.counts: Counter[str] = Counter()
        """How many jobs are done, were done earlier, failed, and how many attempts were retried."""
        self._live = Live(get_renderable=self._render, console=self._console, refresh_per_second=4)

    def __enter__(self) -> BatchTable:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def show(self, event: Event) -> None:
        """Take note of an event."""
        job, now = event.job, time.monotonic()
        if event.state == "started":
            self._running[job.id] = event, now
            return
        _, began = self._running.pop(job.id, (event, now))
        self.counts[event.state] += 1
        if event.state in ("earlier", "deferred"):
            return
        line = f"{event.state}  {job.label}  {clock(now - began)}"
        if event.values:
            line += "  " + ", ".join(f"{k} {_short(v)}" for k, v in event.values.items())
        if event.error:
            line += f"  {event.error}"
        if event.state == "failed":
            line += f"; see {JobFolder(self._out, job).log}"
        line = printable(line)
        if event.state in ("failed", "retried"):
            self._failures.append(line)
        if not self._console.is_terminal:
            ended = self.counts["done"] + self.counts["earlier"] + self.counts["failed"]
            self._console.print(
                f"{ended}/{self._total}  {line}", highlight=False, markup=False, soft_wrap=True
            )

    def summary(self) -> str:
        """Counts in words."""
        words = ("done", "earlier", "failed", "retried")
        counts = ", ".join(f"{self.counts[word]} {word}" for word in words if self.counts[word])
        return f"{counts or 'nothing to do'} of {self._total}"

    def stopped(self) -> str:
        """What to say to whoever stopped the batch."""
        done = self.summary() if self.counts.total() else f"0 done of {self._total}"
        return f"stopped; {done}; the same command does what is left"

    def check(self) -> None:
        """Raise `ResultFailed` where jobs were given up."""
        if failed := self.counts["failed"]:
            raise ResultFailed(f"{failed} of {self._total} jobs failed; their logs are named above")

    def _render(self) -> RenderableType:
        now = time.monotonic()
        table = Table(box=None, pad_edge=False)
        for name, justify in (("job", "left"), ("attempt", "right"), ("time", "right")):
            table.add_column(name, justify=justify)  # pyright: ignore[reportArgumentType]
        for event, began in list(self._running.values())[:_SHOWN]:
            label = Text(printable(event.job.label), no_wrap=True, overflow="ellipsis")
            table.add_row(label, str(event.attempt), clock(now - began))
        head = f"{self.summary()}, {len(self._running)} running, {clock(now - self._began)}"
        return Group(Text(head), table, *(Text(line, style="red") for line in self._failures))


def _short(value: object) -> str:
    if isinstance(value, list):
        return str(len(value))
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
