"""A character in motion as USD: a skinned mesh, its skeleton and one clip (UsdSkel).

Needs `usd-core`. Metres, Y up. The surface has a colour for each vertex; the file's textures and
materials are left to the glTF.
"""

# pyright: reportAttributeAccessIssue=false
# usd-core comes without types for what is compiled.

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import torch

from akd.base.files import replace_atomically
from akd.export.usd_names import identifier, unique_identifiers
from akd.math import transform
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.mesh import SkinnedMesh


def write_usd(character: Character, motion: Motion, path: Path, *, fps: float) -> None:
    """Write the character with the motion as USD text (.usda).

    A joint that the mesh is bound to twice, in two ways, gets a child of its own for the second.
    A time code is a frame at `fps`, on which every key must lie. Lengths are the file's own, where
    that is a glTF, so that the result is as large as the file; of others, metres.

    Raises:
        ValueError: USD, whose scales have 16 bits, cannot hold the scale of a joint.
        OSError: The file cannot be written, as on a full disk.
    """
    from pxr import Sdf, Tf, Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(fps)
    stage.SetFramesPerSecond(fps)
    codes = ((motion.times.double() - motion.times[0]) * fps).round().numpy()
    stage.SetStartTimeCode(0.0)
    stage.SetEndTimeCode(float(codes[-1]))
    top = UsdSkel.Root.Define(stage, f"/{identifier(character.asset.path.stem)}")
    stage.SetDefaultPrim(top.GetPrim())
    joints = _Joints(character)
    scale = 1.0 if character.asset.document is None else character.units.units_per_metre
    skeleton = UsdSkel.Skeleton.Define(stage, f"{top.GetPath()}/skeleton")
    skeleton.CreateJointsAttr(joints.paths)
    rest = joints.locals(character.skeleton.rest.matrices())
    skeleton.CreateBindTransformsAttr(_matrices(joints.bind(character), scale))
    skeleton.CreateRestTransformsAttr(_matrices(rest, scale))
    clip = UsdSkel.Animation.Define(stage, f"{skeleton.GetPath()}/{identifier(motion.name)}")
    clip.CreateJointsAttr(joints.paths)
    _add_keys(clip, joints, motion, codes, scale)
    binding = UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([clip.GetPath()])
    if character.mesh is not None:
        surface = UsdGeom.Mesh.Define(stage, f"{top.GetPath()}/mesh")
        _add_mesh(surface, character.mesh, joints, scale)
        bound = UsdSkel.BindingAPI.Apply(surface.GetPrim())
        bound.CreateSkeletonRel().SetTargets([Sdf.Path(skeleton.GetPath())])
    with replace_atomically(path) as temporary:
        # Its text as a string of Python would be in memory three times.
        try:
            stage.GetRootLayer().Export(str(temporary))
        except Tf.ErrorException as error:
            found = re.search(r"writing file: ([^'\n]+)", str(error))
            reason = found[1] if found else "cannot be written as USD"
            raise OSError(f"{path}: {reason}") from None


class _Joints:
    """The skeleton's joints, parents first, with a child for each bone beyond a joint's first."""

    def __init__(self, character: Character) -> None:
        skeleton = character.skeleton
        order = [j for root in skeleton.roots for j in skeleton.subtree(root)]
        self.sources = list(order)
        """The file's joint of each; for the child of a bone, -1 - the joint that it stands on."""
        place = {joint: k for k, joint in enumerate(order)}
        parents = [place.get(skeleton.parents[j], -1) for j in order]
        names = [skeleton.names[j] for j in order]
        self.of_bone: list[int] = []
        first: set[int] = set()
        bones = [] if character.mesh is None else character.mesh.skin.bone_joints.tolist()
        for joint in bones:
            if joint not in first:
                first.add(joint)
                self.of_bone.append(place[joint])
                continue
            self.of_bone.append(len(self.sources))
            self.sources.append(-1 - joint)
            parents.append(place[joint])
            names.append(f"{skeleton.names[joint]}_bind")
        labels = unique_identifiers(names)
        self.paths: list[str] = []
        for label, parent in zip(labels, parents, strict=True):
            self.paths.append(label if parent < 0 else f"{self.paths[parent]}/{label}")

    def __len__(self) -> int:
        return len(self.sources)

    def locals(self, matrices: torch.Tensor) -> torch.Tensor:
        """Local matrices [J, 4, 4] of the file's joints, for these."""
        made = torch.eye(4).expand(len(self), 4, 4).clone()
        own = torch.tensor([s >= 0 for s in self.sources])
        made[own] = matrices[[s for s in self.sources if s >= 0]]
        return made

    def bind(self, character: Character) -> torch.Tensor:
        """world_from_joint [J, 4, 4] when the mesh was bound."""
        world = character.skeleton.forward(character.bind)
        made = world[[s if s >= 0 else -1 - s for s in self.sources]].clone()
        if character.mesh is not None and self.of_bone:
            made[self.of_bone] = transform.inverse(character.mesh.skin.inverse_bind)
        return made


def _matrices(given: torch.Tensor, scale: float) -> Any:
    """Matrices as USD has them: points are rows."""
    from pxr import Gf, Vt

    made = given.double().mT.clone()
    made[:, 3, :3] *= scale
    return Vt.Matrix4dArray([Gf.Matrix4d(m) for m in made.tolist()])


def _add_keys(clip: Any, joints: _Joints, motion: Motion, codes: np.ndarray, scale: float) -> None:
    from pxr import Vt

    own = [s >= 0 for s in joints.sources]
    chosen = [s for s in joints.sources if s >= 0]
    frames, count = len(motion), len(joints)
    moves = np.zeros((frames, count, 3), np.float32)
    # USD's arrays of quaternions take the imaginary part first.
    turns = np.tile(np.array((0, 0, 0, 1), np.float32), (frames, count, 1))
    sizes = np.ones((frames, count, 3), np.float32)
    moves[:, own] = motion.pose.translation[:, chosen].numpy(force=True) * scale
    turns[:, own] = motion.pose.rotation[:, chosen].roll(-1, dims=-1).numpy(force=True)
    sizes[:, own] = motion.pose.scale[:, chosen].numpy(force=True)
    halves = _halves(sizes)
    translations = clip.CreateTranslationsAttr()
    rotations, scales = clip.CreateRotationsAttr(), clip.CreateScalesAttr()
    for k, code in enumerate(codes.tolist()):
        translations.Set(Vt.Vec3fArray.FromNumpy(moves[k]), code)
        rotations.Set(Vt.QuatfArray.FromNumpy(turns[k]), code)
        scales.Set(Vt.Vec3hArray.FromNumpy(halves[k]), code)


def _halves(sizes: np.ndarray) -> np.ndarray:
    """Scales [T, J, 3] with 16 bits. A part that is all but hidden for a while may vanish there."""
    with np.errstate(over="ignore"):
        halves = sizes.astype(np.float16)
    vanish = ((halves == 0) & (sizes != 0)).all(axis=0)
    if vanish.any() or not np.isfinite(halves).all():
        worst = sizes[:, vanish] if vanish.any() else sizes[~np.isfinite(halves)]
        raise ValueError(
            f"USD needs the scale of every joint from 6e-8 to 65504, got {worst.flat[0]:.3g}"
        )
    return halves


def _add_mesh(surface: Any, mesh: SkinnedMesh, joints: _Joints, scale: float) -> None:
    from pxr import Gf, UsdGeom, UsdSkel, Vt

    vertices = (mesh.vertices.numpy(force=True) * scale).astype(np.float32)
    faces = mesh.faces.numpy(force=True).astype(np.int32)
    surface.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(vertices))
    surface.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(faces), 3, np.int32)))
    surface.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(faces.reshape(-1)))
    surface.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    surface.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.stack((vertices.min(0), vertices.max(0)))))
    colours = surface.CreateDisplayColorPrimvar(UsdGeom.Tokens.vertex)
    colours.Set(Vt.Vec3fArray.FromNumpy(mesh.colours.numpy(force=True).astype(np.float32)))
    binding = UsdSkel.BindingAPI.Apply(surface.GetPrim())
    places = np.array(joints.of_bone, np.int32)[mesh.skin.bones.numpy(force=True)]
    weights = mesh.skin.weights.numpy(force=True).astype(np.float32)
    slots = weights.shape[1]
    binding.CreateJointIndicesPrimvar(False, slots).Set(Vt.IntArray.FromNumpy(places.reshape(-1)))
    binding.CreateJointWeightsPrimvar(False, slots).Set(
        Vt.FloatArray.FromNumpy(weights.reshape(-1))
    )
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))
