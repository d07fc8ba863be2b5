"""Continuous refinement: joints moved so that bones lie along the middle of what they move.

A least-squares problem over the joints of the left half and of the middle; the right half is its
mirror image. Joints keep near to where the template expects them, as near as such joints do;
bones keep their length and direction; samples along the bones of legs, arms, neck and tail are
drawn to the middle of the limb; and what is outside is drawn inside. The places that samples are
drawn to are found again after each solve (Baran and Popovic 2007, section 4, with these terms).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from scipy import ndimage

from akd.rig.autorig.fitted import Fitted
from akd.rig.autorig.templates import Placed

_SOLVES = 6
_MEDIAL = 0.01
"""How far from the middle of a limb a bone may well be, in heights."""
_TRUNK = 0.06
"""How far from the middle of the trunk the spine may well be, in heights."""
_BONE = 0.2
"""How far from the template's a bone may well be, in its own lengths."""
_INSIDE = 0.01
"""How deep inside a joint has to be, and how strictly, in heights."""
_SAMPLES = (0.25, 0.5, 0.75, 1.0)
"""Places along a bone."""


def refine(
    placed: list[Placed], fitted: Fitted, spread: Mapping[str, Float[np.ndarray, "3"]]
) -> list[Placed]:
    """Joints in better places; metres, facing +z, as `placed` has them: of the left half and of
    the middle. `spread` is how far from the expected place joints are, in heights."""
    height = fitted.marks.height
    names = [p.name for p in placed]
    index = {name: i for i, name in enumerate(names)}
    expected = np.array([p.position for p in placed])
    parents = [index.get(p.parent, -1) for p in placed]
    rails = fitted.rails()
    rail_of = [rails.get(_limb(name)) for name in names]
    places = expected.copy()
    is_middle = np.array([not name.startswith("left_") for name in names])
    for _ in range(_SOLVES):
        equations = _Equations(len(names))
        for j, name in enumerate(names):
            near = np.maximum(spread.get(name, np.full(3, 0.03)), 0.005) * height
            equations.ask({j: 1.0}, expected[j], near)
            above = parents[j]
            if above < 0 or names[above] == "root":
                continue
            bone = expected[j] - expected[above]
            length = max(float(np.linalg.norm(bone)), 0.02 * height)
            equations.ask({j: 1.0, above: -1.0}, bone, _BONE * length)
            rail = rail_of[j]
            if rail is not None and _limb(names[above]) == _limb(name):
                for share in _SAMPLES:
                    sample = (1 - share) * places[above] + share * places[j]
                    middle = _middle(rail, sample)
                    if middle is not None:
                        far = _TRUNK if _limb(name) == "spine" else 2 * _MEDIAL
                        equations.ask({above: 1 - share, j: share}, middle, far * height)
            inside = _inside(fitted, places[j])
            if inside is not None:
                equations.ask({j: 1.0}, inside, _INSIDE * height)
        places = equations.solve()
        places[is_middle, 0] = 0.0
    return [
        Placed(p.name, p.parent, place if p.name != "root" else p.position)
        for p, place in zip(placed, places, strict=True)
    ]


class _Equations:
    """Blends of joints that should be at places: least squares, axis by axis."""

    def __init__(self, joints: int) -> None:
        self._joints = joints
        self._rows: list[np.ndarray] = []
        self._values: list[np.ndarray] = []

    def ask(
        self, blend: Mapping[int, float], place: Float[np.ndarray, "3"], spread: np.ndarray | float
    ) -> None:
        """That a blend of joints is at a place, give or take `spread`, metres, along each axis."""
        strength = np.broadcast_to(1.0 / np.asarray(spread), 3)
        row = np.zeros((3, self._joints))
        for joint, share in blend.items():
            row[:, joint] = share * strength
        self._rows.append(row)
        self._values.append(place * strength)

    def solve(self) -> Float[np.ndarray, "J 3"]:
        rows, values = np.array(self._rows), np.array(self._values)
        solved = [np.linalg.lstsq(rows[:, i], values[:, i], rcond=None)[0] for i in range(3)]
        return np.stack(solved, axis=1)


def _limb(name: str) -> str:
    """Which limb a joint is of: `left_fore`, `tail`, `neck`; the head ends the neck."""
    words = name.split("_")
    if words[0] == "left":
        return "_".join(words[:2])
    return "neck" if words[0] == "head" else words[0]


def _middle(rail: Float[np.ndarray, "N 3"], point: Float[np.ndarray, "3"]) -> np.ndarray | None:
    """The place of a line nearest to a point; None off its ends, where it says nothing."""
    start, step = rail[:-1], np.diff(rail, axis=0)
    size = (step**2).sum(axis=1).clip(1e-18)
    share = ((point - start) * step).sum(axis=1) / size
    nearest = start + share.clip(0.0, 1.0)[:, None] * step
    best = int(((nearest - point) ** 2).sum(axis=1).argmin())
    is_off = (best == 0 and share[best] < 0) or (best == len(step) - 1 and share[best] > 1)
    return None if is_off else nearest[best]


def _inside(fitted: Fitted, point: Float[np.ndarray, "3"]) -> np.ndarray | None:
    """The nearest place well inside, for a point that is not."""
    solid = fitted.marks.solid
    at = tuple(solid.place(point[None])[0])
    deep = solid.depth > _INSIDE * fitted.marks.height + 0.5 * solid.cell
    if deep[at] or not deep.any():
        return None
    nearest = ndimage.distance_transform_edt(~deep, return_distances=False, return_indices=True)
    return solid.centres(np.asarray(nearest)[:, at[0], at[1], at[2]][None])[0]
