"""AnimateDiff: an image model with motion modules, predicting the noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor

from akd.prior.large.errors import PriorError
from akd.prior.large.families.base import (
    Family,
    Parts,
    VideoSize,
    own_latents,
    require_size,
    stack_text,
)
from akd.prior.large.text import Padding, TextRecipe
from akd.prior.protocol import Condition


class FamilyAnimateDiff(Family):
    """Latents [B, C, T, h, w], one a frame; the base model of the paper's ablation is of its
    kind."""

    text = TextRecipe(77, Padding.ENCODED)

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        config, size = parts.networks[0].config, parts.size
        self.space = 2 ** (len(parts.vae.config.block_out_channels) - 1)
        unit = self.space * 2 ** (len(config.block_out_channels) - 1)
        most = int(config.get("motion_max_seq_length") or 32)
        if not 1 <= size.frames <= most:
            raise PriorError(f"{parts.where}: frames must lie in 1..{most}, got {size.frames}")
        require_size(parts, (1, unit, unit))

    @staticmethod
    def own_size(network: dict[str, Any], vae: dict[str, Any]) -> VideoSize:
        """16 x 512 x 512 at 8 frames a second."""
        side = int(network.get("sample_size") or 64) * 2 ** (len(vae["block_out_channels"]) - 1)
        return VideoSize(16, side, side, 8.0)

    def encode(self, video: Float[Tensor, "B 3 T H W"]) -> Float[Tensor, "B C T h w"]:
        """Normalised latents."""
        return own_latents(self.parts, video) * self.parts.vae.config.scaling_factor

    def decode(self, latents: Float[Tensor, "B C T h w"]) -> Float[Tensor, "B 3 T H W"]:
        """Videos."""
        plain = (latents / self.parts.vae.config.scaling_factor).to(self.parts.dtype)
        frames = self.parts.vae.decode(plain.transpose(1, 2).flatten(0, 1)).sample
        return frames.float().unflatten(0, (len(latents), -1)).transpose(1, 2)

    def predict(self, latents: Tensor, time: Tensor, conditions: Sequence[Condition]) -> Tensor:
        """The noise."""
        dtype = self.parts.dtype
        words = stack_text(conditions, dtype).repeat_interleave(latents.shape[2], dim=0)
        network = self.parts.networks[0]
        return network(latents.to(dtype), time, encoder_hidden_states=words).sample.float()
