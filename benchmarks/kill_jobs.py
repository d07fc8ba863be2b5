"""Small runs of every long command, each of a few seconds, for `benchmarks.kill_resume` to kill."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from akd.api.fitting import fit
from akd.api.loading import load
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
