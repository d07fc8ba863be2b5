"""Poses that are fitted to the videos of a harvest, and which of them are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.api.request import Request
from akd.api.search import starting_point, timed_by
from akd.fit.losses import LossTerm, hinge_regulariser
from akd.fit.regressor.regressor import MotionRegressor
from akd.fit.settings import WarmStartSettings
from akd.fit.warm_start import fit_to_videos
from akd.motion.parametrization import pose_together
from akd.posespace.codec import PoseCodec
from akd.posespace.collect import distinct
from akd.posespace.ground import ground_excess, grounded
from akd.posespace.intersect import INTERSECTS, intersection_depth
from akd.prior.protocol import VideoPrior
from akd.scene.stage import Stage


@dataclass(frozen=True)
class HarvestSettings:
    """How many videos a job samples, how long they are fitted, and which poses are kept."""

    videos: int = 32
    """Videos of a body and a prompt."""
    iterations: int = 60
    """Of the fit."""
    search: bool = True
    """Search poses and phases of limbs before a fit, also where the regressor reads the video;
    False: only where it does not."""
    batch: int = 64
    """Videos that are sampled and fitted together, at most; those of one prompt always are."""
    difference: float = 0.01
    """Largest photometric difference between a video and its fit."""
    judgement: float = 0.5
    """Least value that the judge gives a fit: for the recogniser, the probability that it shows
    some action and not a failure mode. Both by fits to films of true clips
    (`benchmarks/harvest_filters.py`)."""
    hinge: float = 16.0
    """Weight of the mean square of abduction and twist of knees, elbows and the like, radians."""
    warm_start: WarmStartSettings = field(default_factory=WarmStartSettings)
    """As in `akd animate`: an iteration that is not held to what the regressor sees adds more noise
    to axes that images hardly show than it takes away."""


@dataclass(frozen=True)
class FittedPoses:
    """The poses that were fitted to one video."""

    states: Float[Tensor, "T J 3"]
    difference: float
    """Photometric difference between the video and its fit."""
    shown: Float[Tensor, "T H W 3"]
    """The fit as the prior would see it, sRGB 0..1."""

    def fates(
        self, codec: PoseCodec, settings: HarvestSettings, *, judgement: float, highest: float
    ) -> list[str]:
        """Why each pose is dropped; empty for those that are kept.

        `judgement` is what the judge says of the fit, `highest` the largest clearance over the
        ground, body sizes.
        """
        count = len(self.states)
        if not self.difference <= settings.difference:
            return ["fit"] * count
        if judgement < settings.judgement:
            return ["judgement"] * count
        body = codec.body.expand(count)
        found = {
            "intersection": intersection_depth(body, self.states) > INTERSECTS,
            "ground": ground_excess(body, self.states, highest=highest) > 0.0,
            "duplicate": ~distinct(self.states),
        }
        return [
            next((reason for reason, drop in found.items() if bool(drop[pose])), "")
            for pose in range(count)
        ]


def fit_poses(
    videos: Float[Tensor, "K T H W 3"], requests: Sequence[Request], stage: Stage,
    prior: VideoPrior, codec: PoseCodec, settings: HarvestSettings, *,
    regressor: MotionRegressor | None = None,
) -> list[FittedPoses]:  # fmt: skip
    """The poses that are fitted to each video, in one batch.

    Requests have as many videos each, one request's after another's, and must be alike: see
    `akd.fit.losses.evaluated_alike`.
    """
    reads = regressor is not None and not stage.undulates
    warm = replace(settings.warm_start, phase_search=settings.search or not reads)
    each = len(videos) // len(requests)
    starts = [(request, starting_point(request, prior)) for request in requests]
    candidates = [
        request.parametrization.begin(timed_by(start, video), stage)
        for (request, start), own in zip(starts, videos.cpu().split(each), strict=True)
        for video in own
    ]
    hinge = LossTerm("hinge", settings.hinge, hinge_regulariser, batched=True, capturable=True)
    differences = fit_to_videos(
        stage, candidates, videos, [*requests[0].losses, hinge], warm,
        iterations=settings.iterations, regressor=regressor,
    )  # fmt: skip
    with torch.no_grad():
        posed = pose_together(candidates, stage)
        shown = stage.show(posed.transforms, turns=[0.0] * len(candidates))
    assert posed.controls is not None
    controls = posed.controls.to("cpu")
    return [
        FittedPoses(
            grounded(codec.body, codec.encode(controls[k]), fps=prior.fps), difference, video
        )
        for k, (difference, video) in enumerate(zip(differences, shown, strict=True))
    ]
