"""What a warm start has come to, kept in a run's folder: a stopped run need not repeat it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from safetensors.torch import load
from torch import Tensor

from akd.base.files import write_tensors
from akd.distill.run_folder import RunFolder
from akd.motion.parameters import MotionParameters


def kept_videos(
    folder: RunFolder | None,
    generator: torch.Generator,
    make: Callable[[], Float[Tensor, "K T H W 3"]],
) -> Float[Tensor, "K T H W 3"]:
    """The sampled videos: from the folder where they are there, else made and kept.

    The generator is left in the same state either way.
    """
    if folder is None:
        return make()
    if folder.videos.exists():
        kept = load(folder.videos.read_bytes())
        generator.set_state(kept["generator"])
        return kept["videos"]
    videos = make().cpu()
    kept = {"videos": videos, "generator": generator.get_state()}
    write_tensors(folder.videos, kept, durable=True)
    return videos


def kept_starts(
    folder: RunFolder | None, blank: MotionParameters, make: Callable[[], list[MotionParameters]]
) -> list[MotionParameters]:
    """The finalists: from the folder where they are there, else made and kept."""
    if folder is not None and folder.starts.exists():
        kept: dict[int, dict[str, Tensor]] = {}
        for name, values in load(folder.starts.read_bytes()).items():
            number, _, leaf = name.partition(".")
            kept.setdefault(int(number), {})[leaf] = values
        return [blank.with_values(kept[k]) for k in sorted(kept)]
    found = make()
    if folder is not None:
        tensors = {f"{k}.{n}": v for k, u in enumerate(found) for n, v in u.values().items()}
        write_tensors(folder.starts, tensors, durable=True)
    return found
