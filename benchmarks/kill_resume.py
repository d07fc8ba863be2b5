"""Kill commands with SIGKILL at random moments, run them again, and compare with undisturbed runs.

    python -m benchmarks.kill_resume --kills 30

Kills are spread evenly over the processor time of the undisturbed run, at random within each share.
Each attempt is a fork of this process, which has imported everything. The fork is killed alone: its
workers must end by themselves. After every kill, all files under final names are read; after the
second run, the results must be the same bytes. `prior train` trains for a time, not for a number of
steps, so that no two runs are alike: its second run must go on from the checkpoint that the first
one left, and finish.
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
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from akd.api.fitting import fit
from akd.api.loading import load
from akd.base.files import read_checkpoint, read_tensors
from akd.batch.harvest import HarvestBody, HarvestModels, HarvestSettings, harvest
from akd.cli import main as akd
from akd.commands.prior_options import SMOKE_POOL, SMOKE_TINY
from akd.fit.settings import FitSettings, WarmStartSettings
from akd.posespace.codec import PoseCodec
from akd.posespace.dataset import BodyPoses, BodyRecord, join_poses, save_poses
from akd.posespace.settings import PoseNetworkSettings, PoseTrainSettings
from akd.posespace.train import train as train_poses
from akd.prior.tiny.settings import TrainSettings
from akd.prior.tiny.train import train as train_prior
from akd.rig.character import Character
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.splat.fit import fit_splats
from akd.splat.settings import FitSettings as SplatSettings
from tests.commands.animating import words
from tests.commands.small_prior import QUICK, write_weights
from tests.distill.fox import Screen

SMALL_SPLATS = SplatSettings(splats=300, views=8, sizes=(48,), iterations=60, checkpoint_every=5)
SMALL_FIT = FitSettings(size=48, splats=400, starts=1, iterations=3)
SMALL_NETWORK = PoseNetworkSettings(width=32, layers=2, heads=2, point_width=8)
SMALL_POSES = PoseTrainSettings(batch=16, poses_each=4, checkpoint_seconds=0.1)
SMALL_PRIOR = TrainSettings(
    batch=4, warm_up=2, checkpoint_seconds=0.5, sheet_seconds=60.0, sheet_rows=2, sheet_steps=3
)
SMALL_HARVEST = HarvestSettings(
    videos=2, iterations=1, difference=math.inf, judgement=0.5,
    warm_start=WarmStartSettings(steps=1, phase_search=False),
)  # fmt: skip
WORKER_SECONDS = 30.0
"""Of processor time, for workers to end after the process that started them: one that has just been
started imports its modules first. Those that wait have ten times as long."""
WRITTEN = (0, 3)
"""Exit codes of commands that wrote their results: those of untrained weights may not be shown."""


@dataclass(frozen=True)
class Job:
    """Something to be killed: the same call continues it."""

    run: Callable[[Path], object]
    results: tuple[str, ...]
    """Patterns of the files that must be the same bytes."""
    exact: bool = True
    """Otherwise the results must be there, and training must go on where it was."""


def command(*given: object) -> Callable[[Path], int]:
    """A command of akd with an output folder."""
    return lambda out: akd([*map(str, given), "-o", str(out)])


def make_jobs(folder: Path) -> dict[str, Job]:
    """Small jobs that take a few seconds each."""
    fox = folder / "fox.glb"
    assert akd(["zoo", "fox", "-o", str(fox), "--vertices", "600"]) == 0
    weights = write_weights(folder / "weights")  # hashed: nothing else may lie there
    character = load(fox)
    mesh = character.mesh
    assert mesh is not None
    poses = write_poses(character, folder / "poses.safetensors")
    body = HarvestBody("fox", "zoo", "fox", "fox", lambda: character)
    clip = ("motion.glb", "video.mp4", "metrics.json")
    training = partial(
        train_prior, minutes=0.3, device=torch.device("cpu"), tiny=SMOKE_TINY, pool=SMOKE_POOL,
        settings=SMALL_PRIOR, compiled=False,
    )  # fmt: skip
    return {
        "animate": Job(lambda out: akd(words(fox, weights, out, "--iterations", "40")), clip),
        "fit": Job(partial(fit_views, character), ("motion.glb", "comparison.mp4", "*.json")),
        "splat": Job(
            lambda out: fit_splats(mesh, settings=SMALL_SPLATS, cache=out), ("*.safetensors",)
        ),
        "ground": Job(
            command("ground", fox, "--clip", "walk", "--iterations", 1), ("motion.glb", "*.npz")
        ),
        "pose train": Job(
            lambda out: train_poses(
                [poses], out, steps=150, network=SMALL_NETWORK, settings=SMALL_POSES,
            ),
            ("pose.safetensors",),
        ),
        "prior train": Job(training, ("weights/*", "training.json"), exact=False),
        "pose harvest": Job(
            partial(harvest_all, body), ("*.safetensors", "*.parquet", "*.jsonl")
        ),
        "batch": Job(
            command("batch", write_batch(fox, weights, folder / "jobs.toml")),
            tuple(f"fox-*/{name}" for name in (*clip, "outcome.json")),
        ),
    }  # fmt: skip


def write_poses(character: Character, path: Path) -> Path:
    """Random poses to train on."""
    codec = PoseCodec.of(character)
    states = torch.randn(40, codec.body.tokens, 3, generator=torch.Generator().manual_seed(0))
    record = BodyRecord("fox", "zoo", "fox", codec.body.tokens, 1.0)
    clips = (("random", states, torch.arange(40.0)),)
    save_poses(join_poses([BodyPoses(record, codec.body, clips)]), path)
    return path


def write_batch(fox: Path, weights: Path, path: Path) -> Path:
    """A file of two jobs."""
    path.write_text(
        f"""
        [options]
        device = "cpu"
        grounded = false
        iterations = 6
        weights = {json.dumps(str(weights))}
        set = {json.dumps(QUICK[1:])}
        [resources]
        cpus = 1
        [[product]]
        assets = [{json.dumps(str(fox))}]
        prompts = ["a fox walking"]
        seeds = [0, 1]
        """
    )
    return path


def fit_views(character: Character, out: Path) -> None:
    """Fit a character to images of itself."""
    stage = Stage.of(character, style=SceneStyle.TEXTURED, size=(48, 48), splats=400, ground=False)
    frames = stage.show(stage.neutral.expand(3, -1, -1, -1)).detach()
    masks = ((frames - 0.5).abs().amax(-1) > 0.05).float()
    fit(
        character, frames, masks=masks, fps=12.0, physics=False, device="cpu", settings=SMALL_FIT
    ).save(out)


def harvest_all(body: HarvestBody, out: Path) -> None:
    """Harvest a body's poses; all of them pass the judge."""
    actions = ("walking", "trotting", "galloping", "jumping")
    for _ in harvest(
        body, out, models=HarvestModels(Screen()), actions=actions, settings=SMALL_HARVEST,
        judge=lambda videos: torch.ones(len(videos)),
    ):  # fmt: skip
        pass


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
    spent = 0.0
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        spent = processor_seconds(child)
        if spent >= kill_after:
            os.kill(child, signal.SIGKILL)
            break
        time.sleep(0.01)  # looking at all processes costs more than many a job
    _, status = os.waitpid(child, 0)
    wait_for_workers(child)
    code = os.waitstatus_to_exitcode(status)
    if code not in WRITTEN and (spent < kill_after or code != -signal.SIGKILL):
        raise SystemExit(f"exit code {code}:\n{log.read_text()}")
    return spent


def processor_seconds(session: int) -> float:
    """Processor time of the processes of a session, which other work does not change."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # What follows the name, which may hold anything: state, parent, group, session, ...
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_for_workers(group: int) -> None:
    """Until no process of a group is left."""
    spent, until = processor_seconds(group), time.monotonic() + 10.0 * WORKER_SECONDS
    with suppress(ProcessLookupError):
        while processor_seconds(group) - spent < WORKER_SECONDS and time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(0.05)
        os.killpg(group, signal.SIGKILL)
        raise SystemExit(f"workers lived on for {WORKER_SECONDS:g} s")


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


def kill_and_resume(job: Job, out: Path, wanted: dict[str, object], after: float) -> bool:
    """One kill; whether it came before the results were complete."""
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
    if job.exact:
        changed = [name for name in wanted if found.get(name) != wanted[name]]
        assert not changed, f"{out}: {', '.join(changed)} changed"
    assert found.keys() == wanted.keys(), f"{out}: {sorted(found)} instead of {sorted(wanted)}"
    assert job.exact or steps_kept(out) >= steps, f"{out}: training began anew"
    return unfinished


def table(rows: Sequence[Sequence[object]]) -> str:
    """Rows in Markdown."""
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--jobs", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[Sequence[object]] = [
        ("command", "processor s", "kills", "before the end", "after the second run"),
        5 * ("---",),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for job_name, job in make_jobs(folder).items():
            if given.jobs and job_name not in given.jobs:
                continue
            draw = random.Random(f"{job_name} {given.seed}")
            whole = folder / f"{job_name} whole"
            # The first run compiles kernels, which the others find in the cache.
            run_forked(job, folder / f"{job_name} first")
            seconds = run_forked(job, whole)
            wanted = results(job, whole)
            assert wanted, f"{job_name}: wrote no results"
            unfinished = 0
            # In any order, so that the kills of a benchmark that is stopped are spread as well.
            for count, kill in enumerate(draw.sample(range(given.kills), given.kills), start=1):
                out, after = folder / f"{job_name} {kill}", (kill + draw.random()) / given.kills
                unfinished += kill_and_resume(job, out, wanted, seconds * after)
                print(f"{job_name}: {count} kills, {unfinished} unfinished", flush=True)
            same = "the same bytes" if job.exact else "went on from its checkpoint"
            rows.append((job_name, f"{seconds:.1f}", given.kills, unfinished, same))
            print(table(rows[-1:]), flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
