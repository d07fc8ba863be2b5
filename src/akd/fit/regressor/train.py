"""Training of the motion regressor on videos of the tiny prior's actors, whose motion is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path

import torch
from torch import Tensor

from akd.base.files import write_json
from akd.fit.regressor.network import PartMotion, RegressorNetwork
from akd.fit.regressor.regressor import save_regressor
from akd.fit.regressor.settings import RegressorSettings, RegressorTraining
from akd.fit.regressor.truth import Truth, TruthPool, true_motion
from akd.math.learner import Descent, Learner, compiled_if_it_works, linear_weights
from akd.metrics.recognise.train import roughen
from akd.motion.retargeting.body_parts import BODY_PARTS
from akd.prior.tiny.actor import Actor
from akd.prior.tiny.backend import Studio, choose_studio
from akd.prior.tiny.casting import build_actors, cast_actors, cast_artists, collect_actors
from akd.prior.tiny.evaluate import measuring_actors
from akd.prior.tiny.film import film_actor
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
    settings: RegressorSettings | None = None,
    training: RegressorTraining | None = None,
    pool: PoolSettings | None = None,
    judges: int = 24,
) -> dict[str, dict[str, float]]:
    """Train for some minutes and write `out/weights/regressor.safetensors`.

    A run that was stopped goes on from its last checkpoint, when called again. The actors are those
    of `akd prior train`, which are cached in `out/actors`. `weights` is the folder of the tiny
    prior through which half of the videos are seen. Returns the errors on creatures and characters
    of the measuring side: see `measure_errors`.
    """
    began = time.perf_counter()
    settings, training = settings or RegressorSettings(), training or RegressorTraining()
    pool, recordings = pool or PoolSettings(), recordings or Recordings()
    tiny = TinySettings(frames=settings.frames, width=settings.size, height=settings.size)
    cameras, cache = CameraSettings(), out / "actors"
    prior = None
    if weights is not None and training.estimated > 0.0:
        prior = load_network(weights)[0].to(device).requires_grad_(False)
        if device.type == "cuda":
            prior = prior.to(torch.bfloat16)
    trainer = RegressorTrainer(settings, training, device=device, seed=seed, prior=prior)
    state = out / "regressor-state.safetensors"
    if trainer.restore(state):
        print(f"going on at step {trainer.progress.step}")
    size = sum(p.numel() for p in trainer.network.parameters())
    cast = cast_actors(recordings, pool, first_seed=FIRST_SEED)
    print(f"{device}: network of {size / 1e6:.1f} M weights, {len(cast)} actors")
    unseen = {
        "zoo": measuring_actors(judges, pool, cache, workers=workers),
        "artists": collect_actors(
            cast_artists(recordings, pool, training=False)[:judges], pool, cache, workers=workers
        ),
    }
    feed = build_actors(cast, pool, cache, workers=workers)
    studio = choose_studio(unseen["zoo"][0], tiny, device)
    videos = TruthPool(
        pool.videos, tiny, cameras, device=device, seed=seed + 1000 * trainer.progress.step,
        recorded=pool.recorded,
        videos_a_call=pool.videos_a_call, studio=studio,
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
        side: measure_errors(trainer.average, actors, tiny, cameras, studio, device=device)
        for side, actors in unseen.items()
        if actors
    }
    report = {
        "minutes": minutes, "steps": progress.step, "seed": seed, "weights": size,
        "actors": len(videos.actors), "videos": videos.made, "errors": scores,
        "settings": asdict(settings), "training": asdict(training),
    }  # fmt: skip
    write_json(out / "regressor.json", report)
    return scores


@torch.no_grad()
def measure_errors(
    network: RegressorNetwork,
    actors: Sequence[Actor],
    tiny: TinySettings,
    cameras: CameraSettings,
    studio: Studio,
    *,
    device: torch.device,
    each: int = 16,
) -> dict[str, float]:
    """Mean angles between seen and true rotations in degrees, overall and by body part, beside
    those of the neutral pose, and the error of the root's place in body heights."""
    generator = torch.Generator().manual_seed(7)
    sums = torch.zeros(3, len(BODY_PARTS), dtype=torch.float64)
    places = []
    network = network.eval().to(device)
    for actor in actors:
        footage = film_actor(
            actor.to(studio.device), each, generator=generator, tiny=tiny, cameras=cameras,
            vary=False, rasterizer=studio.rasterizer,
        )  # fmt: skip
        truth = true_motion(footage)
        found = network(
            footage.videos.to(device).float() / 255.0,
            footage.reference_images.to(device).float() / 255.0,
            truth.views.to(device), truth.present.to(device),
        )  # fmt: skip
        weight = truth.present[:, None].double().cpu()
        for row, turned in ((0, found.rotations), (1, torch.eye(3, device=device))):
            relative = turned.mT @ truth.rotations.to(device)
            trace = relative.diagonal(dim1=-2, dim2=-1).sum(-1)
            angle = (0.5 * (trace - 1.0)).clamp(-1.0, 1.0).acos().rad2deg().double().cpu()
            sums[row] += (angle * weight).sum((0, 1))
        sums[2] += weight.sum((0, 1)) * truth.rotations.shape[1]
        places.append((found.shift.cpu() - truth.shift.cpu()).norm(dim=-1).mean())
    scores = {
        "all": float(sums[0].sum() / sums[2].sum()),
        "neutral pose": float(sums[1].sum() / sums[2].sum()),
        "root place": float(torch.stack(places).mean()),
    }
    for part, error, count in zip(BODY_PARTS, sums[0].tolist(), sums[2].tolist(), strict=True):
        if count:
            name = " ".join(w for w in (part.limb or "", part.part) if w)
            before, seen = scores.get(name, 0.0), scores.get(f"{name} n", 0.0)
            scores[name] = (before * seen + error) / (seen + count)
            scores[f"{name} n"] = seen + count
    return {name: value for name, value in scores.items() if not name.endswith(" n")}
