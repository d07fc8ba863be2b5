"""A recogniser from nothing: the tiny prior's videos, brought to the trainer of the metrics."""

from __future__ import annotations

import time
from pathlib import Path

import torch
from torch import Tensor

from akd.base.files import write_json
from akd.metrics.recognise.recogniser import save_recogniser
from akd.metrics.recognise.settings import CLASSES, RecogniserSettings
from akd.metrics.recognise.train import measure_accuracy, train_recogniser
from akd.prior.tiny.artists import artist_actors, certain
from akd.prior.tiny.backend import choose_studio
from akd.prior.tiny.creatures import build_actors, cast_list
from akd.prior.tiny.evaluate import measuring_actors, true_videos
from akd.prior.tiny.pool import Pool
from akd.prior.tiny.settings import CameraSettings, PoolSettings, TinySettings
from akd.prior.tiny.train import ARTIST_TURNS, FIRST_SEED


def make_recogniser(
    settings: RecogniserSettings,
    out: Path,
    *,
    seconds: float,
    pool: PoolSettings,
    judges: int,
    device: torch.device,
    workers: int,
    assets: Path | None = None,
) -> dict[str, float]:
    """Train and measure a recogniser; its weights go to `out/weights`. Returns its scores.

    The training side of the folder `assets` is learnt from as well.
    """
    name = settings.name
    tiny = TinySettings(
        frames=settings.frames, width=settings.size, height=settings.size, fps=settings.fps
    )
    cameras = CameraSettings(settings.azimuth, settings.elevation, settings.zoom)
    started = time.perf_counter()
    unseen = measuring_actors(judges, pool, out / "actors", workers=workers)
    studio = choose_studio(unseen[0], tiny, device)
    videos = Pool(
        min(pool.videos, 60_000), tiny, cameras, device=device, seed=settings.seed,
        classes=CLASSES, videos_a_call=pool.videos_a_call, studio=studio,
    )  # fmt: skip
    for actor in [] if assets is None else artist_actors(assets, pool):
        videos.add(certain(actor), turns=ARTIST_TURNS)
    feed = build_actors(
        cast_list(pool.creatures, first_seed=FIRST_SEED), pool, out / "actors", workers=workers
    )
    for actor in feed:
        # Half of the time is enough to gather creatures; the rest come while it learns.
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
        f"recogniser {name}: {videos.count} videos of {len(videos.actors)} creatures after "
        f"{time.perf_counter() - started:.1f} s", flush=True,
    )  # fmt: skip

    def source(count: int) -> tuple[Tensor, Tensor]:
        batch = videos.batch(count)
        return 0.5 * batch.videos + 0.5, batch.labels

    def between(gone: float) -> None:
        if videos.seconds < 0.5 * (gone + 5.0):
            actor = next(feed, None)
            if actor is not None:
                videos.add(actor)
            else:
                videos.film_next()

    recogniser = train_recogniser(settings, source, seconds=seconds, device=device, between=between)
    feed.close()
    save_recogniser(recogniser, out / "weights")
    seen, labels = true_videos(
        unseen, tiny, cameras, each=20, device=device, seed=settings.seed + 7,
        studio=studio,
    )  # fmt: skip
    scores = measure_accuracy(recogniser, seen.float() / 255.0, labels)
    write_json(out / f"recogniser-{name}.json", scores)
    return scores
