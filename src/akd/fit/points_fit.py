"""`fit_points`: joint angles from points on a moving surface, by Chamfer distance.

Angles are optimised through the forward kinematics, so that bones keep their lengths exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.spatial import KDTree
from torch import Tensor

from akd.base.observer import Observer
from akd.fit.limb_search import Limb, chain, find_limbs, limb_angles
from akd.fit.losses import LossTerm, evaluate, pose_regulariser, smoothness
from akd.fit.quality import FitQuality
from akd.fit.settings import FitSettings
from akd.math import davenport, quaternion
from akd.motion.feet import leg_length
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart, pose_together
from akd.motion.settings import Spline
from akd.rig.control import ControlPose
from akd.rig.skin import skin_points
from akd.scene.stage import Stage

_MODEL_POINTS = 900
_HEADINGS = 12
_NEAR = 0.06
"""Points farther apart than this, in body heights, do not belong together: outliers and holes."""
_EXPLAINED = 0.025
"""A point is explained by a surface so near to it, in body heights."""
_REFRESH = 5
"""Iterations for which nearest points are kept."""
_WEIGHT = 400.0
"""Of the mean square distance, in body heights, against the other terms."""
_JUMP = 5e-5
"""Cost of a limb's change from frame to frame, per radian squared."""
_LIMB_POINTS = 500
"""Points of a frame by which poses of limbs are compared."""


@dataclass(frozen=True)
class PointFit:
    """What was fitted to a sequence of points."""

    curves: ControlCurves
    quality: FitQuality
    history: list[dict[str, float]]


@dataclass(frozen=True)
class _Surface:
    """Points of the character's surface."""

    points: Float[Tensor, "N 3"]
    bones: Int[Tensor, "N K"]
    weights: Float[Tensor, "N K"]

    def at(self, transforms: Float[Tensor, "*b B 4 4"]) -> Float[Tensor, "*b N 3"]:
        return skin_points(transforms, self.points, self.bones, self.weights)


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
    height, cloud = stage.character.height, stage.cloud
    step = max(1, len(cloud) // _MODEL_POINTS)
    surface = _Surface(cloud.means[::step], cloud.bones[::step], cloud.weights[::step])
    limbs = find_limbs(stage)
    start = MotionStart(stage.rig, len(frames), fps, leg_length(stage.character, stage.rig))
    knots = max(4, math.ceil(len(frames) / settings.frames_per_knot))
    curves = Spline(knots=knots, free_root=True).begin(start, stage)
    root = _follow_trunk(stage, surface, trees)
    angles = _limbs(stage, limbs, trees, root) if limbs else root.angles
    curves.set_controls(ControlPose(root.translation, root.root_rotation, angles))
    terms = [
        LossTerm("smooth", settings.smooth, smoothness, batched=True),
        LossTerm("rest", settings.rest, pose_regulariser, batched=True),
        *losses,
    ]
    observer.begin("fit")
    history: list[dict[str, float]] = []
    optimiser = torch.optim.Adam(curves.tensors(), lr=settings.learning_rate, betas=(0.9, 0.99))
    pairs: list[tuple[Tensor, Tensor, Tensor]] = []
    still = torch.zeros(1, len(frames), 1, 1, 3, device=cloud.means.device)
    for iteration in range(settings.iterations):
        for group in optimiser.param_groups:
            group["lr"] = settings.learning_rate * (1.0 - 0.9 * iteration / settings.iterations)
        posed = pose_together([curves], stage)
        places = surface.at(posed.transforms[0])
        if iteration % _REFRESH == 0:
            reach = _NEAR * height * (2.0 - iteration / settings.iterations)
            pairs = _pairs(places.detach(), trees, reach)
        distance = _distance(places, pairs) / height**2
        others = evaluate(terms, stage, [curves], posed, still, iteration / settings.iterations)
        loss = _WEIGHT * distance + torch.stack(list(others.values())).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        values = {"loss": float(loss.detach()), "difference": float(distance.detach())}
        history.append(values)
        observer.step(len(history), settings.iterations, values)
    with torch.no_grad():
        places = surface.at(pose_together([curves], stage).transforms[0])
    return PointFit(curves, _judge(places, trees, height), history)


def _pairs(
    places: Float[Tensor, "T N 3"],
    trees: Sequence[KDTree],
    reach: float,
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """For each frame: rows of the model, points they belong to, weights; both ways."""
    found = []
    for own, tree in zip(places, trees, strict=True):
        model = own.double().cpu().numpy()
        far, nearest = map(np.asarray, tree.query(model))
        back, owner = map(np.asarray, KDTree(model).query(tree.data))
        mine = np.flatnonzero(far < reach)
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


def _distance(
    places: Float[Tensor, "T N 3"], pairs: list[tuple[Tensor, Tensor, Tensor]]
) -> Float[Tensor, ""]:
    """Mean square distance of what belongs together."""
    return torch.stack(
        [
            (weights * (own[rows] - targets).square().sum(-1)).sum()
            for own, (rows, targets, weights) in zip(places, pairs, strict=True)
        ]
    ).mean()


@torch.no_grad()
def _follow_trunk(stage: Stage, surface: _Surface, trees: Sequence[KDTree]) -> ControlPose:
    """The root frame by frame: the neutral body, moved rigidly onto the points before it (ICP)."""
    rig, device = stage.rig, surface.points.device
    neutral = surface.at(stage.neutral.to(surface.points)).double().cpu().numpy()
    limbs = find_limbs(stage)
    step = max(1, len(stage.cloud) // _MODEL_POINTS)
    on_limb = torch.zeros(len(neutral), dtype=torch.bool)
    for limb in limbs:
        on_limb |= limb.splats[::step].cpu()
    trunk = neutral[~on_limb.numpy()] if bool((~on_limb).any()) else neutral
    best, placed = math.inf, (np.eye(3), np.zeros(3))
    for k in range(_HEADINGS):
        turn = 2.0 * math.pi * k / _HEADINGS
        rotation = _about_y(turn)
        shift = np.median(trees[0].data, axis=0) - rotation @ np.median(neutral, axis=0)
        rotation, shift = _icp(neutral, trees[0], rotation, shift, upright=True)
        far = np.minimum(trees[0].query(neutral @ rotation.T + shift)[0], stage.character.height)
        if far.mean() < best:
            best, placed = far.mean(), (rotation, shift)
    rotations, shifts = [], []
    for tree in trees:
        rotation, shift = placed
        if len(shifts) > 1:
            shift = 2.0 * shifts[-1] - shifts[-2]  # it goes on as it went
        placed = _icp(trunk, tree, rotation, shift)
        rotations.append(placed[0])
        shifts.append(placed[1])
    turned = torch.from_numpy(np.stack(rotations)).float()
    root_rotation = davenport.unwrap(
        rig.root_axes, davenport.from_quaternion(rig.root_axes, quaternion.from_matrix(turned))
    )
    pivot = (rig.root_pivot + torch.tensor((0.0, stage.lift, 0.0))).double().numpy()
    translation = np.stack([r @ pivot + s - pivot for r, s in zip(rotations, shifts, strict=True)])
    return ControlPose(
        torch.from_numpy(translation).float().to(device),
        root_rotation.to(device),
        torch.zeros(len(trees), len(rig), 3, device=device),
    )


def _about_y(angle: float) -> Float[np.ndarray, "3 3"]:
    c, s = math.cos(angle), math.sin(angle)
    return np.array(((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)))


def _icp(
    points: np.ndarray,
    tree: KDTree,
    rotation: np.ndarray,
    shift: np.ndarray,
    *,
    upright: bool = False,
    rounds: int = 30,
    kept: float = 0.8,
) -> tuple[np.ndarray, np.ndarray]:
    """Rigid motion that lays points onto others; the farthest ones are left out of every round."""
    for _ in range(rounds):
        moved = points @ rotation.T + shift
        far, nearest = map(np.asarray, tree.query(moved))
        good = far <= np.quantile(far, kept)
        a, b = points[good], tree.data[nearest[good]]
        centre_a, centre_b = a.mean(0), b.mean(0)
        cross = (b - centre_b).T @ (a - centre_a)
        if upright:
            turn = math.atan2(cross[0, 2] - cross[2, 0], cross[0, 0] + cross[2, 2])
            rotation = _about_y(turn)
        else:
            u, _, v = np.linalg.svd(cross)
            rotation = u @ np.diag((1.0, 1.0, np.linalg.det(u @ v))) @ v
        shift = centre_b - rotation @ centre_a
    return rotation, shift


@torch.no_grad()
def _limbs(
    stage: Stage, limbs: list[Limb], trees: Sequence[KDTree], root: ControlPose
) -> Float[Tensor, "T D 3"]:
    """Poses of limbs that explain the points, limb after limb, chained over time.

    A point counts by its distance to the nearest part of the body: limbs that are folded into the
    trunk leave points without one.
    """
    device, height = stage.cloud.means.device, stage.character.height
    frames = len(trees)
    data = [
        torch.from_numpy(tree.data[:: max(1, len(tree.data) // _LIMB_POINTS)]).float().to(device)
        for tree in trees
    ]
    # [limb][frame][pose, point]: distance of every point from the limb in each of its poses.
    apart = [_apart(stage, limb.splats, limb.controls(stage), root, data) for limb in limbs]
    trunk = torch.stack([limb.splats for limb in limbs]).any(0).logical_not()
    still = torch.zeros(1, len(stage.rig), 3, device=device)
    body = [far[0] for far in _apart(stage, trunk, still, root, data)]
    rest = [int(limb.angles.square().sum(1).argmin()) for limb in limbs]
    chosen = torch.tensor(rest).repeat(frames, 1)
    for _ in range(2):
        for k, limb in enumerate(limbs):
            costs = []
            for t in range(frames):
                others = [apart[i][t][chosen[t, i]] for i in range(len(limbs)) if i != k]
                near = torch.stack([body[t], *others]).amin(0)
                far = torch.minimum(apart[k][t], near) / height
                costs.append(far.clamp_max(_NEAR).square().mean(1).cpu())
            # Strain is in units of a mean square difference of images.
            whole = torch.stack(costs) + 0.02 * limb.strain
            chosen[:, k] = chain(whole, limb.angles, jump=_JUMP)
    return limb_angles(stage, limbs, chosen.to(device))


def _apart(
    stage: Stage,
    splats: Tensor,
    angles: Float[Tensor, "C D 3"],
    root: ControlPose,
    data: Sequence[Float[Tensor, "P 3"]],
) -> list[Float[Tensor, "C P"]]:
    """Frame by frame, the distance of every point from part of the body in each pose."""
    part = stage.cloud[splats]
    few = torch.arange(0, len(part), max(1, len(part) // 60), device=part.means.device)
    part, count, found = part[few], len(angles), []
    for t, points in enumerate(data):
        pose = ControlPose(
            root.translation[t].expand(count, 3).contiguous(),
            root.root_rotation[t].expand(count, 3).contiguous(),
            angles,
        )
        places = skin_points(stage.transforms(pose), part.means, part.bones, part.weights)
        found.append(torch.cdist(points.expand(count, -1, -1), places).amin(-1))
    return found


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
