"""`Character`: an asset understood as a body, in metres, Y up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_matrix
from torch import Tensor

from akd.asset.asset import Asset, AssetError, Problem, SkinRecord
from akd.math.triangles import double_areas
from akd.rig.bind import Bind, find_bind, skeleton_of
from akd.rig.control import ControlRig
from akd.rig.control_build import build_control_rig
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.props import (
    find_lone_pieces,
    find_other_bodies,
    find_props,
    find_riders,
    find_scenery,
)
from akd.rig.roles import names
from akd.rig.roles.anatomy import Anatomy, find_anatomy
from akd.rig.roles.body import Evidence
from akd.rig.roles.role import LimbKind
from akd.rig.size import assume_height, stated_height
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin
from akd.rig.surface import surface_of
from akd.rig.units import FileUnits, find_units

MAX_JOINTS = 2048
"""Time and memory of finding the body grow with the square of it."""
BODY = "body"
"""The place of problems that a user should know of before the body is animated."""
_LIES, _STANDS = 0.7, 0.5
"""The bones of legs lie where they lead along a horizontal axis by more than this share of their
length, and up or down by less than that."""
_MOST_ARMS = 4
"""A body without legs has fewer arms."""


@dataclass(frozen=True)
class Character:
    """A skeleton, its mesh, and the roles of its joints in the body."""

    asset: Asset
    skeleton: Skeleton
    """Every node of the file, float32, metres."""
    mesh: SkinnedMesh | None
    """None for a skeleton without a surface."""
    body_mesh: SkinnedMesh | None
    """The mesh without props such as weapons, hats and capes, and without stray vertices: height,
    ground, soles and mass are those of this one."""
    bind: Pose
    """Local transforms in the bind pose."""
    units: FileUnits
    height: float
    """Extent of the body in the bind pose along Y, metres: every tolerance is a fraction of it."""
    anatomy: Anatomy
    problems: tuple[Problem, ...]
    """What was odd about the file and about the body in it."""
    scenery: tuple[int, ...] = ()
    """Nodes that show what is no part of the character, such as a ground plane: not in the mesh."""
    notes: tuple[str, ...] = ()
    """For the user to check, such as how sure an automatic rig is."""

    @cached_property
    def control_rig(self) -> ControlRig:
        """The tree of joints that akd drives."""
        return build_control_rig(self)

    @property
    def forward(self) -> Float[Tensor, "3"]:
        """Horizontal unit vector in the direction that the character faces."""
        return torch.from_numpy(self.anatomy.forward).float()

    def resized(self, height: float, *, why: str) -> Character:
        """The same character at another height.

        Args:
            height: Of the body, metres.
            why: Reason, for the notes.

        Returns:
            A new character.
        """
        factor = FileUnits(height / self.height)
        metres = self.units.metres_per_unit * factor.metres_per_unit
        mesh = None if self.mesh is None else _in_metres(self.mesh, factor)
        body = self.body_mesh
        if body is not None:
            body = mesh if body is self.mesh else _in_metres(body, factor)
        return replace(
            self,
            skeleton=replace(self.skeleton, rest=factor.pose_in(self.skeleton.rest)),
            mesh=mesh,
            body_mesh=body,
            bind=factor.pose_in(self.bind),
            units=replace(self.units, metres_per_unit=metres, found_by=why),
            height=height,
        )


@dataclass(frozen=True)
class _Reading:
    """A file with Y up, in its own units, before anything is concluded about the body in it."""

    raw: Skeleton
    bind: Bind
    surface: SkinnedMesh | None
    body: SkinnedMesh | None
    """The surface without props and riders."""
    evidence: Evidence
    scenery: tuple[int, ...]
    """Nodes."""
    others: int
    """How many bodies stand beside this one."""
    of_others: tuple[int, ...]
    """The nodes that show them."""
    riders: tuple[int, ...]
    """Their topmost nodes."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Of the bind pose, of scenery, of riders, and of several bodies."""
        found = [*self.bind.problems]
        for node in self.scenery:
            what = "shows something beside the character that no joint moves"
            action = "it is taken as scenery, and left as it is"
            found.append(Problem("note", f"node {node}", what, action))
        for node in self.riders:
            action = "it follows what it sits on; to animate the rider, export it alone"
            found.append(Problem("note", f"node {node}", "a rider sits on the body", action))
        if self.others:
            what = f"{self.others + 1} bodies stand side by side"
            action = "the largest is animated, and the rest left as it is; export another alone"
            found.append(Problem("warning", BODY, what, action))
        return tuple(found)


def load_character(asset: Asset, *, height: float | None = None, up: str = "y") -> Character:
    """Understand an asset as a body.

    `height` in metres overrides the one that would be found; `up` is the file's up axis.
    """
    read = _read(asset, up)
    anatomy, extent = find_anatomy(read.evidence), read.evidence.height
    units = find_units(extent, file_format=asset.format, up=up, wanted_height=height)
    if height is None and asset.format != "bvh":  # captured people
        by_units = extent * units.metres_per_unit
        stated = stated_height(asset, by_units)
        breadth = float(np.ptp(read.evidence.points @ anatomy.left)) if extent > 0 else 0.0
        assumed = stated or assume_height(
            by_units,
            stem=asset.path.stem,
            anatomy=anatomy,
            breadth=breadth * units.metres_per_unit,
        )
        if assumed is not None:
            units = FileUnits(assumed.metres / extent, up, assumed.why, is_assumed=not stated)
    world = units.matrices_in(read.bind.world_from_joint)
    rest = units.pose_in(read.raw.rest).to(dtype=torch.float32)
    skeleton = Skeleton(read.raw.names, read.raw.parents, rest)
    mesh = None if read.surface is None else _in_metres(read.surface, units)
    body = read.body
    return Character(
        asset=asset,
        skeleton=skeleton,
        mesh=mesh,
        body_mesh=mesh if body is None or body is read.surface else _in_metres(body, units),
        bind=skeleton.localize(world).to(dtype=torch.float32),
        units=units,
        height=extent * units.metres_per_unit,
        anatomy=anatomy,
        problems=(*asset.problems, *read.problems, *_lying(read.evidence, anatomy, up)),
        scenery=(*read.scenery, *read.of_others),
    )


def _lying(evidence: Evidence, anatomy: Anatomy, up: str) -> list[Problem]:
    """A warning where legs lie along an axis: Y is up in glTF, but not in all that is exported."""
    arms = [limb for limb in anatomy.limbs if limb.kind is LimbKind.ARM]
    # Legs that lie are read as arms where no name tells: two pairs of arms and no leg.
    standing = anatomy.legs or (arms if len(arms) >= _MOST_ARMS else [])
    legs = {joint for limb in standing for joint in limb.joints[1:]}
    named = {
        joint
        for joint in anatomy.body.parents
        if names.parts_of(evidence.skeleton.names[joint]) & {"leg", "foot"}
    }
    bones = [
        evidence.positions[joint] - evidence.positions[parent]
        for joint, parent in anatomy.body.parents.items()
        if joint in legs or {joint, parent} <= named
    ]
    length = float(np.linalg.norm(bones, axis=1).sum()) if bones else 0.0
    if up != "y" or not length > 0:
        return []
    x, y, z = np.abs(np.sum(bones, axis=0)) / length
    axis, share = ("x", x) if x > z else ("z", z)
    if y > _STANDS or share < _LIES:
        return []
    action = f"if {axis} is up in the file, --up {axis} turns it"
    return [Problem("warning", BODY, f"the legs lie along {axis}", action)]


def bound_character(name: str, skeleton: Skeleton, mesh: SkinnedMesh) -> Character:
    """A mesh that was never a file, in metres, Y up, at rest as it was bound."""
    world = skeleton.forward(skeleton.rest)
    every = np.arange(len(skeleton))
    evidence = Evidence(
        skeleton,
        world[:, :3, 3].double().numpy(),
        np.ones(len(skeleton), dtype=bool),
        mesh.vertices.double().numpy(),
        _weights_by_joint(mesh, every),
    )
    skin = SkinRecord(name, every, mesh.skin.inverse_bind.double().numpy())
    return Character(
        asset=Asset(Path(name), "glb", skins=(skin,)),
        skeleton=skeleton,
        mesh=mesh,
        body_mesh=mesh,
        bind=skeleton.rest,
        units=FileUnits(),
        height=evidence.height,
        anatomy=find_anatomy(evidence),
        problems=(),
    )


def evidence_of(asset: Asset, *, up: str = "y") -> Evidence:
    """What roles are inferred from."""
    return _read(asset, up).evidence


def _read(asset: Asset, up: str) -> _Reading:
    _check_joints(asset)
    raw = skeleton_of(asset)
    bind = find_bind(asset, raw)
    surface = body = surface_of(asset, raw, bind)
    is_joint = bind.is_joint.numpy().copy()
    if not asset.skins:
        is_joint[:] = True
    carrier = _carriers(raw, is_joint)
    scenery: tuple[int, ...] = ()
    riders: dict[int, Bool[np.ndarray, "V"]] = {}
    others: list[set[int]] = []
    of_others: tuple[int, ...] = ()
    upright = FileUnits(1.0, up)
    if surface is not None:
        moved = {track.node for clip in asset.clips for track in clip.tracks}
        scenery = find_scenery(raw, surface, is_joint, carrier, moved)
        if scenery:
            surface = surface_of(asset, raw, bind, without=scenery)
        assert surface is not None
        skins = [s.joints.tolist() for s in asset.skins]
        others = find_other_bodies(skins, raw, surface, upright.points_in(surface.vertices).numpy())
        if others:
            of_others = _shown_by(asset, set().union(*others))
            surface = surface_of(asset, raw, bind, without=scenery + of_others)
        assert surface is not None
        riders = find_riders(raw, surface, upright.points_in(surface.vertices)[:, 1].numpy())
        beside = find_props(raw, surface, is_joint, carrier, moved) | _is_stray(surface)
        for own in riders.values():
            beside |= own
        body = surface.only(torch.from_numpy(~beside)) if beside.any() else surface
        is_joint[carrier[surface.skin.bone_joints.numpy()]] = True
        is_joint[[node for group in others for node in group]] = False

    def evidence_with(body: SkinnedMesh | None) -> Evidence:
        return Evidence(
            raw,
            upright.points_in(bind.world_from_joint[:, :3, 3]).numpy(),
            is_joint,
            np.zeros((0, 3)) if body is None else upright.points_in(body.vertices).double().numpy(),
            None if body is None else _weights_by_joint(body, carrier),
        )

    evidence = evidence_with(body)
    if body is not None and (lone := find_lone_pieces(evidence)):
        owners = torch.from_numpy(carrier)[body.skin.owners]
        body = body.only(~torch.isin(owners, torch.tensor(lone)))
        evidence = evidence_with(body)
    return _Reading(
        raw, bind, surface, body, evidence, scenery, len(others), of_others, tuple(riders)
    )


def _shown_by(asset: Asset, joints: set[int]) -> tuple[int, ...]:
    """The nodes of meshes that joints move."""
    skins = {k for k, skin in enumerate(asset.skins) if joints & set(skin.joints.tolist())}
    moved = [
        index in joints if node.skin is None else node.skin in skins
        for index, node in enumerate(asset.nodes)
    ]
    return tuple(i for i, node in enumerate(asset.nodes) if node.mesh is not None and moved[i])


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


def _is_stray(mesh: SkinnedMesh) -> Bool[np.ndarray, "V"]:
    """Vertices outside the surface that no triangle has: exporters leave some behind, anywhere."""
    points, loose = mesh.vertices.numpy(), np.ones(len(mesh.vertices), dtype=bool)
    loose[mesh.faces.numpy()] = False
    seen = points[~loose]
    outside = (points < seen.min(axis=0)) | (points > seen.max(axis=0))
    return loose & outside.any(axis=1)


def _areas(mesh: SkinnedMesh) -> Float[np.ndarray, "V"]:
    """Surface around each vertex as a fraction of the whole; a little for loose vertices too."""
    vertices, faces = mesh.vertices.double().numpy(), mesh.faces.numpy()
    shares = np.repeat(double_areas(vertices, faces), 3)
    areas = np.bincount(faces.ravel(), shares, minlength=len(vertices))
    areas += 1e-3 * areas.mean() + 1e-30
    return areas / areas.sum()
