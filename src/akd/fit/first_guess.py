"""Where a fit to a video in role colours begins: what a search finds or the regressor sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.phase_search import search_phases
from akd.fit.photometric import photometric_loss, pyramid
from akd.fit.pose_search import search_poses
from akd.fit.regressor.regressor import MotionRegressor, begin_with
from akd.fit.settings import WarmStartSettings
from akd.fit.wave_search import search_waves
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionParameters, pose_together
from akd.scene.stage import Stage


@dataclass(frozen=True)
class Regressed:
    """What a regressor sees in the videos of K candidates."""

    curves: list[ControlCurves]
    certainty: Float[Tensor, "K T D"]
    """How sure the angles are, from 0 to 1."""


@torch.no_grad()
def regress(
    stage: Stage,
    candidates: Sequence[MotionParameters],
    targets: Float[Tensor, "K T H W 3"],
    regressor: MotionRegressor | None,
) -> Regressed | None:
    """Copies of the candidates, set to what the regressor sees in their videos.

    None where there is no regressor, and for undulating bodies, whose long chains it does not read.
    """
    curves = [c for c in candidates if isinstance(c, ControlCurves)]
    if regressor is None or stage.undulates or len(curves) < len(candidates):
        return None
    copies = [own.with_values(own.values()) for own in curves]
    readings = regressor.read(stage, targets)
    for copy, reading in zip(copies, readings, strict=True):
        begin_with(copy, reading.pose)
    return Regressed(copies, torch.stack([reading.certainty for reading in readings]))


@torch.no_grad()
def set_first_guess(
    stage: Stage,
    candidates: Sequence[MotionParameters],
    targets: Float[Tensor, "K T H W 3"],
    settings: WarmStartSettings,
    *,
    look: Callable[[Tensor], Tensor],
    regressed: Regressed | None = None,
    begins: Sequence[bool] | None = None,
) -> list[bool]:
    """Set each candidate that is made of control curves to what its video seems to show.

    Phases and poses of the limbs are searched by hue. A regressor reads the whole body, limbs that
    cannot be seen included. If both are there, the start that looks more like the video is taken,
    unless `begins` says which.

    Args:
        stage: Where the character performs.
        candidates: The parameters.
        targets: A video for each.
        settings: Whether to search.
        look: What is compared of images.
        regressed: What a regressor sees in each video: see `regress`.
        begins: Which candidates begin with what the regressor sees; the others are searched.

    Returns:
        Which candidates begin with what the regressor sees.
    """
    if regressed is not None and begins is not None:
        if rest := [k for k, seen in enumerate(begins) if not seen]:
            others = [candidates[k] for k in rest]
            set_first_guess(stage, others, targets[rest], settings, look=look)
        for own, other, seen in zip(candidates, regressed.curves, begins, strict=True):
            if seen and isinstance(own, ControlCurves):
                own.copy_values(other)
        return list(begins)
    curves = [c for c in candidates if isinstance(c, ControlCurves)]
    if not settings.phase_search:
        for own, other in zip(curves, regressed.curves if regressed else [], strict=False):
            own.copy_values(other)
        return [regressed is not None] * len(candidates)
    for candidate, target in zip(candidates, targets, strict=True):
        if isinstance(candidate, ControlCurves):
            search_phases(stage, candidate, target)
            search_waves(stage, candidate, target)
    if len(curves) == len(candidates):
        search_poses(stage, curves, targets)
    if regressed is None:
        return [False] * len(candidates)
    wanted = pyramid(look(targets))
    searched, seen = (
        photometric_loss(look(stage.show_body(pose_together(some, stage).transforms)), wanted)
        for some in (curves, regressed.curves)
    )
    better = (seen < searched).tolist()
    for own, other, is_better in zip(curves, regressed.curves, better, strict=True):
        if is_better:
            own.copy_values(other)
    return better
