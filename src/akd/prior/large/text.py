"""Words to embeddings: the text encoder is loaded once for all prompts, then dropped.

It is as large as the network (T5-XXL: 9 GiB in bfloat16) and is needed for a second. Embeddings are
kept by the content of encoder and prompt, so that the next run does not load it at all.
"""

from __future__ import annotations

import gc
import html
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.base.cache import cache_folder
from akd.base.files import json_hash, text_hash, weights_hash, write_tensors
from akd.prior.large.folder import PipelineFolder, find_class


class Padding(StrEnum):
    """How a family treats the positions behind the last word."""

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
    """Hash of everything but the prompt that an embedding depends on."""
    parts = [weights_hash(folder.path / p, pattern="*") for p in ("tokenizer", "text_encoder")]
    return json_hash([recipe.tokens, recipe.padding, str(dtype), *parts])


def digest(mark: str, prompt: str) -> str:
    """Name of a prompt's file in the cache."""
    return text_hash(f"{mark}\n{prompt}")[:32]


def store(place: Path, embedding: Embedding) -> None:
    """Write an embedding."""
    write_tensors(place, {"text": embedding.text, "mask": embedding.mask})


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
