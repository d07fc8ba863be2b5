"""From a file's units and axes to metres with Y up, and back: the one place where it happens.

A change of world coordinates x -> s C x, with a scale s and an axis rotation C, acts on every
local transform by conjugation: translations become s C t, rotations c q c*, scales are permuted.
It needs no extra node and undoes itself exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion
from akd.rig.pose import Pose

UP_AXES = ("x", "y", "z")
_PERSON_SPAN = 1.5
"""Metres that the joints of a person of 1.7 m span."""
_PERSON_WITHIN = 1.3
"""Captured people are within this factor of it; a unit that makes them anything else is wrong."""


@dataclass(frozen=True)
class FileUnits:
    """How a file's coordinates relate to metres with Y up."""

    metres_per_unit: float = 1.0
    up: str = "y"
    """The file's axis that points up: `x`, `y` or `z`."""
    found_by: str = "the format's own rule"
    """Why these units were chosen, for a person to read."""
    is_assumed: bool = False
    """Whether the file's own units are not believed."""
    is_given: bool = False
    """The user gave the height, so nothing overrules it."""

    def __post_init__(self) -> None:
        if self.up not in UP_AXES:
            raise ValueError(f"up must be one of {', '.join(UP_AXES)}, got {self.up!r}")
        if not (self.metres_per_unit > 0 and math.isfinite(self.metres_per_unit)):
            raise ValueError(
                f"metres_per_unit must be above zero and finite, got {self.metres_per_unit}"
            )

    @property
    def units_per_metre(self) -> float:
        """What metres are multiplied by for lengths as in the file."""
        return 1.0 / self.metres_per_unit

    def _axes(self, like: Tensor) -> Float[Tensor, "4"]:
        """Rotation (wxyz) that takes the file's up axis to Y."""
        half = math.sqrt(0.5)
        q = {"y": (1.0, 0.0, 0.0, 0.0), "z": (half, -half, 0.0, 0.0), "x": (half, 0.0, 0.0, half)}
        return like.new_tensor(q[self.up])

    def points_in(self, points: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b 3"]:
        """File units to metres, Y up."""
        return quaternion.rotate(self._axes(points), points) * self.metres_per_unit

    def points_out(self, points: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b 3"]:
        """Metres, Y up, to file units."""
        back = quaternion.conjugate(self._axes(points))
        return quaternion.rotate(back, points) / self.metres_per_unit

    def pose_in(self, pose: Pose) -> Pose:
        """Local transforms in file units to metres."""
        return self._conjugate(pose, self._axes(pose.rotation), self.metres_per_unit)

    def pose_out(self, pose: Pose) -> Pose:
        """Local transforms in metres to file units."""
        back = quaternion.conjugate(self._axes(pose.rotation))
        return self._conjugate(pose, back, 1.0 / self.metres_per_unit)

    def matrices_in(self, matrices: Float[Tensor, "*b 4 4"]) -> Float[Tensor, "*b 4 4"]:
        """Affine matrices in file units to metres."""
        axes = quaternion.to_matrix(self._axes(matrices))
        linear = axes @ matrices[..., :3, :3] @ axes.T
        result = matrices.clone()
        result[..., :3, :3] = linear
        result[..., :3, 3] = self.points_in(matrices[..., :3, 3])
        return result

    def _conjugate(self, pose: Pose, axes: Tensor, factor: float) -> Pose:
        if self.up == "y":
            return Pose(pose.translation * factor, pose.rotation, pose.scale)
        turned = quaternion.multiply(
            axes, quaternion.multiply(pose.rotation, quaternion.conjugate(axes))
        )
        return Pose(
            quaternion.rotate(axes, pose.translation) * factor,
            turned,
            (quaternion.to_matrix(axes).abs().round() @ pose.scale[..., None]).squeeze(-1),
        )


def find_units(
    height: float, *, file_format: str, up: str = "y", wanted_height: float | None = None
) -> FileUnits:
    """Metres per file unit of a character that is `height` file units tall.

    A wanted height in metres decides. Otherwise glTF means metres unless the body would then be
    taller than any animal; a format without a unit is taken in the customary unit that makes a
    plausible body.
    """
    if wanted_height is not None:
        if not (wanted_height > 0 and math.isfinite(wanted_height)):
            raise ValueError(f"height must be above zero and finite, got {wanted_height}")
        if height <= 0:
            return FileUnits(1.0, up, "nothing to measure")
        metres = wanted_height / height
        return FileUnits(metres, up, f"the wanted height of {wanted_height:g} m", is_given=True)
    if height <= 0:
        return FileUnits(1.0, up, "nothing to measure")
    if file_format in ("glb", "gltf"):
        if height <= 30.0:
            return FileUnits(1.0, up, "glTF is in metres")
        metres, name = (0.01, "centimetres") if height < 1000.0 else (0.001, "millimetres")
        return FileUnits(metres, up, f"{height:.4g} units tall: taken as {name}")
    if file_format == "bvh":
        # Motion capture is of people: metres, inches, decimetres, centimetres, millimetres, or the
        # inch-and-0.45 unit of the CMU database.
        customary = (1.0, 0.0254, 0.0254 / 0.45, 0.1, 0.01, 0.001)
        metres = min(customary, key=lambda m: abs(math.log(m * height / _PERSON_SPAN)))
        why = f"{height:.4g} units tall: a person of {metres * height:.2f} m"
        if abs(math.log(metres * height / _PERSON_SPAN)) > math.log(_PERSON_WITHIN):
            metres = _PERSON_SPAN / height
            why = f"{height:.4g} units fit a person in no customary unit: taken as {_PERSON_SPAN} m"
        return FileUnits(metres, up, why)
    if height <= 30.0:
        return FileUnits(1.0, up, "the format states no unit: taken as metres")
    metres = 0.01 if height < 1000.0 else 0.001
    return FileUnits(metres, up, f"the format states no unit: {height:.4g} units tall")
