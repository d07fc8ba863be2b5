"""Training of a recogniser on videos of true clips."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from akd.math.learner import Descent, Learner
from akd.metrics.recognise.network import build_network
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import CLASSES, RecogniserSettings

Source = Callable[[int], tuple[Float[Tensor, "B T H W 3"], Int[Tensor, "B"]]]
"""Gives that number of videos (sRGB 0..1) and the numbers of their classes."""


def roughen(
    videos: Float[Tensor, "B T H W 3"], most_noise: float, generator: torch.Generator
) -> Float[Tensor, "B T H W 3"]:
    """Videos with noise, blur and changed brightness: what samples of a prior look like."""
    rows, device = len(videos), videos.device

    def uniform() -> Tensor:
        return torch.rand(rows, generator=generator, device=device)[:, None, None, None, None]

    flat = videos.flatten(0, 1).permute(0, 3, 1, 2)
    blurred = functional.avg_pool2d(flat, 3, stride=1, padding=1, count_include_pad=False)
    blurred = blurred.permute(0, 2, 3, 1).view(videos.shape)
    videos = torch.lerp(videos, blurred, (uniform() * 1.6 - 0.6).clamp_min(0.0))
    noise = torch.randn(videos.shape, generator=generator, device=device)
    strength = most_noise * (uniform() * 1.5 - 0.5).clamp_min(0.0)
    return ((0.85 + 0.3 * uniform()) * videos + strength * noise).clamp(0.0, 1.0)


def train_recogniser(
    settings: RecogniserSettings,
    source: Source,
    *,
    seconds: float,
    device: torch.device,
    between: Callable[[float], None] | None = None,
    most_steps: int | None = None,
) -> Recogniser:
    """Train for some seconds; `between` is called after each step with the seconds gone by."""
    torch.manual_seed(settings.seed)
    descent = Descent(
        settings.learning_rate, warm_up=100, weight_decay=0.02, ema=0.998, betas=(0.9, 0.999)
    )
    learner = Learner(build_network(settings), descent, device=device)
    draw = torch.Generator(device).manual_seed(settings.seed + 1)
    started, told = time.perf_counter(), 0.0
    while True:
        gone = time.perf_counter() - started
        if gone >= seconds or (most_steps is not None and learner.progress.step >= most_steps):
            break
        videos, labels = source(settings.batch)
        # On the CPU the gradients of 3D convolutions in bfloat16 were seen to be infinite.
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            logits = learner.network(roughen(videos, settings.noise, draw))
        loss = functional.cross_entropy(logits.float(), labels, label_smoothing=0.03)
        learner.descend(loss, part=gone / seconds)
        if gone >= told:
            right = float((logits.argmax(-1) == labels).float().mean())
            print(
                f"recogniser {settings.name}: {gone:5.1f} s, step {learner.progress.step}, "
                f"loss {float(loss.detach()):.3f}, "
                f"{100.0 * right:.1f} % of the batch right", flush=True,
            )  # fmt: skip
            told = gone + 10.0
        if between is not None:
            between(gone)
    return Recogniser(learner.average.eval())


@torch.no_grad()
def measure_accuracy(
    recogniser: Recogniser, videos: Float[Tensor, "K T H W 3"], labels: Int[Tensor, "K"]
) -> dict[str, float]:
    """Share of videos named rightly: overall, and for each class that occurs."""
    said = torch.cat([recogniser(some).argmax(-1) for some in videos.split(128)])
    right = (said == labels.to(said.device)).float()
    scores = {"all": float(right.mean())}
    for number, name in enumerate(CLASSES):
        here = (labels == number).to(right.device)
        if bool(here.any()):
            scores[name] = float(right[here].mean())
    return scores
