"""Contact sheets: what the prior makes, one video a row, the reference image first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.files import write_atomically
from akd.prior.protocol import Condition
from akd.prior.sample import sample_latents
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.pool import Pool
from akd.prior.tiny.prior import PriorTiny
from akd.scene.video import to_bytes


def write_rows(
    path: Path,
    reference_images: Float[Tensor, "K H W 3"],
    videos: Float[Tensor, "K T H W 3"],
    *,
    captions: Sequence[str] = (),
    every: int = 2,
    zoom: int = 1,
) -> Path:
    """Write a PNG; images are sRGB 0..1. `captions` are written into the rows' first images."""
    from PIL import Image, ImageDraw

    rows = torch.cat((reference_images[:, None], videos[:, ::every]), dim=1)
    pixels = to_bytes(rows.detach()).cpu().numpy()
    pixels = np.concatenate([np.concatenate(list(row), axis=1) for row in pixels], axis=0)
    pixels = np.kron(pixels, np.ones((zoom, zoom, 1), dtype=np.uint8))
    image = Image.fromarray(pixels)
    draw = ImageDraw.Draw(image)
    for k, text in enumerate(captions):
        draw.text((2, k * zoom * reference_images.shape[1] + 1), text, fill=(0, 0, 0))
    with write_atomically(path) as file:
        image.save(file, "PNG")
    return path


@torch.no_grad()
def write_sheet(network: TinyNetwork, videos: Pool, path: Path, *, rows: int, steps: int) -> Path:
    """Samples for captions and reference images of the pool, each below the true video."""
    # A draw of its own: how often sheets are written must not change the training.
    draw = torch.Generator(videos.device).manual_seed(0)
    batch = videos.batch(rows, generator=draw)
    prior = PriorTiny(network)
    with torch.autocast(videos.device.type, torch.bfloat16):
        conditions = [
            Condition(text, 0.5 * image + 0.5)
            for text, image in zip(network.text(batch.tokens), batch.reference_images, strict=True)
        ]
        noise = torch.randn(batch.videos.shape, generator=draw, device=videos.device)
        clean = sample_latents(prior, conditions, noise, steps=steps, scale=3.0)
    both = torch.stack((batch.videos, clean), dim=1).flatten(0, 1)
    images = batch.reference_images.repeat_interleave(2, dim=0)
    return write_rows(path, 0.5 * images + 0.5, 0.5 * both + 0.5)
