"""`prior`: a video model by name."""

from __future__ import annotations

from pathlib import Path

import torch

from akd.base.cache import cache_folder
from akd.prior.choose import Held, choose_prior
from akd.prior.large.settings import LargeSettings
from akd.prior.protocol import VideoPrior
from akd.prior.source import PriorSource


def prior(
    name: str | Path = "tiny",
    *,
    device: str | torch.device = "auto",
    weights: str | Path | None = None,
    frames: int | None = None,
    height: int | None = None,
    width: int | None = None,
    fps: float | None = None,
    held: Held | LargeSettings = "auto",
    download: bool = False,
) -> VideoPrior:
    """Load a video model.

    Args:
        name: `tiny` (ships with akd), a name that `akd prior list` shows, a hub id, or a folder.
        device: `auto`, `cpu`, `cuda` or `cuda:1`.
        weights: Folder of weights instead of the bundled ones or the hub's copy.
        frames: Frames of a video; this and the sizes below are the model's own if left out.
        height: Pixels.
        width: Pixels.
        fps: Frames per second.
        held: How a large model is held in memory: `fast`, `lean`, or the first of these that fits.
        download: Fetch weights that are not on this machine.

    Returns:
        The loaded model.

    Raises:
        PriorError: Something is missing or does not fit, before any weights are read.
    """
    source = PriorSource(
        name, None if weights is None else Path(weights), frames, height, width, fps, download
    )
    return choose_prior(source, device=device, held=held, cache=cache_folder() / "embeddings")
