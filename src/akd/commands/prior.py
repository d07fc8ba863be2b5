"""`akd prior`: the video models that motion is distilled from, and the tiny one's training."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from akd.commands.errors import UsageError, input_file
from akd.metrics.recognise.settings import RECOGNISERS
from akd.prior.tiny.settings import PoolSettings, TinySettings, TrainSettings

if TYPE_CHECKING:
    import torch

    from akd.prior.tiny.prior import PriorTiny

Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(f"--device {name}: torch finds no CUDA device here")
    if name.split(":")[0] not in ("cpu", "cuda"):
        raise UsageError(f"--device must be auto, cpu or cuda, got {name!r}")
    return torch.device(name)


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
    """Show which video models there are."""

    def run(self) -> None:
        """Print a line for each."""
        from akd.prior.tiny.load import has_weights, shipped_weights
        from akd.prior.tiny.vocabulary import ACTIONS, CREATURES, MANNERS

        tiny = TinySettings()
        there = "ships with akd" if has_weights(shipped_weights()) else "its weights are missing"
        print(
            f"tiny    {tiny.frames} x {tiny.height} x {tiny.width} at {tiny.fps:g} fps, style "
            f"roles, Apache-2.0, {there}"
        )
        for name, table in (("actions", ACTIONS), ("manners", MANNERS), ("creatures", CREATURES)):
            print(f"        {name}: {', '.join(word.replace('_', ' ') for word in table)}")
        from akd.prior.large.catalogue import lines

        for line in lines():
            print(line)


@dataclass(frozen=True)
class PriorSample:
    """Let the tiny prior make a video of a sentence."""

    prompt: tyro.conf.Positional[str]
    """What to show, such as "a fox walking"."""
    out: Out = Path("sample.mp4")
    """The .mp4, .gif or .png to write."""
    reference: Path | None = None
    """A rigged character (glTF) that the video should show."""
    roles: Path | None = None
    """A TOML file that puts the roles of its joints right: `joint = "left hind foot"` a line."""
    weights: Path | None = None
    """Folder of weights; those of the package if left out."""
    scale: float = 3.0
    """How strongly the words are followed."""
    steps: int = 40
    """Steps from noise to video."""
    seed: int = 0
    device: str = "auto"

    def run(self) -> None:
        """Sample and write."""
        import torch

        from akd.prior.sample import sample_latents
        from akd.prior.tiny.vocabulary import read_prompt
        from akd.scene.video import Video

        if self.out.suffix.lower() not in (".mp4", ".gif", ".png"):
            raise UsageError(f"--out must end in .mp4, .gif or .png, got {self.out}")
        if self.steps < 1:
            raise UsageError(f"--steps must be at least 1, got {self.steps}")
        try:
            words = read_prompt(self.prompt)
        except ValueError as error:
            raise UsageError(str(error)) from error
        if self.roles is not None and self.reference is None:
            raise UsageError("--roles needs --reference: it is about the joints of that character")
        device = _device(self.device)
        prior = _tiny(self.weights, device)
        reference = None
        if self.reference is not None:
            reference = self._picture(prior)
        condition = prior.condition_of(words, reference=reference)
        generator = torch.Generator().manual_seed(self.seed)
        shape = (1, prior.frames, prior.height, prior.width, 3)
        noise = torch.randn(shape, generator=generator).to(device)
        clean = sample_latents(prior, [condition], noise, steps=self.steps, scale=self.scale)
        Video(prior.decode(clean)[0].cpu(), prior.fps).write(self.out)
        print(f"{self.out}: {words}, {prior.frames} frames of {prior.width} x {prior.height}")

    def _picture(self, prior: PriorTiny) -> torch.Tensor:
        from akd.asset.read import read_asset
        from akd.commands.options import character_of
        from akd.prior.tiny.bodies import check_body
        from akd.prior.tiny.reference import reference_of

        assert self.reference is not None
        character = character_of(read_asset(input_file(self.reference)), roles=self.roles)
        try:
            warning = check_body(character.anatomy)
        except ValueError as error:
            raise UsageError(f"{self.reference}: {error}") from error
        if warning:
            print(f"akd: {self.reference}: {warning}", file=sys.stderr)
        if character.mesh is None:
            raise UsageError(f"{self.reference}: has a skeleton but no surface to be seen")
        return reference_of(character, prior.network.settings).to(prior.device)


@dataclass(frozen=True)
class PriorTrain:
    """Train the tiny prior: build creatures, film them, learn. Run again to go on."""

    out: Out = Path("out/prior")
    """Folder for creatures, state, weights and sheets."""
    minutes: float = 15.0
    """Of the whole training, building and rendering included."""
    stop_after: float | None = None
    """Stop and save after so many minutes of this run; the same command goes on from there."""
    creatures: int = 640
    assets: Path | None = None
    """Folder of rigged characters with clips; the training side of splits.toml is filmed too."""
    device: str = "auto"
    seed: int = 0
    workers: int | None = None
    """Processes that build creatures; one a core, less one, if left out."""
    compiled: bool = True
    """Compile the network where that works."""
    smoke: bool = False
    """Everything very small: to see that all of it works, in about a minute on a CPU."""

    def run(self) -> None:
        """Train, then write what there is of the card."""
        if not self.minutes > 0:
            raise UsageError(f"--minutes must be above zero, got {self.minutes:g}")
        if self.creatures < 1:
            raise UsageError(f"--creatures must be at least 1, got {self.creatures}")
        if self.assets is not None and not self.assets.is_dir():
            raise UsageError(f"--assets {self.assets}: is not a folder")
        from akd.prior.tiny.card import write_card
        from akd.prior.tiny.train import train

        pool, tiny, settings = replace(PoolSettings(), creatures=self.creatures), None, None
        minutes, workers = self.minutes, _workers(self.workers)
        if self.smoke:
            tiny, pool, settings = SMOKE_TINY, SMOKE_POOL, SMOKE_TRAIN
            minutes, workers = min(self.minutes, 0.5), min(workers, 2)
        device = _device(self.device)
        train(
            self.out, minutes=minutes, stop_after=self.stop_after, device=device, seed=self.seed,
            workers=workers, assets=self.assets, tiny=tiny, pool=pool, settings=settings,
            compiled=self.compiled and not self.smoke and device.type == "cuda",
        )  # fmt: skip
        record = self.out / "training.json"
        about = json.loads(record.read_text())
        about["command"] = " ".join(["akd", *sys.argv[1:]])
        record.write_text(json.dumps(about, indent=1))
        print(f"{write_card(self.out)}: the card; `akd prior evaluate` completes it")


SMOKE_TINY = TinySettings(channels=48, layers=2, heads=2, text_channels=16, refine_channels=8)
SMOKE_POOL = PoolSettings(
    creatures=3, vertices=600, splats=400, styles=1, videos=32, videos_a_call=4, ready=8
)
SMOKE_TRAIN = TrainSettings(
    batch=4, warm_up=2, checkpoint_seconds=5.0, sheet_seconds=60.0, sheet_rows=2, sheet_steps=3
)


@dataclass(frozen=True)
class PriorTrainRecogniser:
    """Train an action recogniser on true and on wrong motions of the zoo's creatures."""

    name: tyro.conf.Positional[Literal["a", "b"]]
    """`a` may steer, `b` only reports."""
    out: Out = Path("out/prior")
    """The folder of `akd prior train`: its creatures are used again."""
    minutes: float = 1.5
    """Of training, after the creatures are there."""
    creatures: int = 640
    """Creatures to learn from."""
    judges: int = 48
    """Creatures of the measuring side to be judged by."""
    assets: Path | None = None
    """Folder of rigged characters with clips; the training side of splits.toml is filmed too."""
    device: str = "auto"
    workers: int | None = None
    smoke: bool = False
    """Everything very small."""

    def run(self) -> None:
        """Film, train, measure on unseen creatures, write."""
        from akd.commands.prior_recogniser import make_recogniser

        pool, judges, seconds = replace(PoolSettings(), creatures=self.creatures), self.judges, 0.0
        seconds, workers = 60.0 * self.minutes, _workers(self.workers)
        if self.smoke:
            pool, judges, seconds, workers = SMOKE_POOL, 2, min(seconds, 5.0), min(workers, 2)
        scores = make_recogniser(
            RECOGNISERS[self.name] if not self.smoke else replace(RECOGNISERS[self.name], batch=8),
            self.out, seconds=seconds, pool=pool, judges=judges,
            device=_device(self.device), workers=workers, assets=self.assets,
        )  # fmt: skip
        print(f"recogniser {self.name}: {100.0 * scores['all']:.2f} % right on unseen creatures")
        for label, score in scores.items():
            print(f"  {label:<22} {100.0 * score:.1f} %")


@dataclass(frozen=True)
class PriorEvaluate:
    """Ask the tiny prior for actions of unseen creatures and let the recognisers judge."""

    out: Out = Path("out/prior")
    """Folder to write to; its weights and recognisers are used where it has some, else the
    package's."""
    prompts: int = 200
    actors: int = 48
    """Creatures of the measuring side."""
    scale: float = 3.0
    """How strongly the words are followed."""
    steps: int = 40
    seed: int = 0
    device: str = "auto"
    workers: int | None = None
    smoke: bool = False
    """Everything very small."""

    def run(self) -> None:
        """Sample, judge, write sheet, scores and card."""
        from akd.metrics.recognise.recogniser import has_recogniser, load_recogniser
        from akd.prior.tiny.backend import choose_studio
        from akd.prior.tiny.card import write_card
        from akd.prior.tiny.evaluate import evaluate, measuring_actors
        from akd.prior.tiny.load import has_weights

        device = _device(self.device)
        own = self.out / "weights"
        prior = _tiny(own if has_weights(own) else None, device)
        judges = {}
        for name in ("a", "b"):
            folder = own if has_recogniser(name, own) else None
            if has_recogniser(name, folder):
                judges[name] = load_recogniser(name, folder, device=device)
        if "b" not in judges:
            raise UsageError("there is no recogniser b; `akd prior train-recogniser b` makes one")
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
        record.write_text(json.dumps(about, indent=1))
        for name in judges:
            print(f"recogniser {name}: {100.0 * result.accuracy(name):.1f} % as asked")
        print(json.dumps(about["b"]["by_action"]))
        print(json.dumps(about["b"]["mistakes"]))
        print(f"{write_card(self.out)}; {self.out / 'evaluation.png'}")


@dataclass(frozen=True)
class Prior:
    """The video models that motion is distilled from."""

    do: (
        Annotated[PriorList, tyro.conf.subcommand("list")]
        | Annotated[PriorSample, tyro.conf.subcommand("sample")]
        | Annotated[PriorTrain, tyro.conf.subcommand("train")]
        | Annotated[PriorTrainRecogniser, tyro.conf.subcommand("train-recogniser")]
        | Annotated[PriorEvaluate, tyro.conf.subcommand("evaluate")]
    )

    def run(self) -> None:
        """Run the command within the command."""
        self.do.run()
