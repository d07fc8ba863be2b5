"""Feet that roll."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akd.zoo.mesh.sole import Outline

corners = st.lists(st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0)), min_size=3, max_size=12)


def turned(points, pitch):
    """Points (z, y) after a pitch with the heel up."""
    z, y = points.T
    return np.stack(
        (y * np.sin(pitch) + z * np.cos(pitch), y * np.cos(pitch) - z * np.sin(pitch)), 1
    )


@given(corners, st.floats(-1.2, 1.2))
def test_the_lowest_corner_is_on_the_ground(points, pitch):
    points = np.asarray(points)
    if np.ptp(points[:, 0]) < 0.1:
        return
    forward, height = Outline.around(points).joint(np.array([pitch]))
    placed = turned(points, pitch) + np.array((forward[0], height[0]))
    assert placed[:, 1].min() == pytest.approx(0.0, abs=1e-6)


@given(corners)
def test_rolling_does_not_slide(points):
    points = np.asarray(points)
    if np.ptp(points[:, 0]) < 0.1:
        return
    pitch = np.linspace(-1.2, 1.2, 4001)
    forward, height = Outline.around(points).joint(pitch)
    step = pitch[1] - pitch[0]
    for i in range(0, 4000, 37):
        here = turned(points, pitch[i]) + np.array((forward[i], height[i]))
        there = turned(points, pitch[i + 1]) + np.array((forward[i + 1], height[i + 1]))
        low = np.argmin(here[:, 1] + there[:, 1])
        # The touching corner moves by the square of the angle at most: rolling, not sliding.
        assert abs(there[low, 0] - here[low, 0]) < 6.0 * step**2 + 1e-9


def test_a_wheel_rolls_by_its_circumference():
    angle = np.linspace(-np.pi, 0.0, 721)
    wheel = 0.3 * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    forward, height = Outline.around(wheel).joint(np.array((0.0, 1.0)))
    assert forward[1] - forward[0] == pytest.approx(0.3, rel=1e-3)
    np.testing.assert_allclose(height, 0.3, rtol=1e-3)


def test_flat_is_where_it_stands():
    shoe = np.array(((-0.1, -0.05), (0.2, -0.05), (0.2, 0.0), (-0.1, 0.0)))
    forward, height = Outline.around(shoe).joint(np.zeros(1))
    assert forward[0] == pytest.approx(0.0, abs=1e-12)
    assert height[0] == pytest.approx(0.05)
