"""CogVideoX 2B and 5B, from text and from an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from akd.prior.large.errors import PriorError
from akd.prior.large.families.base import (
    Family,
    Parts,
    VideoSize,
    own_latents,
    require_size,
    stack_extra,
    stack_text,
)
from akd.prior.large.text import Padding, TextRecipe
from akd.prior.protocol import Condition


class FamilyCogVideoX(Family):
    """Latents [B, t, C, h, w]; predicts the velocity. The 2B has learned positions, the 5B
    rotary ones; the image variants take the first frame's latents as further channels."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        config, size = parts.networks[0].config, parts.size
        if config.get("patch_size_t") is not None:
            raise PriorError(
                f"{parts.where}: CogVideoX 1.5 (patch_size_t {config.patch_size_t}) is not "
                f"supported; CogVideoX-2b, -5b and -5b-I2V are"
            )
        levels = len(parts.vae.config.block_out_channels) - 1
        self.space, self.time = 2**levels, int(parts.vae.config.temporal_compression_ratio)
        self.patch = int(config.patch_size)
        require_size(parts, (self.time, self.space * self.patch, self.space * self.patch))
        own = self.own_size(dict(config), dict(parts.vae.config))
        if config.get("use_learned_positional_embeddings") and (
            (size.frames, size.height, size.width) != (own.frames, own.height, own.width)
        ):
            raise PriorError(
                f"{parts.where}: its positions are learned, so that the size must be "
                f"{own.frames} x {own.height} x {own.width}, got "
                f"{size.frames} x {size.height} x {size.width}"
            )
        self.text = TextRecipe(int(config.max_text_seq_length), Padding.ENCODED)
        self.takes_reference_image = config.in_channels == 2 * parts.vae.config.latent_channels
        self.needs_reference_image = self.takes_reference_image
        self.rotary = self.rotations() if config.use_rotary_positional_embeddings else None

    @staticmethod
    def own_size(network: dict[str, Any], vae: dict[str, Any]) -> VideoSize:
        """49 x 480 x 720 at 8 frames a second for the published ones."""
        space = 2 ** (len(vae["block_out_channels"]) - 1)
        return VideoSize(
            int(network["sample_frames"]),
            int(network["sample_height"]) * space,
            int(network["sample_width"]) * space,
            8.0,
        )

    def rotations(self) -> tuple[Tensor, Tensor]:
        """Cosines and sines of the rotary positions of every token."""
        from diffusers.models.embeddings import get_3d_rotary_pos_embed
        from diffusers.pipelines.cogvideo.pipeline_cogvideox import (
            get_resize_crop_region_for_grid,
        )

        config, size = self.parts.networks[0].config, self.parts.size
        unit = self.space * self.patch
        grid = size.height // unit, size.width // unit
        region = get_resize_crop_region_for_grid(
            grid, config.sample_width // self.patch, config.sample_height // self.patch
        )
        cosines, sines = get_3d_rotary_pos_embed(
            embed_dim=config.attention_head_dim,
            crops_coords=region,
            grid_size=grid,
            temporal_size=(size.frames - 1) // self.time + 1,
        )
        return cosines, sines

    def encode(self, video: Float[Tensor, "B 3 T H W"]) -> Float[Tensor, "B t C h w"]:
        """Normalised latents."""
        latents = own_latents(self.parts, video) * self.parts.vae.config.scaling_factor
        return latents.transpose(1, 2)

    def decode(self, latents: Float[Tensor, "B t C h w"]) -> Float[Tensor, "B 3 T H W"]:
        """Videos."""
        plain = latents.transpose(1, 2) / self.parts.vae.config.scaling_factor
        return self.parts.vae.decode(plain.to(self.parts.dtype)).sample.float()

    def encode_image(self, image: Float[Tensor, "1 3 1 H W"]) -> dict[str, Tensor]:
        """Latents of the first frame, zero for the others, as [t, C, h, w]."""
        with torch.no_grad():
            first = own_latents(self.parts, image).transpose(1, 2)[0]
        factor = self.parts.vae.config.scaling_factor
        # One published model was trained with the factor the wrong way round and says so.
        first = first / factor if self.parts.vae.config.invert_scale_latents else first * factor
        count = (self.parts.size.frames - 1) // self.time
        return {"image": torch.cat((first, first.new_zeros(count, *first.shape[1:])))}

    def predict(self, latents: Tensor, time: Tensor, conditions: Sequence[Condition]) -> Tensor:
        """The velocity."""
        (network,), dtype = self.parts.networks, self.parts.dtype
        images = stack_extra(conditions, "image")
        given = latents if images is None else torch.cat((latents, images.to(latents)), dim=2)
        rotary = None
        if self.rotary is not None:
            self.rotary = (self.rotary[0].to(latents.device), self.rotary[1].to(latents.device))
            rotary = self.rotary
        return network(
            hidden_states=given.to(dtype),
            encoder_hidden_states=stack_text(conditions, dtype),
            timestep=time,
            image_rotary_emb=rotary,
            return_dict=False,
        )[0].float()
