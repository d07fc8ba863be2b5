"""What only a GPU does: products in 8 bits, compiled norms, weights brought in block by block."""

from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_pipelines import autoencoder, build
from torch import nn

from akd.prior.large.frozen import NormAct
from akd.prior.large.load import load_prior, prepare_autoencoder
from akd.prior.large.quantise import LinearFp8
from akd.prior.large.settings import FAST, LargeSettings, Recompute
from akd.prior.large.vae import encode_moments

pytestmark = pytest.mark.gpu
GPU = "cuda"


def test_products_in_eight_bits() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(256, 512, device=GPU, dtype=torch.bfloat16).requires_grad_(False)
    x = torch.randn(3, 40, 256, device=GPU, dtype=torch.bfloat16)
    wanted = layer(x).float()
    found = LinearFp8(layer, multiply=True)(x).float()
    assert float((found - wanted).norm() / wanted.norm()) < 0.06


@pytest.mark.parametrize("order", [torch.channels_last_3d, torch.contiguous_format])
def test_compiled_norms(order: torch.memory_format) -> None:
    norm = nn.GroupNorm(4, 16, device=GPU).requires_grad_(False)
    x = torch.randn(1, 16, 5, 24, 24, device=GPU).contiguous(memory_format=order)
    x.requires_grad_()
    for fused in ("eager", "compiled"):
        found = NormAct(norm, fused=fused)(x)
        torch.testing.assert_close(found, nn.functional.silu(norm(x)), rtol=1e-4, atol=1e-4)
        (slope,) = torch.autograd.grad(found.square().sum(), x)
        (wanted,) = torch.autograd.grad(nn.functional.silu(norm(x)).square().sum(), x)
        torch.testing.assert_close(slope, wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("family", ["cogvideox", "wan2.2"])
def test_fast_encoder(family: str) -> None:
    plain = autoencoder(family).to(GPU).requires_grad_(False)
    fast = prepare_autoencoder(autoencoder(family).to(GPU).requires_grad_(False), FAST)
    generator = torch.Generator(GPU).manual_seed(0)
    pixels = torch.rand(1, 3, 17, 32, 32, device=GPU, generator=generator).requires_grad_()
    kept = LargeSettings(recompute=Recompute.NOTHING)
    again = LargeSettings(recompute=Recompute.CHUNKS, caches_on_cpu=True)
    wanted = plain.encode(pixels).latent_dist.parameters
    (slope,) = torch.autograd.grad(wanted.square().sum(), pixels)
    for settings in (kept, again):
        found = encode_moments(fast, pixels, settings)
        torch.testing.assert_close(found, wanted, rtol=1e-2, atol=1e-2)
        (gradient,) = torch.autograd.grad(found.square().sum(), pixels)
        away = float((gradient - slope).norm() / slope.norm())
        assert away < 0.02


def test_offload_changes_nothing(tmp_path: Path) -> None:
    build("wan2.1", tmp_path).save_pretrained(tmp_path / "pipeline")
    options: dict[str, Any] = {"frames": 9, "height": 32, "width": 32, "device": GPU,
                               "cache": tmp_path / "cache"}  # fmt: skip
    results = []
    for offload in (False, True):
        settings = LargeSettings(precision="float32", offload=offload)
        prior = load_prior(tmp_path / "pipeline", settings=settings, **options)
        noisy = torch.randn(1, 16, 3, 4, 4, generator=torch.Generator().manual_seed(0)).to(GPU)
        t = torch.tensor([0.5], device=GPU)
        results.append(prior.predict(noisy, t, [prior.condition("a fox")]))
    torch.testing.assert_close(*results, rtol=1e-3, atol=1e-3)
