"""`Family`: the interface between a family of video models and `PriorDiffusers`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from akd.prior.large.encoder.vae import encode_moments, mean_of
from akd.prior.large.errors import PriorError
from akd.prior.large.schedulers import Schedule
from akd.prior.large.settings import LargeSettings
from akd.prior.large.text import TextRecipe
from akd.prior.protocol import Condition


@dataclass(frozen=True)
class VideoSize:
    """Frames, pixels and frames a second of a video."""

    frames: int
    height: int
    width: int
    fps: float


@dataclass
class Parts:
    """Loaded parts of a pipeline."""

    where: str
    """Named in errors."""
    networks: list[Any]
    """The network; for Wan 2.2 A14B the one for much noise and the one for little."""
    vae: Any
    schedule: Schedule
    settings: LargeSettings
    size: VideoSize
    index: dict[str, Any] = field(default_factory=dict)
    """model_index.json."""

    @property
    def dtype(self) -> torch.dtype:
        """Working precision."""
        return getattr(torch, self.settings.precision)


class Family(ABC):
    """One family of models. Latents have the layout of the family's own pipeline."""

    text: TextRecipe
    takes_reference_image: bool = False
    needs_reference_image: bool = False

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @staticmethod
    @abstractmethod
    def own_size(network: dict[str, Any], vae: dict[str, Any]) -> VideoSize:
        """The size the model was trained at, from the configs of network and autoencoder."""

    @abstractmethod
    def encode(self, video: Float[Tensor, "B 3 T H W"]) -> Tensor:
        """Normalised latents of videos in -1..1."""

    @abstractmethod
    def decode(self, latents: Tensor) -> Float[Tensor, "B 3 T H W"]:
        """Videos of normalised latents."""

    @abstractmethod
    def predict(self, latents: Tensor, time: Tensor, conditions: Sequence[Condition]) -> Tensor:
        """The network's prediction for noisy latents, one time and condition a row."""

    def encode_image(self, image: Float[Tensor, "1 3 1 H W"]) -> dict[str, Tensor]:
        """Network inputs for a reference image in -1..1; none unless the family takes one."""
        del image
        return {}

    def settle(self, clean: Tensor, conditions: Sequence[Condition]) -> Tensor:
        """The clean estimate with what is known (a given first frame) put in."""
        del conditions
        return clean


def stack_text(conditions: Sequence[Condition], dtype: torch.dtype) -> Float[Tensor, "B L D"]:
    """Embeddings of all rows."""
    return torch.stack([condition.text for condition in conditions]).to(dtype)


def stack_extra(conditions: Sequence[Condition], name: str) -> Tensor | None:
    """A tensor that every condition has, over all rows; None if none has it."""
    found = [condition.extra.get(name) for condition in conditions]
    given = [tensor for tensor in found if tensor is not None]
    if not given:
        return None
    if len(given) != len(found):
        raise ValueError(f"either every condition or none must have {name!r}")
    return torch.stack(given)


def own_latents(parts: Parts, video: Float[Tensor, "B 3 T H W"]) -> Float[Tensor, "B C t h w"]:
    """Means of the posterior, not yet normalised, in float32."""
    return mean_of(encode_moments(parts.vae, video.to(parts.dtype), parts.settings)).float()


def by_channel(values: Any, like: Tensor) -> Tensor:
    """A value a channel, shaped for [B, C, t, h, w]."""
    return torch.as_tensor(values, dtype=like.dtype, device=like.device).view(1, -1, 1, 1, 1)


def require_size(parts: Parts, units: tuple[int, int, int]) -> None:
    """Frames that fit the compression in time, and pixels that fit the patches of the model.

    Args:
        parts: What was loaded.
        units: Frames are a multiple of the first plus one; height and width of the others.
    """
    size, (time, *space) = parts.size, units
    if size.frames < 1 or size.frames % time != 1 % time:
        raise PriorError(
            f"{parts.where}: frames must be a multiple of {time} plus one, got {size.frames}"
        )
    for name, value, unit in zip(
        ("height", "width"), (size.height, size.width), space, strict=True
    ):
        if value <= 0 or value % unit:
            raise PriorError(f"{parts.where}: {name} must be a multiple of {unit}, got {value}")
