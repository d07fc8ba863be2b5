"""LTX-Video."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor

from akd.prior.large.families.base import (
    Family,
    Parts,
    VideoSize,
    by_channel,
    own_latents,
    require_size,
    stack_extra,
    stack_text,
)
from akd.prior.large.text import Padding, TextRecipe
from akd.prior.protocol import Condition


class FamilyLtx(Family):
    """Latents [B, C, t, h, w], packed to tokens for the network; flow matching."""

    text = TextRecipe(128, Padding.MASKED)

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        config = parts.networks[0].config
        self.time = int(parts.vae.temporal_compression_ratio)
        self.space = int(parts.vae.spatial_compression_ratio)
        self.patch, self.patch_time = int(config.patch_size), int(config.patch_size_t)
        require_size(parts, (self.time, self.space * self.patch, self.space * self.patch))

    @staticmethod
    def own_size(network: dict[str, Any], vae: dict[str, Any]) -> VideoSize:
        """161 x 512 x 704 at 25 frames a second."""
        del network, vae
        return VideoSize(161, 512, 704, 25.0)

    def encode(self, video: Float[Tensor, "B 3 T H W"]) -> Float[Tensor, "B C t h w"]:
        """Normalised latents."""
        latents, vae = own_latents(self.parts, video), self.parts.vae
        spread = by_channel(vae.latents_std, latents) / vae.config.scaling_factor
        return (latents - by_channel(vae.latents_mean, latents)) / spread

    def decode(self, latents: Float[Tensor, "B C t h w"]) -> Float[Tensor, "B 3 T H W"]:
        """Videos."""
        vae = self.parts.vae
        plain = latents * by_channel(vae.latents_std, latents) / vae.config.scaling_factor
        plain = (plain + by_channel(vae.latents_mean, latents)).to(self.parts.dtype)
        # The decoder of later versions removes the last of the noise; here there is none.
        asks = vae.config.timestep_conditioning
        time = plain.new_zeros(len(plain)) if asks else None
        return vae.decode(plain, time).sample.float()

    def predict(self, latents: Tensor, time: Tensor, conditions: Sequence[Condition]) -> Tensor:
        """The flow."""
        _, _, frames, height, width = latents.shape
        p, q = self.patch, self.patch_time
        split = latents.unflatten(4, (-1, p)).unflatten(3, (-1, p)).unflatten(2, (-1, q))
        tokens = split.permute(0, 2, 4, 6, 1, 3, 5, 7).flatten(4, 7).flatten(1, 3)
        dtype = self.parts.dtype
        flow = self.parts.networks[0](
            hidden_states=tokens.to(dtype),
            encoder_hidden_states=stack_text(conditions, dtype),
            timestep=time,
            encoder_attention_mask=stack_extra(conditions, "mask"),
            num_frames=frames // q,
            height=height // p,
            width=width // p,
            rope_interpolation_scale=(self.time / self.parts.size.fps, self.space, self.space),
            return_dict=False,
        )[0].float()
        grid = flow.reshape(len(flow), frames // q, height // p, width // p, -1, q, p, p)
        return grid.permute(0, 4, 1, 5, 2, 6, 3, 7).flatten(6, 7).flatten(4, 5).flatten(2, 3)
