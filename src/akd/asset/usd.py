"""`read_records`: a USD file as nodes, meshes, skins and clips, by usd-core in its own process.

Meshes are placed by their world transform at the first time code; skeletons are UsdSkel's. A layer
outside the file's folder is refused.
"""

# pyright: reportAttributeAccessIssue=false
# usd-core comes without types for what is compiled.

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from akd.asset.asset import (
    Asset,
    AssetError,
    Budget,
    ClipRecord,
    Image,
    Material,
    Mesh,
    MeshPart,
    Node,
    SkinRecord,
    Track,
    TrackPath,
)
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.transform import continuous, decompose, decompose_all
from akd.asset.gltf.uri import AssetFolder
from akd.asset.surface import build_part, fan_triangles, load_texture

_MOST_SAMPLES = 2_000_000
"""Of all joints and frames of a file: each takes a few microseconds."""
_MOST_PRIMS = 50_000
_PATHS: tuple[TrackPath, ...] = ("translation", "rotation", "scale")


def read_records(path: Path, problems: ProblemLog, budget: Budget) -> Asset:
    """Read a file, in metres with Y up. Raises `AssetError` where it cannot be used."""
    from pxr import Tf

    try:
        try:
            return _Reader(path, problems, budget).read()
        except Tf.ErrorException as error:
            # After the place in USD's own source where it was found.
            reason = " ".join(str(error).split()).rpartition(" : ")[2][:160]
            raise AssetError(f"cannot be read as USD: {reason}") from None
    except UnicodeDecodeError:  # raised by USD's own text of an error as well
        raise AssetError("cannot be read as USD: its text must be UTF-8") from None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # USD hands over attributes of whatever type and length the file gives them.
        reason = " ".join(str(error).split())[:120]
        raise AssetError(f"holds values of a wrong type, number or range ({reason})") from error


class _Reader:
    """Collects the records while the stage is walked."""

    def __init__(self, path: Path, problems: ProblemLog, budget: Budget) -> None:
        from pxr import Usd, UsdGeom

        self.stage: Any = Usd.Stage.Open(str(path))
        self.path, self.problems, self.budget = path, problems, budget
        self._check_layers()
        unit = float(UsdGeom.GetStageMetersPerUnit(self.stage))
        self.axes = np.eye(3)
        if UsdGeom.GetStageUpAxis(self.stage) == UsdGeom.Tokens.z:
            self.axes = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))
        self.change = np.eye(4)
        self.change[:3, :3] = (unit if np.isfinite(unit) and unit > 0.0 else 0.01) * self.axes
        rate = float(self.stage.GetTimeCodesPerSecond())
        self.rate = rate if np.isfinite(rate) and rate > 0.0 else 24.0
        self.start = self.stage.GetStartTimeCode() if self.stage.HasAuthoredTimeCodeRange() else 0.0
        self.placer: Any = UsdGeom.XformCache(Usd.TimeCode(self.start))
        self.folder = AssetFolder(path.parent, budget)
        self.nodes: list[Node] = []
        self.meshes: list[Mesh] = []
        self.skins: list[SkinRecord] = []
        self.clips: dict[str, list[Track]] = {}
        self.materials: list[Material] = []
        self.images: list[Image] = []
        self._material_places: dict[str, int] = {}

    def read(self) -> Asset:
        from pxr import Usd, UsdGeom, UsdSkel

        cache = UsdSkel.Cache()
        # Instances within instances multiply: no more are listed than may be used.
        found = self.stage.Traverse(Usd.TraverseInstanceProxies())
        prims = list(islice(found, _MOST_PRIMS + 1))
        if len(prims) > _MOST_PRIMS:
            raise AssetError(f"must have at most {_MOST_PRIMS} prims, got more")
        skins: dict[str, tuple[Any, int]] = {}
        bound: set[str] = set()
        for prim in prims:
            if not prim.IsA(UsdSkel.Root):
                continue
            root = UsdSkel.Root(prim)
            cache.Populate(root, Usd.TraverseInstanceProxies())
            for binding in cache.ComputeSkelBindings(root, Usd.TraverseInstanceProxies()):
                skin = self._skeleton(cache.GetSkelQuery(binding.GetSkeleton()))
                bound.add(str(binding.GetSkeleton().GetPath()))
                for target in binding.GetSkinningTargets():
                    skins[str(target.GetPrim().GetPath())] = (target, skin)
            for inner in Usd.PrimRange(prim, Usd.TraverseInstanceProxies()):
                # Files of motion alone have skeletons that no mesh is bound to.
                if inner.IsA(UsdSkel.Skeleton) and str(inner.GetPath()) not in bound:
                    bound.add(str(inner.GetPath()))
                    self._skeleton(cache.GetSkelQuery(UsdSkel.Skeleton(inner)))
        for prim in prims:
            shown = prim.IsA(UsdGeom.Mesh) and UsdGeom.Imageable(prim).ComputeVisibility()
            if shown and shown != UsdGeom.Tokens.invisible:
                self._mesh(prim, *skins.get(str(prim.GetPath()), (None, None)))
        if not self.nodes:
            raise AssetError("must have a mesh or a skeleton, got none")
        return Asset(
            path=self.path,
            format="usd",
            nodes=tuple(self.nodes),
            meshes=tuple(self.meshes),
            materials=tuple(self.materials),
            images=tuple(self.images),
            skins=tuple(self.skins),
            clips=tuple(ClipRecord(name, tuple(tracks)) for name, tracks in self.clips.items()),
            scene_roots=tuple(i for i, node in enumerate(self.nodes) if node.parent < 0),
        )

    def _check_layers(self) -> None:
        folder = self.path.parent.resolve()
        for layer in self.stage.GetUsedLayers():
            real = layer.realPath
            if real and not Path(real).resolve().is_relative_to(folder):
                raise AssetError("must use no layer outside its own folder, got one")

    def _matrix(self, given: Any) -> Float[np.ndarray, "4 4"]:
        """A matrix of USD, which has points as rows, as one of ours."""
        return self._matrices(np.array(given)[None])[0]

    def _matrices(self, given: Float[np.ndarray, "N 4 4"]) -> Float[np.ndarray, "N 4 4"]:
        return self.change @ given.swapaxes(1, 2) @ np.linalg.inv(self.change)

    def _node(
        self,
        name: str,
        matrix: Float[np.ndarray, "4 4"],
        parent: int = -1,
        mesh: int | None = None,
        skin: int | None = None,
    ) -> int:
        self.nodes.append(
            Node(name, parent, *decompose(matrix, f"prim {name!r}", self.problems), mesh, skin)
        )
        return len(self.nodes) - 1

    def _skeleton(self, query: Any) -> int:
        """Add the joints of a skeleton, its skin and its clip; return the skin's index."""
        prim = query.GetPrim()
        top = self._node(prim.GetName(), self._matrix(self.placer.GetLocalToWorldTransform(prim)))
        paths = [str(joint) for joint in query.GetJointOrder()]
        topology = query.GetTopology()
        rest = query.ComputeJointLocalTransforms(self.start, True)
        bind = query.GetJointWorldBindTransforms()
        if not rest or len(bind) != len(paths):
            raise AssetError(f"skeleton {prim.GetName()!r}: must have rest and bind transforms")
        to_skeleton = np.linalg.inv(self._matrix(self.placer.GetLocalToWorldTransform(prim)))
        joints: list[int] = []
        for index, joint in enumerate(paths):
            parent = topology.GetParent(index)
            if parent >= index:
                raise AssetError(f"skeleton {prim.GetName()!r}: must list parents first")
            above = top if parent < 0 else joints[parent]
            joints.append(self._node(joint.rsplit("/", 1)[-1], self._matrix(rest[index]), above))
        inverse = np.stack([np.linalg.inv(to_skeleton @ self._matrix(m)) for m in bind])
        self.skins.append(SkinRecord(prim.GetName(), np.array(joints), inverse))
        self._clip(query, joints)
        return len(self.skins) - 1

    def _clip(self, query: Any, joints: list[int]) -> None:
        source = query.GetAnimQuery()
        codes = list(source.GetJointTransformTimeSamples()) if source else []
        if not codes:
            return
        name = source.GetPrim().GetName()
        if len(codes) * len(joints) > _MOST_SAMPLES:
            what = f"has {len(codes)} samples of {len(joints)} joints"
            self.problems.warn(f"clip {name!r}", what, "it is left out")
            return
        self.budget.charge(200 * len(codes) * len(joints), f"clip {name!r}")
        times = ((np.array(codes) - codes[0]) / self.rate).astype(np.float32)
        keys = np.stack([np.array(query.ComputeJointLocalTransforms(code)) for code in codes])
        tracks = self.clips.setdefault(name, [])
        for node, matrices in zip(joints, keys.swapaxes(0, 1), strict=True):
            parts = decompose_all(self._matrices(matrices), f"clip {name!r}")
            for path, values in zip(_PATHS, parts, strict=True):
                kept = continuous(values) if path == "rotation" else values
                tracks.append(Track(node, path, "LINEAR", times, kept.astype(np.float32)))

    def _mesh(self, prim: Any, target: Any, skin: int | None) -> None:
        from pxr import UsdGeom

        where = f"mesh {prim.GetName()!r}"
        mesh = UsdGeom.Mesh(prim)
        points = np.array(mesh.GetPointsAttr().Get(self.start) or (), np.float64).reshape(-1, 3)
        counts = np.array(mesh.GetFaceVertexCountsAttr().Get(self.start) or (), np.int64)
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(self.start) or (), np.int64)
        self.budget.charge(64 * (len(points) + 4 * len(corners)), where)
        if counts.sum() != len(corners) or (counts < 0).any():
            raise AssetError(f"{where}: counts of its faces must sum to {len(corners)}")
        if len(corners) and (corners.min() < 0 or corners.max() >= len(points)):
            raise AssetError(f"{where}: faces must name one of the {len(points)} vertices")
        placed = self._matrix(self.placer.GetLocalToWorldTransform(prim))
        bind = np.eye(4) if target is None else self._matrix(target.GetGeomBindTransform())
        points = (points @ self.change[:3, :3].T) @ bind[:3, :3].T + bind[:3, 3]
        triangles = fan_triangles(counts, np.arange(len(corners)))
        if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
            triangles = triangles[:, ::-1]
        uv = self._primvar(prim, "st", corners, len(points))
        colours = self._primvar(prim, "displayColor", corners, len(points))
        # Texture coordinates may differ from corner to corner of a vertex.
        table = corners[:, None] if uv is None else np.concatenate((corners[:, None], uv), axis=1)
        rows, inverse = np.unique(table, axis=0, return_inverse=True)
        at = rows[:, 0].astype(np.int64)
        first = np.zeros(len(rows), np.int64)
        first[inverse.reshape(-1)] = np.arange(len(corners))
        part = build_part(
            where, self.problems, positions=points[at],
            faces=inverse.reshape(-1)[triangles], material=self._material(prim),
            uv=None if uv is None else rows[:, 1:],
            colours=None if colours is None else
            np.concatenate((colours[first][:, :3], np.ones((len(rows), 1))), axis=1),
        )  # fmt: skip
        if part is None:
            self.problems.warn(where, "has no triangles", "it is left out")
            return
        if target is not None and len(part.positions) == len(at):
            part = _skinned(part, target, at, len(points), self.skins[skin or 0])
        self.meshes.append(Mesh(prim.GetName(), (part,)))
        self._node(
            prim.GetName(), placed, mesh=len(self.meshes) - 1,
            skin=skin if part.joints is not None else None,
        )  # fmt: skip

    def _primvar(
        self, prim: Any, name: str, corners: np.ndarray, count: int
    ) -> Float[np.ndarray, "C K"] | None:
        """Values of a primvar for every corner of every face."""
        from pxr import UsdGeom

        given = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance(name)
        values = given.ComputeFlattened(self.start) if given and given.HasValue() else None
        if not values:
            return None
        values = np.array(values, np.float64).reshape(len(values), -1)
        match given.GetInterpolation():
            case "constant":
                return np.repeat(values[:1], len(corners), axis=0)
            case "vertex" | "varying" if len(values) == count:
                return values[corners]
            case "faceVarying" if len(values) == len(corners):
                return values
        return None

    def _material(self, prim: Any) -> int | None:
        """Index of the material bound to a prim: its preview surface's colour and texture."""
        from pxr import UsdShade

        bound, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        if not bound:
            return None
        key = str(bound.GetPath())
        if key not in self._material_places:
            self._material_places[key] = len(self.materials)
            shader, *_ = bound.ComputeSurfaceSource()
            white: tuple[float, float, float] = (1.0, 1.0, 1.0)
            colour, image = white, None
            diffuse = shader.GetInput("diffuseColor") if shader else None
            if diffuse:
                with suppress(TypeError, ValueError):  # of another type, or none
                    red, green, blue = np.nan_to_num(np.array(diffuse.Get(), float)).clip(0, 1)
                    colour = (float(red), float(green), float(blue))
                if diffuse.HasConnectedSource():
                    source = diffuse.GetConnectedSource()[0].GetPrim()
                    image = self._image(UsdShade.Shader(source), key)
                    colour = white if image is not None else colour
            self.materials.append(
                Material(
                    bound.GetPrim().GetName(),
                    (colour[0], colour[1], colour[2], 1.0),
                    image,
                    double_sided=True,
                )
            )
        return self._material_places[key]

    def _image(self, texture: Any, where: str) -> int | None:
        given = texture.GetInput("file")
        name = given.Get() if given else None
        if name is None:
            return None
        image = load_texture(self.folder, name.path, where, self.problems)
        if image is None:
            return None
        self.images.append(image)
        return len(self.images) - 1


def _skinned(part: MeshPart, target: Any, at: np.ndarray, count: int, skin: SkinRecord) -> MeshPart:
    """The part with the joints and weights of its skinning query."""
    from pxr import Vt

    found = target.ComputeVaryingJointInfluences(count)
    width = target.GetNumInfluencesPerComponent()
    if not found or width < 1:
        return part
    indices, weights = (np.array(values).reshape(-1, width) for values in found)
    if mapper := target.GetJointMapper():  # none where the mesh has the skeleton's order
        places = np.array(mapper.Remap(Vt.IntArray(range(len(skin.joints)))), np.int64)
        indices = places[indices]
    if len(indices) != count or indices.min() < 0 or indices.max() >= len(skin.joints):
        return part
    weights = np.nan_to_num(weights.astype(np.float64)).clip(0.0)
    empty = weights.sum(axis=1) <= 0.0
    weights[empty, 0] = 1.0
    return replace(part, joints=indices[at].astype(np.int64), weights=weights[at])
