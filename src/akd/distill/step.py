"""One iteration of distillation: losses of all candidates, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import torch
from jaxtyping import Float
from torch import Tensor

from akd.distill.score import draw_noise, score_gradient, score_loss
from akd.distill.settings import DistillSettings
from akd.fit.graph import graph_step
from akd.fit.losses import LossTerm, evaluate
from akd.math.cuda_graph import GraphStep
from akd.motion.parametrization import MotionParameters, pose_together
from akd.prior.protocol import KnownFrames, VideoPrior, takes_known_frames, with_known
from akd.prior.sample import latent_shape
from akd.scene.stage import Stage


@dataclass
class DistillStep:
    """Random draws, then losses and gradients: as a CUDA graph where that is possible."""

    stage: Stage
    prior: VideoPrior
    prompt: str
    settings: DistillSettings
    terms: Sequence[LossTerm]
    _steps: dict[tuple[tuple[int, ...], bool], GraphStep] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._shape = latent_shape(self.prior)

    def draw(
        self, generators: Sequence[torch.Generator], progress: float
    ) -> tuple[Float[Tensor, "K"], Float[Tensor, "N"], Float[Tensor, "N *z"]]:
        """Turns of the camera, noise levels and noise of an iteration."""
        settings, device = self.settings, self.stage.cloud.means.device
        turns = [
            settings.camera_jitter * (2.0 * float(torch.rand((), generator=generator)) - 1.0)
            for generator in generators
        ]
        t, noise = draw_noise(
            self._shape, settings.score, progress=progress, generators=generators,
            device=self.prior.device,
        )  # fmt: skip
        return torch.tensor(turns, dtype=torch.float64).to(device), t, noise

    def of(self, candidates: Sequence[MotionParameters], progress: float) -> GraphStep:
        """The step of these candidates: `losses` with them, captured where that is possible.

        Those that diverged are brought up to the others alone.
        """
        half_size = progress < self.settings.half_size
        key = tuple(id(one) for one in candidates), half_size
        if key not in self._steps:
            self._steps[key] = graph_step(
                partial(self.losses, candidates, half_size), self.stage, candidates, self.terms,
                capture=getattr(self.prior, "capturable", False),
            )  # fmt: skip
        return self._steps[key]

    def read(
        self, found: Sequence[Tensor | None], candidates: Sequence[MotionParameters]
    ) -> tuple[list[dict[str, float]], list[list[Tensor | None]]]:
        """Loss, its terms and the RMS of the score of each candidate, and the gradients of its
        tensors. The latter hold until the next step."""
        values, *rest = found
        assert values is not None
        names = ("loss", "score", *(term.name for term in self.terms), "score_rms")
        rows = [dict(zip(names, row, strict=True)) for row in values.T.tolist()]
        gradients = iter(rest)
        return rows, [list(islice(gradients, len(one.tensors()))) for one in candidates]

    def losses(
        self,
        candidates: Sequence[MotionParameters],
        half_size: bool,
        turns: Float[Tensor, "K"],
        t: Float[Tensor, "N"],
        noise: Float[Tensor, "N *z"],
        *,
        progress: float,
    ) -> list[Tensor | None]:
        """The loss, its terms and the RMS of the score's gradient, stacked, and the gradients of
        the loss with respect to all tensors of the candidates."""
        stage, prior, settings = self.stage, self.prior, self.settings
        posed = pose_together(candidates, stage)
        video = stage.show(posed.transforms, turns=turns, half_size=half_size)
        images = (
            stage.reference_images(turns)
            if prior.takes_reference_image
            else [None] * len(candidates)
        )
        conditions = [prior.condition(self.prompt, reference_image=image) for image in images]
        if posed.known is not None and takes_known_frames(prior):
            given = map(KnownFrames, video.detach(), posed.known)
            conditions = [
                with_known(prior, condition, known)
                for condition, known in zip(conditions, given, strict=True)
            ]
        latents = prior.encode(video)
        gradient = score_gradient(prior, latents, conditions, settings.score, t=t, noise=noise)
        score = settings.losses.score * score_loss(latents, gradient).to(video)
        others = evaluate(self.terms, stage, candidates, posed, video, progress)
        losses = [score, *others.values()]
        total = torch.stack(losses).sum(0)
        rms = gradient.flatten(1).square().mean(1).sqrt().to(total)
        tensors = [tensor for one in candidates for tensor in one.tensors()]
        # A candidate that is not finite spoils no other, and is rolled back.
        gradients = torch.autograd.grad(total.sum(), tensors, allow_unused=True)
        return [torch.stack([total, *losses, rms]).detach(), *gradients]
