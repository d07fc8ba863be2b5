"""One step of a large prior (encoding with its gradient, one guided prediction): time and memory.

    python -m benchmarks.prior --device cuda            about two and a half minutes on an H200
    python -m benchmarks.prior --device cuda --models cog --only fast,lean,eighths
    python -m benchmarks.prior --device cpu --tiny      the same code on networks of a few kilobytes

Full-size networks with random weights, made on the device: published weights are not needed and
were not run. `plain` is what one writes with diffusers: its own layers, eager, the encoder
checkpointed. FLOPs are counted on shapes alone, each needed operation once: work done again to save
memory counts for nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from akd.prior.estimate import Prediction
from akd.prior.guidance import predict_guided
from akd.prior.large.encoder.convolve import choices
from akd.prior.large.encoder.vae import chunks_after_first, mean_of, patched, wan_step
from akd.prior.large.families.base import Parts, VideoSize
from akd.prior.large.families.cogvideox import FamilyCogVideoX
from akd.prior.large.families.wan import FamilyWan
from akd.prior.large.folder import PipelineFolder
from akd.prior.large.load import prepare_autoencoder, prepare_network
from akd.prior.large.memory import encoder_bytes, prediction_bytes
from akd.prior.large.prior import PriorDiffusers
from akd.prior.large.quantise import quantise
from akd.prior.large.schedulers import Schedule
from akd.prior.large.settings import FAST, LEAN, Convolutions, LargeSettings
from akd.prior.protocol import Condition

GIB = 2**30
BF16_LIMIT = 989.5e12
"""FLOP/s of an H100 or H200 (SXM) in bfloat16, without sparsity, by its data sheet."""
FP8_LIMIT = 1979.0e12
BEGIN = time.perf_counter()
ROWS: list[str] = []
"""Of the table that is printed at the end."""


@dataclass
class Model:
    """A network and an autoencoder by their published configurations."""

    name: str
    network: str
    network_config: dict[str, Any]
    vae: str
    vae_config: dict[str, Any]
    size: VideoSize
    tokens: int
    """Length of the text."""
    width: int
    """Width of the text's embedding."""
    flops: dict[str, float]
    """Of one guided pair and of the encoder with its gradient, as `--count` counts them."""


COGVIDEOX_5B = Model(
    "CogVideoX-5B",
    "CogVideoXTransformer3DModel",
    {
        "num_attention_heads": 48, "attention_head_dim": 64, "in_channels": 16,
        "out_channels": 16, "num_layers": 42, "sample_width": 90, "sample_height": 60,
        "sample_frames": 49, "patch_size": 2, "temporal_compression_ratio": 4,
        "max_text_seq_length": 226, "text_embed_dim": 4096, "time_embed_dim": 512,
        "use_rotary_positional_embeddings": True,
    },
    "AutoencoderKLCogVideoX",
    {
        "block_out_channels": [128, 256, 256, 512], "latent_channels": 16, "layers_per_block": 3,
        "norm_num_groups": 32, "temporal_compression_ratio": 4, "scaling_factor": 0.7,
    },
    VideoSize(49, 480, 720, 8.0),
    226,
    4096,
    {"products": 338.24e12, "attention": 326.16e12, "encoder": 297.93e12},
)  # fmt: skip

WAN22_5B = Model(
    "Wan2.2-TI2V-5B",
    "WanTransformer3DModel",
    {
        "patch_size": [1, 2, 2], "num_attention_heads": 24, "attention_head_dim": 128,
        "in_channels": 48, "out_channels": 48, "text_dim": 4096, "freq_dim": 256,
        "ffn_dim": 14336, "num_layers": 30, "cross_attn_norm": True,
        "qk_norm": "rms_norm_across_heads",
    },
    "AutoencoderKLWan",
    {
        "base_dim": 160, "decoder_base_dim": 256, "z_dim": 48, "dim_mult": [1, 2, 4, 4],
        "num_res_blocks": 2, "temperal_downsample": [False, True, True], "is_residual": True,
        "in_channels": 12, "out_channels": 12, "patch_size": 2, "scale_factor_temporal": 4,
        "scale_factor_spatial": 16, "latents_mean": [0.0] * 48, "latents_std": [1.0] * 48,
    },
    VideoSize(121, 704, 1280, 24.0),
    512,
    4096,
    {"products": 482.33e12, "attention": 558.98e12, "encoder": 765.28e12},
)  # fmt: skip


def tiny(model: Model) -> Model:
    """A few kilobytes of the same kind, to try this script without a GPU."""
    network, vae = dict(model.network_config), dict(model.vae_config)
    network |= {"num_attention_heads": 2, "attention_head_dim": 16, "num_layers": 2}
    if model is COGVIDEOX_5B:
        network |= {"sample_width": 4, "sample_height": 4, "sample_frames": 9}
        network |= {"text_embed_dim": 16, "max_text_seq_length": 8}
        vae |= {"block_out_channels": [8, 8, 8, 8], "layers_per_block": 1, "norm_num_groups": 2}
        return replace(model, network_config=network, vae_config=vae,
                       size=VideoSize(9, 32, 32, 8.0), tokens=8, width=16)  # fmt: skip
    network |= {"text_dim": 16, "ffn_dim": 32, "freq_dim": 16}
    vae |= {"base_dim": 4, "decoder_base_dim": 4, "dim_mult": [1, 1, 1, 1], "num_res_blocks": 1}
    return replace(model, network_config=network, vae_config=vae,
                   size=VideoSize(9, 64, 64, 24.0), tokens=8, width=16)  # fmt: skip


def say(text: str) -> None:
    print(f"[{time.perf_counter() - BEGIN:6.1f} s] {text}", flush=True)


def build(kind: str, config: dict[str, Any], device: torch.device) -> Any:
    """A module with random weights, made on the device in bfloat16."""
    import diffusers

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            module = getattr(diffusers, kind)(**config)
    finally:
        torch.set_default_dtype(before)
    return module.eval().requires_grad_(False)


def schedule_for(model: Model) -> Schedule:
    if "Wan" in model.name:
        return Schedule(Prediction.FLOW, 1000)
    return Schedule(Prediction.V, 1000, torch.linspace(0.9999, 0.01, 1000, dtype=torch.float64))


def prior_of(model: Model, network: Any, vae: Any, settings: LargeSettings) -> PriorDiffusers:
    parts = Parts(model.name, [network], vae, schedule_for(model), settings, model.size,
                  {"expand_timesteps": "Wan" in model.name})  # fmt: skip
    family = (FamilyWan if "Wan" in model.name else FamilyCogVideoX)(parts)
    nowhere = PipelineFolder(Path(), {})
    return PriorDiffusers(model.name, family, nowhere, device=next(vae.parameters()).device)


def condition_for(model: Model, device: torch.device) -> Condition:
    words = torch.randn(2, model.tokens, model.width, device=device, dtype=torch.bfloat16)
    return Condition(words[0], None, {"negative": words[1]})


def count_flops(model: Model) -> dict[str, float]:
    """FLOPs of matrix products, attention and the encoder, for one pair and one gradient."""
    meta = torch.device("meta")
    found = {}
    layers = model.network_config["num_layers"]
    shapes = []
    for few in (1, 2):
        network = build(model.network, model.network_config | {"num_layers": few}, meta)
        vae = build(model.vae, model.vae_config, meta)
        prior = prior_of(model, network, vae, LargeSettings())
        shape = latent_shape(model)
        with FlopCounterMode(display=False) as counter, contextlib.suppress(NotImplementedError):
            latents = torch.empty(1, *shape, device=meta)
            time_told = torch.zeros(1, device=meta)
            with torch.no_grad():
                prior.family.predict(latents, time_told, [condition_for(model, meta)])
        shapes.append({str(k): v for k, v in counter.get_flop_counts()["Global"].items()})
    for name in set(shapes[0]) | set(shapes[1]):
        one, two = shapes[0].get(name, 0), shapes[1].get(name, 0)
        kind = "products" if "mm" in name and "bmm" not in name else "attention"
        kind = "products" if "conv" in name else kind
        found[kind] = found.get(kind, 0.0) + 2.0 * (one + (layers - 1) * (two - one))
    vae = build(model.vae, model.vae_config, meta)
    size = model.size
    video = torch.empty(1, 3, size.frames, size.height, size.width, device=meta,
                        dtype=torch.bfloat16)  # fmt: skip
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        vae.encode(video)
    # The gradient of the input takes as many again; none of the weights is asked for.
    found["encoder"] = 2.0 * counter.get_total_flops()
    return found


def latent_shape(model: Model) -> tuple[int, ...]:
    size, config = model.size, model.vae_config
    frames = (size.frames - 1) // 4 + 1
    if "Wan" in model.name:
        return config["z_dim"], frames, size.height // 16, size.width // 16
    return frames, config["latent_channels"], size.height // 8, size.width // 8


class Clock:
    """Times of the parts of a step, the device waited for."""

    def __init__(self, device: torch.device) -> None:
        self.device, self.parts = device, {}

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        self.wait()
        begin = time.perf_counter()
        yield
        self.wait()
        self.parts[name] = self.parts.get(name, 0.0) + time.perf_counter() - begin

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


Encode = Callable[[Tensor], Tensor]
Predict = Callable[[Tensor, Tensor, float], Tensor]
"""(noisy latents, t, scale of guidance) to the clean estimate."""
GUIDANCE = 100.0


@dataclass
class Outcome:
    """What a step gives: to be compared between implementations."""

    clean: Tensor
    """Guided estimate."""
    unguided: Tensor | None
    """Estimate without words."""
    noisy: Tensor
    """What was predicted from."""
    difference: Tensor
    """What was handed back to the encoder."""
    gradient: Tensor
    """Of the pixels."""


def one_step(
    clock: Clock, model: Model, prior: PriorDiffusers, encode: Encode, predict: Predict,
    *, other: Outcome | None = None, compared: bool = False,
) -> Outcome:  # fmt: skip
    """Encode, add noise, predict, hand the difference back to the pixels.

    With another outcome given, its noisy latents are predicted from and its difference is handed
    back, so that results can be compared part by part. `compared` asks for an estimate without
    guidance as well.
    """
    size, device = model.size, clock.device
    generator = torch.Generator(device).manual_seed(0)
    video = torch.rand(1, size.frames, size.height, size.width, 3, device=device,
                       generator=generator).requires_grad_()  # fmt: skip
    with clock.part("encode"):
        latents = encode(video)
    noise = torch.randn(latents.shape, device=device, generator=generator)
    t = torch.tensor([0.5], device=device)
    with torch.no_grad():
        noisy = prior.add_noise(latents, noise, t) if other is None else other.noisy.to(device)
    with clock.part("predict"):
        clean = predict(noisy, t, GUIDANCE)
    unguided = predict(noisy, t, 0.0) if compared else None
    difference = latents.detach() - clean if other is None else other.difference.to(device)
    with clock.part("gradient"):
        latents.backward(difference)
    assert video.grad is not None
    if not bool(torch.isfinite(video.grad).all()):
        say("  the gradient is not finite")
    return Outcome(clean, unguided, noisy, difference, video.grad)


def measure(
    label: str, model: Model, prior: PriorDiffusers, encode: Encode, predict: Predict,
    flops: dict[str, float], *, fp8: bool, repeats: int = 1, other: Outcome | None = None,
) -> Outcome:  # fmt: skip
    """Print time, memory and FLOP/s of the best of a few steps, after one to warm up."""
    device = prior.device
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    begin = time.perf_counter()
    outcome = one_step(Clock(device), model, prior, encode, predict,
                       other=other, compared=True)  # fmt: skip
    for name, tensor in vars(outcome).items():
        setattr(outcome, name, tensor.cpu())
    say(f"{model.name} {label}: first step (with compilation) {time.perf_counter() - begin:.1f} s")
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    best: dict[str, float] = {}
    for _ in range(repeats):
        clock = Clock(device)
        one_step(clock, model, prior, encode, predict)
        if not best or sum(clock.parts.values()) < sum(best.values()):
            best = clock.parts
    peak = torch.cuda.max_memory_allocated() / GIB if device.type == "cuda" else float("nan")
    held = torch.cuda.max_memory_reserved() / GIB if device.type == "cuda" else float("nan")
    encoder = best["encode"] + best["gradient"]
    say(
        f"{model.name} {label}: step {sum(best.values()):.3f} s = prediction {best['predict']:.3f}"
        f" + encoder {encoder:.3f} ({best['encode']:.3f} forward, {best['gradient']:.3f} gradient)"
        f"; peak {peak:.1f} GiB allocated, {held:.1f} reserved"
    )
    pair = flops.get("products", 0.0) + flops.get("attention", 0.0)
    limit = flops.get("products", 0.0) / (FP8_LIMIT if fp8 else BF16_LIMIT)
    limit += flops.get("attention", 0.0) / BF16_LIMIT
    say(
        f"  prediction {pair / 1e12:.0f} TFLOP at {pair / best['predict'] / 1e12:.0f} TFLOP/s, "
        f"{100 * limit / best['predict']:.0f}% of the limit; encoder "
        f"{flops['encoder'] / 1e12:.0f} TFLOP at {flops['encoder'] / encoder / 1e12:.0f} TFLOP/s, "
        f"{100 * flops['encoder'] / BF16_LIMIT / encoder:.0f}% of the limit"
    )
    ROWS.append(
        f"| {model.name}, {label} | {sum(best.values()):.2f} s | {best['predict']:.2f} s, "
        f"{100 * limit / best['predict']:.0f} % of the limit | {best['encode']:.2f} + "
        f"{best['gradient']:.2f} s, {100 * flops['encoder'] / BF16_LIMIT / encoder:.0f} % | "
        f"{peak:.1f} GiB ({held:.1f} with the allocator's own) |"
    )
    return outcome


def plain_encode(model: Model, vae: Any, prior: PriorDiffusers) -> Encode:
    """diffusers' own encoder, eager, checkpointed."""
    if "Wan" not in model.name:
        vae.enable_gradient_checkpointing()

        def encode(video: Tensor) -> Tensor:
            pixels = prior.pixels(video).to(torch.bfloat16)
            return vae.encode(pixels).latent_dist.mode().float().transpose(1, 2) * 0.7

        return encode

    # diffusers cannot checkpoint this one: a checkpoint around each of its chunks of four frames.
    step = wan_step(vae)

    def encode_wan(video: Tensor) -> Tensor:
        pixels = patched(vae, prior.pixels(video).to(torch.bfloat16))
        outputs, caches = [], None
        for begin, end in chunks_after_first(model.size.frames, 4, 4):
            output, caches = checkpoint(step, pixels[:, :, begin:end], caches, use_reentrant=False)  # pyright: ignore
            outputs.append(output)
        return mean_of(vae.quant_conv(torch.cat(outputs, dim=2))).float()

    return encode_wan


def plain_predict(prior: PriorDiffusers, condition: Condition) -> Predict:
    """The pair in one batch through the eager network, with PyTorch's choice of attention."""

    @torch.no_grad()
    def predict(noisy: Tensor, t: Tensor, scale: float) -> Tensor:
        schedule = prior.family.parts.schedule
        told = schedule.model_time(t).repeat(2)
        both = [condition, prior.unconditioned(condition)]
        found = prior.family.predict(torch.cat((noisy, noisy)), told, both)
        alpha, sigma = (float(value) for value in prior.signal(t))
        if schedule.prediction is Prediction.FLOW:
            clean = noisy - sigma * found
        else:
            clean = alpha * noisy - sigma * found
        return clean[1:] + scale * (clean[:1] - clean[1:])

    return predict


def our_predict(prior: PriorDiffusers, condition: Condition) -> Predict:
    def predict(noisy: Tensor, t: Tensor, scale: float) -> Tensor:
        return predict_guided(prior, noisy, t, condition, scale=scale)

    return predict


def agreement(name: str, found: Tensor | None, wanted: Tensor | None) -> None:
    """Direction and size of what changed against the plain implementation."""
    assert found is not None
    assert wanted is not None
    a, b = found.double().flatten(), wanted.double().flatten()
    cosine = float(torch.dot(a, b) / (a.norm() * b.norm()).clamp_min(1e-30))
    away = float((a - b).norm() / b.norm().clamp_min(1e-30))
    say(f"  {name}: cosine with plain {cosine:.5f}, relative difference {away:.4f}")


def run_model(
    model: Model, device: torch.device, until: float, only: set[str], *, count_again: bool
) -> None:
    """Plain, fast, lean, one after the other on the same weights."""
    flops = count_flops(model) if count_again else model.flops
    say(f"{model.name} FLOPs: " + ", ".join(f"{k} {v / 1e12:.0f} T" for k, v in flops.items()))
    for label, settings in (("fast", FAST), ("lean", LEAN)):
        vae = build(model.vae, model.vae_config, torch.device("meta"))
        kept, most = encoder_bytes(vae, model.size, settings)
        pair = prediction_bytes(model.network_config, model.vae_config, model.size, settings)
        say(f"  expected {label}: encoder keeps {kept / GIB:.1f} GiB, at most {most / GIB:.1f}; "
            f"prediction {pair / GIB:.1f}")  # fmt: skip
    network = build(model.network, model.network_config, device)
    vae = build(model.vae, model.vae_config, device)
    count = sum(p.numel() for p in network.parameters()) / 1e9
    say(f"{model.name}: {count:.2f} thousand million weights made")
    condition = condition_for(model, device)

    def left() -> float:
        return until - (time.perf_counter() - BEGIN)

    def guarded(label: str, needed: float, run: Callable[[], Any]) -> Any:
        if label not in only:
            return None
        if left() < needed:
            say(f"{model.name} {label}: left out, {left():.0f} s are left")
            return None
        try:
            return run()
        except Exception:
            say(f"{model.name} {label} failed:\n{traceback.format_exc()}")
            gc.collect()
            if device.type == "cuda":
                torch.cuda.empty_cache()
            return None

    def plain() -> Outcome:
        prior = prior_of(model, network, vae, LargeSettings())
        encode = plain_encode(model, vae, prior)
        return measure("plain", model, prior, encode, plain_predict(prior, condition), flops,
                       fp8=False, repeats=1)  # fmt: skip

    reference: Outcome | None = guarded("plain", 15.0, plain)
    getattr(vae, "disable_gradient_checkpointing", lambda: None)()

    def ours(label: str, settings: LargeSettings) -> bool:
        prepare_autoencoder(vae, settings)
        prior = prior_of(model, network, vae, settings)
        predict = our_predict(prior, condition)
        fp8 = settings.weights.value == "fp8"
        # The smaller model's steps are short: a second one costs little and steadies the number.
        repeats = 2 if model.size.frames < 100 else 1
        result = measure(label, model, prior, prior.encode, predict, flops, fp8=fp8,
                         repeats=repeats, other=reference)  # fmt: skip
        if reference is not None:
            agreement("estimate without guidance", result.unguided, reference.unguided)
            agreement(f"estimate, guidance {GUIDANCE:g}", result.clean, reference.clean)
            agreement("gradient of the pixels", result.gradient, reference.gradient)
        return True

    def quantised() -> bool:
        quantise(network, LEAN.weights, device)
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()
        return True

    if only - {"plain"}:
        prepare_network(network, FAST, device)
    if not guarded("fast", 20.0, lambda: ours("fast", FAST)):
        torch.compiler.set_stance("force_eager")
        guarded("fast", 8.0, lambda: ours("fast, not compiled", FAST))
    print_choices()
    turned = replace(FAST, convolutions=Convolutions.TURNED)
    guarded("turned", 8.0, lambda: ours("fast, convolutions turned and not searched", turned))
    as_before = replace(FAST, convolutions=Convolutions.PLAIN)
    guarded("straight", 8.0, lambda: ours("fast, convolutions by PyTorch alone", as_before))
    if guarded("lean", 18.0, quantised) or guarded("eighths", 18.0, quantised):
        guarded("lean", 15.0, lambda: ours("lean", LEAN))
        eighths = replace(FAST, weights=LEAN.weights)
        guarded("eighths", 14.0, lambda: ours("fast, 8-bit matrices", eighths))


def print_choices() -> None:
    """Which way of convolving was the fastest, and what the others took, by size."""
    if not choices:
        return
    rows: dict[tuple[Any, ...], Any] = {}
    for (_, x, strides, weight, *_), choice in choices.items():
        back = "turned" in choice.milliseconds
        rows[back, x, weight, strides] = choice
    took = sum(choice.seconds for choice in choices.values())
    say(f"{len(choices)} sizes of convolutions, searched in {took:.1f} s; the slowest (ms, the "
        f"fastest way first):")  # fmt: skip
    slowest = sorted(rows.items(), key=lambda row: -min(row[1].milliseconds.values(), default=0.0))
    for (back, x, weight, strides), choice in slowest[:12]:
        times = sorted(choice.milliseconds.items(), key=lambda way: way[1])
        told = ", ".join(f"{name} {needed:.2f}" for name, needed in times)
        order = "" if strides[1] == 1 else " (channels not last)"
        say(f"  {'back' if back else 'forward'} {list(x)}{order} by {list(weight)}: {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small networks, to try the script")
    parser.add_argument("--count", action="store_true", help="count FLOPs again")
    parser.add_argument("--models", default="cogvideox,wan")
    parser.add_argument("--only", default="plain,fast,lean")
    parser.add_argument("--seconds", type=float, default=145.0, help="start nothing after these")
    options = parser.parse_args()
    device = torch.device(options.device)
    import diffusers

    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    say(f"torch {torch.__version__}, diffusers {diffusers.__version__}, {name}")
    for limit in ("recompile_limit", "cache_size_limit"):
        if hasattr(torch._dynamo.config, limit):
            setattr(torch._dynamo.config, limit, 64)
    chosen = [m for m in (COGVIDEOX_5B, WAN22_5B) if m.name.split("-")[0].lower()[:3]
              in {part[:3] for part in options.models.split(",")}]  # fmt: skip
    for number, model in enumerate(chosen):
        torch.compiler.set_stance("default")
        # The first model may use its share of the time, the last one all that is left.
        until = options.seconds * (number + 1) / len(chosen) + (8.0 if number == 0 else 0.0)
        try:
            run_model(
                tiny(model) if options.tiny else model,
                device,
                until,
                set(options.only.split(",")),
                count_again=options.count or options.tiny,
            )
        except Exception:
            say(f"{model.name} failed:\n{traceback.format_exc()}")
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()
    say("done")
    if ROWS:
        print("\n| | step | guided pair | encoder, forward + gradient | peak |")
        print("| --- | --- | --- | --- | --- |", *ROWS, sep="\n", flush=True)


if __name__ == "__main__":
    main()
