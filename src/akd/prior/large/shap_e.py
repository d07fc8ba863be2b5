"""Text to 3D through Shap-E: a coloured mesh of a sentence."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Integer

from akd.prior.large.errors import PriorError
from akd.prior.large.folder import find_class, open_folder

HUB = "openai/shap-e"

Triangles = tuple[Float[np.ndarray, "V 3"], Integer[np.ndarray, "F 3"], Float[np.ndarray, "V 3"]]
"""Vertices (Y up), faces and sRGB colours in 0..1."""


def shap_e_mesh(
    prompt: str,
    *,
    weights: Path | None = None,
    download: bool = False,
    steps: int = 64,
    seed: int = 0,
    device: str = "cpu",
) -> Triangles:
    """Make a mesh of what a sentence says.

    Args:
        prompt: What to make, such as "an ostrich".
        weights: Folder of the pipeline; by default the hub's copy in the local cache.
        download: Download the hub's copy if it is missing.
        steps: Denoising steps.
        seed: Of the noise.
        device: Where to compute.

    Raises:
        PriorError: diffusers or the weights are missing, or the mesh is empty.
    """
    with warnings.catch_warnings():
        # diffusers' Heun scheduler converts arrays in a way that numpy deprecates.
        warnings.simplefilter("ignore", DeprecationWarning)
        pipeline = _load(weights, download=download).to(device)
        pipeline.set_progress_bar_config(disable=True)
        generator = torch.Generator("cpu").manual_seed(seed)
        latents = pipeline(
            prompt, num_inference_steps=steps, guidance_scale=15.0, generator=generator,
            output_type="latent",
        ).images  # fmt: skip
    try:
        with torch.no_grad():
            made = pipeline.shap_e_renderer.decode_to_mesh(latents[:1], latents.device)
    except (ArithmeticError, RuntimeError, ValueError):  # colours of no vertices
        raise PriorError(f"{prompt!r}: Shap-E made no surface; try another seed") from None
    if not len(made.faces):
        raise PriorError(f"{prompt!r}: Shap-E made no surface; try another seed")
    vertices = made.verts.detach().double().cpu().numpy()
    channels = [made.vertex_channels[name].detach().double().cpu().numpy() for name in "RGB"]
    # Shap-E has Z up.
    turned = np.stack((vertices[:, 0], vertices[:, 2], -vertices[:, 1]), axis=1)
    return turned, made.faces.cpu().numpy(), np.stack(channels, axis=1).clip(0.0, 1.0)


@contextmanager
def _network(*, allowed: bool) -> Iterator[None]:
    """Let huggingface_hub reach nothing while the block runs, where it is not allowed to.

    `local_files_only` is not enough: once a day, the library fetches a list of coding agents before
    it looks at its files.
    """
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = before or not allowed
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _load(weights: Path | None, *, download: bool) -> Any:
    kind = find_class("diffusers", "ShapEPipeline", "Shap-E")
    if weights is not None:
        folder = open_folder(weights)
        if folder.pipeline != "ShapEPipeline":
            raise PriorError(f"{weights}: must be a ShapEPipeline, got {folder.pipeline}")
        for part in ("prior", "text_encoder", "shap_e_renderer"):
            folder.weights(part)
        return kind.from_pretrained(str(weights), use_safetensors=True, local_files_only=True)
    try:
        with _network(allowed=download):
            return kind.from_pretrained(HUB, use_safetensors=True, local_files_only=not download)
    except (OSError, ValueError) as error:
        said = textwrap.shorten(str(error), 160)
        missing = "Shap-E's weights are missing: give --weights FOLDER, or --download to fetch"
        raise PriorError(
            f"{HUB} cannot be fetched: {said}" if download else f"{missing} {HUB}"
        ) from None
