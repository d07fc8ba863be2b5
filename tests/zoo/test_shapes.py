"""Signed distances and their blends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akd.zoo.mesh.shapes import (
    Cone,
    Ellipsoid,
    Loft,
    Part,
    Tube,
    body_distance,
    sample_grid,
    smooth_minimum,
)

coordinate = st.floats(-2.0, 2.0)
point = st.tuples(coordinate, coordinate, coordinate)


@given(point)
def test_round_cone_of_equal_radii_is_a_capsule(p):
    cone = Cone((0.0, -0.5, 0.0), (0.0, 0.5, 0.0), 0.3, 0.3)
    y = np.clip(p[1], -0.5, 0.5)
    exact = np.linalg.norm(np.asarray(p) - (0.0, y, 0.0)) - 0.3
    assert cone.distance(np.array([p]))[0] == pytest.approx(exact, abs=1e-9)


def test_round_cone_touches_both_its_balls():
    cone = Cone((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.4, 0.2)
    ends = np.array(((0.0, 0.0, -0.4), (0.0, 0.0, 1.2), (5.0, 0.0, 0.0)))
    np.testing.assert_allclose(cone.distance(ends)[:2], 0.0, atol=1e-12)
    # The flank leans by asin((0.4 - 0.2) / 1): its distance from the axis' start is exactly 0.4.
    lean = np.arcsin(0.2)
    flank = 0.4 * np.array((np.cos(lean), 0.0, np.sin(lean)))
    assert cone.distance(flank[None])[0] == pytest.approx(0.0, abs=1e-12)


@given(st.floats(0.0, np.pi), st.floats(0.0, 2 * np.pi))
def test_ellipsoid_vanishes_on_its_surface_only(polar, around):
    radii = np.array((0.5, 0.2, 0.8))
    direction = np.array(
        (np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar))
    )
    shape = Ellipsoid((0.1, 0.2, 0.3), tuple(radii))
    surface = np.array((0.1, 0.2, 0.3)) + radii * direction
    inside, on, outside = shape.distance(
        np.stack([(0.1, 0.2, 0.3) + f * (surface - (0.1, 0.2, 0.3)) for f in (0.5, 1.0, 1.5)])
    )
    assert inside < 0.0 < outside
    assert on == pytest.approx(0.0, abs=1e-9)


def test_loft_follows_its_outlines():
    loft = Loft(
        (0.0, 1.0, 0.0), (0.0, 1.0, 2.0), (0.0, 0.5, 1.0),
        (0.2, 0.3, 0.1), (0.4, 0.5, 0.2), (0.1, 0.6, 0.1),
    )  # fmt: skip
    outline = np.array(
        ((0.0, 1.5, 1.0), (0.0, 0.4, 1.0), (0.3, 0.95, 1.0), (0.0, 1.4, 0.0), (0.0, 0.9, 2.0))
    )
    np.testing.assert_allclose(loft.distance(outline), 0.0, atol=1e-6)
    assert loft.distance(np.array(((0.0, 1.0, 1.0),)))[0] < 0.0


def test_tube_passes_through_its_points_with_its_radii():
    tube = Tube(((0, 0, 0), (0, 0, 1), (0, 1, 1)), (0.1, 0.3, 0.2))
    beside = np.array(((0.1, 0.0, 0.0), (0.3, 0.0, 1.0), (0.2, 1.0, 1.0)), float)
    np.testing.assert_allclose(tube.distance(beside), 0.0, atol=0.01)
    low, high = tube.bounds()
    assert (low <= (-0.3, -0.3, -0.1)).all()
    assert (high >= (0.3, 1.2, 1.3)).all()


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.01, 1.0))
def test_smooth_minimum_is_the_minimum_away_from_the_seam(a, b, blend):
    value = float(smooth_minimum(np.array([a]), np.array([b]), blend)[0])
    least = min(a, b)
    assert least - 0.25 * blend - 1e-12 <= value <= least + 1e-12
    if abs(a - b) >= blend:
        assert value == pytest.approx(least, abs=1e-12)


def test_grid_and_points_agree_near_the_surface():
    parts = [
        Part(Ellipsoid((0.0, 0.3, 0.0), (0.2, 0.2, 0.4)), "trunk"),
        Part(Tube(((0, 0.3, 0.2), (0, 0.05, 0.3)), (0.08, 0.05)), "leg", blend=0.05),
        Part(Ellipsoid((0.0, 0.5, 0.0), (0.1, 0.1, 0.1)), "trunk", action="carve", blend=0.02),
    ]
    axes = tuple(np.linspace(lo, hi, 41) for lo, hi in ((0, 0.3), (-0.1, 0.7), (-0.5, 0.5)))
    grid = sample_grid(parts, axes, floor=0.0, rounding=0.01)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    direct = body_distance(parts, points, floor=0.0, rounding=0.01).reshape(grid.shape)
    near = np.abs(direct) < 0.02
    assert near.sum() > 100
    np.testing.assert_allclose(grid[near], direct[near], atol=1e-5)
    clear = np.abs(direct) > 1e-5
    assert (np.sign(grid) == np.sign(direct))[clear].all()
