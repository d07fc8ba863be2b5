"""Frames, each beside the reference image, to features; a transformer over time; rotations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from akd.fit.regressor.settings import RegressorSettings
from akd.motion.retargeting.body_parts import BODY_PARTS

PARTS = len(BODY_PARTS)
_VIEW = 3
"""Numbers that say where a camera stands."""


@dataclass(frozen=True)
class PartMotion:
    """The motion of body parts, and how far off it may be."""

    rotations: Float[Tensor, "B T P 3 3"]
    """Of `BODY_PARTS` since the neutral pose, in body axes (left, up, forward)."""
    spread: Float[Tensor, "B T P"]
    """Mean absolute error of their entries that the network expects."""
    shift: Float[Tensor, "B T 3"]
    """Of the root from its neutral place: left, up, forward, in body heights. Along the ground it
    is counted from the first frame."""

    @property
    def expected_angles(self) -> Float[Tensor, "B T P"]:
        """Angles by which the rotations are expected to be off, radians: an error by a small angle
        about a random axis changes the entries of a matrix by a third of it on average."""
        return 3.0 * self.spread


class RegressorNetwork(nn.Module):
    """From videos to the motion of body parts."""

    def __init__(self, settings: RegressorSettings) -> None:
        super().__init__()
        self.settings = settings
        channels, width = (6, *settings.channels), settings.width
        layers: list[nn.Module] = []
        for have, want in pairwise(channels):
            layers += [
                nn.Conv2d(have, want, 5, stride=2, padding=2), nn.GroupNorm(8, want), nn.GELU(),
                nn.Conv2d(want, want, 3, padding=1), nn.GroupNorm(8, want), nn.GELU(),
            ]  # fmt: skip
        self.images = nn.Sequential(*layers)
        side = settings.size // 2 ** len(settings.channels)
        self.flatten = nn.Linear(channels[-1] * side * side, width)
        self.about = nn.Sequential(
            nn.Linear(_VIEW + PARTS, width), nn.GELU(), nn.Linear(width, width)
        )
        self.place = nn.Parameter(torch.randn(settings.frames, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, width // 32, 3 * width, dropout=0.0, activation="gelu", batch_first=True,
            norm_first=True,
        )  # fmt: skip
        self.time = nn.TransformerEncoder(layer, settings.layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 7 * PARTS + 3)
        nn.init.zeros_(self.head.bias)
        self.head.weight.data.mul_(0.1)

    def forward(
        self,
        videos: Float[Tensor, "B T H W 3"],
        reference_images: Float[Tensor, "B H W 3"],
        views: Float[Tensor, "B 2"],
        present: Bool[Tensor, "B P"],
    ) -> PartMotion:
        """What is seen.

        Args:
            videos: Of a character in the style `roles`, 0..1, by a camera that follows it.
            reference_images: Its neutral pose from the same side.
            views: Azimuth and elevation of the cameras, radians, from the way it faces.
            present: Which of `BODY_PARTS` it has.
        """
        rows, frames = videos.shape[:2]
        still = reference_images[:, None].expand_as(videos)
        images = 2.0 * torch.cat((videos, still), dim=-1) - 1.0
        seen = self.images(images.flatten(0, 1).movedim(-1, 1)).flatten(1)
        azimuth, elevation = views.unbind(-1)
        side = torch.stack((azimuth.sin(), azimuth.cos(), elevation.sin()), dim=-1)
        about = self.about(torch.cat((side, present.to(side)), dim=-1))
        tokens = self.flatten(seen).view(rows, frames, -1) + self.place + about[:, None]
        found = self.head(self.norm(self.time(tokens))).float()
        columns, spread, shift = found.split((6 * PARTS, PARTS, 3), dim=-1)
        columns = columns.unflatten(-1, (PARTS, 2, 3))
        upright = torch.eye(3, device=columns.device)[:2]
        return PartMotion(orthonormal(columns + upright), (spread - 2.0).exp(), shift)


def orthonormal(columns: Float[Tensor, "*b 2 3"]) -> Float[Tensor, "*b 3 3"]:
    """The rotations whose first two columns are nearest to given ones, the first before the
    second (Zhou et al. 2019, "On the continuity of rotation representations")."""
    first = nn.functional.normalize(columns[..., 0, :], dim=-1)
    second = columns[..., 1, :]
    second = second - (first * second).sum(-1, keepdim=True) * first
    second = nn.functional.normalize(second, dim=-1)
    return torch.stack((first, second, torch.linalg.cross(first, second)), dim=-1)
