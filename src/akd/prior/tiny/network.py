"""The network: a transformer over patches of the video, the reference image and the words.

It predicts the clean video: a patch of 12 x 12 pixels and 2 frames holds more values than a token,
so a token can say what is there, but could not carry noise as well.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from akd.prior.tiny.settings import TinySettings
from akd.prior.tiny.vocabulary import SLOTS, TOKENS


class TextEncoder(nn.Module):
    """Words of the closed vocabulary to vectors."""

    def __init__(self, channels: int, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, channels)
        self.slots = nn.Parameter(torch.randn(SLOTS, channels) * 0.02)
        self.mix = nn.Sequential(
            nn.Linear(SLOTS * channels, 2 * channels), nn.SiLU(), nn.Linear(2 * channels, channels)
        )
        nn.init.normal_(self.words.weight, std=0.5)

    def forward(self, tokens: Int[Tensor, "B L"]) -> Float[Tensor, "B L D"]:
        """Embeddings of the words, each with the context of all."""
        each = self.words(tokens) + self.slots
        return each + self.mix(each.flatten(1))[:, None]


class Block(nn.Module):
    """Attention and a perceptron, modulated by time and words."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(channels, 3 * channels)
        self.query_gain = nn.Parameter(torch.ones(channels // heads))
        self.key_gain = nn.Parameter(torch.ones(channels // heads))
        self.out = nn.Linear(channels, channels)
        self.up = nn.Linear(channels, 4 * channels)
        self.down = nn.Linear(4 * channels, channels)
        # Modulation is shared between blocks but for this: a third of the weights for the same.
        self.own = nn.Parameter(torch.zeros(6, channels))

    def forward(self, x: Tensor, shared: Float[Tensor, "B 6 D"]) -> Tensor:
        """Tokens [B, N, D]."""
        batch, count, width = x.shape
        size = (width,)
        shift_a, scale_a, gate_a, shift_b, scale_b, gate_b = (
            (shared + self.own.to(shared)).unsqueeze(2).unbind(1)
        )
        h = functional.layer_norm(x, size) * (1.0 + scale_a) + shift_a
        q, k, v = self.qkv(h).view(batch, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        # Normalised queries and keys keep attention tame in bfloat16.
        head = (q.shape[-1],)
        q = functional.rms_norm(q, head, self.query_gain.to(q))
        k = functional.rms_norm(k, head, self.key_gain.to(k))
        mixed = _attention(q, k, v.to(q))
        x = x + gate_a * self.out(mixed.transpose(1, 2).reshape(batch, count, width))
        h = functional.layer_norm(x, size) * (1.0 + scale_b) + shift_b
        return x + gate_b * self.down(_gelu(self.up(h)))


def _in_short_on_cpu(x: Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype is torch.bfloat16 and not torch.is_grad_enabled()


def _attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Scaled dot-product attention.

    Plain products take 0.7 of the time of torch's fused kernel in bfloat16 on a CPU.
    """
    if _in_short_on_cpu(q):
        return (q * q.shape[-1] ** -0.5 @ k.mT).softmax(-1) @ v
    return functional.scaled_dot_product_attention(q, k, v)


def _gelu(x: Tensor) -> Tensor:
    """GELU by tanh; by the error function in bfloat16 on a CPU, where that takes a seventh of the
    time and differs by less than rounding."""
    return functional.gelu(x, approximate="none" if _in_short_on_cpu(x) else "tanh")


class TinyNetwork(nn.Module):
    """Clean videos from noisy ones; both in -1..1."""

    def __init__(self, settings: TinySettings, vocabulary: int = len(TOKENS)) -> None:
        super().__init__()
        self.settings = s = settings
        d, p = s.channels, s.patch
        self.grid = (s.frames // s.patch_frames, s.height // p, s.width // p)
        self.text = TextEncoder(s.text_channels, vocabulary)
        self.text_in = nn.Linear(s.text_channels, d)
        self.text_pool = nn.Linear(SLOTS * s.text_channels, d)
        self.patch_in = nn.Linear(s.patch_frames * p * p * 3, d)
        self.known_in = nn.Linear(s.patch_frames, d, bias=False)
        self.reference_in = nn.Linear(p * p * 3, d)
        self.no_reference = nn.Parameter(torch.randn(d) * 0.02)
        # Place along each axis by itself; the reference image is at a time of its own.
        self.place_t = nn.Parameter(torch.randn(self.grid[0] + 1, 1, 1, d) * 0.1)
        self.place_y = nn.Parameter(torch.randn(1, self.grid[1], 1, d) * 0.1)
        self.place_x = nn.Parameter(torch.randn(1, 1, self.grid[2], d) * 0.1)
        self.time = nn.Sequential(nn.Linear(256, d), nn.SiLU(), nn.Linear(d, d))
        self.modulate = nn.Linear(d, 6 * d)
        self.blocks = nn.ModuleList(Block(d, s.heads) for _ in range(s.layers))
        self.last_modulate = nn.Linear(d, 2 * d)
        self.patch_out = nn.Linear(d, s.patch_frames * p * p * 3)
        r, cell = s.refine_channels, s.refine_cell**2
        self.refine_in = nn.Conv2d(12 * cell, r, 3, padding=1)
        self.refine = nn.Conv2d(r, r, 3, padding=1)
        self.refine_out = nn.Conv2d(r, 3 * cell, 3, padding=1)
        for layer in (self.modulate, self.last_modulate, self.patch_out, self.refine_out):
            nn.init.zeros_(layer.weight)
            assert layer.bias is not None
            nn.init.zeros_(layer.bias)

    def forward(
        self,
        noisy: Float[Tensor, "B T H W 3"],
        t: Float[Tensor, "B"],
        text: Float[Tensor, "B L D"],
        reference_image: Float[Tensor, "B H W 3"],
        has_image: Bool[Tensor, "B"],
        known: Bool[Tensor, "B T"],
    ) -> Float[Tensor, "B T H W 3"]:
        """The clean estimate. Where `has_image` is false the image is ignored.

        Frames that are `known` are clean in `noisy`.
        """
        s, batch = self.settings, len(noisy)
        frames, rows, columns = self.grid
        p, pt = s.patch, s.patch_frames
        patches = noisy.view(batch, frames, pt, rows, p, columns, p, 3)
        patches = patches.permute(0, 1, 3, 5, 2, 4, 6, 7).reshape(batch, -1, pt * p * p * 3)
        pieces = reference_image.view(batch, rows, p, columns, p, 3).permute(0, 1, 3, 2, 4, 5)
        pieces = self.reference_in(pieces.reshape(batch, rows * columns, -1))
        pieces = torch.where(has_image[:, None, None], pieces, self.no_reference.to(pieces))
        place = (self.place_t + self.place_y + self.place_x).flatten(0, 2)
        patches = self.patch_in(patches)
        told = self.known_in(known.view(batch, frames, 1, pt).to(patches))
        patches = patches + told.expand(-1, -1, rows * columns, -1).reshape(patches.shape)
        seen = torch.cat((patches, pieces), dim=1)
        x = torch.cat((seen + place.to(seen), self.text_in(text).to(seen)), dim=1)

        c = self.time(_waves(t).to(text)) + self.text_pool(text.flatten(1))
        c = functional.silu(c)
        shared = self.modulate(c).unflatten(1, (6, -1)).to(x)
        for block in self.blocks:
            x = block(x, shared)
        count = frames * rows * columns
        shift, scale = self.last_modulate(c).to(x)[:, None].chunk(2, dim=-1)
        x = functional.layer_norm(x[:, :count], (s.channels,)) * (1.0 + scale) + shift
        x = self.patch_out(x).view(batch, frames, rows, columns, pt, p, p, 3)
        rough = x.permute(0, 1, 4, 2, 5, 3, 6, 7).reshape(noisy.shape)
        return rough + self._refined(rough, noisy, t, reference_image, has_image, known)

    def _refined(
        self,
        rough: Tensor,
        noisy: Tensor,
        t: Tensor,
        reference_image: Tensor,
        has: Tensor,
        known: Tensor,
    ) -> Tensor:
        """Correction by a small convolution, which softens the borders of the patches.

        It works on cells of `refine_cell` x `refine_cell` pixels as channels: the same reach with
        fewer places and more channels, which is what processors are quick at.
        """
        batch, frames, height, width = rough.shape[:4]
        size = (batch, frames, height, width)
        shown = (reference_image * has[:, None, None, None].to(reference_image)).to(rough)
        time = t.to(rough)[:, None, None, None, None].expand(*size, 1)
        still = shown[:, None].expand(*size, 3)
        given = known.to(rough)[:, :, None, None, None].expand(*size, 1)
        referred = has.to(rough)[:, None, None, None, None].expand(*size, 1)
        h = torch.cat((rough, noisy.to(rough), still, time, given, referred), dim=-1)
        # NHWC in memory is `channels_last`, which convolutions take as it is.
        cell = self.settings.refine_cell
        h = h.view(-1, height // cell, cell, width // cell, cell, h.shape[-1])
        h = h.transpose(2, 3).flatten(3).permute(0, 3, 1, 2)
        h = functional.silu(self.refine_in(h))
        h = functional.silu(self.refine(h))
        h = self.refine_out(h).permute(0, 2, 3, 1).unflatten(-1, (cell, cell, 3))
        return h.transpose(2, 3).reshape(rough.shape)


def _waves(t: Float[Tensor, "B"]) -> Float[Tensor, "B 256"]:
    """Sines and cosines of the time, from slow to fast."""
    steps = torch.arange(128, device=t.device, dtype=torch.float32) / 128
    angle = 1000.0 * t.float()[:, None] * torch.exp(-math.log(1e4) * steps)
    return torch.cat((angle.cos(), angle.sin()), dim=-1)
