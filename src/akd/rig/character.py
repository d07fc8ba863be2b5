"""`Character`: an asset understood as a body, in metres, Y up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_matrix
from torch import Tensor

from akd.asset.asset import Asset, AssetError, Problem
from akd.rig.bind import find_bind, skeleton_of
from akd.rig.control import ControlRig
from akd.rig.control_build import build_control_rig
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.props import find_props
from akd.rig.roles.anatomy import Anatomy, find_anatomy
from akd.rig.roles.body import Evidence
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin
from akd.rig.surface import surface_of
from akd.rig.units import FileUnits, find_units

MAX_JOINTS = 2048
"""Time and memory of finding the body grow with the square of it."""


@dataclass(frozen=True)
class Character:
    """A skeleton, the mesh on it, and what its joints are to the body."""

    asset: Asset
    skeleton: Skeleton
    """Every node of the file, float32, metres."""
    mesh: SkinnedMesh | None
    """None for a skeleton without a surface."""
    body_mesh: SkinnedMesh | None
    """The mesh without props such as weapons, hats and capes: height, ground, soles and mass are
    those of this one."""
    bind: Pose
    """Local transforms in the bind pose."""
    units: FileUnits
    height: float
    """Extent of the body in the bind pose along Y, metres: every tolerance is a fraction of it."""
    anatomy: Anatomy
    problems: tuple[Problem, ...]
    """What was odd about the file and about the body in it."""
    notes: tuple[str, ...] = ()
    """For the user to check, such as how sure an automatic rig is."""

    @cached_property
    def control_rig(self) -> ControlRig:
        """The tree of joints that akd drives."""
        return build_control_rig(self)

    @property
    def forward(self) -> Float[Tensor, "3"]:
        """Horizontal unit vector, the way the character faces."""
        return torch.from_numpy(self.anatomy.forward).float()


@dataclass(frozen=True)
class _Reading:
    """A file in metres, before anything is concluded about the body in it."""

    skeleton: Skeleton
    mesh: SkinnedMesh | None
    body_mesh: SkinnedMesh | None
    world: Float[Tensor, "J 4 4"]
    units: FileUnits
    height: float
    problems: tuple[Problem, ...]
    evidence: Evidence


def load_character(asset: Asset, *, height: float | None = None, up: str = "y") -> Character:
    """Understand an asset as a body.

    `height` in metres overrides the unit that would be found; `up` is the file's up axis.
    """
    read = _read(asset, height=height, up=up)
    return Character(
        asset=asset,
        skeleton=read.skeleton,
        mesh=read.mesh,
        body_mesh=read.body_mesh,
        bind=read.skeleton.localize(read.world).to(dtype=torch.float32),
        units=read.units,
        height=read.height,
        anatomy=find_anatomy(read.evidence),
        problems=(*asset.problems, *read.problems),
    )


def evidence_of(asset: Asset, *, up: str = "y") -> Evidence:
    """What roles are inferred from."""
    return _read(asset, height=None, up=up).evidence


def _read(asset: Asset, *, height: float | None, up: str) -> _Reading:
    _check_joints(asset)
    raw = skeleton_of(asset)
    bind = find_bind(asset, raw)
    surface = surface_of(asset, raw, bind)
    if up not in ("x", "y", "z"):
        raise ValueError(f"up must be x, y or z, got {up!r}")
    axis = "xyz".index(up)
    is_joint = bind.is_joint.numpy().copy()
    if not asset.skins:
        is_joint[:] = True
    carrier = _carriers(raw, is_joint)
    body = surface
    if surface is not None:
        props = find_props(raw, surface, is_joint, carrier)
        body = surface.only(torch.from_numpy(~props)) if props.any() else surface
        is_joint[carrier[surface.skin.bone_joints.numpy()]] = True
    points = (
        bind.world_from_joint[torch.from_numpy(is_joint), :3, 3] if len(raw) else torch.zeros(0, 3)
    )
    if body is not None:
        points = body.vertices
    extent = float(points[:, axis].amax() - points[:, axis].amin()) if len(points) else 0.0
    units = find_units(extent, file_format=asset.format, up=up, wanted_height=height)
    skeleton = Skeleton(raw.names, raw.parents, units.pose_in(raw.rest).to(dtype=torch.float32))
    world = units.matrices_in(bind.world_from_joint)
    mesh = None if surface is None else _in_metres(surface, units)
    body_mesh = mesh if body is surface or body is None else _in_metres(body, units)
    evidence = Evidence(
        skeleton,
        world[:, :3, 3].numpy(),
        is_joint,
        np.zeros((0, 3)) if body_mesh is None else body_mesh.vertices.double().numpy(),
        None if body_mesh is None else _weights_by_joint(body_mesh, carrier),
    )
    scale = units.metres_per_unit
    return _Reading(
        skeleton, mesh, body_mesh, world, units, extent * scale, bind.problems, evidence
    )


def _check_joints(asset: Asset) -> None:
    """Refuse files with more joints, or nodes that show a mesh, than a body can be found among."""
    joints = {int(j) for skin in asset.skins for j in skin.joints}
    joints |= {n for n, node in enumerate(asset.nodes) if node.mesh is not None or not asset.skins}
    if len(joints) > MAX_JOINTS:
        raise AssetError(f"{asset.path}: must have at most {MAX_JOINTS} joints, got {len(joints)}")


def _in_metres(surface: SkinnedMesh, units: FileUnits) -> SkinnedMesh:
    skin = surface.skin
    scaled = Skin(
        skin.bone_joints, units.matrices_in(skin.inverse_bind), skin.bones, skin.weights
    ).to(dtype=torch.float32)
    vertices = units.points_in(surface.vertices).float()
    colours = surface.colours.float()
    return replace(surface, vertices=vertices, skin=scaled, colours=colours)


def _carriers(skeleton: Skeleton, is_joint: Bool[np.ndarray, "J"]) -> Int[np.ndarray, "J"]:
    """The joint that moves each node: itself, or the nearest joint above a node that is none, such
    as the node of a rigid mesh that hangs on a bone."""
    carriers = np.arange(len(skeleton))
    for node in np.flatnonzero(~is_joint):
        carriers[node] = next((a for a in skeleton.ancestors(int(node)) if is_joint[a]), node)
    return carriers


def _weights_by_joint(mesh: SkinnedMesh, carrier: Int[np.ndarray, "J"]) -> csr_matrix:
    """[V, J] weights summed over the bones of each joint, times the area around each vertex:
    eyes and buckles have more vertices than limbs have."""
    skin = mesh.skin
    count, width = skin.bones.shape
    rows = np.repeat(np.arange(count), width)
    columns = carrier[skin.bone_joints.numpy()][skin.bones.numpy()].ravel()
    weights = skin.weights.double().numpy() * _areas(mesh)[:, None]
    return csr_matrix((weights.ravel(), (rows, columns)), shape=(count, len(carrier)))


def _areas(mesh: SkinnedMesh) -> Float[np.ndarray, "V"]:
    """Surface around each vertex as a fraction of the whole; a little for loose vertices too."""
    corners = mesh.vertices.double().numpy()[mesh.faces.numpy()]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.bincount(
        mesh.faces.numpy().ravel(),
        np.repeat(np.linalg.norm(normals, axis=1), 3),
        minlength=len(mesh.vertices),
    )
    areas += 1e-3 * areas.mean() + 1e-30
    return areas / areas.sum()
