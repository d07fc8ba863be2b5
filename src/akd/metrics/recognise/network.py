"""Two architectures: 3D convolutions, and a transformer over features of single frames."""

from __future__ import annotations

from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from akd.metrics.recognise.settings import CLASSES, RecogniserSettings


class ConvolutionNetwork(nn.Module):
    """Recognisers A and C: four blocks of 3D convolutions, and the mean over everything."""

    def __init__(self, settings: RecogniserSettings, classes: int = len(CLASSES)) -> None:
        super().__init__()
        self.settings = settings
        layers: list[nn.Module] = []
        sizes = (3, *settings.channels)
        for k, (have, want) in enumerate(pairwise(sizes)):
            # Time is halved only twice: steps are recognised by what happens between frames.
            stride = (1 if k % 2 == 0 else 2, 2, 2)
            layers += [
                nn.Conv3d(have, want, 3, stride=stride, padding=1), nn.GroupNorm(8, want),
                nn.SiLU(),
                nn.Conv3d(want, want, (3, 1, 1), padding=(1, 0, 0)), nn.GroupNorm(8, want),
                nn.SiLU(),
            ]  # fmt: skip
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(sizes[-1], classes)

    def forward(self, videos: Float[Tensor, "B T H W 3"]) -> Float[Tensor, "B classes"]:
        """Logits for videos in 0..1."""
        x = (2.0 * videos - 1.0).permute(0, 4, 1, 2, 3)
        return self.head(self.layers(x).mean((2, 3, 4)))


class SequenceNetwork(nn.Module):
    """Recogniser B: each frame, and its change, to a few vectors; a transformer over time."""

    def __init__(self, settings: RecogniserSettings, classes: int = len(CLASSES)) -> None:
        super().__init__()
        self.settings = settings
        channels, width = (6, *settings.channels), settings.width
        layers: list[nn.Module] = []
        for have, want in pairwise(channels):
            layers += [
                nn.Conv2d(have, want, 5, stride=2, padding=2),
                nn.GroupNorm(8, want),
                nn.GELU(),
            ]
        self.frames = nn.Sequential(*layers)
        side = settings.size // 16
        self.flatten = nn.Linear(channels[-1] * side * side, width)
        self.place = nn.Parameter(torch.randn(settings.frames, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width,
            width // 32,
            2 * width,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.time = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, classes))

    def forward(self, videos: Float[Tensor, "B T H W 3"]) -> Float[Tensor, "B classes"]:
        """Logits for videos in 0..1."""
        x = (2.0 * videos - 1.0).permute(0, 1, 4, 2, 3)
        change = torch.zeros_like(x)
        change[:, 1:] = x[:, 1:] - x[:, :-1]
        seen = self.frames(torch.cat((x, change), dim=2).flatten(0, 1))
        tokens = self.flatten(seen.flatten(1)).unflatten(0, x.shape[:2])
        return self.head(self.time(tokens + self.place).mean(1))


def build_network(
    settings: RecogniserSettings, classes: int = len(CLASSES)
) -> ConvolutionNetwork | SequenceNetwork:
    """The network of a recogniser for this number of classes, with random weights."""
    build = SequenceNetwork if settings.name == "b" else ConvolutionNetwork
    return build(settings, classes)
