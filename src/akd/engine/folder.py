"""`JobFolder`: one job's files in the folder of a batch, and the worker's side of it, `execute`.

    OUT/NAME/               the results, with outcome.json
    OUT/run/ID/work/        becomes OUT/NAME when the job is done
    OUT/run/ID/log.txt      what the job printed, attempt after attempt
    OUT/run/ID/attempt.json where and when the last attempt began, and how long it took
    OUT/run/ID/failed.json  why the job was given up
    OUT/run/ID/lock         locked by the process that runs the job

A job is done when its `outcome.json` is there. It is written into `work` before that folder is
renamed, so that results are never partial and never made twice.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from akd.base.files import check_regular, read_json, remove_temporaries, write_json
from akd.base.lock import take_lock
from akd.engine.call import Busy, Refused, Seat
from akd.engine.job import Job, Workspace

RUN = "run"
"""Name of the folder that belongs to the engine, beside the results."""


class JobFolder:
    """Where a job works, what it left, and whether it is done."""

    def __init__(self, out: Path, job: Job) -> None:
        self.job, self.out = job, out
        self.path = out / RUN / job.id
        self.work = self.path / "work"
        self.log = self.path / "log.txt"
        self.result = out / job.name if job.publish else self.path / "done"

    def outcome(self) -> dict[str, Any] | None:
        """The result of the task, if the job is done."""
        found = _read(self.result / "outcome.json") or {}
        values = found.get("values")
        return values if found.get("id") == self.job.id and isinstance(values, dict) else None

    def failure(self) -> str | None:
        """Why the job was given up, if it was."""
        return None if (found := _read(self.path / "failed.json")) is None else found.get("error")

    def last_attempt(self) -> dict[str, Any]:
        """`node`, `began` and, once it ended, `seconds` of the last attempt."""
        return _read(self.path / "attempt.json") or {}

    def give_up(self, error: str, attempts: int) -> None:
        """Note why no further attempt is made. Raises `OSError`, and `Refused` for links."""
        self._refuse_links()
        write_json(self.path / "failed.json", {"error": error, "attempts": attempts})

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Hold the job while the block runs, or as long as this process lives.

        Raises `Busy` or, for links, `Refused`.
        """
        self._refuse_links()
        try:
            lock = take_lock(self.path)
        except BlockingIOError:
            raise Busy(f"{self.job.label}: another process runs it") from None
        try:
            yield
        finally:
            os.close(lock)

    @contextmanager
    def attempt(self, node: str) -> Iterator[None]:
        """Send what the block prints to the log, and note where and how long it ran."""
        began = datetime.now(UTC).isoformat(timespec="seconds")
        about: dict[str, Any] = {"node": node, "began": began}
        started = time.monotonic()
        write_json(self.path / "attempt.json", about)
        with _output_to(self.log):
            print(f"== {began} on {node}: {self.job.label}", flush=True)
            try:
                yield
            except BaseException:
                traceback.print_exc()
                raise
            finally:
                about["seconds"] = round(time.monotonic() - started, 3)
                write_json(self.path / "attempt.json", about)

    def finish(self, values: Mapping[str, Any]) -> None:
        """Turn the work folder into the results, by renaming it."""
        write_json(self.work / "outcome.json", {"id": self.job.id, "values": values}, durable=True)
        if self.result.exists():
            raise Refused(f"{self.result}: is in the way of the results of {self.job.label}")
        self.work.rename(self.result)
        (self.path / "failed.json").unlink(missing_ok=True)

    def _refuse_links(self) -> None:
        """A folder may come from elsewhere: nothing is written or removed through a link."""
        for path in (self.path.parent, self.path, self.work):
            if path.is_symlink():
                raise Refused(f"{path}: must not be a link")


def execute(job: Job, out: Path, seat: Seat) -> dict[str, Any]:
    """Do a job in this process, unless it is done already; returns the values of its outcome.

    Raises:
        Busy: Another process does it.
        Refused: The job cannot succeed.
        Exception: Whatever the task raised; its traceback is in the log.
    """
    folder = JobFolder(out, job)
    with folder.claim():
        if (known := folder.outcome()) is not None:
            return known
        folder.work.mkdir(exist_ok=True)
        remove_temporaries(folder.work)  # of an attempt that was killed: they are no results
        with folder.attempt(seat.node):
            values = dict(job.task(job.arguments, Workspace(folder.work, out, seat.files)))
            folder.finish(values)
        return values


@contextmanager
def _output_to(log: Path) -> Iterator[None]:
    """Append standard output and error to a file, those of libraries and child processes too."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    check_regular(log)  # writing to a pipe could wait for ever
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    file = os.open(log, flags, 0o666)
    try:
        os.dup2(file, 1)
        os.dup2(file, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, before in zip((1, 2), kept, strict=True):
            os.dup2(before, number)
            os.close(before)
        os.close(file)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = read_json(path)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
