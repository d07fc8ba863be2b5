"""`akd pose collect`, `harvest` and `train`: the data of the pose model, and the model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from akd.commands.errors import SEEDS, UsageError, check_ranges, input_file

if TYPE_CHECKING:
    from akd.posespace.dataset import BodyPoses

Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


@dataclass(frozen=True)
class PoseCollect:
    """Collect true poses from clips of artists, motion capture and the zoo into one file."""

    out: Out = Path("out/poses.safetensors")
    assets: Path | None = None
    """Folder of rigged characters with clips, split by splits.toml and MANIFEST.tsv."""
    mocap: Path | None = None
    """Folder of BVH files with the sides of an ACTIONS.tsv."""
    zoo: int = 0
    """Creatures of the zoo."""
    side: Literal["training", "measuring"] = "training"

    def run(self) -> None:
        """Collect and write."""
        from akd.posespace.dataset import join_poses, save_poses

        for name, folder in (("assets", self.assets), ("mocap", self.mocap)):
            if folder is not None and not folder.is_dir():
                raise UsageError(f"--{name} {folder}: is not a folder")
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

    Writes one shard of poses and one table of provenance for each body and prompt. Run again to
    continue.
    """

    out: Out = Path("out/harvest")
    zoo: int = 0
    """Creatures of the zoo, training side."""
    assets: Path | None = None
    """Folder of rigged characters, of which those of the training side are taken."""
    actions: tuple[str, ...] = ()
    """What prompts say after the body's noun; by default a dozen gaits and actions."""
    prior: str = "tiny"
    videos: int = 32
    """Videos of each body and prompt, fitted in one batch."""
    iterations: int = 60
    """Of the fit."""
    minutes: float | None = None
    """Begin no further prompt after this time."""
    part: str = "1/1"
    """K/N: take every N-th body from the K-th on, to share the work among processes."""
    device: str = "auto"
    seed: int = 0

    def run(self) -> None:
        """Harvest body after body."""
        import time

        from akd.asset.asset import AssetError
        from akd.harvest import ACTIONS, HarvestSettings, asset_bodies, harvest, zoo_bodies
        from akd.prior.choose import choose_prior
        from akd.prior.source import PriorSource

        first, step = self._part()
        if self.videos < 1 or self.iterations < 1:
            raise UsageError("--videos and --iterations must be at least 1")
        if self.assets is not None and not self.assets.is_dir():
            raise UsageError(f"--assets {self.assets}: is not a folder")
        bodies = [*zoo_bodies(self.zoo), *(asset_bodies(self.assets) if self.assets else ())]
        if not bodies:
            raise UsageError("there are no bodies: give --zoo or --assets")
        try:
            prior = choose_prior(PriorSource(self.prior), device=self.device)
        except ValueError as error:
            raise UsageError(str(error)) from None
        settings = HarvestSettings(videos=self.videos, iterations=self.iterations)
        started = time.monotonic()
        for body in itertools.islice(bodies, first, None, step):
            try:
                for prompt, rows in harvest(
                    body, self.out, prior=prior, actions=self.actions or ACTIONS,
                    settings=settings, seed=self.seed,
                ):  # fmt: skip
                    kept = sum(bool(row["kept"]) for row in rows)
                    seconds = time.monotonic() - started
                    print(f"{seconds:6.0f} s  {body.name}, {prompt}: {kept} of {len(rows)} poses")
                    if self.minutes is not None and seconds > 60.0 * self.minutes:
                        print("stopped: the time is over; run again to continue")
                        return
            except (AssetError, ValueError) as error:
                print(f"{body.name}: skipped: {error}")

    def _part(self) -> tuple[int, int]:
        place, _, parts = self.part.partition("/")
        if not (place.isdecimal() and parts.isdecimal() and 1 <= int(place) <= int(parts)):
            raise UsageError(f"--part must be K/N with K from 1 to N, got {self.part!r}")
        return int(place) - 1, int(parts)


@dataclass(frozen=True)
class PoseTrain:
    """Train the pose model on poses of `akd pose collect` and `harvest`. Run again to go on."""

    poses: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Files, or folders of shards."""
    out: Out = Path("out/pose-model")
    """Folder for pose.safetensors, the state to resume from, and training.json."""
    minutes: float = 8.0
    steps: int | None = None
    """Stop after so many steps, if that is sooner."""
    device: str = "auto"
    seed: int = 0

    def run(self) -> None:
        """Train."""
        from akd.posespace.train import train
        from akd.prior.choose import choose_device

        if not self.minutes > 0:
            raise UsageError(f"--minutes must be above zero, got {self.minutes:g}")
        check_ranges(self, steps=(1, 100_000_000), seed=SEEDS)
        for path in self.poses:
            if not path.is_dir():
                input_file(path)
        try:
            train(
                self.poses, self.out, minutes=self.minutes, steps=self.steps,
                device=choose_device(self.device), seed=self.seed,
            )  # fmt: skip
        except ValueError as error:
            raise UsageError(str(error)) from None
