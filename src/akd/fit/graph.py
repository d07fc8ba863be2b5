"""A step of fitting or distillation as a CUDA graph, where everything in it allows that."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from torch import Tensor

from akd.fit.losses import LossTerm
from akd.math.cuda_graph import GraphStep
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionParameters
from akd.scene.stage import Stage
from akd.splat.list_room import ListRoom
from akd.splat.renderer import SplatRenderer


def graph_step(
    function: Callable[..., Sequence[Tensor | None]],
    stage: Stage,
    candidates: Sequence[MotionParameters],
    terms: Sequence[LossTerm],
    *,
    capture: bool = True,
) -> GraphStep:
    """A step that poses and renders candidates and evaluates the terms.

    It is captured on a GPU if the parametrization and the renderer are ours, all terms are
    `capturable`, and `capture` says so of the rest. `AKD_CUDA_GRAPHS=0` in the environment turns
    captures off.
    """
    capture = capture and os.environ.get("AKD_CUDA_GRAPHS") != "0"
    renderer = stage.renderer
    ours = isinstance(renderer, SplatRenderer) and renderer.rasterizer == "warp"
    ours = ours and all(isinstance(candidate, ControlCurves) for candidate in candidates)
    return GraphStep(
        function,
        device=stage.cloud.means.device,
        capture=capture and ours and all(term.capturable for term in terms),
        room=ListRoom(),
    )
