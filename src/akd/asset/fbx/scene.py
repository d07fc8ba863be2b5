"""`FbxScene`: what ufbx parsed, with its objects kept alive, and the map to metres with Y up.

ufbx 0.0.5 corrupts memory when one of its Python objects is freed, and iterating over its lists
frees them. Every object is therefore kept until the process ends, and lists are read by index.
Load options are ignored by that version, so axes and units are converted here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float, Int, Shaped

from akd.asset.asset import AssetError, Budget
from akd.asset.surface import read_bytes

_Thing_co = TypeVar("_Thing_co", covariant=True)
_KEPT: list[Any] = []


@runtime_checkable
class _Listed(Protocol[_Thing_co]):
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> _Thing_co: ...


class FbxScene:
    """A parsed file. `axes` and `unit` take its coordinates to metres, Y up, right-handed."""

    def __init__(self, path: Path, budget: Budget) -> None:
        import ufbx

        self.budget = budget
        data = read_bytes(path, growth=2)
        try:
            self.scene: Any = self.keep(ufbx.load_memory(data))
        except ufbx.UfbxError as error:
            raise AssetError(f"cannot be read as FBX: {error}") from None
        settings = self.keep(self.scene.settings)
        unit = float(settings.unit_meters)
        self.unit = unit if np.isfinite(unit) and 1e-6 < unit < 1e6 else 0.01
        self.fps = float(settings.frames_per_second)
        self.axes = _axes(self.keep(settings.axes))
        self.is_mirrored = bool(np.linalg.det(self.axes) < 0.0)
        self.nodes = self.listed(self.scene.nodes)
        budget.charge(4096 * len(self.nodes), "nodes")

    def keep(self, thing: Any) -> Any:
        """The thing, kept alive until the process ends."""
        _KEPT.append(thing)
        return thing

    def listed(self, things: _Listed[Any]) -> list[Any]:
        """The objects of one of ufbx's lists, kept alive."""
        self.keep(things)
        return [self.keep(things[i]) for i in range(len(things))]

    def vectors(self, values: Any) -> Shaped[np.ndarray, "N *C"]:
        """A copy of a list of numbers, or of structures of them."""
        self.keep(values)
        self.budget.charge(64 * len(values), "arrays")
        return np.array(memoryview(values)) if len(values) else np.zeros((0, 1))

    def integers(self, values: _Listed[int]) -> Int[np.ndarray, "N"]:
        """A copy of a list of integers."""
        self.keep(values)
        self.budget.charge(64 * len(values), "arrays")
        return np.fromiter((values[i] for i in range(len(values))), np.int64, len(values))

    def points_in(self, points: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        """Positions in the file's space, in metres with Y up."""
        return points @ (self.unit * self.axes).T

    def directions_in(self, directions: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        """Directions in the file's space, with Y up."""
        return directions @ self.axes.T

    def rotations_in(self, xyzw: Float[np.ndarray, "*N 4"]) -> Float[np.ndarray, "*N 4"]:
        """Quaternions of the file, xyzw, as unit wxyz with Y up."""
        # The axis of a rotation is a pseudo-vector.
        turned = self.directions_in(xyzw[..., :3]) * (-1.0 if self.is_mirrored else 1.0)
        wxyz = np.concatenate((xyzw[..., 3:], turned), axis=-1)
        return wxyz / np.maximum(np.linalg.norm(wxyz, axis=-1, keepdims=True), 1e-12)

    def scales_in(self, scales: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        """Scales along the file's axes, along ours."""
        return scales @ np.abs(self.axes).T

    def matrix_in(self, matrix: Float[np.ndarray, "4 4"]) -> Float[np.ndarray, "4 4"]:
        """A transform of the file's space as one of ours."""
        change = np.eye(4)
        change[:3, :3] = self.unit * self.axes
        return change @ matrix @ np.linalg.inv(change)


def to_matrix(columns: Any) -> Float[np.ndarray, "4 4"]:
    """ufbx's matrix, which lists the columns of an affine map."""
    matrix = np.eye(4)
    matrix[:3] = np.array([tuple(column) for column in columns]).T
    return matrix


def _axes(given: Any) -> Float[np.ndarray, "3 3"]:
    """Signed permutation that takes the file's axes to right = X, up = Y, front = Z."""
    rows = np.zeros((3, 3))
    for row, axis in enumerate((given.right, given.up, given.front)):
        number = int(axis)
        if not 0 <= number < 6:
            return np.eye(3)
        rows[row, number // 2] = -1.0 if number % 2 else 1.0
    return rows if abs(np.linalg.det(rows)) == 1.0 else np.eye(3)
