"""Wan 2.1 and 2.2: text to video, and the 5B that takes an image as well."""

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
    by_channel,
    own_latents,
    require_size,
    stack_extra,
    stack_text,
)
from akd.prior.large.text import Padding, TextRecipe
from akd.prior.protocol import Condition


class FamilyWan(Family):
    """Latents [B, C, t, h, w]; flow matching. Wan 2.2 A14B has one network for much noise and one
    for little; TI2V-5B takes a time for every token, so that a first frame can be given."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        config, vae = parts.networks[0].config, parts.vae.config
        self.time, self.space = int(vae.scale_factor_temporal), int(vae.scale_factor_spatial)
        self.patch = tuple(config.patch_size)
        self.times_per_token = bool(parts.index.get("expand_timesteps", False))
        if config.get("image_dim") is not None or config.in_channels != vae.z_dim:
            raise PriorError(
                f"{parts.where}: Wan's image-to-video networks ({config.in_channels} channels for "
                f"latents of {vae.z_dim}) are not supported; T2V and TI2V-5B are"
            )
        self.boundary = parts.index.get("boundary_ratio")
        if (self.boundary is None) != (len(parts.networks) == 1):
            raise PriorError(
                f"{parts.where}: boundary_ratio and transformer_2 must be given together, got "
                f"boundary_ratio {self.boundary} and {len(parts.networks)} network(s)"
            )
        require_size(parts, (self.time, self.space * self.patch[1], self.space * self.patch[2]))
        self.text = TextRecipe(512, Padding.ZERO)
        self.takes_reference_image = self.times_per_token
        self.needs_reference_image = False

    @staticmethod
    def own_size(network: dict[str, Any], vae: dict[str, Any]) -> VideoSize:
        """81 x 480 x 832 at 16 frames a second; TI2V-5B 121 x 704 x 1280 at 24."""
        del network
        if int(vae.get("scale_factor_spatial", 8)) == 16:
            return VideoSize(121, 704, 1280, 24.0)
        return VideoSize(81, 480, 832, 16.0)

    def encode(self, video: Float[Tensor, "B 3 T H W"]) -> Float[Tensor, "B C t h w"]:
        """Normalised latents."""
        latents, config = own_latents(self.parts, video), self.parts.vae.config
        return (latents - by_channel(config.latents_mean, latents)) / by_channel(
            config.latents_std, latents
        )

    def decode(self, latents: Float[Tensor, "B C t h w"]) -> Float[Tensor, "B 3 T H W"]:
        """Videos."""
        config = self.parts.vae.config
        plain = latents * by_channel(config.latents_std, latents)
        plain = plain + by_channel(config.latents_mean, latents)
        return self.parts.vae.decode(plain.to(self.parts.dtype)).sample.float()

    def encode_image(self, image: Float[Tensor, "1 3 1 H W"]) -> dict[str, Tensor]:
        """Latents of the first frame as [C, 1, h, w]."""
        with torch.no_grad():
            return {"image": self.encode(image)[0]}

    def predict(self, latents: Tensor, time: Tensor, conditions: Sequence[Condition]) -> Tensor:
        """The flow."""
        if self.boundary is None:
            return self.run(self.parts.networks[0], latents, time, conditions)
        noisy = time >= self.boundary * self.parts.schedule.steps
        result = torch.empty_like(latents, dtype=torch.float32)
        for network, rows in zip(self.parts.networks, (noisy, ~noisy), strict=True):
            if rows.any():
                chosen = [c for c, row in zip(conditions, rows.tolist(), strict=True) if row]
                result[rows] = self.run(network, latents[rows], time[rows], chosen)
        return result

    def run(
        self, network: Any, latents: Tensor, time: Tensor, conditions: Sequence[Condition]
    ) -> Tensor:
        """One network's flow."""
        dtype = self.parts.dtype
        first = stack_extra(conditions, "image")
        if first is not None:
            latents = torch.cat((first.to(latents), latents[:, :, 1:]), dim=2)
        if self.times_per_token:
            tokens = latents[:, 0, :, :: self.patch[1], :: self.patch[2]]
            times = time.to(tokens).view(-1, 1, 1, 1).expand(tokens.shape).clone()
            if first is not None:
                times[:, 0] = 0.0
            time = times.flatten(1)
        return network(
            hidden_states=latents.to(dtype),
            timestep=time,
            encoder_hidden_states=stack_text(conditions, dtype),
            return_dict=False,
        )[0].float()

    def settle(self, clean: Tensor, conditions: Sequence[Condition]) -> Tensor:
        """A given first frame is what it is."""
        first = stack_extra(conditions, "image")
        if first is None:
            return clean
        return torch.cat((first.to(clean), clean[:, :, 1:]), dim=2)
