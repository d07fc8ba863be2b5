"""The engine under load and under fire: faults, overhead, scaling, a head node that restarts.

    python -m benchmarks.batch                        # all parts
    python -m benchmarks.batch faults --task animate  # real clips with a very small prior

`faults` runs 40 jobs on a Ray cluster of three nodes on this machine, kills a worker and then a
node with SIGKILL, and compares the results with a run without faults. `overhead` runs 1,000 jobs
that do nothing. `scaling` compares one worker with two. `head` kills the head node while jobs run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from akd.engine.call import Engine, Refused, Resources
from akd.engine.folder import RUN, JobFolder
from akd.engine.job import Job, Workspace
from akd.engine.local import Local
from akd.engine.run import Event, run_jobs


def walk(arguments: Mapping[str, Any], place: Workspace) -> dict[str, Any]:
    """A random walk with a checkpoint after every step, which goes on from it."""
    if any(place.out.glob(f"walk-{arguments['seed']}-*")):
        raise Refused("is done already")
    (place.folder.parent / "pid").write_text(str(os.getpid()))
    checkpoint = place.folder / "checkpoint.json"
    steps = json.loads(checkpoint.read_text()) if checkpoint.exists() else []
    resumed = len(steps)
    while len(steps) < arguments["steps"]:
        time.sleep(arguments["seconds"] / arguments["steps"])
        last = steps[-1] if steps else arguments["seed"]
        steps.append((last * 6364136223846793005 + 1442695040888963407) % 2**64)
        checkpoint.with_suffix(".part").write_text(json.dumps(steps))
        checkpoint.with_suffix(".part").replace(checkpoint)
    checkpoint.rename(place.folder / "walk.json")
    with (place.out / "ended.txt").open("a") as file:
        file.write(f"{arguments['seed']}\n")
    (place.folder.parent / "resumed").write_text(str(resumed))
    return {"last": steps[-1]}


def nothing(arguments: Mapping[str, Any], place: Workspace) -> dict[str, Any]:
    """What a job costs that does nothing."""
    return {}


def spin(arguments: Mapping[str, Any], place: Workspace) -> dict[str, Any]:
    """A fixed amount of work for one core."""
    value = 1
    for _ in range(arguments["turns"]):
        value = value * 6364136223846793005 % 2**64
    return {"value": value}


def walks(count: int, seconds: float) -> list[Job]:
    return [
        Job(walk, {"seed": k, "steps": 20, "seconds": seconds}, f"walk {k}") for k in range(count)
    ]


def clips(count: int, folder: Path) -> list[Job]:
    """Clips of a small fox with a very small prior of random weights."""
    from akd.commands.batch_file import read_jobs
    from tests.commands.small_prior import QUICK, write_fox, write_weights

    options = {
        "device": "cpu", "grounded": False, "iterations": 20, "set": list(QUICK[1:]),
        "weights": str(write_weights(folder / "weights")),
    }  # fmt: skip
    lines = [
        "[options]", *(f"{key} = {json.dumps(value)}" for key, value in options.items()),
        "[resources]", "cpus = 1", "[product]",
        f"assets = [{json.dumps(str(write_fox(folder / 'fox.glb')))}]",
        'prompts = ["a fox walking"]', f"seeds = {list(range(count))}",
    ]  # fmt: skip
    (folder / "jobs.toml").write_text("\n".join(lines))
    return read_jobs(folder / "jobs.toml", lambda prior, device: Resources())


@contextmanager
def ray_cluster(nodes: int):
    """A head without cores and `nodes` nodes of one core each; yields the cluster and its nodes."""
    import ray

    from tests.engine.ray_nodes import add_node, start_head

    cluster = start_head(num_cpus=0)
    made = [add_node(cluster, num_cpus=1) for _ in range(nodes)]
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        yield cluster, made
    finally:
        ray.shutdown()
        cluster.shutdown()


def results(out: Path) -> dict[str, bytes]:
    """All files of the results; reports hold settings and videos that the others hold too."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.glob("*/*"))
        if path.is_file() and path.relative_to(out).parts[0] != RUN
    }


def follow(
    jobs: Sequence[Job], out: Path, engine: Engine, *, each: Callable[[Event, Counter], None]
) -> tuple[Counter, float]:
    """Run jobs; returns how many ended in which state, and the seconds."""
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for event in run_jobs(jobs, out, engine):
        counts[event.state] += 1
        each(event, counts)
    return counts, time.monotonic() - started


def faults(task: str, folder: Path) -> None:
    """Kill a worker, then a node."""
    from akd.engine.ray_cluster import RayCluster

    jobs = clips(40, folder) if task == "animate" else walks(40, 2.0)
    local = Local(cpus=2)
    counts, seconds = follow(jobs, folder / "local", local, each=lambda event, counts: None)
    local.close()
    print(f"without faults, local, 2 workers: {dict(counts)}, {seconds:.0f} s")
    out, killed = folder / "ray", []
    with ray_cluster(2) as (cluster, nodes):
        engine = RayCluster()

        def kill(event: Event, counts: Counter) -> None:
            done = counts["done"]
            if done >= 5 and not killed:
                running = [
                    JobFolder(out, job)
                    for job in jobs
                    if (JobFolder(out, job).path / "attempt.json").exists()
                    and JobFolder(out, job).outcome() is None
                ]
                if not running:
                    return  # on a busy machine the next ones may not have begun
                worker = _worker(running[0])
                os.kill(worker, signal.SIGKILL)
                killed.append(f"worker {worker} ({running[0].job.label})")
            if done >= 12 and len(killed) == 1:
                cluster.remove_node(nodes[0], allow_graceful=False)
                killed.append("node 1")

        counts, seconds = follow(jobs, out, engine, each=kill)
        engine.close()
    same = results(out) == results(folder / "local")
    assert not counts["failed"], counts
    print(f"three nodes, killed {', '.join(killed)}: {dict(counts)}, {seconds:.0f} s; same: {same}")
    if task == "walk":
        ended = Counter((out / "ended.txt").read_text().split())
        resumed = [int(path.read_text()) for path in out.glob(f"{RUN}/*/resumed")]
        print(
            f"none begun after its results were there; {sum(n > 1 for n in ended.values())} killed "
            f"between their end and their results, and done again; {sum(n > 0 for n in resumed)} "
            f"went on from a checkpoint"
        )


def _worker(folder: JobFolder) -> int:
    """The process that holds a job's lock."""
    lock = (folder.path / "lock").stat().st_ino
    for line in Path("/proc/locks").read_text().splitlines():
        words = line.split()
        if words[1] == "FLOCK" and words[5].endswith(f":{lock}"):
            return int(words[4])
    raise SystemExit(f"{folder.path}: nobody holds its lock")


def overhead(folder: Path) -> None:
    """1,000 jobs that do nothing, on two local workers and on Ray."""
    jobs = [Job(nothing, {"number": k}, f"job {k}") for k in range(1000)]

    def measure(name: str, engine: Engine) -> None:
        # The first jobs start the workers.
        follow(jobs[:4], folder / name, engine, each=lambda event, counts: None)
        memory = []

        def watch(event: Event, counts: Counter) -> None:
            if counts["done"] % 100 == 50 and event.state == "done":
                memory.append(_resident())

        processor = time.process_time()
        counts, seconds = follow(jobs[4:], folder / name, engine, each=watch)
        processor = time.process_time() - processor
        assert counts["done"] == 996, counts
        print(
            f"{name}: {1000 * seconds / 996:.1f} ms a job, {1000 * processor / 996:.1f} ms of it "
            f"of the driver's processor; driver's memory from {memory[0]:.0f} to {memory[-1]:.0f} "
            f"MiB between job 50 and job {100 * len(memory) - 50}"
        )

    local = Local(cpus=2)
    measure("local", local)
    local.close()
    from akd.engine.ray_cluster import RayCluster

    with ray_cluster(2):
        engine = RayCluster()
        measure("ray", engine)
        engine.close()


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def scaling(folder: Path) -> None:
    """The same work with one worker and with two."""
    took = {}
    for workers in (1, 2):
        jobs = [Job(spin, {"turns": 3_000_000, "number": k}, f"spin {k}") for k in range(24)]
        engine = Local(cpus=workers)
        first = [Job(nothing, {"number": k}, f"first {k}") for k in range(2)]
        follow(first, folder / str(workers), engine, each=lambda event, counts: None)
        _, took[workers] = follow(
            jobs, folder / str(workers), engine, each=lambda event, counts: None
        )
        engine.close()
    print(f"one worker {took[1]:.1f} s, two {took[2]:.1f} s: ratio {took[1] / took[2]:.2f}")


def head(folder: Path) -> None:
    """Kill the head node while jobs run, start another, and run the same batch again."""
    out = folder / "out"
    for attempt in (1, 2):
        with _head_node() as (address, kill):
            driver = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.batch", "drive", str(out), address]
            )
            if attempt == 1:
                while _done(out) < 8:
                    time.sleep(0.2)
                kill()
                finished = _done(out)
                before = {p: p.stat().st_mtime_ns for p in out.glob("walk-*/outcome.json")}
                driver.kill()  # Ray ends it, after a minute of trying to reconnect
            driver.wait()
    kept = all(path.stat().st_mtime_ns == changed for path, changed in before.items())
    print(
        f"head killed after {finished} of 24; after a restart {_done(out)} are done, those of "
        f"before untouched: {kept}"
    )


def drive(out: Path, address: str) -> None:
    """A driver for `head`."""
    from akd.engine.ray_cluster import RayCluster

    engine = RayCluster(address)
    follow(walks(24, 1.0), out, engine, each=lambda event, counts: None)
    engine.close()


def _done(out: Path) -> int:
    return len(list(out.glob("walk-*/outcome.json")))


@contextmanager
def _head_node():
    from tests.engine.ray_nodes import start_head

    cluster = start_head(num_cpus=2)
    gone = []

    def kill() -> None:
        cluster.remove_node(cluster.head_node, allow_graceful=False)
        gone.append(True)

    try:
        yield cluster.address, kill
    finally:
        if not gone:
            cluster.shutdown()


def main() -> None:
    if sys.argv[1:2] == ["drive"]:
        drive(Path(sys.argv[2]), sys.argv[3])
        return
    parts = {"overhead": overhead, "scaling": scaling, "head": head}
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=["faults", *parts, []])
    parser.add_argument("--task", choices=("walk", "animate"), default="walk", help="of faults")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} when it began", flush=True)
    for name in given.parts or ["faults", *parts]:
        with tempfile.TemporaryDirectory() as folder:
            print(f"## {name}", flush=True)
            if name == "faults":
                faults(given.task, Path(folder))
            else:
                parts[name](Path(folder))


if __name__ == "__main__":
    main()
