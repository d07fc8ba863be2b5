"""Builds many actors side by side, in processes of their own."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from akd.base.files import text_hash
from akd.base.parent import end_with_parent
from akd.motion.library import LibraryClip
from akd.prior.tiny.actor import FORMAT, Actor, load_actor, save_actor
from akd.prior.tiny.artists import artist_actor, find_files
from akd.prior.tiny.creatures import build_actor, cast_list
from akd.prior.tiny.lending import lend_clips
from akd.prior.tiny.recorded import Recordings
from akd.prior.tiny.settings import PoolSettings

_CANDIDATES = 4
"""Recorded clips that are offered to an actor, for each one that it takes: not all fit."""


@dataclass(frozen=True)
class Casting:
    """An actor to be built: a creature of the zoo, or an artist's file."""

    name: str
    """Species, or path of the file in its folder."""
    seed: int = 0
    """Of a creature."""
    folder: Path | None = None
    """Where the file is."""
    clips: tuple[LibraryClip, ...] = ()
    """Recorded clips to choose from."""

    def build(self, settings: PoolSettings) -> Actor | None:
        """Build it; None where a file has no usable body or clip."""
        if self.folder is None:
            return build_actor(self.name, self.seed, settings, self.clips)
        return artist_actor(
            self.folder / self.name, settings, self.clips, most=self._most(settings)
        )

    def _most(self, settings: PoolSettings) -> int:
        """Of the clips, how many it takes."""
        lent = self.folder is not None and settings.lent_clips > 0
        return settings.lent_clips if lent else settings.recorded_clips

    def path(self, cache: Path, settings: PoolSettings) -> Path:
        """Where the actor is cached: whatever changes it is in the name."""
        offered = text_hash("\n".join((FORMAT, *(clip.name for clip in self.clips))))[:8]
        size = (
            f"{settings.vertices}-{settings.splats}-{settings.styles}-{settings.frame_time:g}-"
            f"{self._most(settings) if self.clips else 0}-{offered}"
        )
        return cache / f"{Path(self.name).stem}-{self.seed}-{size}.safetensors"


def cast_actors(
    recordings: Recordings | None, settings: PoolSettings, *, first_seed: int
) -> list[Casting]:
    """Creatures and artists' characters of the training side, in a mixed order."""
    from akd.zoo.species.catalogue import SPECIES, Humanoid, Quadruped

    people = [] if recordings is None else recordings.people()
    artists = [] if recordings is None else recordings.artists()
    # Reading a file to count its legs takes a second; what gallops has four.
    four_legged = {clip.file for clip in artists if clip.action == "gallop"}
    animals = [clip for clip in artists if clip.file in four_legged]
    others = [clip for clip in artists if clip.file not in four_legged]
    cast = []
    for species, seed in cast_list(settings.creatures, first_seed=first_seed):
        parameters = SPECIES[species]
        # What people do looks wrong on two-legged dinosaurs and birds.
        clips: tuple[LibraryClip, ...] = ()
        if isinstance(parameters, Humanoid):
            clips = _offered(people, others, settings, seed)
        elif isinstance(parameters, Quadruped):
            clips = _offered([], animals, settings, seed)
        cast.append(Casting(species, seed, clips=clips))
    if recordings is None:
        return cast
    files = cast_artists(recordings, settings)
    # The files come early: there are few of them, and they are filmed all the time.
    every = max(1, len(cast) // (2 * max(len(files), 1)))
    for k, file in enumerate(files):
        cast.insert(min(len(cast), k * (every + 1)), file)
    return cast


def cast_artists(
    recordings: Recordings, settings: PoolSettings, *, training: bool = True
) -> list[Casting]:
    """Artists' characters of one side; those that train have recorded clips to choose from, and
    with `PoolSettings.lent_clips` clips of the zoo as well."""
    if recordings.assets is None:
        return []
    folder, people = recordings.assets, recordings.people() if training else []
    lends = training and settings.lent_clips > 0
    artists = recordings.artists() if lends else []

    def offered(number: int) -> tuple[LibraryClip, ...]:
        if not lends:
            return _offered(people, [], settings, number)
        return lend_clips(
            people, artists, count=_CANDIDATES * settings.lent_clips,
            evenness=settings.evenness, rng=np.random.default_rng((number, 59)),
        )  # fmt: skip

    files = [p.relative_to(folder).as_posix() for p in find_files(folder, training=training)]
    return [Casting(name, folder=folder, clips=offered(k)) for k, name in enumerate(files)]


def _offered(
    people: Sequence[LibraryClip], artists: Sequence[LibraryClip], settings: PoolSettings, seed: int
) -> tuple[LibraryClip, ...]:
    """Some of the recorded clips, half of each kind, one of each action before a second one."""
    rng = np.random.default_rng((seed, 53))
    count = _CANDIDATES * settings.recorded_clips
    chosen: list[LibraryClip] = []
    for clips in (people, artists):
        by_action: dict[str, list[LibraryClip]] = {}
        for k in rng.permutation(len(clips)).tolist():
            by_action.setdefault(clips[k].action, []).append(clips[k])
        rounds = [clip for group in by_action.values() for clip in enumerate(group)]
        order = sorted(range(len(rounds)), key=lambda i: (rounds[i][0], i))
        chosen += [rounds[i][1] for i in order[: count // 2]]
    return tuple(chosen[k] for k in rng.permutation(len(chosen)).tolist())


def build_actors(
    cast: Sequence[Casting], settings: PoolSettings, cache: Path, *, workers: int
) -> Generator[Actor | None, None, None]:
    """Actors in the order in which they are ready, those of the cache first.

    Yields None whenever the next one is not ready, so that whoever asks can do something else in
    the meantime. One that cannot be built is named on the terminal and left out.
    """
    import multiprocessing

    cache.mkdir(parents=True, exist_ok=True)
    missing = []
    for casting in cast:
        path = casting.path(cache, settings)
        if path.exists():
            yield load_actor(path)
        else:
            missing.append(casting)
    if workers < 1:
        for casting in missing:
            if (built := _work(casting, settings, cache)) is not None:
                yield load_actor(built)
        return
    if not missing:
        return
    # Started afresh: a fork of a process that holds a CUDA context cannot use it or end cleanly.
    context = multiprocessing.get_context("spawn")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # read when the workers load their libraries
    ready: queue.SimpleQueue[Future[Path | None]] = queue.SimpleQueue()
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)
    try:
        waiting = {pool.submit(_work, casting, settings, cache): casting for casting in missing}
        for future in waiting:
            future.add_done_callback(ready.put)
        while waiting:
            try:
                future = ready.get_nowait()
            except queue.Empty:
                yield None
                continue
            casting = waiting.pop(future)
            error = future.exception()
            if error is not None:
                what = f"{casting.name} {casting.seed}"
                print(f"left out: {what}: {type(error).__name__}: {error}", flush=True)
            elif (built := future.result()) is not None:
                yield load_actor(built)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def collect_actors(
    cast: Sequence[Casting], settings: PoolSettings, cache: Path, *, workers: int
) -> list[Actor]:
    """All of the actors, waiting for them."""
    actors = []
    for actor in build_actors(cast, settings, cache, workers=workers):
        if actor is None:
            time.sleep(0.02)
        else:
            actors.append(actor)
    return actors


def _work(casting: Casting, settings: PoolSettings, cache: Path) -> Path | None:
    path = casting.path(cache, settings)
    if not path.exists():
        actor = casting.build(settings)
        if actor is None:
            return None
        save_actor(actor, path)
    return path


def _start_worker() -> None:
    """A worker computes on one core, leaves the GPU alone, and ends with its parent."""
    end_with_parent()
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    torch.set_num_threads(1)
