"""`PartReader`: a primitive of triangles becomes a `MeshPart`, or is left out and reported."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from jaxtyping import Float, Integer

from akd.asset.asset import MeshPart
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.draco import DracoDecoder
from akd.asset.gltf.faces import TRIANGLES, triangles, without_degenerate
from akd.asset.gltf.fields import Fields, GltfError
from akd.asset.gltf.materials import Surface
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.weights import repair_weights

T = TypeVar("T")

_MODES = ("points", "lines", "a line loop", "a line strip", "triangles", "a strip", "a fan")


class PartReader:
    """Reads the primitives of one file. Parts that share an array share it here too."""

    def __init__(
        self, accessors: Accessors, surfaces: tuple[Surface, ...], problems: ProblemLog
    ) -> None:
        self._accessors = accessors
        self._surfaces = surfaces
        self._problems = problems
        self._draco = DracoDecoder(accessors)
        self._made: dict[tuple[object, ...], object] = {}

    def read(self, part: Fields, joint_count: int | None, targets: int) -> MeshPart | None:
        """Return the part, or None where it has no triangles.

        `joint_count` is that of the smallest skin the mesh is shown with, None for no skin;
        `targets` is the mesh's number of morph targets.
        """
        mode = part.integer("mode", TRIANGLES)
        if mode >= len(_MODES):
            raise part.refuse("mode", "must be 0 to 6", mode)
        if mode < TRIANGLES:
            self._problems.note(part.where, f"is of {_MODES[mode]}", "it has no surface: left out")
            return None
        attributes = replace(part.object("attributes"), where=part.where)
        position = attributes.index("POSITION", len(self._accessors), "accessors")
        if position is None:
            self._problems.warn(part.where, "has no POSITION", "it is left out")
            return None
        self._draco.supply(part)
        positions = self._positions(position, attributes)
        vertices = len(positions)
        faces = self._faces(part, mode, vertices)
        if not len(faces):
            self._problems.warn(part.where, "has no triangles", "it is left out")
            return None
        material = self._material(part)
        surface = None if material is None else self._surfaces[material]
        joints, weights = self._skin(attributes, positions, position, joint_count)
        return MeshPart(
            positions=positions,
            faces=faces,
            material=material,
            normals=self._vectors(attributes, "NORMAL", 3, vertices),
            uv=self._uv(attributes, surface, vertices),
            colours=self._colours(attributes, vertices),
            joints=joints,
            weights=weights,
            morphs=self._morphs(part, targets, vertices) if targets else None,
        )

    def _once(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """Make a thing once: many primitives may name the same accessors."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]  # pyright: ignore[reportReturnType]

    def _is_finite(self, index: int) -> bool:
        """Whether an accessor's floats are all finite, found without an array as long as they."""

        def look() -> bool:
            values = self._accessors.floats(index)
            extremes = (values.min(initial=0.0), values.max(initial=0.0))
            return bool(np.isfinite(extremes).all())

        return self._once(("finite", index), look)

    def _positions(self, index: int, attributes: Fields) -> Float[np.ndarray, "V 3"]:
        positions = self._accessors.floats(index)
        if positions.shape[1] != 3:
            raise attributes.refuse("POSITION", "must be VEC3", self._accessors.kind(index))
        if not self._is_finite(index):
            bad = int(np.flatnonzero(~np.isfinite(positions).all(axis=1))[0])
            rule = f"must be finite, which vertex {bad} is not"
            raise attributes.refuse("POSITION", rule, positions[bad].tolist())
        return positions

    def _material(self, part: Fields) -> int | None:
        try:
            return part.index("material", len(self._surfaces), "materials")
        except GltfError as error:
            self._problems.left_out(error, "the default material is taken")
            return None

    def _faces(self, part: Fields, mode: int, vertices: int) -> Integer[np.ndarray, "F 3"]:
        index = part.index("indices", len(self._accessors), "accessors")

        def make() -> np.ndarray:
            order = self._order(part, index, vertices)
            if mode == TRIANGLES and len(order) % 3:
                what = f"has {len(order)} indices, which is no multiple of three"
                self._problems.warn(part.where, what, "the last ones are left out")
            if mode != TRIANGLES:
                self._accessors.budget.charge(len(order) * 3 * order.itemsize, part.where)
            listed = triangles(order, mode)
            faces = without_degenerate(listed)
            if mode == TRIANGLES and len(faces) < len(listed):
                what = f"{len(listed) - len(faces)} triangles name a vertex twice"
                self._problems.note(part.where, what, "they are left out")
            return faces

        return self._once(("faces", index, mode, vertices), make)

    def _order(self, part: Fields, index: int | None, vertices: int) -> Integer[np.ndarray, "n"]:
        """The vertices in the order in which the primitive names them."""
        if index is None:
            self._accessors.budget.charge(vertices * 4, part.where)
            return np.arange(vertices, dtype=np.uint32)
        column = self._accessors.integers(index)
        if column.shape[1] != 1:
            raise part.refuse("indices", "must be SCALAR", self._accessors.kind(index))
        order = column[:, 0]
        if len(order) and int(order.max()) >= vertices:
            rule = f"must be below the part's {vertices} vertices"
            raise part.refuse("indices", rule, int(order.max()))
        return order

    def _vectors(
        self, attributes: Fields, name: str, components: int, vertices: int
    ) -> Float[np.ndarray, "V C"] | None:
        """An attribute that may be missing or broken without harm: None then."""
        try:
            index = attributes.index(name, len(self._accessors), "accessors")
            if index is None:
                return None
            values = self._accessors.floats(index)
            if values.shape != (vertices, components):
                rule = f"must be {vertices} times VEC{components}"
                raise attributes.refuse(name, rule, list(values.shape))
            if not self._is_finite(index):
                raise GltfError(attributes.place(name), "must be finite, but is not")
        except GltfError as error:
            self._problems.left_out(error, "it is left out")
            return None
        return values

    def _uv(
        self, attributes: Fields, surface: Surface | None, vertices: int
    ) -> Float[np.ndarray, "V 2"] | None:
        uv_set = 0 if surface is None else surface.uv_set
        uv = self._vectors(attributes, f"TEXCOORD_{uv_set}", 2, vertices)
        if uv is None and surface is not None and surface.material.image is not None:
            what = f"its material wants TEXCOORD_{uv_set}, which it has not"
            self._problems.warn(attributes.where, what, "its texture is not shown")
        if uv is None or surface is None or surface.uv_transform is None:
            return uv
        self._accessors.budget.charge(2 * uv.nbytes, attributes.where)
        transform = surface.uv_transform.astype(np.float32)
        return uv @ transform[:, :2].T + transform[:, 2]

    def _colours(self, attributes: Fields, vertices: int) -> Float[np.ndarray, "V 4"] | None:
        components = 4
        try:
            index = attributes.index("COLOR_0", len(self._accessors), "accessors")
            if index is not None and self._accessors.kind(index) == "VEC3":
                components = 3
        except GltfError as error:
            self._problems.left_out(error, "it is left out")
            return None
        values = self._vectors(attributes, "COLOR_0", components, vertices)
        if values is None:
            return None
        self._accessors.budget.charge(vertices * 16, attributes.where)
        colours = np.ones((vertices, 4), np.float32)
        np.clip(values, 0.0, 1.0, out=colours[:, :components])
        return colours

    def _skin(
        self,
        attributes: Fields,
        positions: Float[np.ndarray, "V 3"],
        position: int,
        joint_count: int | None,
    ) -> tuple[Integer[np.ndarray, "V K"] | None, Float[np.ndarray, "V K"] | None]:
        """Joints and weights of all sets side by side, repaired; None where it has none."""
        pairs: list[tuple[int, int]] = []
        for number in _joint_sets(attributes):
            try:
                pairs.append(self._joint_set(attributes, number, len(positions)))
            except GltfError as error:
                self._problems.left_out(error, f"joint set {number} is left out")
        if not pairs or joint_count == 0:
            if joint_count is not None:
                what = "is shown with a skin, but has no joints to hang on"
                nearest = "it moves like the nearest part that has some"
                action = nearest if joint_count else "it moves with its node"
                self._problems.warn(attributes.where, what, action)
            return None, None

        def make() -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
            where = attributes.place("WEIGHTS_0")
            self._accessors.budget.charge(len(pairs) * len(positions) * 32, where)
            joints = [self._accessors.integers(j) for j, _ in pairs]
            weights = [self._accessors.floats(w) for _, w in pairs]
            return repair_weights(
                joints[0] if len(pairs) == 1 else np.concatenate(joints, axis=1),
                weights[0] if len(pairs) == 1 else np.concatenate(weights, axis=1),
                positions,
                joint_count=joint_count,
                where=where,
                problems=self._problems,
            )

        return self._once(("skin", position, *pairs, joint_count), make)

    def _joint_set(self, attributes: Fields, number: int, vertices: int) -> tuple[int, int]:
        """Accessors of one set of four joints and weights."""
        found: list[int] = []
        for name in (f"JOINTS_{number}", f"WEIGHTS_{number}"):
            index = attributes.index(name, len(self._accessors), "accessors")
            if index is None:
                raise GltfError(attributes.place(name), "must be there, got nothing")
            read = self._accessors.integers if name[0] == "J" else self._accessors.floats
            shape = read(index).shape
            if shape != (vertices, 4):
                raise attributes.refuse(name, f"must be {vertices} times VEC4", list(shape))
            found.append(index)
        return found[0], found[1]

    def _morphs(self, part: Fields, targets: int, vertices: int) -> Float[np.ndarray, "M V 3"]:
        self._accessors.budget.charge(targets * vertices * 12, part.where)
        morphs = np.zeros((targets, vertices, 3), np.float32)
        for morph, target in zip(morphs, part.objects("targets", "morph target"), strict=False):
            try:
                self._read_offsets(target, morph)
            except GltfError as error:
                self._problems.left_out(error, "the target does nothing")
                morph[:] = 0.0
        return morphs

    def _read_offsets(self, target: Fields, offsets: Float[np.ndarray, "V 3"]) -> None:
        """Fill in the position offsets of a morph target."""
        index = target.index("POSITION", len(self._accessors), "accessors")
        if index is None:
            return
        values = self._accessors.floats_once(index)
        if values.shape != offsets.shape:
            rule = f"must be {len(offsets)} times VEC3"
            raise target.refuse("POSITION", rule, list(values.shape))
        offsets[:] = values
        if not np.isfinite((offsets.min(initial=0.0), offsets.max(initial=0.0))).all():
            raise GltfError(target.place("POSITION"), "must be finite, but is not")


def _joint_sets(attributes: Fields) -> list[int]:
    """Numbers n of the attributes JOINTS_n, in order."""
    found = (re.fullmatch(r"JOINTS_([0-9]{1,4})", name) for name in attributes.values)
    return sorted({int(match[1]) for match in found if match})
