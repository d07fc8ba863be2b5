"""What the commands that train and evaluate the tiny prior share: options, sizes, workers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from akd.commands.errors import UsageError, check_folders, usage_errors
from akd.commands.options import arg
from akd.prior.tiny.settings import PoolSettings, TinySettings, TrainSettings

if TYPE_CHECKING:
    import torch

    from akd.prior.tiny.recorded import Recordings

Assets = Annotated[
    Path | None,
    arg(
        help="Folder of rigged characters with clips. Those in its folder `training` and those "
        "listed in splits.toml are filmed too."
    ),
]
Mocap = Annotated[
    Path | None,
    arg(help="Folder of motion capture with a table of actions. Its training side is filmed too."),
]
Creatures = Annotated[int, arg(help="Creatures of the zoo to train on.")]
Unseen = Annotated[int, arg(help="Creatures of the measuring side to evaluate on.")]
Workers = Annotated[
    int | None,
    arg(help="Processes that build creatures; by default one per core, less one."),
]
Smoke = Annotated[
    bool, arg(help="Run everything at a very small size: a smoke test of about a minute on a CPU.")
]

SMOKE_TINY = TinySettings(channels=48, layers=2, heads=2, text_channels=16, refine_channels=8)
SMOKE_POOL = PoolSettings(
    creatures=3, vertices=600, splats=400, styles=1, recorded_clips=1, videos=32, videos_a_call=4,
    ready=8,
)  # fmt: skip
SMOKE_TRAIN = TrainSettings(
    batch=4, warm_up=2, checkpoint_seconds=5.0, sheet_seconds=60.0, sheet_rows=2, sheet_steps=3
)


def device_of(name: str) -> torch.device:
    """The device of that name."""
    from akd.prior.choose import choose_device

    with usage_errors(prefix="--"):
        return choose_device(name)


def find_recordings(assets: Path | None, mocap: Path | None) -> Recordings:
    """Recorded clips to film beside the creatures of the zoo."""
    from akd.base.splits import OWN
    from akd.prior.tiny.artists import find_files
    from akd.prior.tiny.recorded import Recordings

    check_folders(assets=assets, mocap=mocap)
    if assets is not None and not find_files(assets, training=True):
        raise UsageError(
            f"--assets {assets}: holds no character to train on; put your own into {assets / OWN}"
        )
    return Recordings(assets, mocap)


def count_workers(asked: int | None) -> int:
    """Processes that build creatures: as asked, or one per core, less one."""
    return max(0, (os.cpu_count() or 2) - 1) if asked is None else asked
