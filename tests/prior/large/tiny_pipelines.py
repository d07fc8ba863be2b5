"""The real classes of every family, a few kilobytes each, with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from akd.prior.large.load import load_planned
from akd.prior.large.plan import plan_prior
from akd.prior.large.prior import PriorDiffusers
from akd.prior.large.settings import LargeSettings
from akd.prior.source import PriorSource


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
        case "wan2.2" | "wan2.2-wide":
            # The wide one has the published ratios: channels by eights that double.
            wide = family == "wan2.2-wide"
            return seeded(
                lambda: diffusers.AutoencoderKLWan(
                    base_dim=8 if wide else 4,
                    decoder_base_dim=4,
                    z_dim=8,
                    dim_mult=[1, 2, 4, 4] if wide else [1, 1, 1, 1],
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


WORDS = [
    "a",
    "fox",
    "walking",
    "man",
    "running",
    "dog",
    "on",
    "the",
    "ground",
    "side",
    "view",
    "low",
    "quality",
]


def t5_tokenizer() -> Any:
    """A T5 tokenizer that knows a dozen words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import T5TokenizerFast

    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [("▁" + word, -float(i + 1)) for i, word in enumerate(WORDS)]
    core = Tokenizer(models.Unigram(pieces, unk_id=2))
    core.normalizer = normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    from tokenizers.processors import TemplateProcessing

    core.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return T5TokenizerFast(tokenizer_object=core, extra_ids=0)


def clip_tokenizer(folder: Path) -> Any:
    """A CLIP tokenizer that knows letters and a dozen words."""
    from transformers import CLIPTokenizer

    letters = sorted(set("".join(WORDS)))
    pieces = letters + [letter + "</w>" for letter in letters]
    merges: list[str] = []
    pieces += ["<|startoftext|>", "<|endoftext|>"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({p: i for i, p in enumerate(pieces)}))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges))
    return CLIPTokenizer.from_pretrained(folder, model_max_length=77)


def t5_encoder() -> Any:
    """A T5 encoder of width 16."""
    from transformers import T5Config, T5EncoderModel

    config = T5Config(
        vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2,
        feed_forward_proj="gated-gelu",
    )  # fmt: skip
    return seeded(lambda: T5EncoderModel(config))


def umt5_encoder() -> Any:
    """The encoder of Wan."""
    from transformers import UMT5Config, UMT5EncoderModel

    config = UMT5Config(vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)
    return seeded(lambda: UMT5EncoderModel(config))


def clip_encoder() -> Any:
    """A CLIP text encoder of width 16."""
    from transformers import CLIPTextConfig, CLIPTextModel

    config = CLIPTextConfig(
        vocab_size=64, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, bos_token_id=0, eos_token_id=1, pad_token_id=1,
    )  # fmt: skip
    return seeded(lambda: CLIPTextModel(config))


def cogvideox(*, rotary: bool, picture: bool) -> Any:
    """CogVideoX: sines (2B), rotary (5B), rotary with learned positions and an image (I2V)."""
    import diffusers

    network = seeded(
        lambda: diffusers.CogVideoXTransformer3DModel(
            num_attention_heads=2,
            attention_head_dim=16,
            in_channels=8 if picture else 4,
            out_channels=4,
            time_embed_dim=8,
            text_embed_dim=16,
            num_layers=2,
            sample_width=4,
            sample_height=4,
            sample_frames=9,
            max_text_seq_length=8,
            use_rotary_positional_embeddings=rotary,
            use_learned_positional_embeddings=picture,
        )
    )
    scheduler = diffusers.CogVideoXDDIMScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        prediction_type="v_prediction",
        rescale_betas_zero_snr=True,
        timestep_spacing="trailing",
        snr_shift_scale=1.0 if rotary else 3.0,
        set_alpha_to_one=True,
    )
    kind = diffusers.CogVideoXImageToVideoPipeline if picture else diffusers.CogVideoXPipeline
    return kind(
        tokenizer=t5_tokenizer(),
        text_encoder=t5_encoder(),
        vae=autoencoder("cogvideox"),
        transformer=network,
        scheduler=scheduler,
    )


def wan_network(channels: int, seed: int = 0) -> Any:
    """Wan's transformer, two blocks."""
    import diffusers

    return seeded(
        lambda: diffusers.WanTransformer3DModel(
            patch_size=(1, 2, 2),
            num_attention_heads=2,
            attention_head_dim=16,
            in_channels=channels,
            out_channels=channels,
            text_dim=16,
            freq_dim=16,
            ffn_dim=32,
            num_layers=2,
            cross_attn_norm=True,
            qk_norm="rms_norm_across_heads",
            rope_max_seq_len=32,
        ),
        seed,
    )


def wan(version: str) -> Any:
    """Wan 2.1, 2.2 with two networks (`a14b`) or 2.2 with a time for every token (`5b`)."""
    import diffusers

    small = version == "5b"
    return diffusers.WanPipeline(
        tokenizer=t5_tokenizer(),
        text_encoder=umt5_encoder(),
        vae=autoencoder("wan2.2" if small else "wan2.1"),
        scheduler=diffusers.UniPCMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0
        ),
        transformer=wan_network(8 if small else 16),
        transformer_2=wan_network(16, seed=1) if version == "a14b" else None,
        boundary_ratio=0.875 if version == "a14b" else None,
        expand_timesteps=small,
    )


def ltx() -> Any:
    """LTX-Video."""
    import diffusers

    network = seeded(
        lambda: diffusers.LTXVideoTransformer3DModel(
            in_channels=8,
            out_channels=8,
            num_attention_heads=2,
            attention_head_dim=16,
            cross_attention_dim=32,
            num_layers=2,
            caption_channels=16,
        )
    )
    return diffusers.LTXPipeline(
        tokenizer=t5_tokenizer(),
        text_encoder=t5_encoder(),
        vae=autoencoder("ltx"),
        transformer=network,
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(
            use_dynamic_shifting=True, base_shift=0.95, max_shift=2.05,
            base_image_seq_len=1024, max_image_seq_len=4096, shift_terminal=0.1,
        ),
    )  # fmt: skip


def picture_network() -> Any:
    """The network of Stable Diffusion 1.5."""
    import diffusers

    return seeded(
        lambda: diffusers.UNet2DConditionModel(
            block_out_channels=(8, 8),
            layers_per_block=1,
            sample_size=8,
            in_channels=4,
            out_channels=4,
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=16,
            norm_num_groups=2,
            attention_head_dim=4,
        )
    )


def animatediff(folder: Path) -> Any:
    """AnimateDiff: an image model joined with motion modules."""
    import diffusers

    unet = picture_network()
    motion = seeded(
        lambda: diffusers.MotionAdapter(
            block_out_channels=(8, 8),
            motion_layers_per_block=1,
            motion_norm_num_groups=2,
            motion_num_attention_heads=2,
        )
    )
    return diffusers.AnimateDiffPipeline(
        vae=autoencoder("animatediff"),
        text_encoder=clip_encoder(),
        tokenizer=clip_tokenizer(folder / "clip"),
        unet=unet,
        motion_adapter=motion,
        scheduler=diffusers.DDIMScheduler(
            beta_start=0.00085, beta_end=0.012, beta_schedule="linear", clip_sample=False
        ),
    )


NAMES = (
    "cogvideox-2b", "cogvideox-5b", "cogvideox-5b-i2v", "wan2.1", "wan2.2-a14b", "wan2.2-5b",
    "ltx", "animatediff",
)  # fmt: skip

SIZES = {
    "cogvideox-2b": (9, 32, 32),
    "cogvideox-5b": (9, 32, 32),
    "cogvideox-5b-i2v": (9, 32, 32),
    "wan2.1": (9, 32, 48),
    "wan2.2-a14b": (9, 32, 32),
    "wan2.2-5b": (9, 64, 32),
    "ltx": (9, 32, 32),
    "animatediff": (3, 16, 16),
}
"""Frames, height, width that each is tried at."""


def build(name: str, folder: Path) -> Any:
    """A pipeline by name; `folder` is for what must be written on the way."""
    match name:
        case "cogvideox-2b":
            return cogvideox(rotary=False, picture=False)
        case "cogvideox-5b":
            return cogvideox(rotary=True, picture=False)
        case "cogvideox-5b-i2v":
            return cogvideox(rotary=True, picture=True)
        case "wan2.1":
            return wan("2.1")
        case "wan2.2-a14b":
            return wan("a14b")
        case "wan2.2-5b":
            return wan("5b")
        case "ltx":
            return ltx()
        case "animatediff":
            return animatediff(folder)
        case other:
            raise ValueError(other)


def load_prior(
    name: str | Path,
    *,
    settings: LargeSettings | None = None,
    device: torch.device | str = "cpu",
    cache: Path | None = None,
    **source: Any,
) -> PriorDiffusers:
    """A large prior by name or folder; `source` are fields of `PriorSource`."""
    plan = plan_prior(PriorSource(name, **source), settings=settings, device=device)
    return load_planned(plan, cache=cache)
