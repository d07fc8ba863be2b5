"""`animate_many`: several clips at once, each in a process of its own."""

from __future__ import annotations

import copyreg
import io
import os
import pickle
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from akd.api.animation import Animation
from akd.engine.call import Call, Resources, Seat
from akd.engine.local import Local
from akd.engine.queue import run_calls
from akd.pipeline import animate
from akd.prior.choose import choose_device
from akd.rig.character import Character

_MOST_PROCESSES = {"cpu": 8, "cuda": 16}
"""By default: each has its own copy of the weights and, on a GPU, its own CUDA context."""
_MOST_ASKED = 1024


@dataclass(frozen=True)
class Job:
    """One clip of a batch: the arguments of `animate` that differ from job to job."""

    character: Character | str | Path
    prompt: str
    seed: int = 0


def animate_many(
    jobs: Sequence[Job],
    *,
    processes: int | None = None,
    threads: int = 1,
    **options: Any,
) -> Generator[tuple[Job, Animation | Exception], None, None]:
    """Animate several characters side by side, on one device.

    A clip is the same as that of `animate` in a process with as many threads: jobs share nothing,
    and it does not matter how many run at a time.
    Call it under `if __name__ == "__main__":`, because processes are spawned. For results in
    folders, restarts and clusters, see `akd batch`.

    Args:
        jobs: What to animate.
        processes: Number of jobs that run at a time; by default one for every `threads` cores, at
            most 16 with a GPU and eight without.
        threads: Torch's threads in each process. Sums on the CPU are rounded differently with
            another number.
        options: Further arguments of `animate`, the same for all jobs. They must be picklable, so
            there can be no observer.

    Yields:
        Each job with its animation, or with the error that ended it, in the order in which they
        finish. Closing the iterator stops those that are left.

    Raises:
        ValueError: `processes` or `threads` is not a whole number from 1 to 1024.
        PriorError: There is no such device.
    """
    for name, value in (("processes", processes), ("threads", threads)):
        if value is not None and (type(value) is not int or not 1 <= value <= _MOST_ASKED):
            raise ValueError(
                f"{name} must be a whole number from 1 to {_MOST_ASKED}, got {value!r}"
            )
    kind = choose_device(options.get("device", "auto")).type
    cores = len(os.sched_getaffinity(0))
    if processes is None:
        processes = min(_MOST_PROCESSES[kind], max(1, cores // threads))
    processes = max(1, min(processes, len(jobs)))
    engine = Local(cpus=processes * threads, processes=processes)
    calls = (
        Call(str(k), _work, (_pack((job, options)), threads), Resources(threads))
        for k, job in enumerate(jobs)
    )
    try:
        # Once each: the caller sees the error, and there is no checkpoint to go on from.
        for progress in run_calls(calls, engine, attempts=1):
            if (ended := progress.ended) is None:
                continue
            yield jobs[int(ended.key)], ended.error or pickle.loads(ended.value)
    finally:
        engine.close()


def _work(packed: bytes, threads: int, seat: Seat) -> bytes:
    import torch

    torch.set_num_threads(threads)
    job, options = pickle.loads(packed)
    return _pack(animate(job.character, job.prompt, seed=job.seed, **options))


def _pack(value: object) -> bytes:
    """Pickled here rather than by the pool: torch's own way to send tensors needs shared memory,
    and the file that a character came from is held as views of its bytes."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {
        **copyreg.dispatch_table,
        memoryview: lambda view: (memoryview, (view.tobytes(),)),
    }
    pickler.dump(value)
    return buffer.getvalue()
