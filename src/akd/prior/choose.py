"""From what a user calls a prior to the prior itself, and to the words it is asked with.

`tiny` is the one that ships; any other name is a large one (`akd.prior.large.catalogue`) or a
folder that diffusers wrote. What is wrong is one line, before any weights are read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import torch

from akd.base.processor import avoid_broken_amx
from akd.prior.large.enrich import Enrichment, enrich
from akd.prior.large.errors import MemoryTooSmall, PriorError
from akd.prior.large.load import load_planned
from akd.prior.large.plan import Plan, plan_prior
from akd.prior.large.settings import FAST, LEAN, LargeSettings
from akd.prior.protocol import VideoPrior
from akd.prior.tiny.load import has_weights, load_tiny, shipped_weights
from akd.prior.tiny.vocabulary import read_prompt

Held = Literal["auto", "fast", "lean"]
"""How a large prior is held: `fast`, `lean`, or the first of these that fits."""


def is_tiny(name: str | Path) -> bool:
    """Whether a name or folder means the tiny prior."""
    return str(name) == "tiny" or has_weights(Path(name).expanduser())


def prompt_for(
    name: str | Path,
    prompt: str,
    *,
    words: Enrichment | None = None,
    exactly: bool = False,
) -> str:
    """The text that the prior is asked with: to be shown to the user, and passed to `condition`.

    A large prior gets view, ground, framing and style from `words` besides, unless the prompt is
    to be taken `exactly` or is a long description already. For the tiny one it is the prompt
    itself, read once here: `ValueError`, one line, lists what it knows where it does not
    understand.
    """
    plain = " ".join(prompt.split())
    if not plain:
        raise ValueError("the prompt is empty: say what the character does")
    if is_tiny(name):
        read_prompt(plain)
        return plain
    return plain if exactly else enrich(plain, words)


def check_prior(
    name: str | Path,
    *,
    weights: Path | None = None,
    device: torch.device | str = "auto",
    held: Held | LargeSettings = "auto",
    frames: int | None = None,
    height: int | None = None,
    width: int | None = None,
    fps: float | None = None,
    download: bool = False,
) -> str:
    """One line about a prior that can be loaded: its size, and the GiB it needs.

    Raises `PriorError`, one line, for whatever is missing or does not fit.
    """
    size = (frames, height, width, fps)
    if is_tiny(name):
        return f"tiny: from {tiny_folder(name, weights, size)}"
    return str(plan_large(name, weights, chosen_device(device), held, size, download))


def choose_prior(
    name: str | Path,
    *,
    weights: Path | None = None,
    device: torch.device | str = "auto",
    held: Held | LargeSettings = "auto",
    frames: int | None = None,
    height: int | None = None,
    width: int | None = None,
    fps: float | None = None,
    download: bool = False,
    cache: Path | None = None,
) -> VideoPrior:
    """A prior by name (`tiny`, one of the catalogue, a hub id) or local folder.

    `weights` is a folder to take in place of what ships or of the hub's copy. `device` may be
    `auto`. Sizes left out are the model's own; the tiny prior has no others. Nothing is fetched
    unless `download` is set. `cache` is where a large prior keeps embeddings of prompts. Raises
    `PriorError`, one line, for whatever is missing or does not fit.
    """
    size, place = (frames, height, width, fps), chosen_device(device)
    if is_tiny(name):
        return load_tiny(tiny_folder(name, weights, size), device=place)
    return load_planned(plan_large(name, weights, place, held, size, download), cache=cache)


Size = tuple[int | None, int | None, int | None, float | None]


def chosen_device(device: torch.device | str) -> torch.device:
    """A device by name; `auto` is a GPU where there is one."""
    avoid_broken_amx()
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
    except RuntimeError:
        raise PriorError(f"device must be auto, cpu or cuda, got {str(device)!r}") from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise PriorError(f"device {found} was asked for, but there is no CUDA device")
    return found


def tiny_folder(name: str | Path, weights: Path | None, size: Size) -> Path:
    """The folder of the tiny prior's weights."""
    if any(value is not None for value in size):
        raise PriorError(
            "the tiny prior's videos have one size: frames, height, width and fps must be left out"
        )
    if str(name) != "tiny":
        if weights is not None:
            raise PriorError(f"{name}: is a folder itself, so that weights must be left out")
        return Path(name).expanduser()
    folder = shipped_weights() if weights is None else weights.expanduser()
    if not has_weights(folder):
        raise PriorError(
            f"{folder}: holds no weights of the tiny prior (tiny-*.safetensors); `akd prior train` "
            f"makes some"
        )
    return folder


def plan_large(
    name: str | Path,
    weights: Path | None,
    device: torch.device,
    held: Held | LargeSettings,
    size: Size,
    download: bool,
) -> Plan:
    """What loading a large prior would take; with `auto`, of the first settings that fit."""
    frames, height, width, fps = size

    def plan(settings: LargeSettings) -> Plan:
        return plan_prior(
            name, settings=settings, device=device, weights=weights, frames=frames,
            height=height, width=width, fps=fps, download=download,
        )  # fmt: skip

    if isinstance(held, LargeSettings):
        return plan(held)
    if device.type != "cuda":
        if held != "auto":
            raise PriorError(f"{held} is for a CUDA device, got {device}; auto runs anywhere")
        return plan(LargeSettings())
    if held == "auto":
        try:
            return plan(FAST)
        except MemoryTooSmall:
            return plan(LEAN)
    return plan(FAST if held == "fast" else LEAN)
