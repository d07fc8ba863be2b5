"""Where the body stands and how its limbs are posed in point clouds, before any gradient.

A person's trunk looks nearly alike from the front and from the back, so that headings are ranked
by how well the limbs explain the points, and two that face opposite ways are returned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree
from torch import Tensor

from akd.fit.limb_search import Limb, chain, find_limbs, limb_angles, swap_sides
from akd.math import davenport, quaternion
from akd.rig.control import ControlPose
from akd.rig.skin import skin_points
from akd.scene.stage import Stage

NEAR = 0.06
"""Points farther apart than this, in body heights, do not belong together: outliers and holes."""
_MODEL_POINTS = 900
_HEADINGS = 12
_APART = math.radians(25.0)
"""Two headings that differ by less are one."""
_COMPARED = slice(0, 24, 3)
"""Frames in which headings are compared: the first second."""
_REFINED = 2
"""Times that the body is found again with its limbs as found."""
_KEPT = 0.85
"""Share of the points that ICP uses in every round: the nearest ones."""
_JUMP = 5e-5
"""Cost of a limb's change from frame to frame, per radian squared."""
_STRAIN = 0.02
"""Factor on a limb's strain, which is in units of a mean square difference of images."""
_EMPTY = 0.5
"""Weight of the distance of a limb's surface from the points, against that of the points from the
body. Below 1: a hole has no points either."""
_REACH = 0.12
"""Distances between points and limbs count up to this, in body heights."""
_PART_POINTS = 80
"""Points on a limb; ten times as many on the trunk, which has one pose: between sparse points of
the trunk a limb would seem to explain more."""
_LIMB_POINTS = 500
"""Points of a frame by which poses of limbs are compared."""
_NEIGHBOURS, _LONELY = 8, 2.5
"""Neighbours, and factor: a point is an outlier if its mean distance to its neighbours exceeds the
median by this factor."""


@dataclass(frozen=True)
class Surface:
    """Points of the character's surface."""

    points: Float[Tensor, "N 3"]
    bones: Int[Tensor, "N K"]
    weights: Float[Tensor, "N K"]
    limb: Int[Tensor, "N"]
    """Index of the limb among those of `find_limbs`; -1 on the trunk."""

    @classmethod
    def of(cls, stage: Stage, limbs: Sequence[Limb]) -> Surface:
        """Some of the splats' centres."""
        cloud = stage.cloud
        limb = torch.full((len(cloud),), -1, device=cloud.means.device)
        for k, one in enumerate(limbs):
            limb[one.splats] = k
        few = slice(None, None, max(1, len(cloud) // _MODEL_POINTS))
        return cls(cloud.means[few], cloud.bones[few], cloud.weights[few], limb[few])

    def at(self, transforms: Float[Tensor, "*b B 4 4"]) -> Float[Tensor, "*b N 3"]:
        """World positions, metres."""
        return skin_points(transforms, self.points, self.bones, self.weights)


@dataclass(frozen=True)
class _Placement:
    """world_from_body of a body whose root is neutral."""

    rotation: Float[np.ndarray, "3 3"]
    shift: Float[np.ndarray, "3"]


@dataclass(frozen=True)
class _LimbPoses:
    angles: Float[Tensor, "T D 3"]
    residual: float


def remove_outliers(points: Float[np.ndarray, "P 3"]) -> Float[np.ndarray, "p 3"]:
    """Points that have neighbours as near as most points have."""
    if len(points) <= _NEIGHBOURS:
        return points
    apart = np.asarray(KDTree(points).query(points, k=_NEIGHBOURS + 1)[0])[:, 1:].mean(1)
    return points[apart <= _LONELY * np.median(apart)]


@torch.no_grad()
def search_points(
    stage: Stage, limbs: list[Limb], surface: Surface, trees: Sequence[KDTree]
) -> list[ControlPose]:
    """Root and limbs in every frame: for the heading that explains the points best, and for the
    best one that faces the other way.

    The neutral body is laid onto the first frame from headings all around. From each place found,
    the trunk is followed through the first second and limbs are searched there.
    """
    still = torch.zeros(1, len(stage.rig), 3, device=surface.points.device)
    trunk = (surface.limb < 0).cpu().numpy()
    if not trunk.any():
        trunk = np.ones_like(trunk)
    neutral = _bodies(stage, surface, still)[0]
    started = _headings(neutral, trees[0])
    coarse = find_limbs(stage)

    def follow(first: _Placement, frames: Sequence[KDTree]) -> list[_Placement]:
        placed: list[_Placement] = []
        for tree in frames:
            guess = placed[-1] if placed else first
            if len(placed) > 1:  # it goes on as it went
                guess = _Placement(guess.rotation, 2.0 * guess.shift - placed[-2].shift)
            placed.append(_icp(neutral, tree.data, guess, used=trunk))
        return placed

    def attempt(first: _Placement) -> tuple[float, _Placement]:
        few = trees[_COMPARED]
        placed = follow(first, few)
        root = _root(stage, placed, surface.points.device)
        return _search_limbs(stage, coarse, few, root).residual, placed[0]

    def search(first: _Placement) -> ControlPose:
        placed = follow(first, trees)
        root = _root(stage, placed, surface.points.device)
        found = _search_limbs(stage, limbs, trees, root)
        for _ in range(_REFINED):
            # With its limbs where they are, the body is found more exactly, and then they are.
            bodies = _bodies(stage, surface, found.angles)
            placed = [
                _icp(body, tree.data, guess)
                for body, tree, guess in zip(bodies, trees, placed, strict=True)
            ]
            root = _root(stage, placed, surface.points.device)
            found = _search_limbs(stage, limbs, trees, root)
        return ControlPose(root.translation, root.root_rotation, found.angles)

    if not limbs:
        return [_root(stage, follow(started[0], trees), surface.points.device)]
    ranked = [placed for _, placed in sorted(map(attempt, started), key=lambda pair: pair[0])]
    best = ranked[0]
    other = next((one for one in ranked if _turn(one, best) > 0.5 * math.pi), None)
    return [search(one) for one in (best, other or _turned_round(best, neutral))]


def _bodies(
    stage: Stage, surface: Surface, angles: Float[Tensor, "T D 3"]
) -> Float[np.ndarray, "T N 3"]:
    """Surface points of a body whose root is neutral."""
    still = angles.new_zeros(len(angles), 3)
    transforms = stage.transforms(ControlPose(still, still, angles))
    return surface.at(transforms).double().cpu().numpy()


def _headings(body: Float[np.ndarray, "N 3"], tree: KDTree) -> list[_Placement]:
    """Upright placements of the body onto points that differ, the nearest first."""
    found: list[_Placement] = []
    for k in range(_HEADINGS):
        rotation = _about_y(2.0 * math.pi * k / _HEADINGS)
        shift = np.median(tree.data, axis=0) - rotation @ np.median(body, axis=0)
        placed = _icp(body, tree.data, _Placement(rotation, shift), upright=True)
        if all(_turn(placed, other) > _APART for other in found):
            found.append(placed)
    own = KDTree(body)
    return sorted(
        found,
        key=lambda one: np.mean(own.query((tree.data - one.shift) @ one.rotation)[0]),
    )


def _turn(a: _Placement, b: _Placement) -> float:
    """Angle between two rotations, radians."""
    cosine = 0.5 * (float((a.rotation * b.rotation).sum()) - 1.0)
    return math.acos(min(1.0, max(-1.0, cosine)))


def _turned_round(placed: _Placement, body: Float[np.ndarray, "N 3"]) -> _Placement:
    """The body in the same place, facing the other way."""
    rotation, middle = _about_y(math.pi) @ placed.rotation, body.mean(0)
    return _Placement(rotation, placed.shift + (placed.rotation - rotation) @ middle)


def _root(stage: Stage, placed: Sequence[_Placement], device: torch.device) -> ControlPose:
    """Coordinates of the root, with neutral joints."""
    rig = stage.rig
    turned = torch.from_numpy(np.stack([one.rotation for one in placed])).float()
    root_rotation = davenport.unwrap(
        rig.root_axes, davenport.from_quaternion(rig.root_axes, quaternion.from_matrix(turned))
    )
    pivot = (rig.root_pivot + torch.tensor((0.0, stage.lift, 0.0))).double().numpy()
    translation = np.stack([one.rotation @ pivot + one.shift - pivot for one in placed])
    return ControlPose(
        torch.from_numpy(translation).float().to(device),
        root_rotation.to(device),
        torch.zeros(len(placed), len(rig), 3, device=device),
    )


def _about_y(angle: float) -> Float[np.ndarray, "3 3"]:
    c, s = math.cos(angle), math.sin(angle)
    return np.array(((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)))


def _icp(
    body: Float[np.ndarray, "N 3"],
    points: Float[np.ndarray, "P 3"],
    placed: _Placement,
    *,
    used: Bool[np.ndarray, "N"] | None = None,
    upright: bool = False,
    rounds: int = 30,
) -> _Placement:
    """Rigid motion that lays the body onto points.

    Points look for the body and not the other way round: with one side seen, the other side of the
    body would find points too. Those that are nearest to parts that are not `used` are left out.
    """
    points = points[:: max(1, len(points) // _MODEL_POINTS)]
    own = KDTree(body)
    for _ in range(rounds):
        far, nearest = map(np.asarray, own.query((points - placed.shift) @ placed.rotation))
        good = far <= np.quantile(far, _KEPT)
        if used is not None and int((good & used[nearest]).sum()) >= 10:
            good &= used[nearest]
        a, b = body[nearest[good]], points[good]
        centre_a, centre_b = a.mean(0), b.mean(0)
        cross = (b - centre_b).T @ (a - centre_a)
        if upright:
            turn = math.atan2(cross[0, 2] - cross[2, 0], cross[0, 0] + cross[2, 2])
            rotation = _about_y(turn)
        else:
            u, _, v = np.linalg.svd(cross)
            rotation = u @ np.diag((1.0, 1.0, np.linalg.det(u @ v))) @ v
        before, placed = placed, _Placement(rotation, centre_b - rotation @ centre_a)
        if np.abs(placed.rotation - before.rotation).max() < 1e-4:
            break
    return placed


@torch.no_grad()
def _search_limbs(
    stage: Stage, limbs: list[Limb], trees: Sequence[KDTree], root: ControlPose
) -> _LimbPoses:
    """Poses of limbs that explain the points, limb after limb, chained over time.

    A point counts by its distance to the nearest part of the body, and a limb by its distance to
    the nearest points: it is neither folded into the trunk nor held where there are no points.
    """
    device, frames = stage.cloud.means.device, len(trees)
    data = [
        torch.from_numpy(tree.data[:: max(1, len(tree.data) // _LIMB_POINTS)]).float().to(device)
        for tree in trees
    ]
    apart, empty = zip(
        *(_apart(stage, limb.splats, limb.controls(stage), root, data) for limb in limbs),
        strict=True,
    )
    trunk = torch.stack([limb.splats for limb in limbs]).any(0).logical_not()
    still = torch.zeros(1, len(stage.rig), 3, device=device)
    body = [far[0] for far in _apart(stage, trunk, still, root, data)[0]]
    shares = [float(limb.splats.float().mean()) for limb in limbs]
    rest = [int(limb.angles.square().sum(1).argmin()) for limb in limbs]
    chosen = torch.tensor(rest).repeat(frames, 1)
    own = [
        _EMPTY * shares[k] * empty[k].cpu() + _STRAIN * limb.strain for k, limb in enumerate(limbs)
    ]
    each = torch.arange(frames)

    def nearest(t: int, poses: Int[Tensor, "limbs"], *, but: int = -1) -> Float[Tensor, "P"]:
        """Distance of every point from the body, one limb left out."""
        far = [apart[i][t][poses[i]] for i in range(len(limbs)) if i != but]
        return torch.stack([body[t], *far]).amin(0)

    def residual(chosen: Int[Tensor, "T limbs"]) -> float:
        far = torch.stack([nearest(t, poses).square().mean() for t, poses in enumerate(chosen)])
        strain = torch.stack([own[k][each, chosen[:, k]] for k in range(len(limbs))]).sum(0)
        return float(far.mean()) + float(strain.mean())

    left = math.inf
    for _ in range(2):
        for k, limb in enumerate(limbs):
            far = [
                torch.minimum(apart[k][t], nearest(t, poses, but=k)).square().mean(1)
                for t, poses in enumerate(chosen)
            ]
            chosen[:, k] = chain(torch.stack(far).cpu() + own[k], limb.angles, jump=_JUMP)
        left = residual(chosen)
        for kind in dict.fromkeys(limb.role.limb for limb in limbs):
            other = swap_sides(limbs, chosen, kind=kind)  # one limb after the other never does
            if (exchanged := residual(other)) < left:
                chosen, left = other, exchanged
    return _LimbPoses(limb_angles(stage, limbs, chosen.to(device)), left)


def _apart(
    stage: Stage,
    splats: Bool[Tensor, "N"],
    angles: Float[Tensor, "C D 3"],
    root: ControlPose,
    data: Sequence[Float[Tensor, "P 3"]],
) -> tuple[list[Float[Tensor, "C P"]], Float[Tensor, "T C"]]:
    """Distances between points and part of the body in each pose, in body heights up to `_REACH`.

    Returns:
        Frame by frame, the distance of every point from the part; and the mean square distance of
        the part from the points.
    """
    part = stage.cloud[splats]
    most = _PART_POINTS if len(angles) > 1 else 10 * _PART_POINTS
    few = torch.arange(0, len(part), max(1, len(part) // most), device=part.means.device)
    part, count, found, empty = part[few], len(angles), [], []
    for t, points in enumerate(data):
        pose = ControlPose(
            root.translation[t].expand(count, 3).contiguous(),
            root.root_rotation[t].expand(count, 3).contiguous(),
            angles,
        )
        places = skin_points(stage.transforms(pose), part.means, part.bones, part.weights)
        far = torch.cdist(points.expand(count, -1, -1), places) / stage.character.height
        far = far.clamp_max(_REACH)
        found.append(far.amin(2))
        empty.append(far.amin(1).square().mean(1))
    return found, torch.stack(empty)
