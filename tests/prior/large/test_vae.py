"""Chunks, recomputation and frozen layers change neither the latents nor their gradient."""

import copy

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from akd.prior.large.encoder import normed
from akd.prior.large.encoder.convolve import FrozenConvolution, Shape, order_of
from akd.prior.large.encoder.frozen import NormAct, freeze
from akd.prior.large.encoder.vae import chunks_after_first, encode_moments, own_chunks
from akd.prior.large.errors import PriorError
from akd.prior.large.settings import Convolutions, LargeSettings, Recompute
from tests.prior.large.tiny_pipelines import autoencoder

FAMILIES = ("cogvideox", "wan2.1", "wan2.2", "wan2.2-wide", "ltx", "ltx-0.9.5", "animatediff")
FRAMES = 17
PLAIN = LargeSettings(recompute=Recompute.NOTHING, frozen_kernels=False)


def video(size: int = 32) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.rand(1, 3, FRAMES, size, size, generator=generator, dtype=torch.float64) * 2 - 1


def with_gradient(function, pixels: Tensor) -> tuple[Tensor, Tensor]:
    pixels = pixels.clone().requires_grad_()
    result = function(pixels)
    weights = torch.sin(torch.arange(result.numel(), dtype=result.dtype)).reshape(result.shape)
    (result * weights).sum().backward()
    assert pixels.grad is not None
    return result.detach(), pixels.grad


def by_diffusers(vae, pixels: Tensor) -> Tensor:
    if type(vae).__name__ == "AutoencoderKL":
        moments = vae.encode(pixels.transpose(1, 2).flatten(0, 1)).latent_dist.parameters
        return moments.unflatten(0, (len(pixels), -1)).transpose(1, 2)
    return vae.encode(pixels).latent_dist.parameters


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("chunk", [1, 8])
def test_chunks_are_what_diffusers_encodes(family: str, chunk: int) -> None:
    vae = autoencoder(family).double().requires_grad_(False)
    wanted, slope = with_gradient(lambda x: by_diffusers(vae, x), video())
    for recompute in Recompute:
        settings = LargeSettings(recompute=recompute)
        found, gradient = with_gradient(
            lambda x, s=settings: encode_moments(vae, x, s, chunk=chunk), video()
        )
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
        torch.testing.assert_close(gradient, slope, rtol=1e-9, atol=1e-12 * slope.abs().max())
        assert slope.abs().max() > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_recomputation_changes_no_bit(family: str) -> None:
    vae = autoencoder(family).requires_grad_(False)
    pixels = video().float()
    kept = with_gradient(lambda x: encode_moments(vae, x, PLAIN), pixels)
    for on_cpu in (False, True):
        settings = LargeSettings(recompute=Recompute.CHUNKS, caches_on_cpu=on_cpu)
        again = with_gradient(lambda x, s=settings: encode_moments(vae, x, s), pixels)
        assert torch.equal(kept[0], again[0])
        torch.testing.assert_close(again[1], kept[1], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("channels_last", "way"), [(False, Convolutions.PLAIN), (True, Convolutions.FRAMES)]
)
def test_frozen_layers_give_the_same(family: str, channels_last: bool, way: Convolutions) -> None:
    vae = autoencoder(family).double().requires_grad_(False)
    wanted, slope = with_gradient(lambda x: encode_moments(vae, x, PLAIN), video())
    fused = "eager" if channels_last else ""
    for recompute in Recompute:
        frozen = copy.deepcopy(vae)
        blocks = recompute is Recompute.BLOCKS
        freeze(frozen.encoder, fused=fused, channels_last=channels_last, convolutions=way,
               blocks=blocks)  # fmt: skip
        found, gradient = with_gradient(
            lambda x, v=frozen, r=recompute: encode_moments(v, x, LargeSettings(recompute=r)),
            video(),
        )
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(gradient, slope, rtol=1e-8, atol=1e-10 * slope.abs().max())


class OrderOfInputs(TorchDispatchMode):
    """Notes which convolutions get their input in another order than they work in."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.others = 0, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        del types
        if func is torch.ops.aten.convolution.default:
            self.count += 1
            if not args[0].is_contiguous(memory_format=order_of(args[1])):
                self.others.append(tuple(args[0].shape))
        return func(*args, **(kwargs or {}))


def test_every_convolution_gets_channels_last() -> None:
    """Forward and back: a layer that loses the order costs more than the convolution."""
    vae = autoencoder("cogvideox").requires_grad_(False)
    freeze(vae.encoder, fused="eager", channels_last=True, convolutions=Convolutions.TURNED)
    settings = LargeSettings(recompute=Recompute.NOTHING)
    pixels = video().float().requires_grad_()
    with OrderOfInputs() as seen:
        moments = encode_moments(vae, pixels, settings)
    assert seen.count > 20
    assert seen.others == []
    given = torch.ones_like(moments)
    with OrderOfInputs() as seen:
        moments.backward(given)
    assert seen.count > 20
    # What comes from outside has an order of its own: the last layer's gradient, once a chunk.
    assert seen.others == [(1, 8, 2, 4, 4), (1, 8, 3, 4, 4)]


@pytest.mark.parametrize("family", ["cogvideox", "wan2.2-wide"])
def test_norms_write_where_convolutions_read(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every residual block is worked out that way; the values are compared above."""
    count = []

    def spy(*given):
        count.append(1)
        return found.apply(*given)

    found = normed.NormedConvolution
    monkeypatch.setattr(normed, "NormedConvolution", type("Spy", (), {"apply": staticmethod(spy)}))
    vae = autoencoder(family).requires_grad_(False)
    freeze(vae.encoder, fused="eager", channels_last=True)
    encode_moments(vae, video().float()[:, :, :1], PLAIN)
    blocks = [m for m in vae.encoder.modules() if "ResnetBlock3D" in type(m).__name__
              or type(m).__name__ == "WanResidualBlock"]  # fmt: skip
    assert len(count) == 2 * len(blocks) > 8


def kept_by(vae) -> int:
    """Numbers that encoding keeps for its gradient."""
    seen: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        seen[tensor.data_ptr()] = tensor.numel()
        return tensor

    pixels = video().float().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        held = encode_moments(vae, pixels, PLAIN)
    weights = {p.data_ptr() for p in vae.parameters()}
    del held
    return sum(size for place, size in seen.items() if place not in weights)


@pytest.mark.parametrize("family", FAMILIES)
def test_frozen_layers_keep_less(family: str) -> None:
    vae = autoencoder(family).requires_grad_(False)
    before = kept_by(vae)
    freeze(vae.encoder)
    assert kept_by(vae) < 0.75 * before


def test_recomputed_blocks_keep_less() -> None:
    vae = autoencoder("cogvideox").requires_grad_(False)
    freeze(vae.encoder)
    before = kept_by(vae)
    freeze(vae.encoder, blocks=True)
    assert kept_by(vae) < 0.75 * before
    freeze(vae.encoder)
    assert kept_by(vae) == before


CONVOLUTIONS = {
    "strided": lambda: torch.nn.Conv3d(4, 6, 3, stride=(2, 1, 2), padding=(0, 1, 1), groups=2),
    "causal": lambda: torch.nn.Conv3d(4, 6, 3, padding=(0, 1, 1)),
    "padded in time": lambda: torch.nn.Conv3d(4, 6, (3, 1, 3), padding=(1, 0, 2)),
    "point": lambda: torch.nn.Conv3d(4, 6, 1),
    "picture": lambda: torch.nn.Conv2d(4, 6, 3, padding=1),
    "halving": lambda: torch.nn.Conv2d(4, 6, 3, stride=2),
}


@pytest.mark.parametrize("way", list(Convolutions))
@pytest.mark.parametrize("kind", CONVOLUTIONS)
@pytest.mark.parametrize("channels_last", [False, True])
def test_frozen_convolution_against_the_plain_one(
    kind: str, way: Convolutions, channels_last: bool
) -> None:
    torch.manual_seed(0)
    conv = CONVOLUTIONS[kind]().double()
    flat = isinstance(conv, torch.nn.Conv2d)
    x = torch.randn(2, 4, 7, 6) if flat else torch.randn(2, 4, 5, 7, 6)
    x = x.double()
    if channels_last:
        order = torch.channels_last if flat else torch.channels_last_3d
        x, conv = x.contiguous(memory_format=order), conv.to(memory_format=order)
    x.requires_grad_()
    weight, bias = conv.weight.detach(), conv.bias.detach()

    def run(x: Tensor) -> Tensor:
        return FrozenConvolution.apply(x, weight, bias, Shape.of(conv, way))

    found, wanted = run(x), conv(x)
    torch.testing.assert_close(found, wanted)
    weights = torch.randn_like(wanted)
    (slope,) = torch.autograd.grad(wanted, x, weights)
    (gradient,) = torch.autograd.grad(found, x, weights)
    torch.testing.assert_close(gradient, slope)
    assert gradient.shape == x.shape


def test_every_way_is_a_way_of_its_own() -> None:
    """What `fastest` chooses from: three ways back for a causal convolution, one for halving."""
    from akd.prior.large.encoder import convolve

    tried: list[list[str]] = []

    def note(ways, wish, x, weight, shape):
        tried.append([*ways])
        assert wish in ways
        results = [way() for way in ways.values()]
        for other in results[1:]:
            torch.testing.assert_close(other, results[0])
        return results[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convolve, "run", note)
        for kind in ("causal", "point", "halving"):
            conv = CONVOLUTIONS[kind]().double()
            x = torch.randn(1, 4, 5, 6) if kind == "halving" else torch.randn(1, 4, 5, 6, 7)
            x = x.double().requires_grad_()
            shape = Shape.of(conv, Convolutions.FASTEST)
            FrozenConvolution.apply(x, conv.weight.detach(), None, shape).sum().backward()
    assert tried == [
        ["direct", "frames"], ["direct", "turned", "turned frames"],
        ["direct"], ["direct", "turned"], ["direct"], ["direct"],
    ]  # fmt: skip


class OnGpu(torch.Tensor):
    """A tensor that says it is on a GPU."""

    @property
    def is_cuda(self) -> bool:
        return True


def test_the_fastest_way_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice itself, with a clock of its own in place of a GPU's."""
    from akd.prior.large.encoder import convolve

    class Event:
        clock = 0.0

        def __init__(self, **_: object) -> None:
            self.at = 0.0

        def record(self) -> None:
            self.at = Event.clock

        def synchronize(self) -> None: ...

        def elapsed_time(self, end: "Event") -> float:
            return end.at - self.at

    monkeypatch.setattr(torch.cuda, "Event", Event)
    calls: list[str] = []

    def way(name: str, cost: float):
        def call() -> Tensor:
            calls.append(name)
            Event.clock += cost
            if cost < 0:
                raise RuntimeError("out of memory")
            return torch.zeros(1)

        return call

    ways = {"direct": way("direct", 3.0), "frames": way("frames", 2.0), "none": way("none", -1.0)}
    found = convolve.find_fastest(ways)
    assert found.way == "frames"
    assert found.milliseconds == {"direct": 3.0, "frames": 2.0}
    assert calls == ["direct"] * 3 + ["frames"] * 3 + ["none"]
    assert convolve.find_fastest({"direct": way("none", -1.0)}).way == "direct"
    # On a tensor that says it is on a GPU: searched once, then remembered by size.
    monkeypatch.setattr(convolve, "choices", {})
    calls.clear()
    on_gpu = torch.zeros(1, 2, 3).as_subclass(OnGpu)
    shape = Shape((1,), (0,), (1,), way=Convolutions.FASTEST)
    for _ in range(3):
        convolve.run(ways, "direct", on_gpu, torch.zeros(1, 2, 3), shape)
    assert calls == ["direct"] * 3 + ["frames"] * 3 + ["none"] + ["frames"] * 3
    assert [choice.way for choice in convolve.choices.values()] == ["frames"]


@pytest.mark.parametrize("kind", ["group", "channel"])
def test_fused_norms_equal_the_layers(kind: str) -> None:
    from diffusers.models.autoencoders.autoencoder_kl_wan import WanRMS_norm

    norm = torch.nn.GroupNorm(4, 8) if kind == "group" else WanRMS_norm(8, images=False)
    norm = norm.double()
    for seed, parameter in enumerate(norm.parameters()):
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(seed))
    norm.requires_grad_(False)
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(2, 8, 3, 4, 5, generator=generator, dtype=torch.float64) * 2 + 1
    x = x.contiguous(memory_format=torch.channels_last_3d).requires_grad_()
    fused, plain = NormAct(norm, fused="eager"), NormAct(norm)
    torch.testing.assert_close(fused(x), plain(x), rtol=1e-10, atol=1e-12)
    assert fused(x).is_contiguous(memory_format=torch.channels_last_3d)
    weights = torch.randn(x.shape, generator=generator, dtype=torch.float64)
    (found,) = torch.autograd.grad((fused(x) * weights).sum(), x)
    (wanted,) = torch.autograd.grad((torch.nn.functional.silu(norm(x)) * weights).sum(), x)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-11)


def test_chunks_cover_every_frame_once() -> None:
    assert list(own_chunks(49, 8))[:2] == [(0, 9), (9, 17)]
    assert list(own_chunks(1, 8)) == [(0, 1)]
    assert list(chunks_after_first(9, 4, 4)) == [(0, 1), (1, 5), (5, 9)]
    assert list(chunks_after_first(13, 8, 4)) == [(0, 1), (1, 9), (9, 13)]
    with pytest.raises(PriorError, match=r"frames must be a multiple of 4 plus one, got 8"):
        list(chunks_after_first(8, 4, 4))
