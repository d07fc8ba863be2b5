"""`akd pose collect`, `harvest` and `train`: the data of the pose model, and the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from akd.commands.engines import EngineName, job_resources, open_engine
from akd.commands.errors import (
    SEEDS,
    UsageError,
    check_folders,
    check_ranges,
    input_file,
    usage_errors,
)
from akd.commands.options import Device, Out, PriorName, Seed

if TYPE_CHECKING:
    from akd.engine.call import Engine, Resources
    from akd.posespace.dataset import BodyPoses


@dataclass(frozen=True)
class PoseCollect:
    """Collect true poses from clips of artists, motion capture and the zoo into one file.

    Example: akd pose collect --zoo 40 -o out/poses.safetensors
    """

    out: Out = Path("out/poses.safetensors")
    """The file to write."""
    assets: Path | None = None
    """Folder of rigged characters with clips, split by splits.toml and MANIFEST.tsv."""
    mocap: Path | None = None
    """Folder of BVH files with a table ACTIONS.tsv that states their side."""
    zoo: int = 0
    """Number of creatures of the zoo."""
    side: Literal["training", "measuring"] = "training"
    """Side of the splits to collect from."""

    def run(self) -> None:
        """Collect and write."""
        from akd.posespace.dataset import join_poses, save_poses

        check_folders(assets=self.assets, mocap=self.mocap)
        parts = []
        for part in self._found():
            parts.append(part)
            count = sum(len(states) for _, states, _ in part.clips)
            print(f"{part.record.source}  {part.record.name}: {count} poses", flush=True)
        if not parts:
            raise UsageError("no poses were found: give --assets, --mocap or --zoo")
        poses = join_poses(parts)
        save_poses(poses, self.out)
        print(f"{self.out}: {len(poses)} poses of {len(parts)} bodies")

    def _found(self) -> Iterator[BodyPoses]:
        from akd.posespace.collect import collect_assets, collect_mocap

        training = self.side == "training"
        if self.assets is not None:
            yield from collect_assets(self.assets, training=training)
        if self.mocap is not None:
            yield from collect_mocap(self.mocap, training=training)
        if self.zoo:
            from akd.api.poses import collect_zoo

            yield from collect_zoo(self.zoo, training=training)


@dataclass(frozen=True)
class PoseHarvest:
    """Harvest poses from a video prior: sample videos, fit the joints to them, filter the poses.

    Writes one shard of poses and one table of provenance for each body and prompt. A body is a
    job: one that fails is tried three times and does not stop the others. Run again to continue.

    Example: akd pose harvest --zoo 84 --assets DIR -o out/harvest --engine ray --address auto
    """

    out: Out = Path("out/harvest")
    """Folder to write to."""
    zoo: int = 0
    """Number of creatures of the zoo's training side."""
    assets: Path | None = None
    """Folder of rigged characters; those of the training side are used."""
    actions: tuple[str, ...] = ()
    """Actions to prompt for; by default all that suit the body and that the prior knows."""
    prior: PriorName = "tiny"
    weights: Path | None = None
    """Folder of the tiny prior's weights, and of its recognisers, instead of the bundled ones."""
    regressor: Path | None = None
    """Weights of the motion regressor that starts the fits; by default those in --weights, or the
    bundled ones, where there are any."""
    videos: int = 32
    """Videos of each body and prompt in a round."""
    iterations: int = 60
    """Iterations of the fit."""
    search: bool = True
    """Search the poses of limbs before a fit. With --no-search, only for bodies that the regressor
    does not read."""
    minutes: float | None = None
    """Minutes after which no new body is started."""
    engine: EngineName = "local"
    """local: the cores and GPUs of this machine. ray: a Ray cluster. shell: print one command
    per body."""
    address: str | None = None
    """Address of the Ray cluster; by default RAY_ADDRESS, or this machine alone."""
    only: str | None = None
    """Harvest one body, by the id of its job: what the commands of --engine shell do."""
    device: Device = "auto"
    together: int = 8
    """Bodies that share one GPU, each in its own process with two cores (one core if there are more
    than 8 bodies). Without a GPU, the number of cores decides."""
    seed: Seed = 0
    seeds: int = 1
    """Rounds over all bodies, each with another seed: --videos more for each body and prompt."""

    def run(self) -> None:
        """Harvest body after body."""
        import time

        from akd.batch.harvest import harvest_jobs
        from akd.commands.batch_table import BatchTable
        from akd.engine.run import BatchBusy, hold_batch, run_jobs
        from akd.prior.choose import check_prior
        from akd.prior.source import PriorSource

        check_ranges(self, seed=SEEDS, seeds=(1, 10_000), together=(1, 64))
        if self.videos < 1 or self.iterations < 1:
            raise UsageError("--videos and --iterations must be at least 1")
        check_folders(assets=self.assets, weights=self.weights)
        if self.regressor is not None:
            from akd.fit.regressor.regressor import load_regressor

            load_regressor(input_file(self.regressor))  # else every job would fail on its own
        until = None if self.minutes is None else time.monotonic() + 60.0 * self.minutes
        with open_engine(self.engine, self.address, self._command) as engine:
            if self.engine == "local":
                with usage_errors():
                    check_prior(PriorSource(self.prior, self.weights), device=self.device)
            jobs = [
                job
                for job in harvest_jobs(
                    zoo=self.zoo, assets=self.assets, actions=self.actions,
                    prior=self.prior, weights=self.weights, videos=self.videos,
                    iterations=self.iterations, search=self.search, regressor=self.regressor,
                    device=self.device, seed=self.seed, seeds=self.seeds,
                    resources=self._resources(engine),
                )
                if self.only in (None, job.id)
            ]  # fmt: skip
            if not jobs and self.only is not None:
                raise UsageError(f"--only {self.only}: no job with these options has this id")
            if not jobs:
                raise UsageError("there are no bodies: give --zoo or --assets")
            table = BatchTable(self.out, len(jobs))
            # Commands of --engine shell run as many jobs in a folder at a time as they like.
            alone = self.only is None and self.engine != "shell"
            try:
                with (
                    usage_errors(BatchBusy),
                    hold_batch(self.out) if alone else nullcontext(),
                    table,
                ):
                    for event in run_jobs(jobs, self.out, engine, until=until):
                        table.show(event)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(table.stopped()) from None
        if self.engine != "shell":
            print(f"{self.out}: {table.summary()}")
        table.check()

    def _resources(self, engine: Engine) -> Resources:
        found = job_resources(self.prior, device=self.device, engine=engine, together=self.together)
        # Whether there is a GPU or not: where commands are written there may be none, and the
        # number of threads is part of a job's id.
        return replace(found, cpus=1) if self.together > 8 else found

    def _command(self, key: str) -> list[str]:
        from akd.prior.source import whole_name

        words = ["akd", "pose", "harvest", "-o", str(self.out.resolve()), "--only", key]
        if self.assets is not None:
            words += ["--assets", str(self.assets.resolve())]
        if self.actions:
            words += ["--actions", *self.actions]
        if self.weights is not None:
            words += ["--weights", str(self.weights.resolve())]
        if self.regressor is not None:
            words += ["--regressor", str(self.regressor.resolve())]
        words += ["--search" if self.search else "--no-search"]
        options = ("zoo", "prior", "videos", "iterations", "device", "together", "seed", "seeds")
        for name in options:
            value = whole_name(self.prior) if name == "prior" else getattr(self, name)
            words += [f"--{name}", str(value)]
        return words


@dataclass(frozen=True)
class PoseTrain:
    """Train the pose model on poses from `akd pose collect` and `harvest`. Run again to continue.

    On several GPUs: accelerate launch --num_processes 8 -m akd pose train ...

    Example: akd pose train out/poses.safetensors -o out/pose-model
    """

    poses: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Files, or folders of shards."""
    out: Out = Path("out/pose-model")
    """Folder for pose.safetensors, the state to resume from, and training.json."""
    minutes: float = 8.0
    """Minutes to train for."""
    steps: int | None = None
    """Stop after this number of steps, if that is sooner."""
    artists: float = 1.0
    """Sampling weight of artists' rigs relative to other sources of poses."""
    device: Device = "auto"
    seed: Seed = 0

    def run(self) -> None:
        """Train."""
        from akd.base.lock import hold_lock
        from akd.base.process_group import is_first_process
        from akd.posespace.settings import PoseTrainSettings
        from akd.posespace.train import train
        from akd.prior.choose import choose_device

        if not self.minutes > 0:
            raise UsageError(f"--minutes must be above zero, got {self.minutes:g}")
        if not 0.0 < self.artists < 1000.0:
            raise UsageError(f"--artists must be above 0 and below 1000, got {self.artists:g}")
        check_ranges(self, steps=(1, 100_000_000), seed=SEEDS)
        for path in self.poses:
            if not path.is_dir():
                input_file(path)
        with usage_errors(), hold_lock(self.out) if is_first_process() else nullcontext():
            train(
                self.poses, self.out, minutes=self.minutes, steps=self.steps,
                device=choose_device(self.device), seed=self.seed,
                settings=PoseTrainSettings(artists=self.artists),
            )  # fmt: skip
