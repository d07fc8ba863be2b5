"""What only a GPU does, as plain functions: `test_gpu.py` runs them, and so does

    PYTHONPATH=src python -m tests.prior.large.gpu_checks

on a machine with a GPU and without pytest.
"""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from akd.prior.large.encoder.convolve import FrozenConvolution, Shape, choices
from akd.prior.large.encoder.frozen import NormAct
from akd.prior.large.encoder.vae import encode_moments
from akd.prior.large.families.base import VideoSize
from akd.prior.large.load import prepare_autoencoder
from akd.prior.large.memory import encoder_bytes
from akd.prior.large.quantise import LinearFp8
from akd.prior.large.settings import FAST, LEAN, Convolutions, LargeSettings, Recompute
from tests.prior.large.tiny_pipelines import autoencoder, build, load_prior

GPU = "cuda"


def products_in_eight_bits() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(256, 512, device=GPU, dtype=torch.bfloat16).requires_grad_(False)
    x = torch.randn(3, 40, 256, device=GPU, dtype=torch.bfloat16)
    wanted = layer(x).float()
    found = LinearFp8(layer, multiply=True)(x).float()
    assert float((found - wanted).norm() / wanted.norm()) < 0.06


def compiled_norms() -> None:
    for order in (torch.channels_last_3d, torch.contiguous_format):
        norm = nn.GroupNorm(4, 16, device=GPU).requires_grad_(False)
        x = torch.randn(1, 16, 5, 24, 24, device=GPU).contiguous(memory_format=order)
        x.requires_grad_()
        for fused in ("eager", "compiled"):
            found = NormAct(norm, fused=fused)(x)
            torch.testing.assert_close(found, nn.functional.silu(norm(x)), rtol=1e-4, atol=1e-4)
            (slope,) = torch.autograd.grad(found.square().sum(), x)
            (wanted,) = torch.autograd.grad(nn.functional.silu(norm(x)).square().sum(), x)
            torch.testing.assert_close(slope, wanted, rtol=1e-3, atol=1e-3)


def every_way_to_convolve() -> None:
    """In bfloat16 against float64, and the search finds one of them."""
    torch.manual_seed(0)
    conv = nn.Conv3d(32, 48, 3, padding=(0, 1, 1)).double().requires_grad_(False)
    x = torch.randn(1, 32, 7, 20, 24, dtype=torch.float64).requires_grad_()
    wanted = conv(x)
    weights = torch.randn_like(wanted)
    (slope,) = torch.autograd.grad(wanted, x, weights)
    order = torch.channels_last_3d
    given = x.detach().to(GPU, torch.bfloat16).contiguous(memory_format=order).requires_grad_()
    weight = conv.weight.to(GPU, torch.bfloat16).contiguous(memory_format=order)
    bias = conv.bias.to(GPU, torch.bfloat16)  # pyright: ignore[reportOptionalMemberAccess]
    choices.clear()
    for way in Convolutions:
        found: Any = FrozenConvolution.apply(given, weight, bias, Shape.of(conv, way))
        (gradient,) = torch.autograd.grad(found, given, weights.to(GPU, torch.bfloat16))
        for ours, theirs in ((found, wanted.detach()), (gradient, slope)):
            away = float((ours.detach().double().cpu() - theirs).norm() / theirs.norm())
            assert away < 0.01, (way, away)
    assert {way for choice in choices.values() for way in choice.milliseconds} == {
        "direct", "frames", "turned", "turned frames"
    }  # fmt: skip


def fast_encoder(family: str) -> None:
    """`FAST` and `LEAN` layers give what diffusers encodes, and its gradient."""
    plain = autoencoder(family).to(GPU).requires_grad_(False)
    generator = torch.Generator(GPU).manual_seed(0)
    pixels = torch.rand(1, 3, 17, 32, 32, device=GPU, generator=generator).requires_grad_()
    wanted = plain.encode(pixels).latent_dist.parameters
    (slope,) = torch.autograd.grad(wanted.square().sum(), pixels)
    kept = LargeSettings(recompute=Recompute.NOTHING)
    again = LargeSettings(recompute=Recompute.CHUNKS, caches_on_cpu=True)
    for preset in (FAST, LEAN):
        fast = prepare_autoencoder(autoencoder(family).to(GPU).requires_grad_(False), preset)
        for settings in (kept, again):
            found = encode_moments(fast, pixels, settings)
            torch.testing.assert_close(found, wanted, rtol=1e-2, atol=1e-2)
            (gradient,) = torch.autograd.grad(found.square().sum(), pixels)
            away = float((gradient - slope).norm() / slope.norm())
            assert away < 0.02, (preset, away)


def little_memory() -> None:
    """What `LEAN` holds at its fullest: a few frames handed on must not keep whole gradients."""
    vae = autoencoder("cogvideox").to(GPU).requires_grad_(False)
    prepare_autoencoder(vae, LEAN)
    pixels = torch.rand(1, 3, 25, 512, 512, device=GPU).requires_grad_()
    settings = replace(LEAN, precision="float32")
    encode_moments(vae, pixels, settings).square().sum().backward()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    encode_moments(vae, pixels, settings).square().sum().backward()
    most = torch.cuda.max_memory_allocated() - before
    empty = autoencoder("cogvideox").to("meta").requires_grad_(False)
    _, expected = encoder_bytes(empty, VideoSize(25, 512, 512, 8.0), settings)
    print(f"  at most {most / 2**20:.0f} MiB, expected {expected / 2**20:.0f}", flush=True)
    assert most < 1.2 * expected, (most, expected)


def offload_changes_nothing(folder: Path) -> None:
    build("wan2.1", folder).save_pretrained(folder / "pipeline")
    options: dict[str, Any] = {"frames": 9, "height": 32, "width": 32, "device": GPU,
                               "cache": folder / "cache"}  # fmt: skip
    results = []
    for offload in (False, True):
        settings = LargeSettings(precision="float32", offload=offload)
        prior = load_prior(folder / "pipeline", settings=settings, **options)
        noisy = torch.randn(1, 16, 3, 4, 4, generator=torch.Generator().manual_seed(0)).to(GPU)
        t = torch.tensor([0.5], device=GPU)
        results.append(prior.predict(noisy, t, [prior.condition("a fox")]))
    torch.testing.assert_close(*results, rtol=1e-3, atol=1e-3)


def main() -> int:
    """Run all of them; how many failed."""
    checks: list[tuple[str, Callable[[], None]]] = [
        ("products in eight bits", products_in_eight_bits),
        ("every way to convolve", every_way_to_convolve),
        ("compiled norms", compiled_norms),
        ("fast encoder, cogvideox", lambda: fast_encoder("cogvideox")),
        ("fast encoder, wan2.2", lambda: fast_encoder("wan2.2-wide")),
        ("little memory", little_memory),
        ("offload", lambda: offload_changes_nothing(Path(tempfile.mkdtemp()))),
    ]
    failed = 0
    for name, check in checks:
        begin = time.perf_counter()
        try:
            check()
            told = "ok"
        except Exception:
            told = f"FAILED\n{traceback.format_exc()}"
            failed += 1
        print(f"{name}: {told} ({time.perf_counter() - begin:.1f} s)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
