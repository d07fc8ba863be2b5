"""Training of the tiny prior from scratch: creatures, videos, network.

The creatures are built by other processes while the first of them are already filmed and learnt
from. Whatever is needed to go on is saved every minute or so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from akd.base.files import write_json
from akd.base.process_group import ProcessGroup
from akd.base.splits import zoo_seed_trains
from akd.math.learner import Descent, Learner, compiled_if_it_works, linear_weights
from akd.prior.tiny.actor import Actor
from akd.prior.tiny.casting import build_actors, cast_actors
from akd.prior.tiny.load import load_network, save_tiny
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.pool import Batch, Pool, draw_known
from akd.prior.tiny.prior import cosine_signal
from akd.prior.tiny.recorded import Recordings
from akd.prior.tiny.settings import CameraSettings, PoolSettings, TinySettings, TrainSettings
from akd.prior.tiny.sheet import write_sheet
from akd.prior.tiny.vocabulary import NONE, TOKENS

FIRST_SEED = 1000


class Trainer(Learner[TinyNetwork]):
    """Teaches the network to find the clean video."""

    def __init__(
        self, tiny: TinySettings, settings: TrainSettings, *, device: torch.device, seed: int,
        group: ProcessGroup | None = None,
    ) -> None:  # fmt: skip
        torch.manual_seed(seed)
        network = TinyNetwork(tiny)
        descent = Descent(
            settings.learning_rate, settings.warm_up, settings.weight_decay, settings.ema
        )
        matrices = linear_weights(network.blocks)
        super().__init__(network, descent, device=device, group=group, matrices=matrices)
        self.settings = settings
        self._call: Callable[..., Tensor] = self._errors
        self._noise = torch.Generator(device).manual_seed(seed + 2)

    def compile(self, tiny: TinySettings) -> None:
        """Compile network and errors where that works; otherwise say why not and go on without."""
        batch = self.settings.batch
        shape = (tiny.frames, tiny.height, tiny.width, 3)
        blank = Batch(
            torch.zeros(batch, *shape, device=self.device),
            torch.zeros(batch, *shape[1:], device=self.device),
            torch.zeros(batch, 3, dtype=torch.long, device=self.device),
            torch.zeros(batch, dtype=torch.long, device=self.device),
        )

        def attempt(errors: Callable[..., Tensor]) -> Tensor:
            self._call = errors
            return self.loss(blank)

        self._call = compiled_if_it_works(self._errors, attempt)
        self.network.zero_grad(set_to_none=True)

    def loss(self, batch: Batch) -> Tensor:
        """Mean squared error of the clean estimate at random times, weighted by 1 / sigma^2.

        The random numbers are those of this process's rows among those of all processes.
        """
        device, draw = self.device, self._noise
        rows = self.group.size * len(batch.videos)
        mine = self.group.part(rows)

        def uniform() -> Tensor:
            return torch.rand(rows, generator=draw, device=device)[mine]

        # Times lie around the middle, where it is decided what moves; some lie anywhere. The larger
        # the images are, the more noise it takes to hide that.
        normal = torch.randn(rows, generator=draw, device=device)[mine]
        middle = torch.sigmoid(1.1 * normal + 0.5)
        t = torch.where(uniform() < 0.1, uniform(), middle)
        shape = (rows, *batch.videos.shape[1:])
        noise = torch.randn(shape, generator=draw, device=device)[mine]
        silent = uniform() < self.settings.drop_words
        tokens = batch.tokens.masked_fill(silent[:, None], TOKENS.index(NONE))
        has_image = uniform() >= self.settings.drop_reference_image
        frames = batch.videos.shape[1]
        known = draw_known(rows, frames, self.settings.known_share, generator=draw)
        asked = (~known).sum() / self.group.size  # of all processes, so that the mean is theirs
        known = known[mine]
        errors = self._call(
            batch.videos, noise, t, tokens, batch.reference_images, has_image, known
        )
        return errors.sum() / asked

    def _errors(
        self, videos: Tensor, noise: Tensor, t: Tensor, tokens: Tensor, images: Tensor,
        has_image: Tensor, known: Tensor,
    ) -> Tensor:  # fmt: skip
        """Errors of the frames [B, T], zero for those that are known.

        All that touches whole videos is here, so that a compiler can merge it with the network.
        """
        alpha, sigma = (x[:, None, None, None, None] for x in cosine_signal(t))
        given = known[:, :, None, None, None]
        noisy = torch.where(given, videos, alpha * videos + sigma * noise)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            text = self.network.text(tokens)
            clean = self.network(noisy, t, text, images, has_image, known)
        error = (clean.float() - videos) ** 2 / (sigma**2).clamp_min(0.02)
        # Weighted rather than indexed: an index would wait for the device.
        return error.mean((2, 3, 4)) * ~known

    def step(self, batch: Batch, *, part: float) -> None:
        """One step; `part` of the whole training is over, 0..1."""
        self.descend(self.loss(batch), part=part)

    def start_from(self, folder: Path) -> None:
        """Begin with the averaged weights of an earlier training; the optimiser begins anew.

        Raises:
            ValueError: They are of another network or vocabulary.
        """
        network, tokens = load_network(folder)
        if network.settings != self.network.settings or tokens != TOKENS:
            raise ValueError(f"{folder}: its weights are of another network or vocabulary")
        for module in (self.network, self.average):
            module.load_state_dict(network.state_dict())


def train(
    out: Path,
    *,
    minutes: float,
    device: torch.device,
    seed: int = 0,
    stop_after: float | None = None,
    workers: int = 0,
    recordings: Recordings | None = None,
    start: Path | None = None,
    tiny: TinySettings | None = None,
    cameras: CameraSettings | None = None,
    pool: PoolSettings | None = None,
    settings: TrainSettings | None = None,
    compiled: bool = True,
) -> TinyNetwork:
    """Train for `minutes` in all and return the averaged network; everything is under `out`.

    The clock counts everything, the building of creatures too. After `stop_after` minutes of this
    run it stops and saves; the same call goes on from there. Creatures are cached in `out/actors`,
    weights are in `out/weights`, a sheet of samples is `out/sheet.png`. The training sides of the
    `recordings`, if given, are filmed as well. `start` is a folder of weights to begin with.
    Processes that `accelerate launch` starts train together: each films its share of the
    creatures, `batch` is that of each, and the first of them writes.
    """
    began = time.perf_counter()
    tiny, cameras = tiny or TinySettings(), cameras or CameraSettings()
    pool, settings = pool or PoolSettings(), settings or TrainSettings()
    out.mkdir(parents=True, exist_ok=True)
    group, device = ProcessGroup.join(device)
    if device.type == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True

    def say(text: str) -> None:
        if group.leads:
            print(f"[{time.perf_counter() - began:7.1f} s] {text}", flush=True)

    cast = cast_actors(recordings, pool, first_seed=FIRST_SEED)[group.rank :: group.size]
    assert all(one.folder is not None or zoo_seed_trains(one.seed) for one in cast)
    workers //= group.size
    trainer = Trainer(tiny, settings, device=device, seed=seed, group=group)
    if start is not None:
        trainer.start_from(start)  # before there are workers, whose end an error would wait for
        say(f"beginning with the weights in {start}")
    feed = build_actors(cast, pool, out / "actors", workers=workers)
    first = next(feed)  # starts the workers
    size = sum(p.numel() for p in trainer.network.parameters())
    say(f"{device}: network of {size / 1e6:.1f} M weights, {workers} workers build {len(cast)}")
    state = out / "state.safetensors"
    if trainer.restore(state):
        say(f"going on at step {trainer.progress.step}, {trainer.progress.seconds:.0f} s trained")
    while first is None:
        time.sleep(0.05)
        first = next(feed)
    say(f"the first creature is there: {first.species} {first.seed}")
    if compiled:
        say("compiling the network while the creatures are built")
        trainer.compile(tiny)
    # Another start of the same training sees other videos.
    videos = Pool(
        pool.videos, tiny, cameras, device=device,
        seed=seed + 1000 * (trainer.progress.step + 1) + (group.rank << 32),
        videos_a_call=pool.videos_a_call, recorded=pool.recorded,
    )  # fmt: skip
    videos.add(first)
    _fill(videos, feed, pool.ready, say)

    loop = _Loop(out, trainer, videos, feed, settings, began, minutes, stop_after, say)
    try:
        loop.run()
    except KeyboardInterrupt:
        say("stopped: what there is is saved")
        loop.save()
        raise
    loop.save()
    loop.draw()
    if group.leads:
        report = loop.report() | {
            "seed": seed, "start": None if start is None else str(start), "tiny": asdict(tiny),
            "cameras": asdict(cameras), "pool": asdict(pool),
        }  # fmt: skip
        write_json(out / "training.json", report)
    feed.close()
    say(f"saved: {trainer.progress.step} steps, {loop.samples} videos learnt from")
    return trainer.average


@dataclass
class _Loop:
    """The steps of one run, and what happens between them."""

    out: Path
    trainer: Trainer
    videos: Pool
    feed: Generator[Actor | None, None, None]
    settings: TrainSettings
    began: float
    minutes: float
    stop_after: float | None
    say: Callable[[str], None]
    done: bool = False
    """Whether the whole of the training is over, not only this run."""

    @property
    def samples(self) -> int:
        """Videos that all processes learnt from."""
        return self.trainer.progress.step * self.settings.batch * self.trainer.group.size

    def report(self) -> dict[str, object]:
        """Numbers of the training for `training.json`."""
        trainer, actors = self.trainer, self.videos.actors
        artists = sorted(actor.species for actor in actors if actor.is_artists)
        return {
            "minutes": trainer.progress.seconds / 60.0, "steps": trainer.progress.step,
            "samples": self.samples, "loss": trainer.progress.loss,
            "creatures": len(actors) - len(artists), "artists": artists, "first_seed": FIRST_SEED,
            "rasterizer": f"warp on {trainer.device}",
            "weights": sum(p.numel() for p in trainer.network.parameters()),
            "device": _describe(trainer.device), "torch": torch.__version__,
            "settings": asdict(self.settings), "processes": trainer.group.size, "done": self.done,
        }  # fmt: skip

    def save(self) -> None:
        """Write the state and the averaged weights."""
        if not self.trainer.group.leads:
            return
        self.trainer.save(self.out / "state.safetensors")
        save_tiny(self.trainer.average, self.out / "weights")

    def draw(self) -> None:
        """Write the sheet of samples."""
        if not self.trainer.group.leads:
            return
        write_sheet(
            self.trainer.average, self.videos, self.out / "sheet.png",
            rows=self.settings.sheet_rows, steps=self.settings.sheet_steps,
        )  # fmt: skip

    def run(self) -> None:
        """Train until the time is up."""
        progress, settings, videos = self.trainer.progress, self.settings, self.videos
        before = progress.seconds
        started = time.perf_counter()
        save_at, sheet_at = settings.checkpoint_seconds, settings.sheet_seconds
        tell_at, told, steps, made = 2.0, 0.0, progress.step, videos.made
        total = 60.0 * self.minutes
        while True:
            now = time.perf_counter()
            here, run = now - started, now - self.began
            # All processes stop at the same step, by the clock of the first.
            progress.seconds = self.trainer.group.leader(before + run, self.trainer.device)
            self.done = progress.seconds >= total
            limit = None if self.stop_after is None else before + 60.0 * self.stop_after
            if self.done or (limit is not None and progress.seconds >= limit):
                return
            self.trainer.step(videos.batch(settings.batch), part=progress.seconds / total)
            if videos.seconds <= settings.render_share * (here + 10.0):
                videos.grow(self.feed)
            if here >= tell_at:
                rate = (progress.step - steps) * settings.batch / (here - told)
                self.say(
                    f"step {progress.step}  loss {progress.loss:.4f}  {rate:.0f} videos/s trained, "
                    f"{videos.made - made} rendered ({videos.seconds:.0f} s in all), "
                    f"pool {videos.count}, {len(videos.actors)} creatures, "
                    f"{progress.seconds / 60.0:.2f} of {self.minutes:g} min"
                )
                steps, made, told = progress.step, videos.made, here
                tell_at = here + (5.0 if here < 40.0 else 20.0)
            if here >= save_at:
                self.save()
                save_at = here + settings.checkpoint_seconds
            if here >= sheet_at:
                self.draw()
                sheet_at = here + settings.sheet_seconds


def _fill(
    videos: Pool, feed: Iterator[Actor | None], ready: int, say: Callable[[str], None]
) -> None:
    """Film until training can start. While there are few creatures, each is filmed often."""
    while videos.count < min(ready, videos.capacity):
        actor = next(feed, None)
        if actor is not None:
            videos.add(actor)
        elif videos.made < 400 * len(videos.actors):
            videos.film_next()
        else:
            time.sleep(0.01)
    each = 1000.0 * videos.seconds / max(videos.made, 1)
    say(f"{videos.count} videos of {len(videos.actors)} creatures: {each:.2f} ms a video to render")


def _describe(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU, {torch.get_num_threads()} threads"
