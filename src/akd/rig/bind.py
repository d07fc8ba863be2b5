"""Where the joints and the mesh were when they were bound to each other.

glTF stores this only as inverse bind matrices, in the mesh's own space. The space may be turned or
scaled against the world (a Z-up mesh, an armature of scale 100), and the pose that the file's nodes
rest in may be another one altogether, so the map from mesh space to the world is found by asking
which one explains most joints.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree
from torch import Tensor

from akd.asset.asset import Asset, Problem
from akd.math import transform
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton

_MAX_JUDGES = 256
_JOINT_BYTES = 100 * _MAX_JUDGES
"""Of a joint: four points of three float64 values against every judge."""
_NEAR, _HAND = 0.3, 0.3
"""Joints vote for a space that puts the body this near to where they do, in sizes of it, and those
of a hand lie within this share of it."""
_OBLIQUE = math.radians(20.0)
"""A mesh space that is turned further than this from the axes was turned by the artist."""
_MOST_AGREE = 0.01
"""Joints agree about a mesh space that puts the body this near, in sizes of it."""


def skeleton_of(asset: Asset) -> Skeleton:
    """All nodes of the file as joints, float64, in file units."""
    nodes = asset.nodes
    if not nodes:
        return Skeleton((), (), Pose.identity(0, dtype=torch.float64))

    def stack(attribute: str) -> Tensor:
        return torch.from_numpy(np.stack([getattr(n, attribute) for n in nodes]).astype(np.float64))

    rest = Pose(stack("translation"), stack("rotation"), stack("scale"))
    return Skeleton(tuple(n.name for n in nodes), tuple(n.parent for n in nodes), rest)


@dataclass(frozen=True)
class Bind:
    """The bind pose of a file, in the world, file units, float64."""

    world_from_joint: Float[Tensor, "J 4 4"]
    """Of every node; nodes that no skin names hang on their parents as they rest."""
    world_from_mesh: tuple[Float[Tensor, "4 4"], ...]
    """For each skin, where its mesh space lies in the world."""
    inverse_bind: tuple[Float[Tensor, "_ 4 4"], ...]
    """For each skin, joint_from_mesh of its joints, every one with an inverse."""
    is_joint: Bool[Tensor, "J"]
    """Nodes that a skin names."""
    problems: tuple[Problem, ...]


def find_bind(asset: Asset, skeleton: Skeleton) -> Bind:
    """Bind pose of every joint, from the inverse bind matrices."""
    rest_world = skeleton.forward(skeleton.rest)
    local = skeleton.rest.matrices()
    is_joint = torch.zeros(len(skeleton), dtype=torch.bool)
    bound: dict[int, Tensor] = {}
    spaces: list[Tensor] = []
    inverses: list[Tensor] = []
    problems: list[Problem] = []
    budget = asset.budget.fork()
    for index, skin in enumerate(asset.skins):
        budget.charge(_JOINT_BYTES * len(skin.joints), f"{asset.path}: skin {index}")
        joints = torch.from_numpy(np.array(skin.joints, dtype=np.int64))
        inverse_bind = torch.from_numpy(np.array(skin.inverse_bind, dtype=np.float64))
        inverse_bind, repaired = _invertible(inverse_bind, rest_world[joints])
        if repaired:
            problems.append(
                Problem(
                    "warning",
                    f"skin {index}",
                    f"{repaired} of {len(joints)} inverse bind matrices have no inverse",
                    "those joints are taken to be bound where they rest",
                )
            )
        says = torch.from_numpy(_moves_skin(asset, index)) | ~_is_blank(inverse_bind)
        space, spread = _mesh_space(asset, index, joints[says], inverse_bind[says], rest_world)
        if not bool(_has_inverse(space)):
            space = torch.eye(4, dtype=space.dtype)
            problems.append(
                Problem(
                    "warning",
                    f"skin {index}",
                    "what hangs on it is scaled to nothing",
                    "it is taken as it was bound",
                )
            )
        if spread > 0.01:
            problems.append(
                Problem(
                    "note",
                    f"skin {index}",
                    "the nodes do not rest in the bind pose",
                    "the bind pose is taken from the inverse bind matrices",
                )
            )
        spaces.append(space)
        inverses.append(inverse_bind)
        is_joint[joints] = True
        placed = space @ transform.inverse(inverse_bind[says])
        for joint, world in zip(joints[says].tolist(), placed, strict=True):
            bound.setdefault(joint, world)
    worlds: dict[int, Tensor] = {}
    for root in skeleton.roots:
        for joint in skeleton.subtree(root):
            parent = skeleton.parents[joint]
            hanging = local[joint] if parent < 0 else worlds[parent] @ local[joint]
            worlds[joint] = bound.get(joint, hanging)
    world = torch.stack([worlds[j] for j in range(len(skeleton))]) if worlds else rest_world
    return Bind(world, tuple(spaces), tuple(inverses), is_joint, tuple(problems))


def _invertible(
    inverse_bind: Float[Tensor, "J 4 4"], rest_world: Float[Tensor, "J 4 4"]
) -> tuple[Float[Tensor, "J 4 4"], int]:
    """Replace matrices that are not finite or have no inverse by those of the rest pose."""
    good = _has_inverse(inverse_bind)
    eye = torch.eye(4, dtype=inverse_bind.dtype).expand_as(inverse_bind)
    fallback = torch.where(_has_inverse(rest_world)[:, None, None], rest_world, eye)
    repaired = torch.where(good[:, None, None], inverse_bind, transform.inverse(fallback))
    return repaired, int((~good).sum())


def _has_inverse(matrices: Float[Tensor, "*b 4 4"]) -> Bool[Tensor, "*b"]:
    finite = matrices.isfinite().all(-1).all(-1)
    return finite & (torch.linalg.det(matrices.nan_to_num()[..., :3, :3]).abs() > 1e-18)


def _mesh_space(
    asset: Asset,
    skin: int,
    joints: Int[Tensor, "J"],
    inverse_bind: Float[Tensor, "J 4 4"],
    rest_world: Float[Tensor, "N 4 4"],
) -> tuple[Float[Tensor, "4 4"], float]:
    """world_from_mesh of a skin, and how far joints disagree about it in fractions of its size.

    Every joint gives an estimate: its rest transform after its inverse bind matrix. Where nodes
    rest in the bind pose all agree. Where not, exporters set the node that shows the mesh to the
    right one; it is believed as soon as one joint, one that still rests where it was bound, agrees.
    Otherwise the joints vote. Where the joints of one hand win, the body rests in a pose in which
    no joint is as it was bound: they then count less, and a space that is nearly square to the axes
    is made so, as exporters change axes.
    """
    if not len(joints):
        return torch.eye(4, dtype=rest_world.dtype), 0.0
    estimates = rest_world[joints] @ inverse_bind
    origins = transform.inverse(inverse_bind)[:, :3, 3]
    size = float((origins.amax(0) - origins.amin(0)).norm()) or 1.0
    probes = origins.mean(0) + size * torch.cat((torch.zeros(1, 3), torch.eye(3))).to(origins)
    shown = [n for n, node in enumerate(asset.nodes) if node.skin == skin and node.mesh is not None]
    candidates = torch.cat((rest_world[shown[:1]], estimates)) if shown else estimates
    placed = transform.apply(candidates[:, None], probes)  # [candidates, probes, 3]
    # Every joint is a candidate, but a sample judges: joints squared would not fit in memory.
    step = -(-len(joints) // _MAX_JUDGES)
    wanted = placed[-len(joints) :: step]
    scale = float((wanted[:, 1:] - wanted[:, :1]).norm(dim=-1).median()) or 1.0
    # [candidates, joints]: how far apart two estimates put the body, in sizes of it.
    apart = (placed[:, None] - wanted[None]).norm(dim=-1).amax(-1) / scale
    best = int(apart.median(dim=1).values.argmin())
    spread = float(apart[best].max())
    if spread < 1e-3:
        return candidates[best], spread
    if shown and float(apart[0].min()) < _MOST_AGREE:
        return candidates[0], float(apart[0].max())
    voters = origins[::step][apart[best] < _NEAR]
    if float((voters.amax(0) - voters.amin(0)).norm()) > _HAND * size:
        return candidates[best], spread
    best = int(_weighted_median(apart, _loneliness(origins)[::step]).argmin())
    spread = float(apart[best].max())
    if _off_square(candidates[best]) > _OBLIQUE:
        return candidates[best], spread
    return _turned_square(candidates[best], probes[0]), spread


def _loneliness(points: Float[Tensor, "J 3"]) -> Float[Tensor, "J"]:
    """Distance of each point to the nearest other one: the votes of the joints of a leg and of a
    spine count more than those of the many joints of a hand."""
    if len(points) < 2:
        return torch.ones(len(points), dtype=points.dtype)
    places = points.numpy()
    apart = torch.from_numpy(KDTree(places).query(places, k=2)[0][:, 1])
    return apart if float(apart.sum()) > 0.0 else torch.ones_like(apart)


def _weighted_median(
    values: Float[Tensor, "C J"], weights: Float[Tensor, "J"]
) -> Float[Tensor, "C"]:
    """Of each row: half the weight is on values up to it."""
    values, order = values.sort(dim=1)
    reached = weights[order].cumsum(dim=1) >= 0.5 * weights.sum() - 1e-12
    return values.gather(1, reached.int().argmax(dim=1, keepdim=True))[:, 0]


def _nearest_square(turn: Float[Tensor, "3 3"]) -> Float[Tensor, "3 3"]:
    """The rotation that maps axes to axes, or the mirrored one, that is nearest."""
    squares = [
        torch.diag(torch.tensor(signs)).to(turn)[list(order)]
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
    ]
    squares = [q for q in squares if torch.linalg.det(q) * torch.linalg.det(turn) > 0.0]
    return max(squares, key=lambda square: float((square * turn).sum()))


def _off_square(space: Float[Tensor, "4 4"]) -> float:
    """Angle, radians, by which a map turns axes away from axes."""
    left, _, right = torch.linalg.svd(space[:3, :3])
    cosine = 0.5 * (float((_nearest_square(left @ right) * (left @ right)).sum()) - 1.0)
    return math.acos(max(-1.0, min(1.0, cosine)))


def _turned_square(space: Float[Tensor, "4 4"], centre: Float[Tensor, "3"]) -> Float[Tensor, "4 4"]:
    """A map whose rotation is replaced by the nearest one that maps axes to axes; where it takes
    the centre stays."""
    left, stretch, right = torch.linalg.svd(space[:3, :3])
    turned = space.clone()
    turned[:3, :3] = _nearest_square(left @ right) @ (right.mT * stretch) @ right
    turned[:3, 3] = transform.apply(space, centre) - turned[:3, :3] @ centre
    return turned


def _is_blank(inverse_bind: Float[Tensor, "J 4 4"]) -> Bool[Tensor, "J"]:
    """Identities. Control bones that move no skin are often exported with one, and can be the
    majority: it says neither where the mesh's space nor where the joint is."""
    return (inverse_bind - torch.eye(4).to(inverse_bind)).abs().amax(dim=(1, 2)) < 1e-6


def _moves_skin(asset: Asset, skin: int) -> Bool[np.ndarray, "S"]:
    """Joints of a skin that any vertex has weight on; all of them where there are no weights."""
    moving = np.zeros(len(asset.skins[skin].joints), dtype=bool)
    for mesh in {node.mesh for node in asset.nodes if node.skin == skin and node.mesh is not None}:
        for part in asset.meshes[mesh].parts:
            if part.joints is not None and part.weights is not None:
                moving[np.unique(part.joints[part.weights > 0])] = True
    return moving if moving.any() else ~moving
