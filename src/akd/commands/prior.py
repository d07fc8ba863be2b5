"""`akd prior`: the video models that motion is distilled from, and the tiny one's training."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from akd.base.files import write_json
from akd.commands.errors import SEEDS, UsageError, check_folders, check_ranges, usage_errors
from akd.commands.options import Device, Out, Seed
from akd.commands.prior_sample import PriorSample
from akd.metrics.recognise.settings import RECOGNISERS
from akd.prior.tiny.settings import PoolSettings, TinySettings, TrainSettings

if TYPE_CHECKING:
    import torch

    from akd.metrics.recognise.recogniser import Recogniser
    from akd.prior.tiny.prior import PriorTiny
    from akd.prior.tiny.recorded import Recordings


def _device(name: str) -> torch.device:
    from akd.prior.choose import choose_device

    with usage_errors(prefix="--"):
        return choose_device(name)


def _recordings(assets: Path | None, mocap: Path | None) -> Recordings:
    from akd.base.splits import OWN
    from akd.prior.tiny.artists import find_files
    from akd.prior.tiny.recorded import Recordings

    check_folders(assets=assets, mocap=mocap)
    if assets is not None and not find_files(assets, training=True):
        raise UsageError(
            f"--assets {assets}: holds no character to train on; put your own into {assets / OWN}"
        )
    return Recordings(assets, mocap)


def _workers(asked: int | None) -> int:
    import os

    return max(0, (os.cpu_count() or 2) - 1) if asked is None else asked


def _tiny(folder: Path | None, device: torch.device) -> PriorTiny:
    from akd.prior.tiny.load import has_weights, load_tiny, shipped_weights

    where = folder or shipped_weights()
    if not has_weights(where):
        raise UsageError(
            f"{where}: holds no weights of the tiny prior; `akd prior train` makes some"
        )
    return load_tiny(where, device=device)


@dataclass(frozen=True)
class PriorList:
    """List the available video models.

    Example: akd prior list
    """

    def run(self) -> None:
        """Print a line for each."""
        from akd.motion.actions import MANNER_LABELS
        from akd.prior.tiny.bodies import PLANS, actions_of
        from akd.prior.tiny.load import has_weights, read_about, shipped_weights
        from akd.prior.tiny.vocabulary import CREATURES

        if has_weights(shipped_weights()):
            tiny, tokens = read_about(shipped_weights())
            print(
                f"tiny    {tiny.frames} x {tiny.height} x {tiny.width}, a frame lasts "
                f"{tiny.frame_time:g} sqrt(leg length / g), style roles, Apache-2.0, ships with akd"
            )
            known = {f"{plan} actions": actions_of(plan, tokens) for plan in PLANS}
            known |= {"manners": list(MANNER_LABELS), "creatures": list(CREATURES)}
            for name, words in known.items():
                listed = [word.replace("_", " ") for word in words if word in tokens]
                print(f"        {name}: {', '.join(listed)}")
        else:
            print("tiny    its weights are missing; `akd prior train` makes some")
        from akd.prior.large.catalogue import lines

        for line in lines():
            print(line)


@dataclass(frozen=True)
class PriorTrain:
    """Train the tiny prior on rendered creatures. Run again to continue.

    On several GPUs: accelerate launch --num_processes 8 -m akd prior train ...

    Example: akd prior train -o out/prior
    """

    out: Out = Path("out/prior")
    """Folder for creatures, state, weights and sheets."""
    minutes: float = 15.0
    """Of the whole training, building and rendering included."""
    stop_after: float | None = None
    """Minutes after which this run stops and saves; the same command continues from there."""
    creatures: int = PoolSettings.creatures
    assets: Path | None = None
    """Folder of rigged characters with clips. Those in its folder `training` and those that
    splits.toml lists are filmed too."""
    mocap: Path | None = None
    """Folder of motion capture with a table of actions; its training side is filmed too."""
    start: Path | None = None
    """Folder of weights to begin with, such as those of an earlier run."""
    learning_rate: float = TrainSettings.learning_rate
    device: Device = "auto"
    seed: Seed = 0
    workers: int | None = None
    """Processes that build creatures; one per core, less one, if left out."""
    compiled: bool = True
    """Compile the network where that works."""
    smoke: bool = False
    """Run everything at a very small size, as a smoke test of about a minute on a CPU."""

    def run(self) -> None:
        """Train, then write what there is of the card."""
        if not self.minutes > 0:
            raise UsageError(f"--minutes must be above zero, got {self.minutes:g}")
        check_ranges(self, creatures=(1, 100_000), seed=SEEDS, workers=(0, 1000))
        recordings = _recordings(self.assets, self.mocap)
        from akd.base.lock import hold_lock
        from akd.base.process_group import is_first_process
        from akd.prior.tiny.card import write_card
        from akd.prior.tiny.train import train

        pool, tiny = replace(PoolSettings(), creatures=self.creatures), None
        settings = replace(TrainSettings(), learning_rate=self.learning_rate)
        minutes, workers = self.minutes, _workers(self.workers)
        if self.smoke:
            tiny, pool, settings = SMOKE_TINY, SMOKE_POOL, SMOKE_TRAIN
            minutes, workers = min(self.minutes, 0.5), min(workers, 2)
        device = _device(self.device)
        with hold_lock(self.out) if is_first_process() else nullcontext():
            train(
                self.out, minutes=minutes, stop_after=self.stop_after, device=device,
                seed=self.seed, workers=workers, recordings=recordings, start=self.start,
                tiny=tiny, pool=pool, settings=settings,
                compiled=self.compiled and not self.smoke and device.type == "cuda",
            )  # fmt: skip
        if not is_first_process():
            return
        record = self.out / "training.json"
        about = json.loads(record.read_text())
        about["command"] = " ".join(["akd", *sys.argv[1:]])
        write_json(record, about)
        print(f"{write_card(self.out)}: the card; `akd prior evaluate` completes it")


SMOKE_TINY = TinySettings(channels=48, layers=2, heads=2, text_channels=16, refine_channels=8)
SMOKE_POOL = PoolSettings(
    creatures=3, vertices=600, splats=400, styles=1, recorded_clips=1, videos=32, videos_a_call=4,
    ready=8,
)  # fmt: skip
SMOKE_TRAIN = TrainSettings(
    batch=4, warm_up=2, checkpoint_seconds=5.0, sheet_seconds=60.0, sheet_rows=2, sheet_steps=3
)


@dataclass(frozen=True)
class PriorTrainRecogniser:
    """Train an action recogniser on true and on wrong motions.

    Example: akd prior train-recogniser b -o out/prior
    """

    name: tyro.conf.Positional[Literal["a", "b", "c"]]
    """`a` may steer, `b` and `c` only report; `c` learns from recorded clips alone."""
    out: Out = Path("out/prior")
    """The folder of `akd prior train`: its creatures are used again."""
    minutes: float = 1.5
    """Of training, after the creatures are there."""
    creatures: int = PoolSettings.creatures
    """Creatures to learn from."""
    judges: int = 48
    """Creatures of the measuring side to evaluate on."""
    assets: Path | None = None
    """Folder of rigged characters with clips. Those in its folder `training` and those that
    splits.toml lists are filmed too."""
    mocap: Path | None = None
    """Folder of motion capture with a table of actions; its training side is filmed too."""
    device: Device = "auto"
    workers: int | None = None
    smoke: bool = False
    """Run everything at a very small size."""

    def run(self) -> None:
        """Film, train, measure on unseen creatures, write."""
        from akd.prior.tiny.make_recogniser import make_recogniser

        pool, judges = replace(PoolSettings(), creatures=self.creatures), self.judges
        seconds, workers = 60.0 * self.minutes, _workers(self.workers)
        if self.smoke:
            pool, judges, seconds, workers = SMOKE_POOL, 2, min(seconds, 5.0), min(workers, 2)
        scores = make_recogniser(
            RECOGNISERS[self.name] if not self.smoke else replace(RECOGNISERS[self.name], batch=8),
            self.out, seconds=seconds, pool=pool, judges=judges,
            device=_device(self.device), workers=workers,
            recordings=_recordings(self.assets, self.mocap),
        )  # fmt: skip
        for side, values in scores.items():
            print(f"recogniser {self.name}: {100.0 * values['all']:.2f} % right, unseen {side}")
            for label, score in values.items():
                print(f"  {label:<22} {100.0 * score:.1f} %")


@dataclass(frozen=True)
class PriorTrainRegressor:
    """Train the motion regressor: joint angles from a video, the start of a fit.

    Example: akd prior train-regressor -o out/prior
    """

    out: Out = Path("out/prior")
    """The folder of `akd prior train`: its creatures are used again."""
    minutes: float = 8.0
    """Of training, after the first creatures are there."""
    creatures: int = PoolSettings.creatures
    """Creatures to learn from."""
    judges: int = 24
    """Creatures of the measuring side to be judged by."""
    assets: Path | None = None
    """Folder of rigged characters with clips. Those in its folder `training` and those that
    splits.toml lists are filmed too."""
    mocap: Path | None = None
    """Folder of motion capture with a table of actions; its training side is filmed too."""
    device: Device = "auto"
    seed: int = 0
    workers: int | None = None
    smoke: bool = False
    """Run everything at a very small size."""

    def run(self) -> None:
        """Film, train, measure on unseen creatures, write."""
        if not self.minutes > 0:
            raise UsageError(f"--minutes must be above zero, got {self.minutes:g}")
        check_ranges(self, creatures=(1, 100_000), seed=SEEDS, workers=(0, 1000))
        from akd.base.lock import hold_lock
        from akd.fit.regressor.settings import RegressorSettings, RegressorTraining
        from akd.fit.regressor.train import train_regressor
        from akd.prior.tiny.load import has_weights, shipped_weights

        pool, judges = replace(PoolSettings(), creatures=self.creatures), self.judges
        settings, training = RegressorSettings(), RegressorTraining()
        minutes, workers = self.minutes, _workers(self.workers)
        if self.smoke:
            settings = replace(settings, size=48, channels=(8, 8, 8, 8), width=32, layers=1)
            training = replace(training, batch=4, warm_up=2, estimated=0.0)
            pool, judges, minutes, workers = SMOKE_POOL, 2, min(minutes, 0.1), min(workers, 2)
        own = self.out / "weights"
        with hold_lock(self.out):
            scores = train_regressor(
                self.out, minutes=minutes, device=_device(self.device), seed=self.seed,
                workers=workers, recordings=_recordings(self.assets, self.mocap),
                weights=own if has_weights(own) else shipped_weights(), settings=settings,
                training=training, pool=pool, judges=judges,
            )  # fmt: skip
        for side, values in scores.items():
            print(f"regressor: {values['all']:.1f} degrees from the true rotations, unseen {side}")
            for name, value in values.items():
                print(f"  {name:<22} {value:.3g}")


@dataclass(frozen=True)
class PriorEvaluate:
    """Evaluate the tiny prior: how often the recognisers name the requested action.

    Example: akd prior evaluate -o out/prior
    """

    out: Out = Path("out/prior")
    """Folder to write to; its weights and recognisers are used where it has some, else the
    package's."""
    assets: Path | None = None
    """Folder of rigged characters: evaluate on those of its measuring side (splits.toml) in place
    of the zoo's creatures."""
    count: int = 20
    """Characters of that folder; two prompts each."""
    prompts: int = 400
    """For the zoo's creatures."""
    actors: int = 48
    """Creatures of the measuring side."""
    scale: float = 3.0
    """Guidance scale."""
    steps: int = 40
    seed: Seed = 0
    device: Device = "auto"
    workers: int | None = None
    smoke: bool = False
    """Run everything at a very small size."""

    def run(self) -> None:
        """Sample, judge, write sheet, scores and card."""
        check_ranges(
            self, count=(1, 100_000), prompts=(1, 100_000), actors=(1, 10_000), steps=(1, 10_000),
            seed=SEEDS, workers=(0, 1000),
        )  # fmt: skip
        check_folders(assets=self.assets)
        from akd.metrics.recognise.recogniser import has_recogniser, load_recogniser
        from akd.prior.tiny.backend import choose_studio
        from akd.prior.tiny.card import write_card
        from akd.prior.tiny.evaluate import evaluate, measuring_actors
        from akd.prior.tiny.load import has_weights

        device = _device(self.device)
        own = self.out / "weights"
        prior = _tiny(own if has_weights(own) else None, device)
        judges = {}
        for name in ("a", "b", "c"):
            folder = own if has_recogniser(name, own) else None
            if has_recogniser(name, folder):
                judges[name] = load_recogniser(name, folder, device=device)
        if "b" not in judges:
            raise UsageError("there is no recogniser b; `akd prior train-recogniser b` makes one")
        if self.assets is not None:
            judges.pop("a", None)
            self._on_assets(self.assets, prior, judges)
            return
        pool, count, prompts, steps = PoolSettings(), self.actors, self.prompts, self.steps
        if self.smoke:
            pool, count, prompts, steps = SMOKE_POOL, 2, 4, 3
        actors = measuring_actors(
            count, pool, self.out / "actors", workers=min(count, _workers(self.workers))
        )
        studio = choose_studio(actors[0], prior.network.settings, device)
        result = evaluate(
            prior, judges, actors, prompts=prompts, steps=steps, scale=self.scale, seed=self.seed,
            studio=studio,
        )  # fmt: skip
        result.write(self.out)
        record = self.out / "evaluation.json"
        about = {**json.loads(record.read_text()), "scale": self.scale, "steps": steps}
        write_json(record, about)
        for name in judges:
            print(f"recogniser {name}: {100.0 * result.accuracy(name):.1f} % as asked")
        print(json.dumps(about["b"]["by_action"]))
        print(json.dumps(about["b"]["mistakes"]))
        print(f"{write_card(self.out)}; {self.out / 'evaluation.png'}")

    def _on_assets(self, assets: Path, prior: PriorTiny, judges: dict[str, Recogniser]) -> None:
        from akd.prior.tiny.card import asset_lines, write_card
        from akd.prior.tiny.evaluate_assets import evaluate_assets

        count, steps = (2, 2) if self.smoke else (self.count, self.steps)
        with usage_errors(prefix="--assets "):
            result = evaluate_assets(
                prior, judges, assets, count=count, steps=steps, scale=self.scale, seed=self.seed
            )
        result.write(self.out)
        record = self.out / "evaluation-assets.json"
        about = {**json.loads(record.read_text()), "scale": self.scale, "steps": steps}
        write_json(record, about)
        print("\n".join(asset_lines(about)))
        # The card is the whole story: it is written where the training has left its part.
        if (self.out / "training.json").is_file():
            print(write_card(self.out))
        print(f"{record}; {self.out / 'evaluation-assets.png'}")


@dataclass(frozen=True)
class Prior:
    """The video models that motion is distilled from.

    Example: akd prior list
    """

    do: (
        Annotated[PriorList, tyro.conf.subcommand("list")]
        | Annotated[PriorSample, tyro.conf.subcommand("sample")]
        | Annotated[PriorTrain, tyro.conf.subcommand("train")]
        | Annotated[PriorTrainRecogniser, tyro.conf.subcommand("train-recogniser")]
        | Annotated[PriorTrainRegressor, tyro.conf.subcommand("train-regressor")]
        | Annotated[PriorEvaluate, tyro.conf.subcommand("evaluate")]
    )

    def run(self) -> None:
        """Run the command within the command."""
        self.do.run()
