"""How well a fit explains a video: overlap, distance of the outlines, unreliable frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.ndimage import binary_erosion, distance_transform_edt
from torch import Tensor

GOOD_OVERLAP = 0.8
"""Intersection over union from which a frame can be trusted."""
_GOOD_OUTLINE = 0.03
"""Distance of the outlines, in body heights, up to which a fit is good: a body that curls up to
look like a ball overlaps with it, but its outline stays apart."""
_BELOW = 0.12
"""A frame that overlaps by so much less than the median is distrusted."""
_BORDER = 0.02
"""Share of the mask on the image's border from which the body is cut off."""
_OUTLINE, _COLOUR, _CUT_OFF, _AMBIGUITY, _RIVALRY, _IMPLAUSIBLE = 30.0, 0.5, 0.15, 2.0, 0.1, 0.05
"""Weights in the score's exponent. Outlines count most: overlaps are those of the trunk, and hardly
change with a limb in the wrong place. What is cut off, too, is guessed."""
_NATURAL = -4.0
"""Log-odds from which poses count as implausible."""
_AS_GOOD = 0.1
"""Share by which a residual may be higher for a start to count a third."""


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
    ambiguity: float = 0.0
    """How far apart the starts are that explain the video about as well: see `disagreement`."""
    rivalry: float = 0.0
    """What the best direction of the camera leaves of the video, as a share of what the best one
    far from it leaves: near 1, the two can hardly be told apart. 0: the direction was given."""
    implausible: float | None = None
    """Mean log-odds that the poses are implausible, by the pose model; None: not judged."""

    @property
    def score(self) -> float:
        """0..1: mean overlap, less for outlines that are apart, colours that differ, frames in
        which the body is cut off, starts that disagree, a rival direction, and odd poses."""
        own = self.parts()
        doubts = (
            _OUTLINE * own["outline"], _COLOUR * own["colour"], _CUT_OFF * own["cut_off"],
            _AMBIGUITY * own["ambiguity"], _RIVALRY * own["rivalry"],
            _IMPLAUSIBLE * max(0.0, own["implausible"] - _NATURAL),
        )  # fmt: skip
        return own["overlap"] * math.exp(-sum(doubts))

    def parts(self) -> dict[str, float]:
        """What the score is made of."""
        return {
            "overlap": float(self.overlap.mean()),
            "outline": float(self.outline.mean()),
            "explained": self.explained,
            "colour": 0.0 if self.colour is None else self.colour,
            "cut_off": float(self.cut_off.float().mean()),
            "ambiguity": self.ambiguity,
            "rivalry": self.rivalry,
            "implausible": _NATURAL if self.implausible is None else self.implausible,
        }

    def distrusted(self) -> list[int]:
        """Frames whose pose should be checked."""
        low = min(GOOD_OVERLAP, float(self.overlap.median()) - _BELOW)
        bad = (self.overlap < low) | (self.overlap < 0.5 * GOOD_OVERLAP) | self.cut_off
        return bad.nonzero().flatten().tolist()

    def verdict(self) -> str:
        """One line for a person."""
        overlap, away = float(self.overlap.mean()), float(self.outline.mean())
        # The median: single frames are named as unreliable.
        good = overlap > GOOD_OVERLAP and float(self.outline.median()) < _GOOD_OUTLINE
        word = "good" if good else "fair" if overlap > 0.65 else "poor"
        if self.what == "points":
            explained = f"{overlap:.0%} of the points are explained"
            return f"{word}: {explained}, the surface is {away:.1%} of the height away"
        outlines = f"outlines are {away:.1%} of the height apart"
        return f"{word}: silhouettes overlap by {overlap:.0%}, {outlines}"

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
            "ambiguity": self.ambiguity,
            "rivalry": self.rivalry,
            "implausible": self.implausible,
            "frames_to_distrust": self.distrusted(),
            "verdict": self.verdict(),
        }


def disagreement(joints: Float[Tensor, "K T J 3"], residuals: Sequence[float]) -> float:
    """Mean distance of the joints of all starts from those of the best one.

    A start counts the less, the more of the video it leaves unexplained: one whose residual is a
    tenth higher counts a third. Silhouettes hardly tell a wrong pose from a right one, or the two
    would not both fit; several good poses that differ do tell that one of them is wrong.

    Args:
        joints: Positions in the camera's frame, from the root, in body heights.
        residuals: What each start leaves of the video.
    """
    left = joints.new_tensor(residuals)
    best = int(left.argmin())
    weights = torch.exp((1.0 - left / left[best].clamp_min(1e-9)) / _AS_GOOD)
    apart = (joints - joints[best]).norm(dim=-1).mean((1, 2))
    return float((weights * apart).sum() / weights.sum())


def assess_fit(
    coverage: list[Float[Tensor, "T H W"]],
    masks: list[Float[Tensor, "T H W"]],
    colour: float | None,
    ambiguity: float = 0.0,
    rivalry: float = 0.0,
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
        ambiguity=ambiguity,
        rivalry=rivalry,
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
