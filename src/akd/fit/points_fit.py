"""`fit_points`: joint angles from points on a moving surface, by Chamfer distance.

Angles are optimised through the forward kinematics, so that bones keep their lengths exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.spatial import KDTree
from torch import Tensor

from akd.base.observer import Observer
from akd.fit.limb_search import find_limbs
from akd.fit.losses import LossTerm, evaluate, pose_regulariser, smoothness
from akd.fit.point_search import NEAR, Surface, remove_outliers, search_points
from akd.fit.quality import FitQuality
from akd.fit.settings import FitSettings
from akd.motion.feet import leg_length
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart, pose_together
from akd.motion.settings import Spline
from akd.scene.stage import Stage

_EXPLAINED = 0.025
"""A point is explained by a surface so near to it, in body heights."""
_UPPERS, _LOWERS = 11, 7
"""Angles of a limb's joints that are tried: more than in a video, where each pose is rendered."""
_RETURNS = 0.03
"""A point of the surface is seen if the point nearest to it is nearest to a part of the surface
within this, in body heights: what is turned away finds points of the side that is seen."""
_REFRESH = 5
"""Iterations for which nearest points are kept."""
_WEIGHT = 400.0
"""Of the mean square distance, in body heights, against the other terms."""


_Pairs = tuple[Int[Tensor, "_"], Float[Tensor, "_ 3"], Float[Tensor, "_"]]
"""Rows of the model, points that they belong to, weights."""


@dataclass(frozen=True)
class PointFit:
    """What was fitted to a sequence of points."""

    curves: ControlCurves
    quality: FitQuality
    history: list[dict[str, float]]


def fit_points(
    stage: Stage,
    frames: Sequence[Float[Tensor, "N 3"]],
    *,
    fps: float,
    settings: FitSettings | None = None,
    losses: Sequence[LossTerm] = (),
    observer: Observer | None = None,
) -> PointFit:
    """Fit a character's joints to points on its surface.

    Args:
        stage: The character.
        frames: Points of each frame: metres, Y up. They may be noisy, have outliers and holes.
        fps: Frames a second.
        settings: Iterations and weights.
        losses: Terms beside the distance, smoothness and the pose regulariser.
        observer: Told about every iteration; may cancel.
    """
    settings, observer = settings or FitSettings(), observer or Observer()
    observer.begin("search")
    trees = [KDTree(points.double().cpu().numpy()) for points in frames]
    clean = [KDTree(remove_outliers(tree.data)) for tree in trees]
    height = stage.character.height
    limbs = find_limbs(stage, uppers=_UPPERS, lowers=_LOWERS)
    surface = Surface.of(stage, limbs)
    begun = MotionStart(stage.rig, len(frames), fps, leg_length(stage.character, stage.rig))
    knots = max(4, math.ceil(len(frames) / settings.frames_per_knot))
    candidates = []
    for pose in search_points(stage, limbs, surface, clean):
        curves = Spline(knots=knots, free_root=True).begin(begun, stage)
        curves.set_controls(pose)
        candidates.append(curves)
    terms = [
        LossTerm("smooth", settings.smooth, smoothness, batched=True),
        LossTerm("rest", settings.rest, pose_regulariser, batched=True),
        *losses,
    ]
    observer.begin("fit")
    history: list[dict[str, float]] = []
    trial = settings.trial if len(candidates) > 1 else 0

    def step(values: dict[str, float]) -> None:
        history.append(values)
        observer.step(len(history), trial + settings.iterations, values)

    if len(candidates) > 1:
        _optimise(stage, candidates, surface, clean, terms, settings, trial, step)
        with torch.no_grad():
            places = surface.at(pose_together(candidates, stage).transforms)
        left = [_unexplained(own, clean, NEAR * height) for own in places]
        candidates = [candidates[left.index(min(left))]]
    _optimise(stage, candidates, surface, clean, terms, settings, settings.iterations, step)
    best = candidates[0]
    with torch.no_grad():
        places = surface.at(pose_together([best], stage).transforms[0])
    return PointFit(best, _judge(places, trees, height), history)


def _unexplained(places: Float[Tensor, "T N 3"], trees: Sequence[KDTree], reach: float) -> float:
    """Mean square distance of the points from the surface, at most `reach` each.

    The loss does not compare candidates: it leaves out what is farther away.
    """
    far = [
        np.minimum(KDTree(own.double().cpu().numpy()).query(tree.data)[0], reach)
        for own, tree in zip(places, trees, strict=True)
    ]
    return float(np.mean([np.square(one).mean() for one in far]))


def _optimise(
    stage: Stage,
    candidates: Sequence[ControlCurves],
    surface: Surface,
    trees: Sequence[KDTree],
    terms: Sequence[LossTerm],
    settings: FitSettings,
    iterations: int,
    step: Callable[[dict[str, float]], None],
) -> None:
    """Optimise each candidate until its surface is where the points are."""
    height = stage.character.height
    tensors = [tensor for curves in candidates for tensor in curves.tensors()]
    optimiser = torch.optim.Adam(tensors, lr=settings.learning_rate, betas=(0.9, 0.99))
    pairs: list[list[_Pairs]] = []
    still = surface.points.new_zeros(len(candidates), len(trees), 1, 1, 3)
    for iteration in range(iterations):
        progress = iteration / iterations
        for group in optimiser.param_groups:
            group["lr"] = settings.learning_rate * (1.0 - 0.9 * progress)
        posed = pose_together(candidates, stage)
        places = surface.at(posed.transforms)
        if iteration % _REFRESH == 0:
            reach = NEAR * height * (2.0 - progress)
            pairs = [_pairs(own, trees, reach, _RETURNS * height) for own in places.detach()]
        distance = torch.stack(list(map(_distance, places, pairs))) / height**2
        others = evaluate(terms, stage, candidates, posed, still, progress)
        totals = torch.stack([_WEIGHT * distance, *others.values()]).sum(0)
        optimiser.zero_grad()
        totals.sum().backward()
        optimiser.step()
        step({"loss": float(totals.detach().min()), "difference": float(distance.detach().min())})


def _pairs(
    places: Float[Tensor, "T N 3"],
    trees: Sequence[KDTree],
    reach: float,
    returns: float,
) -> list[_Pairs]:
    """What belongs together in each frame, looked for both ways."""
    found = []
    for own, tree in zip(places, trees, strict=True):
        model = own.double().cpu().numpy()
        far, nearest = map(np.asarray, tree.query(model))
        back, owner = map(np.asarray, KDTree(model).query(tree.data))
        back_home = np.linalg.norm(model[owner[nearest]] - model, axis=1)
        mine = np.flatnonzero((far < reach) & (back_home < returns))
        theirs = np.flatnonzero(back < reach)
        rows = np.concatenate((mine, owner[theirs]))
        targets = tree.data[np.concatenate((nearest[mine], theirs))]
        weights = np.concatenate([np.full(len(x), 0.5 / max(len(x), 1)) for x in (mine, theirs)])
        found.append(
            (
                torch.from_numpy(rows).to(places.device),
                torch.from_numpy(np.ascontiguousarray(targets)).to(places),
                torch.from_numpy(weights).to(places),
            )
        )
    return found


def _distance(places: Float[Tensor, "T N 3"], pairs: list[_Pairs]) -> Float[Tensor, ""]:
    """Mean square distance of what belongs together."""
    return torch.stack(
        [
            (weights * (own[rows] - targets).square().sum(-1)).sum()
            for own, (rows, targets, weights) in zip(places, pairs, strict=True)
        ]
    ).mean()


def _judge(places: Float[Tensor, "T N 3"], trees: Sequence[KDTree], height: float) -> FitQuality:
    """How many of the points the surface explains, and how far apart the two are."""
    shares, apart = [], []
    for own, tree in zip(places, trees, strict=True):
        far = KDTree(own.double().cpu().numpy()).query(tree.data)[0] / height
        shares.append(float((far < _EXPLAINED).mean()))
        apart.append(float(np.median(far)))
    count = len(trees)
    return FitQuality(
        torch.tensor(shares), float(np.mean(shares)), torch.tensor(apart), None,
        torch.zeros(count, dtype=torch.bool), what="points",
    )  # fmt: skip
