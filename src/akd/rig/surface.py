"""The visible surface of an asset as one mesh bound to the skeleton."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from scipy.spatial import KDTree
from torch import Tensor

from akd.asset.asset import Asset, AssetError, Material, MeshPart, Node
from akd.asset.image import decode_image
from akd.asset.srgb import to_linear
from akd.math import transform
from akd.rig.bind import Bind
from akd.rig.mesh import SkinnedMesh, SurfacePart
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin

_VERTEX_BYTES, _BONE_BYTES, _FACE_BYTES = 200, 80, 80
"""Peak memory of a vertex, of each bone it may follow, and of a face, copies included."""


@dataclass(frozen=True)
class _Piece:
    """One part of one mesh as one node shows it: world coordinates of the bind pose, file units."""

    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    source: MeshPart
    colours: Float[np.ndarray, "V 3"]
    base_colours: Float[np.ndarray, "V 3"]
    bones: Int[np.ndarray, "V K"]
    weights: Float[np.ndarray, "V K"]


def surface_of(
    asset: Asset, skeleton: Skeleton, bind: Bind, *, without: Collection[int] = ()
) -> SkinnedMesh | None:
    """All shown meshes in one, skinned ones and rigid ones alike, in file units, float64.

    The vertices are in the world as they were bound; a rigid mesh is bound to its node. None where
    nothing is shown. What the nodes in `without` show is left out.
    """
    bone_joints: list[int] = []
    inverse_bind: list[Tensor] = []
    first_bone: dict[int, int] = {}
    for index, (skin, space) in enumerate(zip(asset.skins, bind.world_from_mesh, strict=True)):
        first_bone[index] = len(bone_joints)
        bone_joints += [int(j) for j in skin.joints]
        # From the world of the bind pose back into mesh space, then as the file says.
        inverse_bind += list(bind.inverse_bind[index] @ transform.inverse(space))
    # A mesh with weights may also be shown without its skin, and is rigid there.
    weighted = {n.skin for n in asset.nodes if _has_weights(asset, n)} - {None}
    pieces: list[_Piece] = []
    shown = [(node, part) for node, part in _shown(asset, skeleton) if node not in without]
    budget = asset.budget.fork()
    width = max((p.joints.shape[1] for _, p in shown if p.joints is not None), default=1)
    for index, part in shown:
        size = (_VERTEX_BYTES + width * _BONE_BYTES) * len(part.positions)
        budget.charge(size + _FACE_BYTES * len(part.faces), f"{asset.path}: node {index}")
    colours = _texture_colours(asset, {id(part): part for _, part in shown})
    for index, part in shown:
        node = asset.nodes[index]
        skin = node.skin
        if skin in weighted:
            assert skin is not None
            world = bind.world_from_mesh[skin]
            bones, weights = _bones_and_weights(part, first_bone[skin])
        else:
            world = bind.world_from_joint[index]
            if float(torch.linalg.det(world[:3, :3]).abs()) < 1e-18:
                continue  # scaled to nothing: not visible
            bones = np.full((len(part.positions), 1), len(bone_joints), dtype=np.int64)
            weights = np.ones((len(part.positions), 1))
            bone_joints.append(index)
            inverse_bind.append(transform.inverse(world))
        pieces.append(_piece(asset, node, part, world.numpy(), bones, weights, colours[id(part)]))
    return _join(_filled(pieces), bone_joints, inverse_bind) if pieces else None


def _has_weights(asset: Asset, node: Node) -> bool:
    return node.mesh is not None and any(
        p.joints is not None for p in asset.meshes[node.mesh].parts
    )


def _bones_and_weights(part: MeshPart, first_bone: int) -> tuple[np.ndarray, np.ndarray]:
    """Bones of the whole surface; a part without weights has rows of zeros for `_filled`."""
    if part.joints is None or part.weights is None:
        return (
            np.full((len(part.positions), 1), first_bone, dtype=np.int64),
            np.zeros((len(part.positions), 1)),
        )
    bones = np.asarray(part.joints, dtype=np.int64) + first_bone
    return bones, np.asarray(part.weights, dtype=np.float64)


def _filled(pieces: list[_Piece]) -> list[_Piece]:
    """Give a piece without weights those of the nearest vertex of any other piece."""
    good = [p for p in pieces if p.weights.any()]
    if len(good) == len(pieces):
        return pieces
    width = max(p.bones.shape[1] for p in good)
    bones = np.concatenate([_padded(p.bones, width) for p in good])
    weights = np.concatenate([_padded(p.weights, width) for p in good])
    tree = KDTree(np.concatenate([p.vertices for p in good]))
    nearest = [None if p.weights.any() else tree.query(p.vertices)[1] for p in pieces]
    return [
        p if n is None else replace(p, bones=bones[n], weights=weights[n])
        for p, n in zip(pieces, nearest, strict=True)
    ]


def _padded(array: np.ndarray, width: int) -> np.ndarray:
    return np.pad(array, ((0, 0), (0, width - array.shape[1])))


def _shown(asset: Asset, skeleton: Skeleton) -> list[tuple[int, MeshPart]]:
    """Mesh parts that the scene shows, each with its node, in file order."""
    roots = asset.scene_roots or skeleton.roots
    reached = {j for root in roots for j in skeleton.subtree(root)}
    return [
        (n, part)
        for n, node in enumerate(asset.nodes)
        if node.mesh is not None and n in reached
        for part in asset.meshes[node.mesh].parts
        if len(part.positions)
    ]


def _piece(
    asset: Asset,
    node: Node,
    part: MeshPart,
    world: Float[np.ndarray, "4 4"],
    bones: np.ndarray,
    weights: np.ndarray,
    texels: Float[np.ndarray, "V 3"] | None,
) -> _Piece:
    positions = np.asarray(part.positions, dtype=np.float64)
    mesh = asset.meshes[node.mesh or 0]
    morphing = node.morph_weights if node.morph_weights is not None else mesh.morph_weights
    if part.morphs is not None and morphing is not None and len(morphing) == len(part.morphs):
        positions = positions + np.tensordot(morphing, part.morphs, axes=1)
    vertices = positions @ world[:3, :3].T + world[:3, 3]
    faces = np.asarray(part.faces, dtype=np.int64)
    base = _base_colours(asset, part, np.float32)
    colours = _base_colours(asset, part, np.float64)
    if texels is not None:
        colours *= texels
    return _Piece(vertices, faces, part, colours, base, bones, weights)


def _texture_colours(
    asset: Asset, parts: Mapping[int, MeshPart]
) -> dict[int, Float[np.ndarray, "V 3"] | None]:
    """Linear texture colour at every vertex of each part. Decodes one image at a time, once."""
    colours: dict[int, np.ndarray | None] = dict.fromkeys(parts)
    by_image: dict[int, list[int]] = {}
    for key, part in parts.items():
        image = None if part.material is None else asset.materials[part.material].image
        if image is not None and part.uv is not None:
            by_image.setdefault(image, []).append(key)
    for image, keys in by_image.items():
        try:
            pixels = decode_image(asset.images[image])
        except AssetError:
            continue
        for key in keys:
            part = parts[key]
            assert part.material is not None and part.uv is not None  # noqa: PT018
            colours[key] = _sample_pixels(pixels, asset.materials[part.material], part.uv)
    return colours


def _base_colours(asset: Asset, part: MeshPart, dtype: type) -> Float[np.ndarray, "V 3"]:
    colours = np.ones((len(part.positions), 3), dtype)
    if part.colours is not None:
        colours *= part.colours[:, :3]
    if part.material is not None:
        colours *= np.array(asset.materials[part.material].base_colour[:3], dtype)
    return colours


def _sample_pixels(
    pixels: UInt8[np.ndarray, "H W 4"], material: Material, uv: Float[np.ndarray, "V 2"]
) -> Float[np.ndarray, "V 3"]:
    """Linear colour of the nearest texel at each coordinate."""
    height, width = pixels.shape[:2]
    wrapped = [_wrap(uv[:, i], mode) for i, mode in enumerate(material.wrap)]
    x = np.clip((wrapped[0] * width).astype(np.int64), 0, width - 1)
    y = np.clip((wrapped[1] * height).astype(np.int64), 0, height - 1)
    encoded = pixels[y, x, :3].astype(np.float64) / 255.0
    return to_linear(encoded)


def _wrap(coordinate: np.ndarray, mode: str) -> np.ndarray:
    coordinate = np.nan_to_num(np.asarray(coordinate, dtype=np.float64))
    if mode == "clamp":
        return np.clip(coordinate, 0.0, 1.0)
    if mode == "mirror":
        folded = np.mod(coordinate, 2.0)
        return np.where(folded > 1.0, 2.0 - folded, folded)
    return np.mod(coordinate, 1.0)


def _join(pieces: list[_Piece], bone_joints: list[int], inverse_bind: list[Tensor]) -> SkinnedMesh:
    width = max(p.bones.shape[1] for p in pieces)
    parts = _parts(pieces)

    bones = np.concatenate([_padded(p.bones, width) for p in pieces])
    weights = np.concatenate([_padded(p.weights, width) for p in pieces])
    skin = Skin(
        torch.tensor(bone_joints, dtype=torch.long),
        torch.stack(inverse_bind),
        torch.from_numpy(bones),
        torch.from_numpy(weights),
    )
    return SkinnedMesh(
        torch.from_numpy(np.concatenate([p.vertices for p in pieces])),
        torch.from_numpy(
            np.concatenate(
                [p.faces + part.vertices.start for p, part in zip(pieces, parts, strict=True)]
            )
        ),
        skin,
        torch.from_numpy(np.concatenate([p.colours for p in pieces])),
        parts,
    )


def _parts(pieces: list[_Piece]) -> tuple[SurfacePart, ...]:
    vertex, face = 0, 0
    parts: list[SurfacePart] = []
    for p in pieces:
        vertices = slice(vertex, vertex := vertex + len(p.vertices))
        faces = slice(face, face := face + len(p.faces))
        uv = None if p.source.uv is None else np.nan_to_num(p.source.uv.astype(np.float32))
        parts.append(
            SurfacePart(
                vertices,
                faces,
                p.source.material,
                None if uv is None else torch.from_numpy(uv),
                torch.from_numpy(p.base_colours),
                None
                if p.source.normals is None
                else torch.from_numpy(np.nan_to_num(p.source.normals.astype(np.float32))),
            )
        )
    return tuple(parts)
