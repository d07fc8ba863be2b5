"""Kill commands with SIGKILL at random moments, run them again, and compare with undisturbed runs.

    python -m benchmarks.kill_resume --kills 30 --processes 16 --rows out/kills.jsonl

Kills are spread evenly over the processor time of the undisturbed run, at random within each share.
Each attempt is a fork of a process that has imported everything. The fork is killed alone: its
workers must end by themselves. After every kill, all files under final names are read; after the
second run, the results must be the same bytes. `prior train` trains for a time, not for a number of
steps, so that no two runs are alike: its second run must go on from the checkpoint that the first
one left, and finish. With `--rows`, what a run that was stopped has done is not done again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from akd.base.files import read_checkpoint, read_tensors
from benchmarks.kill_jobs import Job, make_jobs
from benchmarks.rows import append_row, read_rows

WORKER_SECONDS = 30.0
"""Of processor time, for workers to end after the process that started them: one that has just been
started imports its modules first. Those that wait have ten times as long."""
WRITTEN = (0, 3)
"""Exit codes of commands that wrote their results: those of untrained weights may not be shown."""
LISTED_EVERY = 0.2
"""Seconds. Looking at all processes of a machine costs more than many a job."""
JOBS: dict[str, Job] = {}
"""What the processes of the pool run: they are forks, so that nothing has to be pickled."""


class Session:
    """The processes that one attempt started."""

    def __init__(self, leader: int) -> None:
        self.leader = leader
        self._processes: list[Path] = []
        self._listed = -math.inf

    def processor_seconds(self) -> float:
        """Processor time of all of them, which other work does not change."""
        if time.monotonic() > self._listed + LISTED_EVERY:
            self._processes = [
                # Not by `glob`, which fails where a process ends while it looks.
                path
                for name in os.listdir("/proc")
                if name.isdigit() and self._ticks(path := Path("/proc", name, "stat")) is not None
            ]
            self._listed = time.monotonic()
        ticks = sum(self._ticks(path) or 0 for path in self._processes)
        return ticks / os.sysconf("SC_CLK_TCK")

    def _ticks(self, path: Path) -> int | None:
        with suppress(OSError):
            # What follows the name, which may hold anything: state, parent, group, session, ...
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == self.leader:
                return sum(map(int, fields[11:15]))
        return None

    def wait_for_workers(self) -> None:
        """Until no process of the attempt's group is left."""
        began, until = self.processor_seconds(), time.monotonic() + 10.0 * WORKER_SECONDS
        with suppress(ProcessLookupError):
            while self.processor_seconds() - began < WORKER_SECONDS and time.monotonic() < until:
                os.killpg(self.leader, 0)
                time.sleep(0.05)
            os.killpg(self.leader, signal.SIGKILL)
            raise Fault(f"workers lived on for {WORKER_SECONDS:g} s")


class Fault(Exception):
    """What a kill has shown."""


def run_forked(job: Job, out: Path, *, kill_after: float = math.inf) -> float:
    """Run a job in a child, and kill it after some processor time; returns what it took of it."""
    log = out.with_name(f"{out.name}.log")
    child = os.fork()
    if child == 0:
        os.setsid()
        with log.open("ab") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        try:
            code = job.run(out)
            os._exit(code if isinstance(code, int) else 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(99)
    session, spent = Session(child), 0.0
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        spent = session.processor_seconds()
        if spent >= kill_after:
            os.kill(child, signal.SIGKILL)
            break
        time.sleep(0.01)
    _, status = os.waitpid(child, 0)
    session.wait_for_workers()
    code = os.waitstatus_to_exitcode(status)
    if code not in WRITTEN and (spent < kill_after or code != -signal.SIGKILL):
        raise Fault(f"exit code {code}:\n{log.read_text()}")
    return spent


def check_complete(out: Path) -> None:
    """Read every file under a final name: none may be partial."""
    for path in out.rglob("*"):
        if path.name.startswith(".") or not path.is_file():
            continue
        if path.suffix == ".safetensors":
            read_tensors(path)
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".glb":
            assert int.from_bytes(path.read_bytes()[8:12], "little") == path.stat().st_size
        elif path.suffix == ".npz":
            with np.load(path) as arrays:
                assert all(arrays[name] is not None for name in arrays)
        elif path.suffix == ".parquet":
            assert path.read_bytes()[-4:] == b"PAR1"
        elif path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>")


def results(job: Job, out: Path) -> dict[str, object]:
    """The contents to compare; metadata of tensors holds times, so that it is left out."""
    found = (p for pattern in job.results for p in out.glob(pattern))
    paths = sorted(p for p in found if not p.name.startswith("."))
    return {
        str(p.relative_to(out)): {k: v.numpy().tobytes() for k, v in load_file(p).items()}
        if p.suffix == ".safetensors"
        else p.read_bytes()
        for p in paths
    }


def steps_kept(out: Path) -> int:
    """The step of the checkpoint from which a training goes on."""
    kept = read_checkpoint(out / "state.safetensors")
    return 0 if kept is None else json.loads(kept[1]["progress"])["step"]


def run_undisturbed(name: str, folder: Path) -> float:
    """Make the results that are wanted; returns processor seconds."""
    # The first run compiles kernels, which the others find in the cache.
    run_forked(JOBS[name], folder / f"{name} first")
    seconds = run_forked(JOBS[name], whole := folder / f"{name} whole")
    if not results(JOBS[name], whole):
        raise Fault(f"{name}: wrote no results")
    return seconds


def kill_and_resume(name: str, folder: Path, kill: int, after: float) -> tuple[bool, str]:
    """One kill; whether it came before the results were complete, and what is wrong."""
    job, out = JOBS[name], folder / f"{name} {kill}"
    wanted = results(job, folder / f"{name} whole")
    unfinished = False
    try:
        out.mkdir()
        run_forked(job, out, kill_after=after)
        check_complete(out)
        left = results(job, out)
        # Weights are written with every checkpoint: there, but not yet those of the end.
        unfinished = left != wanted if job.exact else left.keys() != wanted.keys()
        steps = 0 if job.exact else steps_kept(out)
        run_forked(job, out)
        check_complete(out)
        found = results(job, out)
        if found.keys() != wanted.keys():
            raise Fault(f"{sorted(found)} instead of {sorted(wanted)}")
        if changed := [name for name in wanted if job.exact and found[name] != wanted[name]]:
            raise Fault(f"{', '.join(changed)} changed")
        if not job.exact and steps_kept(out) < steps:
            raise Fault("training began anew")
    except Exception:
        return unfinished, traceback.format_exc(limit=3)
    return unfinished, ""


def run_kills(given: argparse.Namespace, folder: Path, pool: ProcessPoolExecutor) -> None:
    """All kills that are not in the rows yet."""
    done = {row["key"] for row in read_rows(given.rows)}
    kills: dict[str, list[tuple[int, float]]] = {}
    for name in JOBS:
        draw = random.Random(f"{name} {given.seed}")
        # In any order, so that the kills of a benchmark that is stopped are spread as well.
        order = draw.sample(range(given.kills), given.kills)
        drawn = [(kill, (kill + draw.random()) / given.kills) for kill in order]
        if left := [d for d in drawn if key(name, d[0], given) not in done]:
            kills[name] = left
    began = {pool.submit(run_undisturbed, name, folder): name for name in kills}
    running: dict[Future[tuple[bool, str]], tuple[str, int, float]] = {}
    for future in as_completed(began):
        name, seconds = began[future], future.result()
        print(f"{name}: {seconds:.1f} s", flush=True)
        for kill, share in kills[name]:
            running[pool.submit(kill_and_resume, name, folder, kill, seconds * share)] = (
                name, kill, seconds,
            )  # fmt: skip
    for future in as_completed(running):
        name, kill, seconds = running[future]
        unfinished, fault = future.result()
        append_row(
            given.rows,
            {
                "key": key(name, kill, given), "job": name, "seconds": seconds,
                "unfinished": unfinished, "fault": fault,
            },
        )  # fmt: skip
        print(f"{name} {kill}: {fault or ('unfinished' if unfinished else 'done')}", flush=True)


def key(name: str, kill: int, given: argparse.Namespace) -> str:
    """A row's key."""
    return f"{name} {given.seed} {kill}/{given.kills}"


def table(rows: Sequence[dict]) -> str:
    """One line a command, in Markdown."""
    lines = [
        "| command | processor s | kills | before the end | after the second run |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, job in JOBS.items():
        if of := [row for row in rows if row["job"] == name]:
            faults = sum(bool(row["fault"]) for row in of)
            same = "the same bytes" if job.exact else "went on from its checkpoint"
            unfinished = sum(row["unfinished"] for row in of)
            lines.append(
                f"| {name} | {of[-1]['seconds']:.1f} | {len(of)} | {unfinished} | "
                f"{f'{faults} faults' if faults else same} |"
            )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--jobs", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1, help="attempts at a time")
    parser.add_argument("--rows", type=Path, default=Path("out/kills.jsonl"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        made = make_jobs(Path(name))
        JOBS.update({k: job for k, job in made.items() if not given.jobs or k in given.jobs})
        with ProcessPoolExecutor(given.processes, mp_context=get_context("fork")) as pool:
            run_kills(given, Path(name), pool)
    rows = read_rows(given.rows)
    print(table(rows))
    return int(any(row["fault"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
