"""Meshes: every primitive becomes a `MeshPart` of triangles, or is left out and reported."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from akd.asset.asset import AssetError, Mesh, MeshPart, Node, SkinRecord
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.draco import supply_draco
from akd.asset.gltf.faces import TRIANGLES, triangles, without_degenerate
from akd.asset.gltf.fields import Fields, clean_text
from akd.asset.gltf.materials import Surface
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.weights import repair_weights

_MODES = ("points", "lines", "a line loop", "a line strip", "triangles", "strip", "fan")


class MeshReader:
    """Reads the meshes of one file. Parts that share an array share it here too."""

    def __init__(
        self, root: Fields, accessors: Accessors, surfaces: tuple[Surface, ...], log: ProblemLog
    ) -> None:
        self._root = root
        self._accessors = accessors
        self._surfaces = surfaces
        self._log = log
        self._checked: dict[object, object] = {}
        """What was already made of an accessor, so that a file cannot make us do it again."""

    def read(self, nodes: Sequence[Node], skins: Sequence[SkinRecord]) -> tuple[Mesh, ...]:
        """Return every mesh; one that is broken but not shown is left without parts."""
        shown: set[int] = set()
        joint_counts: dict[int, int] = {}
        for node in nodes:
            if node.mesh is None:
                continue
            shown.add(node.mesh)
            if node.skin is not None:
                count = len(skins[node.skin].joints)
                joint_counts[node.mesh] = min(count, joint_counts.get(node.mesh, count))
        meshes: list[Mesh] = []
        for i, entry in enumerate(self._root.objects("meshes", "mesh")):
            try:
                meshes.append(self._mesh(entry, joint_counts.get(i)))
            except AssetError as error:
                if i in shown:
                    raise
                self._log.warn(entry.where, str(error), "no node shows it: it is left empty")
                meshes.append(Mesh(entry.name(), ()))
        return tuple(meshes)

    def _mesh(self, entry: Fields, joint_count: int | None) -> Mesh:
        primitives = entry.objects("primitives", "part")
        if not primitives:
            self._log.warn(entry.where, "has no primitives", "it is left empty")
        read = (self._part(primitive, joint_count) for primitive in primitives)
        parts = tuple(part for part in read if part is not None)
        counts = {0 if part.morphs is None else len(part.morphs) for part in parts}
        if len(counts) > 1:
            raise GltfError(entry.where, f"parts must have equally many morph targets")
        morphs = counts.pop() if counts else 0
        return Mesh(entry.name(), parts, *self._morph_names(entry, morphs))

    def _morph_names(self, entry: Fields, count: int) -> tuple[np.ndarray | None, tuple[str, ...]]:
        """Rest weights and names of the morph targets."""
        if not count:
            return None, ()
        weights = np.zeros(count)
        if entry.has("weights"):
            given = entry.numbers("weights", None)
            if len(given) != count:
                what = f"has {len(given)} weights for {count} morph targets"
                self._log.warn(entry.where, what, "those missing are zero")
            weights[: min(count, len(given))] = given[:count]
        extras = entry.values.get("extras")
        names = extras.get("targetNames") if isinstance(extras, dict) else None
        if isinstance(names, list) and len(names) == count:
            return weights, tuple(clean_text(n) if isinstance(n, str) else "" for n in names)
        return weights, ()

    def _part(self, part: Fields, joint_count: int | None) -> MeshPart | None:
        mode = part.integer("mode", TRIANGLES)
        if mode >= len(_MODES):
            raise part.refuse("mode", "must be 0 to 6", mode)
        if mode < TRIANGLES:
            self._log.note(part.where, f"is of {_MODES[mode]}", "it has no surface: left out")
            return None
        attributes = part.object("attributes")
        supply_draco(part, self._accessors)
        position = attributes.index("POSITION", len(self._accessors), "accessors")
        if position is None:
            self._log.warn(part.where, "has no POSITION", "it is left out")
            return None
        positions = self._positions(position, attributes.place("POSITION"))
        material = self._material(part)
        surface = None if material is None else self._surfaces[material]
        joints, weights = self._skin(attributes, position, joint_count)
        return MeshPart(
            positions=positions,
            faces=self._faces(part, mode, len(positions)),
            material=material,
            normals=self._vectors(attributes, "NORMAL", 3, len(positions)),
            uv=self._uv(attributes, surface, len(positions)),
            colours=self._colours(attributes, len(positions)),
            joints=joints,
            weights=weights,
            morphs=self._morphs(part, len(positions)),
        )

    def _positions(self, index: int, where: str) -> np.ndarray:
        positions = self._accessors.floats(index)
        if positions.shape[1] != 3:
            raise GltfError(where, f"must be VEC3, got {self._accessors.kind(index)}")
        key = ("finite", index)
        if key not in self._checked:
            # Extremes are found without an array as long as the positions.
            extremes = (positions.min(initial=0.0), positions.max(initial=0.0))
            if not np.isfinite(extremes).all():
                bad = int(np.flatnonzero(~np.isfinite(positions).all(axis=1))[0])
                value = ", ".join(map(str, positions[bad]))
                raise GltfError(where, f"must be finite, got {value} at vertex {bad}")
            self._checked[key] = True
        return positions

    def _material(self, part: Fields) -> int | None:
        try:
            return part.index("material", len(self._surfaces), "materials")
        except AssetError as error:
            self._log.warn(part.where, str(error), "the default material is taken")
            return None

    def _faces(self, part: Fields, mode: int, vertices: int) -> np.ndarray:
        index = part.index("indices", len(self._accessors), "accessors")
        key = ("faces", index, mode, vertices)
        if key in self._checked:
            return self._checked[key]  # pyright: ignore[reportReturnType]
        if index is None:
            self._accessors.budget.charge(vertices * 4, part.where)
            order = np.arange(vertices, dtype=np.uint32)
        else:
            column = self._accessors.integers(index)
            if column.shape[1] != 1:
                kind = self._accessors.kind(index)
                raise GltfError(part.place('indices'), f"must be SCALAR, got {kind}")
            order = column[:, 0]
            if len(order) and int(order.max()) >= vertices:
                raise GltfError(part.place('indices'), f"must be below the part's {vertices} vertices, "
                    f"got {int(order.max())}"
                )
        if mode == TRIANGLES and len(order) % 3:
            what = f"has {len(order)} indices, which is no multiple of three"
            self._log.warn(part.where, what, "the last ones are left out")
        if mode != TRIANGLES:
            self._accessors.budget.charge(len(order) * 3 * order.itemsize, part.where)
        listed = triangles(order, mode)
        faces = without_degenerate(listed)
        if mode == TRIANGLES and len(faces) < len(listed):
            what = f"{len(listed) - len(faces)} triangles name a vertex twice"
            self._log.note(part.where, what, "they are left out")
        self._checked[key] = faces
        return faces

    def _vectors(
        self, attributes: Fields, name: str, components: int, vertices: int
    ) -> np.ndarray | None:
        """An attribute that may be missing or broken without harm: None then."""
        try:
            index = attributes.index(name, len(self._accessors), "accessors")
            if index is None:
                return None
            values = self._accessors.floats(index)
            if values.shape != (vertices, components):
                rule = f"must be {vertices} times VEC{components}"
                raise attributes.refuse(name, rule, list(values.shape))
            key = ("finite", index)
            if key not in self._checked:
                extremes = (values.min(initial=0.0), values.max(initial=0.0))
                self._checked[key] = bool(np.isfinite(extremes).all())
            if not self._checked[key]:
                raise GltfError(attributes.place(name), f"must be finite")
        except AssetError as error:
            self._log.warn(attributes.place(name), str(error), "it is left out")
            return None
        return values

    def _uv(self, attributes: Fields, surface: Surface | None, vertices: int) -> np.ndarray | None:
        uv_set = 0 if surface is None else surface.uv_set
        uv = self._vectors(attributes, f"TEXCOORD_{uv_set}", 2, vertices)
        if surface is None:
            return uv
        if uv is None:
            if surface.material.image is not None:
                what = f"its material wants TEXCOORD_{uv_set}, which it has not"
                self._log.warn(attributes.where, what, "its texture is not shown")
            return None
        if surface.uv_transform is None:
            return uv
        self._accessors.budget.charge(uv.nbytes, attributes.where)
        transform = surface.uv_transform.astype(np.float32)
        return uv @ transform[:, :2].T + transform[:, 2]

    def _colours(self, attributes: Fields, vertices: int) -> np.ndarray | None:
        index = attributes.values.get("COLOR_0")
        components = 4
        if isinstance(index, int) and 0 <= index < len(self._accessors):
            components = 3 if self._accessors.kind(index) == "VEC3" else 4
        values = self._vectors(attributes, "COLOR_0", components, vertices)
        if values is None:
            return None
        self._accessors.budget.charge(vertices * 16, attributes.where)
        colours = np.ones((vertices, 4), np.float32)
        np.clip(values, 0.0, 1.0, out=colours[:, :components])
        return colours

    def _skin(
        self, attributes: Fields, position: int, joint_count: int | None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        names = {m[1] for name in attributes.values if (m := re.fullmatch(r"JOINTS_(\d+)", name))}
        numbers = sorted(int(n) for n in names if len(n) < 6)
        if not numbers or joint_count == 0:
            return None, None
        where = attributes.place("WEIGHTS_0")
        vertices = self._accessors.count(position)
        columns: list[tuple[np.ndarray, np.ndarray]] = []
        try:
            for n in numbers:
                columns.append(self._joint_set(attributes, n, vertices))
        except AssetError as error:
            self._log.warn(where, str(error), "the part is taken as not skinned")
            return None, None
        if len(columns) == 1:
            joints, weights = columns[0]
        else:
            self._accessors.budget.charge(len(columns) * vertices * 32, where)
            joints = np.concatenate([j for j, _ in columns], axis=1)
            weights = np.concatenate([w for _, w in columns], axis=1)
        return repair_weights(
            joints,
            weights,
            self._accessors.floats(position),
            joint_count=joint_count,
            where=where,
            problems=self._log,
        )

    def _joint_set(
        self, attributes: Fields, number: int, vertices: int
    ) -> tuple[np.ndarray, np.ndarray]:
        pair: list[np.ndarray] = []
        for name in (f"JOINTS_{number}", f"WEIGHTS_{number}"):
            index = attributes.index(name, len(self._accessors), "accessors")
            if index is None:
                raise GltfError(attributes.place(name), f"must be there")
            read = self._accessors.integers if name[0] == "J" else self._accessors.floats
            values = read(index)
            if values.shape != (vertices, 4):
                raise attributes.refuse(name, f"must be {vertices} times VEC4", list(values.shape))
            pair.append(values)
        return pair[0], pair[1]

    def _morphs(self, part: Fields, vertices: int) -> np.ndarray | None:
        targets = part.objects("targets", "morph target")
        if not targets:
            return None
        self._accessors.budget.charge(len(targets) * vertices * 12, part.where)
        morphs = np.zeros((len(targets), vertices, 3), np.float32)
        for morph, target in zip(morphs, targets, strict=True):
            offsets = self._vectors(target, "POSITION", 3, vertices)
            if offsets is not None:
                morph[:] = offsets
        return morphs
