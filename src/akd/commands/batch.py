"""`akd batch`: many clips, on this machine, on a Ray cluster or wherever a shell runs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from akd.commands.engines import EngineName, job_resources, open_engine
from akd.commands.errors import UsageError, check_ranges, printable, usage_errors
from akd.commands.options import Out

if TYPE_CHECKING:
    from akd.engine.call import Engine, Resources
    from akd.engine.job import Job

_PAGE_SECONDS = 30.0
"""Between two versions of the page while jobs run."""
_PAGE_SHARE = 0.02
"""Of the time that may go into the page, on which new jobs wait."""


@dataclass(frozen=True)
class Batch:
    """Run many jobs: a list, or products of assets, prompts, seeds, priors, clips and targets.

    Each job is an `akd animate` or an `akd retarget` with its own folder under the output folder;
    index.html shows them all. A failing job is tried three times and does not stop the others. Run
    again to finish the rest.

    Example: akd batch jobs.toml -o out/batch --engine ray --address auto
    """

    jobs: tyro.conf.Positional[Path]
    """A TOML file with [[job]] and [[product]] tables; see docs/scale.md."""
    out: Out
    """Folder to write to; on a cluster, on storage that all nodes share."""
    engine: EngineName = "local"
    """local: the cores and GPUs of this machine. ray: a Ray cluster. shell: print one command per
    job, for Slurm, SkyPilot or anything else."""
    address: str | None = None
    """Address of the Ray cluster, such as auto or 10.0.0.1:6379; by default RAY_ADDRESS, or this
    machine alone."""
    together: int | None = None
    """With --engine local: number of jobs of the tiny prior that share a GPU (default 8). If given,
    they also share batches of predictions, and results depend on the other jobs by rounding."""
    only: str | None = None
    """Run one job, by its id: what the commands of --engine shell do."""

    def run(self) -> None:
        """Run the jobs, show how they are doing, and write the page."""
        check_ranges(self, together=(1, 64))
        with open_engine(
            self.engine, self.address, self._command, together=self.together
        ) as engine:
            jobs = self._read(engine)
            self.out.mkdir(parents=True, exist_ok=True)
            if self.engine == "shell":
                self._hand_over(jobs, engine)
            elif self.only is not None:
                self._run(jobs, engine)  # its batch runs as many of these at a time as it likes
            else:
                self._run_batch(jobs, engine)

    def _read(self, engine: Engine) -> list[Job]:
        from akd.commands.batch_file import read_jobs

        def needs(prior: str | None, device: str) -> Resources:
            return job_resources(prior, device=device, engine=engine, together=self.together)

        jobs = read_jobs(self.jobs, needs)
        if self.only is None:
            return jobs
        chosen = [job for job in jobs if job.id == self.only]
        if not chosen:
            raise UsageError(f"--only {self.only}: {self.jobs} holds no job with this id")
        return chosen

    def _command(self, key: str) -> tuple[str, ...]:
        return (
            "akd", "batch", str(self.jobs.resolve()), "-o", str(self.out.resolve()), "--only", key,
        )  # fmt: skip

    def _hand_over(self, jobs: Iterable[Job], engine: Engine) -> None:
        from akd.engine.run import run_jobs

        for path in (self.jobs.resolve(), self.out.resolve()):
            if printable(path) != str(path):  # schedulers take one line a job
                raise UsageError(f"{path}: --engine shell needs a path of printable letters")

        for _ in run_jobs(jobs, self.out, engine):
            pass

    def _run_batch(self, jobs: list[Job], engine: Engine) -> None:
        from akd.engine.run import BatchBusy, hold_batch

        with usage_errors(BatchBusy), hold_batch(self.out):
            self._run(jobs, engine)

    def _run(self, jobs: list[Job], engine: Engine) -> None:
        from akd.commands.batch_table import BatchTable
        from akd.engine.run import run_jobs
        from akd.report.batch_page import write_batch_page

        page, table = self.out / "index.html", BatchTable(self.out, len(jobs))
        next_page = time.monotonic() + _PAGE_SECONDS
        try:
            with table:
                for event in run_jobs(jobs, self.out, engine):
                    table.show(event)
                    if self.only is None and (now := time.monotonic()) >= next_page:
                        write_batch_page(page, self.out, jobs)
                        took = time.monotonic() - now
                        next_page = now + max(_PAGE_SECONDS, took / _PAGE_SHARE)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(table.stopped()) from None
        finally:
            if self.only is None:
                write_batch_page(page, self.out, jobs)
        print(f"{page if self.only is None else self.out}: {table.summary()}")
        table.check()
