"""The floor of a motion, from its feet: motion capture may have a tilted one, or none at zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.motion.contact import STANCE, floor_height

_FAR = 1.0
"""A body must go so far, in body heights, for a tilt to be seen: on the spot, heels and toes of
unequal height would look like one."""
_STEEPEST = 0.05
_CAUTION = 0.15
"""Ridge on the tilt, in body heights: a small area determines the tilt badly."""


@dataclass(frozen=True)
class Floor:
    """A plane: its height is level + tilt . (x, z), metres."""

    level: float
    tilt: Float[Tensor, "2"]

    def under(self, points: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b"]:
        """Height of the floor under points, metres."""
        return self.level + points[..., [0, 2]] @ self.tilt.to(points)


def find_floor(
    feet: Sequence[Float[Tensor, "T _ 3"]], root: Float[Tensor, "T 3"], *, body_height: float
) -> Floor:
    """The floor that the lowest foot stands on, through the lowest points of all feet.

    Args:
        feet: Points of each foot's sole, metres.
        root: Path of the body, metres.
        body_height: Metres.
    """
    points = torch.stack([_lowest_point(foot) for foot in feet]).double()  # [F, T, 3]
    floor = _level(points, torch.zeros(2, dtype=torch.float64))
    extent = root[:, [0, 2]].amax(0) - root[:, [0, 2]].amin(0)
    if float(extent.norm()) < _FAR * body_height:
        return floor
    for _ in range(4):
        above = points[..., 1] - floor.under(points)
        near = points[above.abs() < STANCE * body_height]
        if len(near) < 8:
            break
        place = near[:, [0, 2]] - near[:, [0, 2]].mean(0)
        ridge = len(near) * (_CAUTION * body_height) ** 2 * torch.eye(2, dtype=torch.float64)
        rise = near[:, 1] - near[:, 1].mean()
        tilt = torch.linalg.solve(place.T @ place + ridge, place.T @ rise)
        tilt = tilt * min(1.0, _STEEPEST / max(float(tilt.norm()), 1e-12))
        floor = _level(points, tilt)
    return floor


def _lowest_point(foot: Float[Tensor, "T S 3"]) -> Float[Tensor, "T 3"]:
    index = foot[..., 1].argmin(1)[:, None, None].expand(-1, 1, 3)
    return foot.gather(1, index)[:, 0]


def _level(points: Float[Tensor, "F T 3"], tilt: Float[Tensor, "2"]) -> Floor:
    above = (points[..., 1] - points[..., [0, 2]] @ tilt).amin(0)
    return Floor(float(floor_height(above)), tilt)
