"""Kill jobs with SIGKILL at random moments, run them again, and compare with an undisturbed run.

    python -m benchmarks.kill_resume --kills 30

Each attempt is a fork of this process, which has imported everything. After every kill, all files
under final names are read; after the second run, the results must be the same bytes. `prior train`
is left out: it trains for a time, not for a number of steps, so that no two runs are alike.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file

from akd.api.loading import load
from akd.base.files import read_tensors
from akd.cli import main as akd
from akd.posespace.codec import PoseCodec
from akd.posespace.dataset import BodyPoses, BodyRecord, join_poses, save_poses
from akd.posespace.settings import PoseNetworkSettings, PoseTrainSettings
from akd.posespace.train import train
from akd.splat.fit import fit_splats
from akd.splat.settings import FitSettings
from tests.commands.animating import words
from tests.commands.small_prior import write_weights

SMALL_FIT = FitSettings(splats=300, views=8, sizes=(48,), iterations=60, checkpoint_every=5)
SMALL_NETWORK = PoseNetworkSettings(width=32, layers=2, heads=2, point_width=8)
SMALL_TRAINING = PoseTrainSettings(batch=16, poses_each=4, checkpoint_seconds=0.1)


@dataclass(frozen=True)
class Job:
    """Something to be killed: the same call continues it."""

    run: Callable[[Path], object]
    results: tuple[str, ...]


def make_jobs(folder: Path) -> dict[str, Job]:
    """Small jobs that take a few seconds each."""
    fox = folder / "fox.glb"
    assert akd(["zoo", "fox", "-o", str(fox), "--vertices", "600"]) == 0
    weights = write_weights(folder / "weights")  # hashed: nothing else may lie there
    character = load(fox)
    codec = PoseCodec.of(character)
    states = torch.randn(40, codec.body.tokens, 3, generator=torch.Generator().manual_seed(0))
    record = BodyRecord("fox", "zoo", "fox", codec.body.tokens, 1.0)
    poses = folder / "poses.safetensors"
    clips = (("random", states, torch.arange(40.0)),)
    save_poses(join_poses([BodyPoses(record, codec.body, clips)]), poses)
    mesh = character.mesh
    assert mesh is not None
    ground = ["ground", str(fox), "--clip", "walk", "--iterations", "1"]
    return {
        "animate": Job(
            lambda out: akd(words(fox, weights, out, "--iterations", "40")),
            ("motion.glb", "video.mp4", "metrics.json"),
        ),
        "splat": Job(
            lambda out: fit_splats(mesh, settings=SMALL_FIT, cache=out), ("*.safetensors",)
        ),
        "ground": Job(lambda out: akd([*ground, "-o", str(out)]), ("motion.glb", "*.npz")),
        "pose train": Job(
            lambda out: train(
                poses, out, steps=150, network=SMALL_NETWORK, settings=SMALL_TRAINING,
            ),
            ("pose.safetensors",),
        ),
    }  # fmt: skip


def run_forked(job: Job, out: Path, *, kill_after: float | None = None) -> float:
    """Run a job in a child; returns seconds."""
    log = out.with_name(f"{out.name}.log")
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        try:
            code = job.run(out)
            os._exit(code if isinstance(code, int) else 0)
        finally:
            os._exit(99)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 3) and (kill_after is None or code != -signal.SIGKILL):
        raise SystemExit(f"exit code {code}:\n{log.read_text()}")
    return time.monotonic() - started


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
            import numpy as np

            with np.load(path) as arrays:
                assert all(arrays[name] is not None for name in arrays)


def results(job: Job, out: Path) -> dict[str, object]:
    """The contents to compare; metadata of tensors holds times, so that it is left out."""
    paths: Iterable[Path] = sorted(p for pattern in job.results for p in out.glob(pattern))
    return {
        p.name: {k: v.numpy().tobytes() for k, v in load_file(p).items()}
        if p.suffix == ".safetensors"
        else p.read_bytes()
        for p in paths
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--jobs", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    draw = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for job_name, job in make_jobs(folder).items():
            if given.jobs and job_name not in given.jobs:
                continue
            whole = folder / f"{job_name} whole"
            whole.mkdir()
            # The first run compiles kernels, which the others find in the cache.
            run_forked(job, folder / f"{job_name} first")
            seconds = run_forked(job, whole)
            wanted = results(job, whole)
            assert wanted, f"{job_name}: wrote no results"
            unfinished = 0
            for kill in range(given.kills):
                out = folder / f"{job_name} {kill}"
                out.mkdir()
                run_forked(job, out, kill_after=draw.uniform(0.0, seconds))
                check_complete(out)
                unfinished += results(job, out).keys() != wanted.keys()
                run_forked(job, out)
                assert results(job, out) == wanted, f"{job_name}: kill {kill} changed the result"
            print(f"{job_name}: {given.kills} kills, {unfinished} before the end, all the same")


if __name__ == "__main__":
    main()
