"""Masks of the character where none are given: plain backgrounds and static cameras.

Each way says how sure it is. None is taken where the video does not fit it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as nn
from jaxtyping import Bool, Float, Int
from scipy import ndimage
from torch import Tensor

from akd.fit.matte import unmixed

Background = Callable[[slice], Float[Tensor, "t H W 3"]]
"""The background of some of the frames, or one for all of them."""

UNSURE, REFUSED = 0.6, 0.3
"""Confidence below which masks of a plain background should be checked, and below which none are
made. Background subtraction below the first has parts of the body in its background: on rendered
walks before clutter it then overlapped with the true masks by 0.24 to 0.78, above it by 0.88."""
_RING = 0.04
"""Width of the frame's border that is taken for background, as a share of the shorter side."""
_PLAIN = 0.06
"""Largest deviation (sRGB, 80th percentile) of a plain background's border from a linear ramp."""
_STATIC = 0.03
"""Largest deviation of a static camera's border over time."""
_LEAST = 0.07
"""Smallest difference (sRGB) that tells the character from the background."""
_HALO = (4, 1)
"""Farthest and nearest pixels from the character where a halo is looked for."""
_SHARP = 0.01
"""Halo below which edges are sharp."""
_TOGETHER = 16
"""Frames that are compared with the background at once: differences take memory."""
_SMALL = 0.03
"""Pieces smaller than this share of the largest one are dropped."""


@dataclass(frozen=True)
class FoundMasks:
    """Masks, how they were found, and how sure that is."""

    masks: Float[Tensor, "T H W"]
    source: str
    """Such as `plain background`, for a person to read."""
    confidence: float
    """0..1."""

    def note(self) -> str:
        """One line for a person."""
        check = "; check them in the report" if self.confidence < UNSURE else ""
        return f"masks: {self.source}, confidence {self.confidence:.2f}{check}"


def find_masks(frames: Float[Tensor, "T H W 3"]) -> FoundMasks:
    """Masks from a plain background or, with a static camera, by background subtraction.

    Raises:
        ValueError: The video is of neither kind. The message says what to pass instead.
    """
    tried = []
    for smooth in (False, True):
        # Noise hides a plain background and a camera that stands still; so it is averaged out last.
        shown = _smoothed(frames) if smooth else frames
        for way in (plain_background, static_background):
            found = way(shown)
            if isinstance(found, FoundMasks) and found.confidence >= REFUSED:
                return found
            said = found if isinstance(found, str) else f"{found.source} finds no clear outline"
            tried += [] if smooth else [said]
    raise ValueError(
        f"masks are needed: {' and '.join(tried)}; give --masks, a video with an alpha channel, or "
        f"--segmentation with the folder of a SAM 2 model"
    )


def plain_background(frames: Float[Tensor, "T H W 3"]) -> FoundMasks | str:
    """Whatever differs from a background of one colour, or of a linear ramp; or why not."""
    ring = _ring(frames.shape[1], frames.shape[2])
    behind = _ramp(frames, ring)
    away = _away(frames, behind)
    noise = _spread(away, ring)
    if noise > _PLAIN:
        return f"the background is not plain (its border varies by {noise:.2f})"
    return _cut(frames, behind, away, noise, "plain background")


def static_background(frames: Float[Tensor, "T H W 3"]) -> FoundMasks | str:
    """Whatever differs from the median over time; or why that cannot be."""
    if len(frames) < 8:
        return f"background subtraction needs at least 8 frames, got {len(frames)}"
    # In slices: the median of all frames at once would take as much memory again.
    median = torch.cat([part.median(0).values for part in frames.split(32, dim=1)], dim=0)
    away = _away(frames, lambda _: median[None])
    ring = _ring(frames.shape[1], frames.shape[2])
    moved = float(away[:, ring].mean())
    if moved > _STATIC:
        return f"the camera moves (its border changes by {moved:.2f})"
    noise = float(away[:, ring].flatten()[:4_000_000].quantile(0.8))
    found = _cut(frames, lambda _: median[None], away, noise, "background subtraction")
    # A body that stays where it is becomes part of the median: only its limbs are left.
    always = float((found.masks > 0.5).float().mean(0).max())
    sure = found.confidence * _wholeness(found.masks) * min(1.0, 1.6 - always)
    if sure < UNSURE:
        return "background subtraction finds no whole body (it must leave the place where it is)"
    return FoundMasks(found.masks, found.source, sure)


def _smoothed(frames: Float[Tensor, "T H W 3"]) -> Float[Tensor, "T H W 3"]:
    """Means over 3 x 3 pixels."""
    images = nn.avg_pool2d(frames.movedim(-1, 1), 3, stride=1, padding=1, count_include_pad=False)
    return images.movedim(1, -1)


def _spread(away: Float[Tensor, "T H W"], ring: Bool[Tensor, "H W"]) -> float:
    """The 80th percentile of the differences in the border."""
    values = away[:, ring].flatten()
    return float(np.quantile(values.numpy(), 0.8))


def _ring(height: int, width: int) -> Bool[Tensor, "H W"]:
    """The border of an image; without its lower edge, where feet and shadows are."""
    wide = max(1, round(_RING * min(height, width)))
    ring = torch.zeros(height, width, dtype=torch.bool)
    ring[:wide] = ring[:, :wide] = ring[:, -wide:] = True
    return ring


def _ramp(frames: Float[Tensor, "T H W 3"], ring: Bool[Tensor, "H W"]) -> Background:
    """A linear ramp of colour through the border of every frame; robust to what touches the
    border."""
    height, width = ring.shape
    y, x = torch.meshgrid(
        torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij"
    )
    every = torch.stack((torch.ones_like(x), x, y), dim=-1)
    basis, seen = every[ring], frames[:, ring]
    weight = torch.ones(seen.shape[:2])
    ramp = seen.new_zeros(len(frames), 3, 3)
    for _ in range(4):
        left = torch.einsum("pi,tp,pj->tij", basis, weight, basis) + 1e-6 * torch.eye(3)
        right = torch.einsum("pi,tp,tpc->tic", basis, weight, seen)
        ramp = torch.linalg.solve(left, right)
        away = (seen - basis @ ramp).abs().amax(-1)
        weight = 1.0 / (away + 0.01)
    return lambda some: torch.einsum("hwi,tic->thwc", every, ramp[some])


def _away(frames: Float[Tensor, "T H W 3"], behind: Background) -> Float[Tensor, "T H W"]:
    """Largest difference from the background over the colours."""
    parts = [(frames[some] - behind(some)).abs().amax(-1) for some in _slices(len(frames))]
    return torch.cat(parts)


def _halo(away: Float[Tensor, "T H W"], sure: Bool[Tensor, "T H W"]) -> float:
    """How much of the background near the character differs from itself (80th percentile)."""
    far, near = (_grown(sure, pixels) for pixels in _HALO)
    around = away[far & ~near]
    return float(np.quantile(around.numpy(), 0.8)) if len(around) else 0.0


def _grown(masks: Bool[Tensor, "T H W"], pixels: int) -> Bool[Tensor, "T H W"]:
    """The masks and what is so near to them."""
    return nn.max_pool2d(masks.float(), 2 * pixels + 1, stride=1, padding=pixels) > 0.5


def _not_darker(
    frames: Float[Tensor, "t H W 3"], background: Float[Tensor, "#t H W 3"]
) -> Float[Tensor, "t H W"]:
    """Largest difference over the colours from the background at the brightness that is nearest,
    its own or a lower one: a shadow has none."""
    brightness = (frames * background).sum(-1) / background.square().sum(-1).clamp_min(1e-6)
    return (frames - brightness.clamp_max(1.0)[..., None] * background).abs().amax(-1)


def _slices(count: int) -> list[slice]:
    """A few frames at a time: colours of all of them take memory."""
    return [slice(first, first + _TOGETHER) for first in range(0, count, _TOGETHER)]


def _cut(
    frames: Float[Tensor, "T H W 3"],
    behind: Background,
    away: Float[Tensor, "T H W"],
    noise: float,
    source: str,
) -> FoundMasks:
    """Masks of whatever differs from the background.

    The threshold is near the background, so that light parts of the character are kept: above the
    halo that compression leaves around it, and a higher one for what may be a shadow. The share of
    each pixel at the outline is found by its colour.
    """
    sure = max(_LEAST, 3.0 * noise, 0.5 * _otsu(away))
    halo = _halo(away, away > sure)
    threshold = min(sure, max(_LEAST, 3.0 * noise, 3.0 * halo))
    light = torch.cat([_not_darker(frames[some], behind(some)) for some in _slices(len(frames))])
    rough = _solid((away > sure) | (light > threshold))
    reach = 1 if halo < _SHARP else 2
    masks = torch.cat(
        [unmixed(frames[some], behind(some), rough[some], reach) for some in _slices(len(frames))]
    )
    # Within an outline, colours that are like the background's are no holes.
    solid = _solid(masks > 0.5)
    masks = torch.where(_inner(solid), 1.0, masks)
    area = float(rough.float().mean())
    if not 1e-3 < area < 0.85 or not bool(solid.flatten(1).any(1).all()):
        return FoundMasks(masks, source, 0.0)
    clear = float((away[rough] > 1.5 * sure).float().mean())
    return FoundMasks(masks, source, clear)


def _otsu(away: Float[Tensor, "T H W"]) -> float:
    """The threshold that separates two classes of differences best."""
    counts = torch.histc(away.flatten(), 64, 0.0, 1.0).double()
    levels = (torch.arange(64) + 0.5) / 64
    below = counts.cumsum(0)
    total, mean = below[-1], (counts * levels).sum()
    low = (counts * levels).cumsum(0)
    above = (total - below).clamp_min(1e-9)
    spread = (mean * below / total - low).square() / (below * above / total).clamp_min(1e-9)
    return float(levels[spread.argmax()])


def _solid(masks: Bool[Tensor, "T H W"]) -> Bool[Tensor, "T H W"]:
    """The masks without specks and without small holes."""
    return torch.from_numpy(np.stack([_without_specks(mask) for mask in masks.numpy()]))


def _without_specks(mask: Bool[np.ndarray, "H W"]) -> Bool[np.ndarray, "H W"]:
    labels, count = _pieces(ndimage.binary_closing(mask, iterations=1) | mask)
    if count == 0:
        return mask
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    kept = (sizes >= _SMALL * sizes.max())[labels]
    holes, _ = _pieces(~kept)
    areas = np.bincount(holes.ravel())
    small = areas < _SMALL * _SMALL * kept.sum()
    return kept | (small[holes] & ~kept)


def _inner(masks: Bool[Tensor, "T H W"]) -> Bool[Tensor, "T H W"]:
    """What is inside the outlines, and not on them."""
    return nn.max_pool2d((~masks).float(), 3, stride=1, padding=1) < 0.5


def _pieces(mask: Bool[np.ndarray, "H W"]) -> tuple[Int[np.ndarray, "H W"], int]:
    """The number of the connected piece that each pixel belongs to, 0 outside, and their count."""
    labels = np.zeros(mask.shape, dtype=np.int32)
    count = ndimage.label(mask, output=labels)
    return labels, int(count)  # pyright: ignore[reportArgumentType]


def _wholeness(masks: Float[Tensor, "T H W"]) -> float:
    """Share of the masks' area in their largest piece, mean over frames."""
    shares = []
    for mask in (masks > 0.5).numpy():
        labels, count = _pieces(mask)
        sizes = np.bincount(labels.ravel())[1:] if count else np.zeros(1)
        shares.append(sizes.max() / max(sizes.sum(), 1))
    return float(np.mean(shares))
