"""The Warp rasterizer against its definition, `rasterize_reference`, in values and in gradients."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from akd.splat import rules
from akd.splat.raster_tiles import TileRaster
from tests.splat.splat_clouds import (
    LEAVES,
    as_single,
    assert_same,
    differentiate,
    random_call,
    rasterize,
    reference,
)

KINDS = {
    "ordinary": {},
    "one bone": {"bones": 1, "influences": 1},
    "many influences": {"influences": 7, "bones": 9},
    "a layer of colours a frame": {"layers": 2},
    "across the camera": {"depth": (-1.0, 1.5)},
    "beyond the edges": {"side": 6.0, "scale": (0.1, 0.8)},
    "huge": {"scale": (1.0, 30.0)},
    "tiny": {"scale": (1e-5, 1e-3)},
    "needles": {"scale": (1e-4, 1.0)},
    "close": {"depth": (0.02, 0.4), "side": 0.2, "scale": (0.002, 0.05)},
}


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_images_and_gradients_are_those_of_the_reference(kind: str, threads: int) -> None:
    call = random_call(**KINDS[kind])
    slow = differentiate(reference, call)
    fast = differentiate(lambda **c: rasterize(threads=threads, **c), as_single(call))
    assert float(slow.transmittance.min()) < 0.9, "the cloud must be in view"
    assert_same(fast, slow, image=2e-5, gradient=3e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_kernels_made_for_cuda_agree_with_the_reference(kind: str) -> None:
    call = random_call(**KINDS[kind])
    slow = differentiate(reference, call)
    fast = differentiate(lambda **c: rasterize(tiles=True, **c), as_single(call))
    assert_same(fast, slow, image=2e-5, gradient=3e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "needles"])
@pytest.mark.parametrize("tiles", [False, True])
def test_antialiased_images_are_those_of_the_reference(kind: str, tiles: bool) -> None:
    call = random_call(**KINDS[kind]) | {"antialias": True}
    slow = differentiate(reference, call)
    fast = differentiate(lambda **c: rasterize(tiles=tiles, **c), as_single(call))
    assert_same(fast, slow, image=3e-5, gradient=1e-3)


def test_antialiased_splats_smaller_than_a_pixel_keep_their_light() -> None:
    # A Gaussian of variance v, far below the low-pass 0.3, lights 2 pi sqrt(det) pixels' worth.
    call = as_single(random_call(1, frames=1, bones=1, influences=1, width=21, height=21))
    call["camera_from_mesh"] = torch.eye(4)[None, None, :3]
    call["means"] = torch.tensor([[0.0, 0.0, 2.0]])
    call["opacities"] = torch.tensor([1.0])
    call["intrinsics"] = torch.tensor([[40.0, 40.0, 10.5, 10.5]])

    def light(pixels: float, antialias: bool) -> float:
        call["factors"] = pixels / 20.0 * torch.eye(3)[None]
        return float((1.0 - rasterize(**call, antialias=antialias)[1]).sum())

    expected = 2.0 * math.pi * 0.2**2
    assert light(0.2, True) == pytest.approx(expected, rel=0.15)
    assert light(0.2, False) > 5.0 * expected


def test_ordinary_clouds_agree_to_single_precision() -> None:
    call = random_call(200, seed=3)
    fast = differentiate(rasterize, as_single(call))
    assert_same(fast, differentiate(reference, call), image=3e-6, gradient=1e-5)


def test_clouds_behind_the_camera_leave_nothing() -> None:
    call = as_single(random_call(depth=(-4.0, -1.0)))
    out = differentiate(rasterize, call)
    assert float(out.image.abs().max()) == 0.0
    assert float(out.transmittance.min()) == 1.0
    assert all(float(g.abs().max()) == 0.0 for g in out.gradients.values())


def test_opaque_stacks_stop_where_the_reference_stops() -> None:
    # 150 nearly opaque Gaussians over one another: the rule of rules.STOP decides the image.
    call = random_call(150, side=0.1, scale=(0.2, 0.4))
    call["opacities"] = torch.full_like(call["opacities"], 0.97)
    slow = differentiate(reference, call)
    assert float(slow.transmittance.min()) < 1e-3
    assert float(slow.transmittance.min()) > rules.STOP
    assert_same(differentiate(rasterize, as_single(call)), slow, image=1e-5, gradient=3e-4)


def test_alpha_is_clamped_and_a_clamped_alpha_has_no_gradient() -> None:
    call = random_call(1, side=0.0, scale=(3.0, 4.0), frames=1)
    call["opacities"] = torch.ones(1, dtype=torch.float64)
    slow = differentiate(reference, call)
    assert math.isclose(float(slow.transmittance.min()), 1.0 - rules.ALPHA_MAX, rel_tol=1e-6)
    assert_same(differentiate(rasterize, as_single(call)), slow)


def test_gaussians_below_the_ground_are_switched_off() -> None:
    call = random_call(frames=1)
    plane = torch.tensor([[0.0, -1.0, 0.0, 0.1]], dtype=torch.float64)
    slow = differentiate(lambda **c: reference(grounds=plane, **c), call)
    fast = differentiate(lambda **c: rasterize(grounds=plane, **c), as_single(call))
    assert_same(fast, slow, image=1e-5, gradient=1e-4)
    without = differentiate(reference, call)
    assert float((without.transmittance - slow.transmittance).abs().max()) > 0.1


def test_groups_of_frames_do_not_change_the_pictures_made_by_tiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = as_single(random_call(frames=5)) | {"tiles": True}
    together = differentiate(rasterize, call)
    original = TileRaster.__init__
    monkeypatch.setattr(TileRaster, "__init__", lambda s, i: original(s, i, tile=16, group=300))
    apart = differentiate(rasterize, call)
    assert torch.equal(together.image, apart.image)
    for name in LEAVES:
        a, b = apart.gradients[name], together.gradients[name]
        assert float((a - b).norm()) < 1e-5 * float(b.norm()), name


@pytest.mark.parametrize("frames", [1, 5, 8])
def test_repeats_are_equal_bit_for_bit(frames: int) -> None:
    call = as_single(random_call(300, frames=frames))
    first = differentiate(lambda **c: rasterize(threads=2, **c), call)
    for _ in range(10):
        again = differentiate(lambda **c: rasterize(threads=2, **c), call)
        assert torch.equal(first.image, again.image)
        for name in LEAVES:
            assert torch.equal(first.gradients[name], again.gradients[name]), name


@pytest.mark.parametrize("tiles", [False, True])
def test_bone_gradients_alone_equal_those_with_everything_else(tiles: bool) -> None:
    call = as_single(random_call()) | {"tiles": tiles}
    everything = differentiate(rasterize, call)
    leaf = call["camera_from_mesh"].clone().requires_grad_()
    image, transmittance = rasterize(**(call | {"camera_from_mesh": leaf}))
    g = torch.Generator().manual_seed(5)
    pull = [
        torch.randn(x.shape, generator=g, dtype=torch.float64).float()
        for x in (image, transmittance)
    ]
    (only,) = torch.autograd.grad((image, transmittance), leaf, pull)
    assert torch.equal(only, everything.gradients["camera_from_mesh"])


def test_equal_depths_are_drawn_in_the_order_of_the_cloud() -> None:
    call = as_single(random_call(2, frames=1, bones=1, influences=1, side=0.0, scale=(0.3, 0.31)))
    call["camera_from_mesh"] = torch.eye(4)[None, None, :3]
    call["means"] = torch.tensor([[0.0, 0.0, 2.0], [0.0, 0.0, 2.0]])
    call["opacities"] = torch.tensor([0.9, 0.9])
    call["colours"] = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    image, _ = rasterize(**call)
    middle = image[0, 14, 19]
    assert float(middle[0]) > 5.0 * float(middle[1]) > 0.0


def test_empty_clouds_and_empty_sequences_give_empty_pictures() -> None:
    call = as_single(random_call(4))
    none = {k: v[:0] for k, v in call.items() if k in ("means", "factors", "opacities")}
    none |= {"bones": call["bones"][:0], "weights": call["weights"][:0]}
    none |= {"colours": call["colours"][:, :0]}
    image, transmittance = rasterize(**(call | none))
    assert image.shape == (2, 29, 37, 3)
    assert float(image.abs().sum()) == 0.0
    assert float(transmittance.min()) == 1.0


def test_a_wrong_shape_and_a_wrong_call_are_refused() -> None:
    call = as_single(random_call(4))
    with pytest.raises(ValueError, match=r"one layer or one per frame \(2\), got 3"):
        rasterize(**(call | {"colours": call["colours"].expand(3, -1, -1)}))
    with pytest.raises(Exception, match="means"):
        rasterize(**(call | {"means": call["means"][:, :2]}))


magnitudes = st.floats(-38.0, 38.0).map(lambda e: 10.0**e)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(magnitudes, magnitudes, magnitudes, st.integers(0, 1000))
def test_no_finite_input_gives_a_nan(size: float, far: float, pull: float, seed: int) -> None:
    call = as_single(random_call(12, seed=seed, width=9, height=7))
    call["means"] = (call["means"] * far).clamp(-3e38, 3e38)
    call["factors"] = (call["factors"] * size).clamp(-3e38, 3e38)
    leaves = {k: call[k].clone().requires_grad_() for k in LEAVES}
    image, transmittance = rasterize(**(call | leaves))
    assert torch.isfinite(image).all()
    assert torch.isfinite(transmittance).all()
    loss = (image * min(pull, 1e6)).sum() + transmittance.sum()
    for name, g in zip(LEAVES, torch.autograd.grad(loss, leaves.values()), strict=True):
        assert not torch.isnan(g).any(), name
