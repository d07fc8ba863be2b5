"""Trains a recogniser from scratch, on the training videos of the tiny prior."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

from akd.base.files import write_json
from akd.metrics.recognise.recogniser import save_recogniser
from akd.metrics.recognise.settings import CLASSES, RecogniserSettings
from akd.metrics.recognise.train import measure_accuracy, train_recogniser
from akd.prior.tiny.actor import Actor
from akd.prior.tiny.artists import certain
from akd.prior.tiny.casting import (
    Casting,
    build_actors,
    cast_actors,
    cast_artists,
    collect_actors,
)
from akd.prior.tiny.evaluate import measuring_actors, true_videos
from akd.prior.tiny.pool import Pool
from akd.prior.tiny.recorded import Recordings
from akd.prior.tiny.settings import CameraSettings, PoolSettings, TinySettings
from akd.prior.tiny.train import FIRST_SEED

MOST_VIDEOS = 60_000


def make_recogniser(
    settings: RecogniserSettings,
    out: Path,
    *,
    seconds: float,
    pool: PoolSettings,
    unseen: int,
    device: torch.device,
    workers: int,
    recordings: Recordings,
) -> dict[str, dict[str, float]]:
    """Train and measure a recogniser; its weights go to `out/weights`.

    A and B learn from creatures of the zoo and from the training side of `recordings`, C from the
    latter alone. Returns the scores on the measuring side: of the zoo, and of artists' files.
    """
    name, cache = settings.name, out / "actors"
    tiny = TinySettings(
        frames=settings.frames, width=settings.size, height=settings.size, patch=8,
        frame_time=settings.frame_time,
    )  # fmt: skip
    cameras = CameraSettings(settings.azimuth, settings.elevation, settings.zoom)
    started = time.perf_counter()
    if name == "c":
        cast = cast_artists(recordings, pool)
        if not cast:
            raise ValueError("recogniser c learns from artists' files alone: give --assets")
    else:
        cast = cast_actors(recordings, pool, first_seed=FIRST_SEED)
    measuring = {
        "zoo": measuring_actors(unseen, pool, cache, workers=workers),
        "artists": _certain(
            collect_actors(
                _spread(cast_artists(recordings, pool, training=False), unseen), pool, cache,
                workers=workers,
            )
        ),
    }  # fmt: skip
    videos = Pool(
        min(pool.videos, MOST_VIDEOS), tiny, cameras, device=device, seed=settings.seed,
        classes=CLASSES, videos_a_call=pool.videos_a_call,
    )  # fmt: skip
    feed = _certain_feed(build_actors(cast, pool, cache, workers=workers))
    for actor in feed:
        # Half of the time is enough to gather actors; the rest come while it learns.
        late = time.perf_counter() - started > 0.5 * seconds
        if actor is not None:
            videos.add(actor)
        elif videos.actors and not late:
            videos.film_next()
        if videos.count >= pool.ready and late:
            break
    while videos.count < min(pool.ready, videos.capacity):
        videos.film_next()
    print(
        f"recogniser {name}: {videos.count} videos of {len(videos.actors)} actors after "
        f"{time.perf_counter() - started:.1f} s", flush=True,
    )  # fmt: skip

    def source(count: int) -> tuple[Tensor, Tensor]:
        batch = videos.batch(count, balanced=True)
        return 0.5 * batch.videos + 0.5, batch.labels

    def between(gone: float) -> None:
        if videos.seconds < 0.5 * (gone + 5.0):
            videos.grow(feed)

    recogniser = train_recogniser(settings, source, seconds=seconds, device=device, between=between)
    feed.close()
    save_recogniser(recogniser, out / "weights")
    scores = {}
    for side, actors in measuring.items():
        if actors:
            seen, labels = true_videos(
                actors, tiny, cameras, each=20, device=device, seed=settings.seed + 7
            )
            scores[side] = measure_accuracy(recogniser, seen.float() / 255.0, labels)
    write_json(out / f"recogniser-{name}.json", scores)
    return scores


def _spread(cast: list[Casting], count: int) -> list[Casting]:
    """So many of the files, from all folders but that of broken ones."""
    sound = [one for one in cast if not one.name.startswith("robustness/")]
    return sound[:: max(1, len(sound) // max(count, 1))]


def _certain(actors: Sequence[Actor]) -> list[Actor]:
    return [kept for actor in actors if (kept := certain(actor)).actions]


def _certain_feed(feed: Iterator[Actor | None]) -> Generator[Actor | None]:
    """Actors of a feed without the clips whose class is in doubt; None for one without others."""
    for actor in feed:
        yield next(iter(_certain([actor])), None) if actor is not None else None
