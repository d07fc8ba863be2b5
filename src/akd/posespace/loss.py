"""The pose model as a loss of distillation: score distillation on random frames."""

from __future__ import annotations

from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.losses import LossState, LossTerm
from akd.posespace.codec import PoseCodec
from akd.posespace.diffusion import denoise, signal_and_noise
from akd.posespace.model import load_model
from akd.posespace.network import Condition
from akd.rig.character import Character

T_MIN, T_MAX = 0.02, 0.3
"""Noise levels. Above, the clean estimate is a mean over poses and stills the motion."""
FRAMES = 4
"""Frames of each candidate an iteration."""


def pose_prior(weight: float, weights: Path | None = None, *, seed: int = 0) -> LossTerm:
    """Distance of random frames from what the pose model makes of them under a little noise.

    Args:
        weight: Of the term.
        weights: A pose model; the one that ships if left out.
        seed: Of frames and noise, which follow from it and from the progress alone.

    Raises:
        FileNotFoundError: There are no weights.
        ValueError: The weights are of another format.
    """
    network = load_model(weights)

    known: list[tuple[Character, PoseCodec, Condition]] = []

    def loss(state: LossState) -> Float[Tensor, "K"]:
        character = state.stage.character
        if not known or known[0][0] is not character:
            codec = PoseCodec.of(character)
            known[:] = [(character, codec, network.describe(codec.body.expand(1)))]
        _, codec, given = known[0]
        controls = state.controls
        count, frames = controls.angles.shape[:2]
        draw = torch.Generator().manual_seed(seed + round(1e6 * state.progress))
        chosen = torch.randint(frames, (FRAMES,), generator=draw)
        states = codec.encode(controls.each(lambda value: value[:, chosen].flatten(0, 1).cpu()))
        t = T_MIN + (T_MAX - T_MIN) * torch.rand(len(states), 1, generator=draw)
        noise = torch.randn(states.shape, generator=draw)
        with torch.no_grad():
            t = t.expand(states.shape[:2])
            alpha, sigma = (x[..., None] for x in signal_and_noise(t))
            noisy = alpha * states + sigma * noise
            clean = denoise(network, given.repeat(len(states)), noisy, t)
        return 0.5 * (states - clean).square().mean((1, 2)).unflatten(0, (count, -1)).mean(1)

    return LossTerm("pose prior", weight, loss, batched=True)
