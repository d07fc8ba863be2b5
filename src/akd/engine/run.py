"""`run_jobs`: a batch of jobs, each done once, whatever is stopped or dies in between."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from akd.base.lock import take_lock
from akd.engine.call import Call, Engine, Refused
from akd.engine.folder import RUN, JobFolder, execute
from akd.engine.job import Job
from akd.engine.queue import run_calls

State = Literal["earlier", "started", "retried", "done", "failed", "deferred"]


class BatchBusy(Exception):
    """Another process is running a batch in the same folder. The message is a single line."""


@dataclass(frozen=True)
class Event:
    """The outcome of a job.

    `earlier`: it was done before this run. `started`, `retried` (an attempt failed), `done`,
    `failed` (given up) and `deferred` (handed over to another scheduler) follow each other.
    """

    job: Job
    state: State
    attempt: int = 0
    values: dict[str, Any] = field(default_factory=dict)
    """The result of the task."""
    error: str = ""
    """One line; the whole of it is in the job's log."""


def run_jobs(
    jobs: Iterable[Job], out: Path, engine: Engine, *, until: float | None = None
) -> Iterator[Event]:
    """Do the jobs that are left, and report what happens to each.

    Args:
        jobs: What to do; jobs of the same content are done once, and those that an earlier run
            gave up are tried anew.
        out: Folder of the results. Run again with the same folder to do what is left.
        engine: Where the jobs run.
        until: `time.monotonic()` after which no further job is started.

    Yields:
        Events, as they happen. A job that fails stops no other.
    """
    known: dict[str, Job] = {}

    def again(call: Call) -> Call:
        last = JobFolder(out, known[call.key]).last_attempt()
        return replace(call, avoid=last.get("node"))

    earlier: list[Job] = []

    def calls() -> Iterator[Call]:
        for job in jobs:
            if job.id in known:
                continue
            known[job.id] = job
            if JobFolder(out, job).outcome() is not None:
                earlier.append(job)
                continue
            yield Call(job.id, execute, (job, out), job.resources, job.files)

    for progress in run_calls(calls(), engine, until=until, again=again):
        yield from _earlier(earlier, out)
        job, attempt, ended = known[progress.call.key], progress.attempt, progress.ended
        if ended is None:
            yield Event(job, "started", attempt)
        elif ended.deferred:
            yield Event(job, "deferred", attempt)
        elif ended.error is None:
            yield Event(job, "done", attempt, values=ended.value)
        else:
            error = _one_line(ended.error)
            if progress.final:
                try:
                    JobFolder(out, job).give_up(error, attempt)
                except (OSError, Refused) as unwritten:  # damaged folders stop no other job
                    error = f"{error}; {_one_line(unwritten)}"
            yield Event(job, "failed" if progress.final else "retried", attempt, error=error)
    yield from _earlier(earlier, out)


@contextmanager
def hold_batch(out: Path) -> Iterator[None]:
    """Keep other batches out of a folder while the block runs. Raises `BatchBusy`."""
    try:
        lock = take_lock(out / RUN)
    except BlockingIOError:
        raise BatchBusy(f"{out}: another process runs a batch in it; wait for that") from None
    try:
        yield
    finally:
        os.close(lock)


def _earlier(jobs: list[Job], out: Path) -> Iterator[Event]:
    while jobs:
        job = jobs.pop(0)
        yield Event(job, "earlier", values=JobFolder(out, job).outcome() or {})


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:297]}..."
