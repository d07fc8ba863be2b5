"""The real classes of every family, a few kilobytes each, with random weights."""

from __future__ import annotations

from typing import Any

import torch


def seeded(build, seed: int = 0) -> Any:
    """A module with the same random weights every time, none of them zero."""
    torch.manual_seed(seed)
    module = build().eval()
    for parameter in module.parameters():
        # Gates and biases start at zero; a zero would hide whatever they multiply.
        if parameter.detach().abs().max() == 0:
            torch.nn.init.normal_(parameter, std=0.1)
    return module


def autoencoder(family: str) -> Any:
    """A tiny autoencoder of a family."""
    import diffusers

    match family:
        case "cogvideox":
            return seeded(
                lambda: diffusers.AutoencoderKLCogVideoX(
                    block_out_channels=(8, 8, 8, 8),
                    latent_channels=4,
                    layers_per_block=1,
                    norm_num_groups=2,
                    sample_height=32,
                    sample_width=32,
                )
            )
        case "wan2.1":
            return seeded(
                lambda: diffusers.AutoencoderKLWan(
                    base_dim=4,
                    z_dim=16,
                    dim_mult=[1, 1, 1, 1],
                    num_res_blocks=1,
                    temperal_downsample=[False, True, True],
                )
            )
        case "wan2.2":
            return seeded(
                lambda: diffusers.AutoencoderKLWan(
                    base_dim=4,
                    decoder_base_dim=4,
                    z_dim=8,
                    dim_mult=[1, 1, 1, 1],
                    num_res_blocks=1,
                    temperal_downsample=[False, True, True],
                    latents_mean=[0.1 * i for i in range(8)],
                    latents_std=[1.0 + 0.1 * i for i in range(8)],
                    is_residual=True,
                    in_channels=12,
                    out_channels=12,
                    patch_size=2,
                    scale_factor_temporal=4,
                    scale_factor_spatial=16,
                )
            )
        case "ltx" | "ltx-0.9.5":
            return seeded(lambda: ltx_autoencoder(new=family == "ltx-0.9.5"))
        case "animatediff":
            return seeded(
                lambda: diffusers.AutoencoderKL(
                    block_out_channels=(8, 8),
                    down_block_types=("DownEncoderBlock2D",) * 2,
                    up_block_types=("UpDecoderBlock2D",) * 2,
                    latent_channels=4,
                    norm_num_groups=2,
                    scaling_factor=0.18215,
                )
            )
        case other:
            raise ValueError(other)


def ltx_autoencoder(*, new: bool) -> Any:
    """LTX-Video's autoencoder before and since 0.9.5."""
    import diffusers

    shared: dict[str, Any] = {
        "latent_channels": 8,
        "patch_size": 1,
        "patch_size_t": 1,
        "encoder_causal": True,
        "decoder_causal": False,
    }
    if new:
        return diffusers.AutoencoderKLLTXVideo(
            block_out_channels=(8, 8, 8, 8),
            decoder_block_out_channels=(8, 8, 8),
            layers_per_block=(1, 1, 1, 1),
            decoder_layers_per_block=(1, 1, 1, 1),
            spatio_temporal_scaling=(True, True, True),
            decoder_spatio_temporal_scaling=(True, True, True),
            decoder_inject_noise=(False, False, False, False),
            down_block_types=("LTXVideo095DownBlock3D",) * 3,
            downsample_type=("spatial", "temporal", "spatiotemporal"),
            upsample_residual=(True, True, True),
            upsample_factor=(1, 1, 1),
            **shared,
        )
    return diffusers.AutoencoderKLLTXVideo(
        block_out_channels=(8, 8, 8, 8),
        decoder_block_out_channels=(8, 8, 8, 8),
        layers_per_block=(1, 1, 1, 1, 1),
        decoder_layers_per_block=(1, 1, 1, 1, 1),
        spatio_temporal_scaling=(True, True, False, False),
        decoder_spatio_temporal_scaling=(True, True, False, False),
        decoder_inject_noise=(False, False, False, False, False),
        upsample_residual=(False, False, False, False),
        upsample_factor=(1, 1, 1, 1),
        timestep_conditioning=False,
        **shared,
    )
