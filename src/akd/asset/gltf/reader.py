"""glTF and GLB, read from top to bottom."""

from __future__ import annotations

from pathlib import Path

from akd.asset.asset import Asset, AssetError, Budget, GltfDocument
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.clips import ClipReader
from akd.asset.gltf.document import read_document
from akd.asset.gltf.extensions import check_required
from akd.asset.gltf.fields import Fields
from akd.asset.gltf.images import read_images
from akd.asset.gltf.materials import read_surfaces
from akd.asset.gltf.meshes import read_meshes
from akd.asset.gltf.nodes import read_nodes, read_scene_roots, with_fitting_morph_weights
from akd.asset.gltf.parts import PartReader
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.skins import read_skins


def read(path: Path) -> Asset:
    """Read a .glb or .gltf file. Raises `AssetError` where it cannot be used.

    Positions are in the file's own units and axes; quaternions come out wxyz.
    """
    problems = ProblemLog()
    budget = Budget()
    document = read_document(path, problems=problems, budget=budget)
    return asset_from_document(document, path, problems=problems, budget=budget)


def asset_from_document(
    document: GltfDocument,
    path: Path,
    *,
    problems: ProblemLog | None = None,
    budget: Budget | None = None,
) -> Asset:
    """Understand a document that was read or built; `path` is the file it stands for."""
    try:
        return _read_asset(path, document, problems or ProblemLog(), budget or Budget())
    except AssetError as error:
        raise AssetError(f"{path}: {error}") from error


def _read_asset(path: Path, document: GltfDocument, problems: ProblemLog, budget: Budget) -> Asset:
    root = Fields(document.json, "")
    check_required(root, problems)
    accessors = Accessors(document, budget)
    nodes = read_nodes(root, problems)
    roots = read_scene_roots(root, nodes, problems)
    images = read_images(document, accessors, problems)
    surfaces = read_surfaces(root, images, problems)
    skins = read_skins(root, accessors, nodes, problems)
    parts = PartReader(accessors, surfaces, problems)
    meshes = read_meshes(root, parts, nodes, skins, problems)
    nodes = with_fitting_morph_weights(nodes, meshes, problems)
    clips = ClipReader(root, accessors, nodes, meshes, problems).read()
    if not nodes and not any(mesh.parts for mesh in meshes):
        problems.warn("file", "has no nodes and no triangles", "there is nothing to animate")
    return Asset(
        path=path,
        format="glb" if document.is_binary else "gltf",
        nodes=nodes,
        meshes=meshes,
        materials=tuple(surface.material for surface in surfaces),
        images=images,
        skins=skins,
        clips=clips,
        problems=problems.all(),
        scene_roots=roots,
        document=document,
        budget=budget,
    )
