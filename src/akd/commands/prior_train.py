"""`akd prior train`, `train-recogniser` and `train-regressor`."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import tyro

from akd.base.files import write_json
from akd.commands.errors import SEEDS, UsageError, check_ranges, input_file, usage_errors
from akd.commands.options import Device, Out, Seed
from akd.commands.prior_options import (
    SMOKE_POOL,
    SMOKE_TINY,
    SMOKE_TRAIN,
    Assets,
    Creatures,
    Mocap,
    Smoke,
    Unseen,
    Workers,
    count_workers,
    device_of,
    find_recordings,
)
from akd.fit.regressor.settings import RegressorSettings, RegressorTraining
from akd.metrics.recognise.settings import RECOGNISERS
from akd.prior.tiny.settings import PoolSettings, TrainSettings

_CREATURES, _UNSEEN, _WORKERS = (1, 100_000), (1, 10_000), (0, 1000)


@dataclass(frozen=True)
class PriorTrain:
    """Train the tiny prior on rendered creatures. Run again to continue.

    On several GPUs: accelerate launch --num_processes 8 -m akd prior train ...

    Example: akd prior train -o out/prior
    """

    out: Out = Path("out/prior")
    """Folder for creatures, state, weights and sheets."""
    minutes: float = 15.0
    """Total minutes, including the time to build and render the creatures."""
    stop_after: float | None = None
    """Minutes after which this run saves and stops; the same command continues from there."""
    creatures: Creatures = PoolSettings.creatures
    assets: Assets = None
    mocap: Mocap = None
    start: Path | None = None
    """Folder of weights to start from, such as those of an earlier run."""
    learning_rate: float = TrainSettings.learning_rate
    """Peak learning rate; use about half the default with --start."""
    device: Device = "auto"
    seed: Seed = 0
    workers: Workers = None
    compiled: bool = True
    """Compile the network if possible."""
    smoke: Smoke = False

    def run(self) -> None:
        """Train, then write what there is of the card."""
        _check_minutes(self.minutes)
        if self.stop_after is not None:
            _check_minutes(self.stop_after, "--stop-after")
        _check_rate(self.learning_rate)
        check_ranges(self, creatures=_CREATURES, seed=SEEDS, workers=_WORKERS)
        recordings = find_recordings(self.assets, self.mocap)
        from akd.base.lock import hold_lock
        from akd.base.process_group import is_first_process
        from akd.prior.tiny.card import write_card
        from akd.prior.tiny.train import train

        pool, tiny = replace(PoolSettings(), creatures=self.creatures), None
        settings = replace(TrainSettings(), learning_rate=self.learning_rate)
        minutes, workers = self.minutes, count_workers(self.workers)
        if self.smoke:
            tiny, pool, settings = SMOKE_TINY, SMOKE_POOL, SMOKE_TRAIN
            minutes, workers = min(self.minutes, 0.5), min(workers, 2)
        device = device_of(self.device)
        with hold_lock(self.out) if is_first_process() else nullcontext(), usage_errors():
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


@dataclass(frozen=True)
class PriorTrainRecogniser:
    """Train an action recogniser on true and on distorted motions.

    Example: akd prior train-recogniser b -o out/prior
    """

    name: tyro.conf.Positional[Literal["a", "b", "c"]]
    """`a` steers the search; `b` and `c` only report. `c` is trained on recorded clips alone."""
    out: Out = Path("out/prior")
    """Folder of `akd prior train`; its creatures are reused."""
    minutes: float = 1.5
    """Minutes of training, once the creatures are built."""
    creatures: Creatures = PoolSettings.creatures
    unseen: Unseen = 48
    assets: Assets = None
    mocap: Mocap = None
    device: Device = "auto"
    workers: Workers = None
    smoke: Smoke = False

    def run(self) -> None:
        """Film, train, measure on unseen creatures, write."""
        _check_minutes(self.minutes)
        check_ranges(self, creatures=_CREATURES, unseen=_UNSEEN, workers=_WORKERS)
        if self.name == "c" and self.assets is None:
            raise UsageError(
                "--assets must be given: recogniser c learns from artists' files alone"
            )
        from akd.base.lock import hold_lock
        from akd.prior.tiny.make_recogniser import make_recogniser

        pool, unseen = replace(PoolSettings(), creatures=self.creatures), self.unseen
        seconds, workers = 60.0 * self.minutes, count_workers(self.workers)
        if self.smoke:
            pool, unseen, seconds, workers = SMOKE_POOL, 2, min(seconds, 5.0), min(workers, 2)
        settings = RECOGNISERS[self.name]
        if self.smoke:
            settings = replace(settings, batch=8)
        with hold_lock(self.out), usage_errors():
            scores = make_recogniser(
                settings, self.out, seconds=seconds, pool=pool, unseen=unseen,
                device=device_of(self.device), workers=workers,
                recordings=find_recordings(self.assets, self.mocap),
            )  # fmt: skip
        for side, values in scores.items():
            print(f"recogniser {self.name}: {100.0 * values['all']:.2f} % right, unseen {side}")
            for label, score in values.items():
                print(f"  {label:<22} {100.0 * score:.1f} %")


@dataclass(frozen=True)
class PriorTrainRegressor:
    """Train the motion regressor, which reads joint rotations from a video to start fits from.

    Example: akd prior train-regressor -o out/prior
    """

    out: Out = Path("out/prior")
    """Folder of `akd prior train`; its creatures are reused."""
    minutes: float = 8.0
    """Minutes of training, once the first creatures are built."""
    creatures: Creatures = PoolSettings.creatures
    unseen: Unseen = 24
    assets: Assets = None
    mocap: Mocap = None
    start: Path | None = None
    """File of weights to start from, such as those of an earlier run."""
    learning_rate: float = RegressorTraining.learning_rate
    """Peak learning rate; use about half the default with --start."""
    device: Device = "auto"
    seed: Seed = 0
    workers: Workers = None
    smoke: Smoke = False

    def run(self) -> None:
        """Film, train, measure on unseen creatures, write."""
        _check_minutes(self.minutes)
        _check_rate(self.learning_rate)
        check_ranges(self, creatures=_CREATURES, unseen=_UNSEEN, seed=SEEDS, workers=_WORKERS)
        from akd.base.lock import hold_lock
        from akd.fit.regressor.train import train_regressor
        from akd.prior.tiny.load import has_weights, shipped_weights

        pool, unseen = replace(PoolSettings(), creatures=self.creatures), self.unseen
        if self.start is not None:
            input_file(self.start)
        settings, training = (
            RegressorSettings(),
            RegressorTraining(learning_rate=self.learning_rate),
        )
        minutes, workers = self.minutes, count_workers(self.workers)
        if self.smoke:
            settings = replace(settings, size=48, channels=(8, 8, 8, 8), width=32, layers=1)
            training = replace(training, batch=4, warm_up=2, estimated=0.0, lent_clips=2)
            pool, unseen, minutes, workers = SMOKE_POOL, 2, min(minutes, 0.1), min(workers, 2)
        own = self.out / "weights"
        with hold_lock(self.out), usage_errors():
            scores = train_regressor(
                self.out, minutes=minutes, device=device_of(self.device), seed=self.seed,
                workers=workers, recordings=find_recordings(self.assets, self.mocap),
                weights=own if has_weights(own) else shipped_weights(), start=self.start,
                settings=settings, training=training, pool=pool, unseen=unseen,
            )  # fmt: skip
        for side, values in scores.items():
            print(f"regressor: {values['all']:.1f} degrees from the true rotations, unseen {side}")
            for name, value in values.items():
                print(f"  {name:<22} {value:.3g}")


def _check_minutes(given: float, option: str = "--minutes") -> None:
    if not given > 0:
        raise UsageError(f"{option} must be above zero, got {given:g}")


def _check_rate(given: float) -> None:
    if not 0.0 < given < 1.0:
        raise UsageError(f"--learning-rate must be above 0 and below 1, got {given:g}")
