"""How well a fit explains a video: overlap, distance of the outlines, frames to distrust."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.ndimage import binary_erosion, distance_transform_edt
from torch import Tensor

GOOD_OVERLAP = 0.8
"""Intersection over union from which a frame can be trusted."""
_BELOW = 0.12
"""A frame that overlaps by so much less than the median is distrusted."""
_BORDER = 0.02
"""Share of the mask on the image's border from which the body is cut off."""
_CUT_OFF = 0.15
"""What a body that is cut off in all frames takes from the score: what is outside is guessed."""


@dataclass(frozen=True)
class FitQuality:
    """What the fit says of itself, from the video alone."""

    overlap: Float[Tensor, "T"]
    """Intersection over union of silhouette and mask, mean over views."""
    explained: float
    """Share of the mask that the silhouette covers."""
    outline: Float[Tensor, "T"]
    """Reprojection error: mean distance between the outlines, in heights of the body's mask."""
    colour: float | None
    """Root mean square difference of the colours where both are; None where not compared."""
    cut_off: Bool[Tensor, "T"]
    """Whether the mask runs into the image's border."""
    what: str = "silhouettes"
    """What was compared: silhouettes, or points."""

    @property
    def score(self) -> float:
        """0..1: mean overlap, less for outlines that are apart, colours that differ and frames in
        which the body is cut off."""
        own = self.parts()
        lost = 2.0 * own["outline"] + 0.5 * own["colour"] + _CUT_OFF * own["cut_off"]
        return max(0.0, own["overlap"] - lost)

    def parts(self) -> dict[str, float]:
        """What the score is made of."""
        return {
            "overlap": float(self.overlap.mean()),
            "outline": float(self.outline.mean()),
            "explained": self.explained,
            "colour": 0.0 if self.colour is None else self.colour,
            "cut_off": float(self.cut_off.float().mean()),
        }

    def distrusted(self) -> list[int]:
        """Frames whose pose should be checked."""
        low = min(GOOD_OVERLAP, float(self.overlap.median()) - _BELOW)
        bad = (self.overlap < low) | (self.overlap < 0.5 * GOOD_OVERLAP) | self.cut_off
        return bad.nonzero().flatten().tolist()

    def verdict(self) -> str:
        """One line for a person."""
        overlap, away = float(self.overlap.mean()), float(self.outline.mean())
        word = "good" if overlap > GOOD_OVERLAP else "fair" if overlap > 0.65 else "poor"
        if self.what == "points":
            return (
                f"{word}: {overlap:.0%} of the points are explained, the surface is "
                f"{100 * away:.1f} % of the body's height away from them"
            )
        return (
            f"{word}: silhouettes overlap by {overlap:.0%}, outlines are {100 * away:.1f} % of the "
            f"body's height apart, {self.explained:.0%} of the mask is explained"
        )

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "score": self.score,
            "overlap": float(self.overlap.mean()),
            "overlap_by_frame": self.overlap.tolist(),
            "explained": self.explained,
            "reprojection_error": float(self.outline.mean()),
            "reprojection_error_by_frame": self.outline.tolist(),
            "colour_difference": self.colour,
            "frames_to_distrust": self.distrusted(),
            "verdict": self.verdict(),
        }


def assess_fit(
    coverage: list[Float[Tensor, "T H W"]],
    masks: list[Float[Tensor, "T H W"]],
    colour: float | None,
) -> FitQuality:
    """Compare silhouettes with masks, view by view."""
    overlaps, outlines, cut = [], [], []
    covered = wanted = 0.0
    for own, mask in zip(coverage, masks, strict=True):
        a, b = own.cpu() > 0.5, mask.cpu() > 0.5
        both, either = (a & b).sum((1, 2)), (a | b).sum((1, 2))
        overlaps.append(both / either.clamp_min(1))
        covered, wanted = covered + float(both.sum()), wanted + float(b.sum())
        outlines.append(
            torch.tensor([_apart(x, y) for x, y in zip(a.numpy(), b.numpy(), strict=True)])
        )
        edge = torch.zeros_like(b)
        edge[:, [0, -1]], edge[:, :, [0, -1]] = True, True
        on_border = (b & edge).sum((1, 2)) / b.sum((1, 2)).clamp_min(1)
        cut.append(on_border > _BORDER)
    return FitQuality(
        torch.stack(overlaps).mean(0),
        covered / max(wanted, 1.0),
        torch.stack(outlines).mean(0).float(),
        colour,
        torch.stack(cut).any(0),
    )


def _apart(a: Bool[np.ndarray, "H W"], b: Bool[np.ndarray, "H W"]) -> float:
    """Mean distance between two outlines, both ways, in heights of the second; 1 without one."""
    rows = np.flatnonzero(b.any(1))
    if not a.any() or not len(rows):
        return 1.0
    outlines = [mask & ~np.asarray(binary_erosion(mask), dtype=bool) for mask in (a, b)]
    to_a, to_b = (np.asarray(distance_transform_edt(~outline)) for outline in outlines)
    pixels = 0.5 * (to_b[outlines[0]].mean() + to_a[outlines[1]].mean())
    return float(pixels) / float(rows[-1] - rows[0] + 1)
