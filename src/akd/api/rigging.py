"""`rig`: a skeleton and weights for a bare mesh or a Gaussian cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from akd.api.loading import load
from akd.asset.asset import Asset, AssetError, Mesh, MeshPart, Node
from akd.asset.gltf.reader import asset_from_document
from akd.asset.read import read_asset
from akd.export.gltf.build import build_document
from akd.export.gltf.write import write_glb
from akd.rig.autorig.rig import LOW_CONFIDENCE, RiggedMesh, rig_mesh
from akd.rig.character import Character, load_character
from akd.rig.skinning.heat import HeatSettings
from akd.splat.bind import bind_cloud, cloud_in_metres, colours_from_cloud, write_bound_cloud
from akd.splat.cloud import SplatCloud


@dataclass(frozen=True)
class Rigging:
    """A character that was rigged automatically."""

    character: Character
    result: RiggedMesh
    """Skeleton, weights, body plan, confidence and the reasons for it."""
    cloud: SplatCloud | None
    """The Gaussians bound to the skeleton, where the file holds a cloud; metres."""
    warnings: tuple[str, ...]

    @property
    def is_doubtful(self) -> bool:
        """Whether the confidence is low."""
        return self.result.confidence < LOW_CONFIDENCE

    def save(self, path: str | Path) -> list[Path]:
        """Write the character as GLB.

        Args:
            path: The file to write; for a cloud, `NAME.splats.npz` is written beside it.

        Returns:
            The files that were written.
        """
        path = Path(path)
        document = self.character.asset.document
        assert document is not None
        write_glb(document, path)
        if self.cloud is None:
            return [path]
        names = self.result.skeleton.names
        joints = [names[int(j)] for j in self.result.mesh.skin.bone_joints]
        return [
            path,
            write_bound_cloud(self.cloud, path.with_suffix(".splats.npz"), joints=joints),
        ]


def rig(
    source: Character | str | Path,
    *,
    template: str = "auto",
    joints: Mapping[str, np.ndarray | Sequence[float]] | None = None,
    influences: int = 4,
    height: float | None = None,
    up: str = "y",
) -> Rigging:
    """Find a skeleton for a mesh that has none, and bind the mesh to it.

    Args:
        source: A bare mesh or a Gaussian cloud: a file, or a character that was loaded.
        template: Body plan: auto, quadruped, biped, theropod or generic.
        joints: Fixed positions of joints by name, in the file's units.
        influences: Maximum number of joints per vertex.
        height: Height in metres, where the file's units are wrong. For a file.
        up: The file's up axis. For a file.

    Returns:
        The rigged character, the confidence of the rig, and what to check. It keeps base colours
        and their textures.

    Raises:
        AssetError: The file cannot be read, or has no faces.
        ValueError: The template cannot be fitted, or an argument is out of range.
    """
    if not 1 <= influences <= 64:
        raise ValueError(f"influences must be from 1 to 64, got {influences}")
    if isinstance(source, Character):
        character, splats = source, source.asset.splats
    else:
        asset = read_asset(Path(source))
        splats = None if asset.meshes else asset.splats
        character = (
            load(source, height=height, up=up)
            if splats is None
            else load_character(_with_surface(asset), height=height, up=up)
        )
    mesh, units, asset = character.mesh, character.units, character.asset
    name = asset.path.name
    if mesh is None or not len(mesh.faces):
        raise AssetError(f"{name}: has no faces to make a skeleton for")
    vertices, colours, cloud = mesh.vertices.double().numpy(), mesh.colours.double().numpy(), None
    if splats is not None:
        cloud = cloud_in_metres(splats, units)
        colours = colours_from_cloud(vertices, cloud)
    places = {
        joint: units.points_in(torch.as_tensor(np.asarray(place, dtype=float))).numpy()
        for joint, place in (joints or {}).items()
    }
    found = rig_mesh(
        vertices, mesh.faces.numpy(), colours, template=template, joints=places,
        settings=HeatSettings(influences=influences),
    )  # fmt: skip
    warnings = list(found.warnings)
    bound = None
    if cloud is not None:
        bound = bind_cloud(cloud, found.mesh, influences=influences)
        if units.up != "y":
            warnings.append("colours that depend on the view are left out: the axes were turned")
    if asset.skins:
        warnings.append("the file's own skeleton is left out; `akd skin` would keep it")
    extras = {"template": found.template, "confidence": round(found.confidence, 3)}
    is_textured = any(m.image is not None for m in asset.materials)
    document = build_document(
        replace(found.mesh, parts=mesh.parts) if is_textured else found.mesh,
        found.skeleton, name=asset.path.stem, extras=extras,
        materials=asset.materials if is_textured else (), images=asset.images,
    )  # fmt: skip
    rigged = load_character(asset_from_document(document, asset.path))
    doubt = " (low: see `akd rig`)" if found.confidence < LOW_CONFIDENCE else ""
    said = (
        f"{name}: has no skeleton; rigged as a {found.template} with {len(found.skeleton)} joints, "
        f"confidence {found.confidence:.2f}{doubt}"
    )
    rigged = replace(rigged, notes=(said, *found.reasons, *found.warnings))
    return Rigging(rigged, found, bound, tuple(warnings))


def _with_surface(asset: Asset) -> Asset:
    """The asset with a mesh around its Gaussians."""
    from akd.rig.autorig.splat_surface import mesh_from_splats

    assert asset.splats is not None
    vertices, faces = mesh_from_splats(asset.splats)
    stem = asset.path.stem
    node = Node(stem, -1, np.zeros(3), np.array([1.0, 0, 0, 0]), np.ones(3), mesh=0)
    mesh = Mesh(stem, (MeshPart(vertices, faces),))
    return replace(asset, nodes=(node,), meshes=(mesh,), scene_roots=(0,))
