"""`akd rig`: a skeleton and weights for a bare mesh."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from akd.commands.errors import UsageError, input_file

if TYPE_CHECKING:
    from akd.asset.asset import Asset
    from akd.rig.autorig.rig import RiggedMesh
    from akd.splat.cloud import SplatCloud


@dataclass(frozen=True)
class Rig:
    """Make a skeleton for a mesh that has none, bind the mesh to it, and write a GLB file.

    Works best on a body that stands on its feet, in an even pose. Says how sure it is, and what to
    check. A Gaussian cloud gets a mesh around it, and is bound as well: OUT.splats.npz holds it in
    metres, with the joints and weights of every Gaussian.
    """

    file: tyro.conf.Positional[Path]
    """A mesh (glTF, OBJ, PLY, STL, OFF) or a Gaussian-splat PLY."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """The GLB file to write."""
    template: str = "auto"
    """auto, quadruped, biped, theropod or generic."""
    joints: Path | None = None
    """A TOML or JSON file that places joints: `name = [x, y, z]` a line, in the file's units."""
    height: float | None = None
    """How tall the character is in metres, where the file's units are not to be believed."""
    up: str = "y"
    """The file's axis that points up: x, y or z."""
    influences: int = 4
    """At most this many joints move a vertex."""

    def run(self) -> None:
        """Find a skeleton, solve for weights, write, and say how sure it is."""
        if not 1 <= self.influences <= 64:
            raise UsageError(f"--influences must be from 1 to 64, got {self.influences}")
        import numpy as np
        import torch

        from akd.asset.read import read_asset
        from akd.commands.options import character_of
        from akd.export.gltf.build import build_document
        from akd.export.gltf.write import write_glb
        from akd.rig.autorig.joint_file import read_joint_file
        from akd.rig.autorig.rig import LOW_CONFIDENCE, rig_mesh
        from akd.rig.skinning.heat import HeatSettings

        given_asset = read_asset(input_file(self.file))
        asset = _with_surface(given_asset, self.file)
        character = character_of(asset, height=self.height, up=self.up)
        if character.mesh is None or not len(character.mesh.faces):
            raise UsageError(f"{self.file}: has no faces to make a skeleton for")
        units = character.units
        given = {} if self.joints is None else read_joint_file(input_file(self.joints))
        places = {n: units.points_in(torch.from_numpy(p)).numpy() for n, p in given.items()}
        mesh = character.mesh
        colours = mesh.colours.double().numpy()
        cloud = None
        if given_asset.splats is not None and not given_asset.meshes:
            from akd.splat.bind import cloud_in_metres, colours_from_cloud

            cloud = cloud_in_metres(given_asset.splats, units)
            colours = colours_from_cloud(mesh.vertices.double().numpy(), cloud)
        try:
            rigged = rig_mesh(
                mesh.vertices.double().numpy(),
                mesh.faces.numpy(),
                colours,
                template=self.template,
                joints=places,
                settings=HeatSettings(influences=self.influences),
            )
        except ValueError as error:
            raise UsageError(f"{self.file}: {error}") from None
        extras = {"template": rigged.template, "confidence": round(rigged.confidence, 3)}
        document = build_document(rigged.mesh, rigged.skeleton, name=self.file.stem, extras=extras)
        write_glb(document, self.out)
        warnings = list(rigged.warnings)
        if cloud is not None:
            self._write_cloud(cloud, rigged)
        if cloud is not None and units.up != "y":
            warnings.append("colours that depend on the view are left out: the axes were turned")
        if asset.skins:
            warnings.append("the file's own skeleton is left out; `akd skin` would keep it")
        if rigged.confidence < LOW_CONFIDENCE:
            warnings += rigged.reasons
        for warning in warnings:
            print(f"akd: warning: {warning}", file=sys.stderr)
        axis = np.abs(rigged.forward).argmax()
        facing = f"{'+' if rigged.forward[axis] > 0 else '-'}{'xyz'[axis]}"
        print(
            f"{self.out}: {rigged.template}, {len(rigged.skeleton)} joints, faces {facing}, "
            f"confidence {rigged.confidence:.2f}"
        )
        if rigged.confidence >= LOW_CONFIDENCE:
            for reason in rigged.reasons:
                print(f"  {reason}")

    def _write_cloud(self, cloud: SplatCloud, rigged: RiggedMesh) -> None:
        """Bind the cloud through the mesh around it, and write it beside the GLB file."""
        from akd.splat.bind import bind_cloud, write_bound_cloud

        names = rigged.skeleton.names
        joints = [names[int(j)] for j in rigged.mesh.skin.bone_joints]
        bound = bind_cloud(cloud, rigged.mesh, influences=self.influences)
        path = write_bound_cloud(bound, self.out.with_suffix(".splats.npz"), joints=joints)
        print(f"{path}: {len(bound):,} Gaussians on the joints of {self.out.name}")


def _with_surface(asset: Asset, path: Path) -> Asset:
    """The asset, with a mesh around its Gaussians where it has nothing else."""
    if asset.splats is None or asset.meshes:
        return asset
    from dataclasses import replace

    import numpy as np

    from akd.asset.asset import Mesh, MeshPart, Node
    from akd.rig.autorig.splat_surface import mesh_from_splats

    try:
        vertices, faces = mesh_from_splats(asset.splats)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    node = Node(path.stem, -1, np.zeros(3), np.array([1.0, 0, 0, 0]), np.ones(3), mesh=0)
    mesh = Mesh(path.stem, (MeshPart(vertices, faces),))
    return replace(asset, nodes=(node,), meshes=(mesh,), scene_roots=(0,))
