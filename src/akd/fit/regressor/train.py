"""Training of the motion regressor on videos of the tiny prior's actors, whose motion is known."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path

import torch
from torch import Tensor

from akd.base.files import write_json
from akd.fit.regressor.errors import measure_errors, summary
from akd.fit.regressor.network import PartMotion, RegressorNetwork
from akd.fit.regressor.regressor import load_regressor, save_regressor
from akd.fit.regressor.settings import RegressorSettings, RegressorTraining
from akd.fit.regressor.truth import Truth, TruthPool
from akd.math.learner import Descent, Learner, compiled_if_it_works, linear_weights
from akd.metrics.recognise.train import roughen
from akd.prior.tiny.casting import build_actors, cast_actors, cast_artists, collect_actors
from akd.prior.tiny.evaluate import measuring_actors
from akd.prior.tiny.load import load_network
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.pool import Batch
from akd.prior.tiny.prior import cosine_signal
from akd.prior.tiny.recorded import Recordings
from akd.prior.tiny.settings import CameraSettings, PoolSettings, TinySettings
from akd.prior.tiny.train import FIRST_SEED

_SHIFT = 3.0
"""Weight of the root's place, body heights, against entries of rotation matrices."""
_CHANGE = 1.0
"""Weight of the change from frame to frame."""


class RegressorTrainer(Learner[RegressorNetwork]):
    """Teaches the network to see how body parts are turned."""

    def __init__(
        self,
        settings: RegressorSettings,
        training: RegressorTraining,
        *,
        device: torch.device,
        seed: int,
        prior: TinyNetwork | None = None,
    ) -> None:
        torch.manual_seed(seed)
        network = RegressorNetwork(settings)
        descent = Descent(
            training.learning_rate, training.warm_up, training.weight_decay, training.ema
        )
        super().__init__(network, descent, device=device, matrices=linear_weights(network.time))
        self.training, self.prior = training, prior
        self._draw = torch.Generator(device).manual_seed(seed + 1)
        self._call: Callable[..., Tensor] = self._loss

    def compile(self, batch: Batch, truth: Truth) -> None:
        """Compile network and loss where that works; otherwise say why not and go on without."""
        videos, images = 0.5 * batch.videos + 0.5, 0.5 * batch.reference_images + 0.5
        self._call = compiled_if_it_works(
            self._loss, lambda loss: loss(videos, images, *_tensors(truth))
        )
        self.network.zero_grad(set_to_none=True)

    def step(self, batch: Batch, truth: Truth, *, part: float) -> None:
        """One step; `part` of the whole training is over, 0..1."""
        videos = roughen(0.5 * self.degraded(batch) + 0.5, self.training.noise, self._draw)
        images = 0.5 * batch.reference_images + 0.5
        self.descend(self._call(videos, images, *_tensors(truth)), part=part)

    def _loss(
        self, videos: Tensor, images: Tensor, rotations: Tensor, shift: Tensor, present: Tensor,
        views: Tensor,
    ) -> Tensor:  # fmt: skip
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            found = self.network(videos, images, views, present)
        return motion_loss(found, Truth(rotations, shift, present, views))

    def start_from(self, path: Path) -> None:
        """Begin with the weights of an earlier training; the optimiser begins anew.

        Raises:
            ValueError: They are of another network.
        """
        network = load_regressor(path).network
        if network.settings != self.network.settings:
            raise ValueError(
                f"{path}: its weights are of a network with {network.settings}, not with "
                f"{self.network.settings}"
            )
        for module in (self.network, self.average):
            module.load_state_dict(network.state_dict())

    @torch.no_grad()
    def degraded(self, batch: Batch) -> Tensor:
        """The videos, some of them as the tiny prior sees them through noise; -1..1."""
        count = round(self.training.estimated * len(batch.videos))
        if self.prior is None or count == 0:
            return batch.videos
        videos = batch.videos[:count]
        low, high = self.training.noise_times
        u = torch.rand(count, generator=self._draw, device=self.device)
        t = low + (high - low) * u
        noise = torch.randn(videos.shape, generator=self._draw, device=self.device)
        alpha, sigma = (x[:, None, None, None, None] for x in cosine_signal(t))
        everywhere = torch.ones(count, dtype=torch.bool, device=self.device)
        nowhere = torch.zeros(count, videos.shape[1], dtype=torch.bool, device=self.device)
        dtype = next(self.prior.parameters()).dtype
        clean = self.prior(
            (alpha * videos + sigma * noise).to(dtype), t.to(dtype),
            self.prior.text(batch.tokens[:count]), batch.reference_images[:count].to(dtype),
            everywhere, nowhere,
        )  # fmt: skip
        return torch.cat((clean.float().clamp(-1.0, 1.0), batch.videos[count:]))


def _tensors(truth: Truth) -> tuple[Tensor, ...]:
    return tuple(getattr(truth, field.name) for field in fields(Truth))


def motion_loss(found: PartMotion, truth: Truth) -> Tensor:
    """Negative log-likelihood of the rotations under Laplace distributions, and the absolute
    errors of their changes and of the root's place."""
    error = (found.rotations - truth.rotations).abs().mean((-2, -1))
    weight = truth.present[:, None].float()
    total = weight.sum().clamp_min(1.0) * error.shape[1]
    rotations = ((error / found.spread + found.spread.log()) * weight).sum() / total
    change = (found.rotations.diff(dim=1) - truth.rotations.diff(dim=1)).abs().mean((-2, -1))
    changes = (change * weight).sum() / total
    shift = (found.shift - truth.shift).abs().mean()
    return rotations + _CHANGE * changes + _SHIFT * shift


def train_regressor(
    out: Path,
    *,
    minutes: float,
    device: torch.device,
    seed: int = 0,
    workers: int = 0,
    recordings: Recordings | None = None,
    weights: Path | None = None,
    start: Path | None = None,
    settings: RegressorSettings | None = None,
    training: RegressorTraining | None = None,
    pool: PoolSettings | None = None,
    unseen: int = 24,
) -> dict[str, dict[str, float]]:
    """Train for some minutes and write `out/weights/regressor.safetensors`.

    A run that was stopped goes on from its last checkpoint, when called again. The actors are those
    of `akd prior train`, which are cached in `out/actors`. `weights` is the folder of the tiny
    prior through which half of the videos are seen; `start` is a file of weights to begin with.
    Returns the errors on creatures and characters of the measuring side: see `errors.summary`.
    """
    began = time.perf_counter()
    settings, training = settings or RegressorSettings(), training or RegressorTraining()
    pool, recordings = pool or PoolSettings(), recordings or Recordings()
    pool = replace(pool, lent_clips=training.lent_clips, evenness=training.evenness)
    tiny = TinySettings(frames=settings.frames, width=settings.size, height=settings.size)
    cameras, cache = CameraSettings(), out / "actors"
    prior = None
    if weights is not None and training.estimated > 0.0:
        prior = load_network(weights)[0].to(device).requires_grad_(False)
        if device.type == "cuda":
            prior = prior.to(torch.bfloat16)
    trainer = RegressorTrainer(settings, training, device=device, seed=seed, prior=prior)
    if start is not None:
        trainer.start_from(start)
        print(f"beginning with the weights in {start}")
    state = out / "regressor-state.safetensors"
    if trainer.restore(state):
        print(f"going on at step {trainer.progress.step}")
    size = sum(p.numel() for p in trainer.network.parameters())
    cast = cast_actors(recordings, pool, first_seed=FIRST_SEED)
    print(f"{device}: network of {size / 1e6:.1f} M weights, {len(cast)} actors")
    measuring = {
        "zoo": measuring_actors(unseen, pool, cache, workers=workers),
        "artists": collect_actors(
            cast_artists(recordings, pool, training=False)[:unseen], pool, cache, workers=workers
        ),
    }
    feed = build_actors(cast, pool, cache, workers=workers)
    videos = TruthPool(
        pool.videos, tiny, cameras, device=device, seed=seed + 1000 * trainer.progress.step,
        training=training, recorded=pool.recorded, videos_a_call=pool.videos_a_call,
    )  # fmt: skip
    for actor in feed:
        if actor is not None:
            videos.add(actor)
        if videos.count >= pool.ready:
            break
    while videos.count < min(pool.ready, videos.capacity):
        videos.film_next()

    if device.type == "cuda":
        trainer.compile(*videos.batch_with_truth(training.batch))

    def save() -> None:
        trainer.save(state)
        save_regressor(trainer.average, out / "weights")

    progress, total = trainer.progress, 60.0 * minutes
    before, started, told, saved = progress.seconds, time.perf_counter(), 0.0, 0.0
    while progress.seconds < total:
        trainer.step(*videos.batch_with_truth(training.batch), part=progress.seconds / total)
        gone = time.perf_counter() - started
        progress.seconds = before + gone
        if videos.seconds < training.render_share * (gone + 10.0):
            actor = next(feed, None)
            videos.film_next() if actor is None else videos.add(actor)
        if gone >= told:
            print(
                f"[{time.perf_counter() - began:6.1f} s] step {progress.step}, loss "
                f"{progress.loss:.3f}, {videos.made} videos of {len(videos.actors)} actors"
            )
            told = gone + 10.0
        if gone >= saved + training.checkpoint_seconds:
            save()
            saved = gone
    feed.close()
    save()
    scores = {
        side: summary(measure_errors(trainer.average, actors, tiny, cameras, device=device))
        for side, actors in measuring.items()
        if actors
    }
    report = {
        "minutes": minutes, "steps": progress.step, "seed": seed, "weights": size,
        "start": None if start is None else str(start), "loss": progress.loss,
        "actors": len(videos.actors),
        "artists": sum(actor.is_artists for actor in videos.actors), "videos": videos.made,
        "errors": scores,
        "settings": asdict(settings), "training": asdict(training),
    }  # fmt: skip
    write_json(out / "regressor.json", report)
    return scores
