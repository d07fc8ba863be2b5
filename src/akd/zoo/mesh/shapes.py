"""Solid shapes as signed distances (metres, negative inside), blended into one body.

Distances are exact for round cones and close to exact near the surface for the others, which is
all that blending and surfacing need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, PchipInterpolator

Array = NDArray[np.floating]
Mask = NDArray[np.bool_]
Numbers = Sequence[float] | NDArray[np.floating]
Point = tuple[float, float, float] | Array

X = (1.0, 0.0, 0.0)
_FAR = 1e3


def vector(x: float, y: float, z: float) -> Array:
    """A point or an offset, metres: sideways (left), up, forward."""
    return np.array((x, y, z))


@runtime_checkable
class Shape(Protocol):
    """A solid with a signed distance."""

    def distance(self, points: Array) -> Array:
        """Signed distance of points [N, 3], metres, negative inside: [N]."""
        ...

    def bounds(self) -> tuple[Array, Array]:
        """Corners of an axis-aligned box that holds the solid."""
        ...


def frame(axis: Point, side: Point = X) -> Array:
    """Rows side, up, along: an orthonormal frame with `along` exactly on the axis."""
    along = np.asarray(axis, float)
    along = along / np.linalg.norm(along)
    lateral = np.asarray(side, float) - np.dot(side, along) * along
    if np.linalg.norm(lateral) < 1e-6:
        lateral = np.cross((0.0, 1.0, 0.0), along)
    lateral = lateral / np.linalg.norm(lateral)
    return np.stack((lateral, np.cross(along, lateral), along))


@dataclass(frozen=True)
class Ellipsoid:
    """A ball stretched along three axes."""

    centre: Point
    radii: tuple[float, float, float]
    """Along side, up and the axis."""
    axis: Point = (0.0, 0.0, 1.0)
    side: Point = X

    def distance(self, points: Array) -> Array:
        """See `Shape`."""
        turn = frame(self.axis, self.side).astype(points.dtype)
        radii = np.asarray(self.radii, points.dtype)
        local = (points - np.asarray(self.centre, points.dtype)) @ turn.T / radii
        scaled = np.sqrt(np.einsum("ni,ni->n", local, local))
        local = local / radii
        slope = np.sqrt(np.einsum("ni,ni->n", local, local))
        # At the very centre both vanish; the limit is minus the smallest radius.
        small = slope < 1e-9
        value = scaled * (scaled - 1.0) / np.where(small, 1.0, slope)
        return np.where(small, -radii.min(), value)

    def bounds(self) -> tuple[Array, Array]:
        """See `Shape`."""
        turn = frame(self.axis, self.side)
        half = np.sqrt(((turn * np.asarray(self.radii)[:, None]) ** 2).sum(0))
        return np.asarray(self.centre) - half, np.asarray(self.centre) + half


@dataclass(frozen=True)
class Cone:
    """Two balls and the cone that hugs them; `flat` stretches it sideways."""

    a: Point
    b: Point
    radius_a: float
    radius_b: float
    flat: float = 1.0
    """Half-width along `side` over the radius across it."""
    side: Point = X

    def distance(self, points: Array) -> Array:
        """See `Shape`."""
        kind = points.dtype
        a, b = np.asarray(self.a, float), np.asarray(self.b, float)
        length = float(np.linalg.norm(b - a))
        turn = frame(b - a if length > 1e-9 else (0.0, 0.0, 1.0), self.side).astype(kind)
        local = (points - a.astype(kind)) @ turn.T
        across, up, along = local[:, 0] / self.flat, local[:, 1], local[:, 2]
        radial = np.sqrt(across**2 + up**2)
        sine = np.clip((self.radius_a - self.radius_b) / max(length, 1e-9), -0.98, 0.98)
        cosine = float(np.sqrt(1.0 - sine**2))
        place = along * cosine - radial * sine
        value = radial * cosine + along * sine - self.radius_a
        value = np.where(place < 0.0, np.sqrt(radial**2 + along**2) - self.radius_a, value)
        far = np.sqrt(radial**2 + (along - length) ** 2) - self.radius_b
        value = np.where(place > cosine * length, far, value)
        if self.flat != 1.0:
            stretch = ((self.flat * across) ** 2 + up**2) / np.maximum(radial**2, 1e-12)
            value = value * np.sqrt(np.maximum(stretch, min(1.0, self.flat) ** 2))
        return value.astype(kind)

    def bounds(self) -> tuple[Array, Array]:
        """See `Shape`."""
        reach = max(self.flat, 1.0)
        a, b = np.asarray(self.a, float), np.asarray(self.b, float)
        low = np.minimum(a - self.radius_a * reach, b - self.radius_b * reach)
        high = np.maximum(a + self.radius_a * reach, b + self.radius_b * reach)
        return low, high


@dataclass(frozen=True)
class Tube:
    """A limb: round cones end to end along a line of points, its thickness changing smoothly."""

    points: Sequence[Point]
    radii: Numbers
    """At the points, metres."""
    flat: Numbers | float = 1.0
    """Half-width along `side` over the radius across it, at the points."""
    side: Point = X
    bent: bool = False
    """Whether the line curves smoothly through the points or runs straight between them."""
    finer: int = 4
    """Cones between two points."""

    def pieces(self) -> list[Cone]:
        """The cones it is made of."""
        points = np.asarray(self.points, float)
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        along = np.concatenate(((0.0,), np.cumsum(steps)))
        flat = np.broadcast_to(np.asarray(self.flat, float), along.shape)
        fine = np.concatenate(
            [np.linspace(a, b, self.finer, endpoint=False) for a, b in pairwise(along)]
            + [along[-1:]]
        )
        table = PchipInterpolator(along, np.stack((self.radii, flat), axis=1))(fine)
        if self.bent and len(points) > 2:
            line = CubicSpline(along, points, bc_type="natural")(fine)
        else:
            line = np.stack([np.interp(fine, along, points[:, i]) for i in range(3)], axis=1)
        return [
            Cone(
                line[i],
                line[i + 1],
                float(table[i, 0]),
                float(table[i + 1, 0]),
                float(0.5 * (table[i, 1] + table[i + 1, 1])),
                self.side,
            )
            for i in range(len(fine) - 1)
        ]

    def distance(self, points: Array) -> Array:
        """See `Shape`."""
        return np.min([cone.distance(points) for cone in self.pieces()], axis=0)

    def bounds(self) -> tuple[Array, Array]:
        """See `Shape`."""
        boxes = [cone.bounds() for cone in self.pieces()]
        return np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)


@dataclass(frozen=True)
class Loft:
    """A tube along a straight axis whose oval section changes from station to station.

    The section is an oval with one half-width and its own half-heights above and below the axis,
    so that a back line and a belly line can be drawn freely.
    """

    a: Point
    b: Point
    stations: Numbers
    """Places along the axis, 0 at a and 1 at b, increasing."""
    width: Numbers
    """Half-widths at the stations, metres."""
    up: Numbers
    """Height of the upper outline above the axis at the stations."""
    down: Numbers
    """Depth of the lower outline below the axis at the stations."""
    cap: tuple[float, float] = (0.05, 0.05)
    """How far the rounded ends reach beyond a and b, metres."""
    boxy: float = 2.0
    """Exponent of the oval: 2 is an ellipse, more is squarer."""
    side: Point = X

    def distance(self, points: Array) -> Array:
        """See `Shape`."""
        kind = points.dtype
        a, b = np.asarray(self.a, float), np.asarray(self.b, float)
        length = float(np.linalg.norm(b - a))
        local = (points - a.astype(kind)) @ frame(b - a, self.side).astype(kind).T
        t = local[:, 2] / length
        width, up, down = self._profile(np.clip(t, 0.0, 1.0))
        # The middle of the section lies between its two outlines, not on the axis.
        height, middle = 0.5 * (up + down), 0.5 * (up - down)
        x, y = local[:, 0], local[:, 1] - middle
        over = np.where(t < 0.0, -t * length / self.cap[0], (t - 1.0) * length / self.cap[1])
        over = np.maximum(over, 0.0)
        beyond = over * np.where(t < 0.0, self.cap[0], self.cap[1])
        oval = np.abs(x / width) ** self.boxy + np.abs(y / height) ** self.boxy
        scaled = np.sqrt(oval ** (2.0 / self.boxy) + over**2)
        reach = np.sqrt(x**2 + y**2 + beyond**2)
        inside = np.minimum(width, height)
        value = reach - reach / np.maximum(scaled, 1e-6)
        return np.where(reach < 1e-6, -inside, value).astype(kind)

    def bounds(self) -> tuple[Array, Array]:
        """See `Shape`."""
        a, b = np.asarray(self.a, float), np.asarray(self.b, float)
        turn = frame(b - a, self.side)
        width, up, down = max(self.width), max(self.up), max(self.down)
        ends = (a - turn[2] * self.cap[0], b + turn[2] * self.cap[1])
        corners = [
            end + sx * width * turn[0] + sy * turn[1]
            for end in ends
            for sx in (-1.0, 1.0)
            for sy in (up, -down)
        ]
        return np.min(corners, axis=0), np.max(corners, axis=0)

    def _profile(self, t: Array) -> tuple[Array, Array, Array]:
        table = PchipInterpolator(self.stations, np.stack((self.width, self.up, self.down), 1))
        fine = np.linspace(0.0, 1.0, 129)
        values = table(np.clip(fine, self.stations[0], self.stations[-1]))
        width, up, down = (np.interp(t, fine, values[:, i]).astype(t.dtype) for i in range(3))
        return width, up, down


@dataclass(frozen=True)
class Part:
    """One piece of a body: a shape, the bones it belongs to and what it is made of."""

    shape: Shape
    group: str
    """The chain of bones that moves it, such as `trunk` or `left_fore`."""
    material: str = "coat"
    blend: float = 0.0
    """How far it melts into what is already there, metres."""
    detail: float = 1.0
    """Length of the triangles here over that of the plain body."""
    action: Literal["add", "carve", "paint"] = "add"
    """Add flesh, take it away, or only colour what is within the shape."""
    bone: str | None = None
    """Bind to this bone alone, whatever the group's chain says."""


def smoothstep(t: Array) -> Array:
    """From 0 to 1 with no slope at either end, for t in 0..1."""
    return t * t * (3.0 - 2.0 * t)


def smooth_minimum(a: Array, b: Array, blend: float) -> Array:
    """The lesser of two distances, rounded where they differ by less than `blend`."""
    if blend <= 0.0:
        return np.minimum(a, b)
    close = np.maximum(blend - np.abs(a - b), 0.0) / blend
    return np.minimum(a, b) - close * close * (0.25 * blend)


def body_distance(
    parts: Sequence[Part], points: Array, *, floor: float | None = None, rounding: float = 0.0
) -> Array:
    """Signed distance of points [N, 3] to the blended body.

    With a `floor`, everything below that height is cut away, its edge rounded by `rounding`.
    """
    total = np.full(len(points), _FAR, points.dtype)
    for part in parts:
        if part.action == "paint":
            continue
        low, high = part.shape.bounds()
        margin = part.blend + 0.05 * float(np.max(high - low))
        near = ((points > low - margin) & (points < high + margin)).all(axis=1)
        if near.any():
            total[near] = _combine(total[near], part, part.shape.distance(points[near]))
    if floor is not None:
        total = -smooth_minimum(-total, points[:, 1] - floor, rounding)
    return total


def _combine(total: Array, part: Part, distance: Array) -> Array:
    match part.action:
        case "add":
            return smooth_minimum(total, distance, part.blend)
        case "carve":
            return -smooth_minimum(-total, distance, part.blend)
        case "paint":
            return total


def sample_grid(
    parts: Sequence[Part], axes: tuple[Array, Array, Array], *, floor: float, rounding: float
) -> Array:
    """Signed distance to the blended body on the grid of three coordinate axes, float32.

    Each part is evaluated only in its own box; farther away the value is merely large.
    """
    total = np.full([len(axis) for axis in axes], _FAR, np.float32)
    cell = max(float(axis[1] - axis[0]) for axis in axes)
    for part in parts:
        if part.action == "paint":
            continue
        margin = part.blend + 3.0 * cell
        pieces = part.shape.pieces() if isinstance(part.shape, Tube) else [part.shape]
        if len(pieces) == 1:
            box, distance = _sample_box(pieces[0], axes, margin)
        else:
            box = _box(part.shape, axes, margin)
            distance = np.full([where.stop - where.start for where in box], _FAR, np.float32)
            for piece in pieces:
                within, values = _sample_box(piece, axes, margin)
                inner = tuple(
                    slice(max(w.start - b.start, 0), max(w.stop - b.start, 0))
                    for w, b in zip(within, box, strict=True)
                )
                distance[inner] = np.minimum(distance[inner], values)
        total[box] = _combine(total[box], part, distance)
    heights = (axes[1] - floor).astype(np.float32)[None, :, None]
    return -smooth_minimum(-total, np.broadcast_to(heights, total.shape), rounding)


def _box(shape: Shape, axes: tuple[Array, Array, Array], margin: float) -> tuple[slice, ...]:
    """The part of the grid within `margin` of a shape's box."""
    low, high = shape.bounds()
    return tuple(
        slice(int(np.searchsorted(axis, lo - margin)), int(np.searchsorted(axis, hi + margin)))
        for axis, lo, hi in zip(axes, low, high, strict=True)
    )


def _sample_box(
    shape: Shape, axes: tuple[Array, Array, Array], margin: float
) -> tuple[tuple[slice, ...], Array]:
    """A shape's distance on the part of the grid near it."""
    box = _box(shape, axes, margin)
    inside = [axis[where] for axis, where in zip(axes, box, strict=True)]
    points = np.stack(np.meshgrid(*inside, indexing="ij"), axis=-1).astype(np.float32)
    return box, shape.distance(points.reshape(-1, 3)).reshape(points.shape[:3])
