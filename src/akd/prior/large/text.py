"""Words to embeddings: the text encoder is loaded once for all prompts, then dropped.

It is as large as the network (T5-XXL: 9 GiB in bfloat16) and is needed for a second. Embeddings are
kept by the content of encoder and prompt, so that the next run does not load it at all.
"""

from __future__ import annotations

import gc
import hashlib
import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.base.cache import cache_folder
from akd.prior.large.folder import PipelineFolder, find_class


class Padding(StrEnum):
    """What a family does with the places behind the last word."""

    ENCODED = "encoded"
    """They are encoded like words, unmasked (CogVideoX, AnimateDiff)."""
    ZERO = "zero"
    """The encoder does not see them, and they are zero (Wan)."""
    MASKED = "masked"
    """They are encoded, and the network is told to leave them out (LTX-Video)."""


@dataclass(frozen=True)
class TextRecipe:
    """How a family turns words into an embedding."""

    tokens: int
    padding: Padding


@dataclass(frozen=True)
class Embedding:
    """One prompt's embedding and which of its places are words."""

    text: Float[Tensor, "L D"]
    mask: Bool[Tensor, "L"]


def embed(
    folder: PipelineFolder,
    prompts: Sequence[str],
    recipe: TextRecipe,
    *,
    device: torch.device,
    dtype: torch.dtype,
    cache: Path | None = None,
) -> list[Embedding]:
    """Embeddings of prompts, on `device`. The encoder is loaded only if one is not in `cache`,
    which is `text` in akd's own cache unless given."""
    cache = cache or cache_folder() / "text"
    cleaned = [clean(prompt) for prompt in prompts]
    mark = fingerprint(folder, recipe, dtype)
    places = [cache / f"{digest(mark, prompt)}.safetensors" for prompt in cleaned]
    missing = [i for i, place in enumerate(places) if not place.is_file()]
    if missing:
        fresh = encode(folder, [cleaned[i] for i in missing], recipe, device=device, dtype=dtype)
        for i, embedding in zip(missing, fresh, strict=True):
            store(places[i], embedding)
    return [restore(place, device) for place in places]


def clean(prompt: str) -> str:
    """Blanks evened out and entities resolved, as the models' own pipelines do."""
    return " ".join(html.unescape(html.unescape(prompt)).split())


def fingerprint(folder: PipelineFolder, recipe: TextRecipe, dtype: torch.dtype) -> str:
    """What an embedding depends on besides the prompt.

    Large weight files count by name, size and both ends: hashing 9 GiB would take longer than
    encoding.
    """
    mark = hashlib.sha256(f"{recipe.tokens} {recipe.padding} {dtype}".encode())
    for part in ("tokenizer", "text_encoder"):
        for file in sorted((folder.path / part).rglob("*")):
            if file.is_file():
                mark.update(f"{part}/{file.name} {file.stat().st_size}".encode())
                with file.open("rb") as stream:
                    mark.update(stream.read(1 << 20))
                    stream.seek(max(file.stat().st_size - (1 << 20), 0))
                    mark.update(stream.read(1 << 20))
    return mark.hexdigest()


def digest(mark: str, prompt: str) -> str:
    """Name of a prompt's file in the cache."""
    return hashlib.sha256(f"{mark}\n{prompt}".encode()).hexdigest()[:32]


def store(place: Path, embedding: Embedding) -> None:
    """Write an embedding; a reader sees all of it or nothing."""
    from safetensors.torch import save_file

    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_suffix(f".{os.getpid()}.part")
    save_file({"text": embedding.text.cpu().contiguous(), "mask": embedding.mask.cpu()}, partial)
    partial.replace(place)


def restore(place: Path, device: torch.device) -> Embedding:
    """Read an embedding."""
    from safetensors.torch import load_file

    content = load_file(place)
    return Embedding(content["text"].to(device), content["mask"].to(device))


def encode(
    folder: PipelineFolder,
    prompts: Sequence[str],
    recipe: TextRecipe,
    *,
    device: torch.device,
    dtype: torch.dtype,
) -> list[Embedding]:
    """Load the encoder, encode, forget the encoder."""
    tokenizer, encoder = load_encoder(folder, dtype)
    encoder.to(device)
    try:
        with torch.no_grad():
            return [encode_one(tokenizer, encoder, prompt, recipe, dtype) for prompt in prompts]
    finally:
        del encoder
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()


def load_encoder(folder: PipelineFolder, dtype: torch.dtype) -> tuple[Any, Any]:
    """Tokenizer and text encoder, from the files of the folder alone."""
    tokenizer, encoder = (
        find_class("transformers", folder.class_name(part), str(folder.path))
        for part in ("tokenizer", "text_encoder")
    )
    folder.weights("text_encoder")
    return (
        tokenizer.from_pretrained(folder.path / "tokenizer", local_files_only=True),
        encoder.from_pretrained(
            folder.path / "text_encoder",
            dtype=dtype,
            local_files_only=True,
            use_safetensors=True,
        ).eval(),
    )


def encode_one(
    tokenizer: Any, encoder: Any, prompt: str, recipe: TextRecipe, dtype: torch.dtype
) -> Embedding:
    """One prompt, padded to the family's length."""
    words = tokenizer(
        [prompt],
        padding="max_length",
        max_length=recipe.tokens,
        truncation=True,
        add_special_tokens=True,
        return_attention_mask=True,
        return_tensors="pt",
    )
    ids, mask = words.input_ids.to(encoder.device), words.attention_mask.to(encoder.device)
    if recipe.padding is Padding.ZERO:
        text = encoder(ids, mask)[0][0].to(dtype)
        text = torch.where(mask[0][:, None] > 0, text, torch.zeros_like(text))
    else:
        text = encoder(ids)[0][0].to(dtype)
    return Embedding(text, mask[0] > 0)
