"""Resolves the name of a prior to the prior, and a prompt to the text that it is given.

`tiny` is the one that ships; any other name is a large one (`akd.prior.large.catalogue`) or a
folder that diffusers wrote. Errors are reported as a single line, before any weights are read.
"""

from __future__ import annotations

from dataclasses import replace
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
from akd.prior.served import with_server
from akd.prior.source import PriorSource, user_path
from akd.prior.tiny.load import has_weights, known_tokens, load_tiny, shipped_weights
from akd.prior.tiny.vocabulary import read_prompt

Held = Literal["auto", "fast", "lean"]
"""How a large prior is held: `fast`, `lean`, or the first of these that fits; on several GPUs where
it fits on no single one."""


def is_tiny(name: str | Path) -> bool:
    """Whether a name or folder means the tiny prior."""
    return str(name) == "tiny" or has_weights(user_path(name))


def prompt_for(
    name: str | Path,
    prompt: str,
    *,
    weights: Path | None = None,
    words: Enrichment | None = None,
    exactly: bool = False,
) -> str:
    """The text that the prior is asked with: to be shown to the user, and passed to `condition`.

    A large prior gets view, ground, framing and style from `words` besides, unless the prompt is
    to be taken `exactly` or is a long description already. For the tiny one it is the prompt
    itself, read once here: `ValueError` lists what its `weights` know, by default those
    that ship, where it does not understand.
    """
    plain = " ".join(prompt.split())
    if not plain:
        raise ValueError("the prompt is empty: say what the character does")
    if is_tiny(name):
        folder = _tiny_folder(PriorSource(name, weights))
        read_prompt(plain, known_tokens(folder))
        return plain
    return plain if exactly else enrich(plain, words)


def check_prior(
    source: PriorSource,
    *,
    device: torch.device | str = "auto",
    held: Held | LargeSettings = "auto",
) -> Plan | Path:
    """Check that a prior can be loaded: a plan of it, or the folder of the tiny prior's weights.

    Raises:
        PriorError: Something is missing or does not fit, before any weights are read.
    """
    place = choose_device(device)
    if is_tiny(source.name):
        return _tiny_folder(source)
    return _plan_large(source, place, held)


def choose_prior(
    source: PriorSource,
    *,
    device: torch.device | str = "auto",
    held: Held | LargeSettings = "auto",
    cache: Path | None = None,
) -> VideoPrior:
    """Load the prior that a source names.

    Args:
        source: Which model, from where, at what size.
        device: `auto`, `cpu`, `cuda` or `cuda:1`.
        held: How a large prior is held in memory.
        cache: Where a large prior keeps embeddings of prompts.

    Raises:
        PriorError: Something is missing or does not fit.
    """
    plan = check_prior(source, device=device, held=held)
    if isinstance(plan, Path):
        return with_server(load_tiny(plan, device=choose_device(device)), plan)
    return load_planned(plan, cache=cache)


def choose_device(device: torch.device | str) -> torch.device:
    """A device by name; `auto` is a GPU where there is one."""
    avoid_broken_amx()
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
    except RuntimeError:
        found = None
    if found is None or found.type not in ("cpu", "cuda"):
        raise PriorError(f"device must be auto, cpu or cuda, got {str(device)!r}")
    if found.type == "cuda" and not torch.cuda.is_available():
        raise PriorError(f"device {found} was asked for, but there is no CUDA device")
    return found


def _tiny_folder(source: PriorSource) -> Path:
    """The folder of the tiny prior's weights."""
    if source.has_own_size:
        raise PriorError(
            "the tiny prior's videos have one size: frames, height, width and fps must be left out"
        )
    if str(source.name) != "tiny":
        if source.weights is not None:
            raise PriorError(f"{source.name}: is a folder itself, so that weights must be left out")
        return user_path(source.name)
    folder = shipped_weights() if source.weights is None else user_path(source.weights)
    if not has_weights(folder):
        raise PriorError(
            f"{folder}: holds no weights of the tiny prior (tiny-*.safetensors); `akd prior train` "
            f"makes some"
        )
    return folder


def _plan_large(source: PriorSource, device: torch.device, held: Held | LargeSettings) -> Plan:
    """The plan for loading a large prior; with `auto`, of the first settings that fit.

    What fits on no single GPU is spread over as few as hold it.
    """
    if isinstance(held, LargeSettings):
        return plan_prior(source, settings=held, device=device)
    if device.type != "cuda":
        if held != "auto":
            raise PriorError(f"{held} is for a CUDA device, got {device}; auto runs anywhere")
        return plan_prior(source, device=device)
    ways = {"auto": (FAST, LEAN), "fast": (FAST,), "lean": (LEAN,)}[held]
    first = device.index or 0
    too_small = None
    for spread in range(1, max(2, torch.cuda.device_count() - first + 1)):
        for settings in ways:
            try:
                return plan_prior(source, settings=replace(settings, spread=spread), device=device)
            except MemoryTooSmall as error:
                too_small = error
    assert too_small is not None
    raise too_small
