"""Bases over time against scipy, and the properties that make them useful."""

import numpy as np
import pytest
import torch
from scipy.interpolate import BSpline, CubicHermiteSpline

from akd.math import spline


def test_open_basis_equals_scipy():
    count, t = 7, torch.linspace(0, 1, 50, dtype=torch.float64)
    knots = np.arange(-3, count + 1) / (count - 3)
    basis = spline.cubic_basis(t, count).numpy()
    for k in range(count):
        expected = BSpline(knots, np.eye(count)[k], 3)(t.numpy())
        np.testing.assert_allclose(basis[:, k], expected, atol=1e-12)


@pytest.mark.parametrize("periodic", [False, True])
def test_rows_sum_to_one(periodic):
    basis = spline.cubic_basis(torch.linspace(0, 1, 33), 6, periodic=periodic)
    torch.testing.assert_close(basis.sum(1), torch.ones(33))


def test_periodic_basis_closes_with_its_first_two_derivatives():
    h = 1e-4
    t = torch.tensor([-h, 0.0, h], dtype=torch.float64)
    near_end = spline.cubic_basis(1 + t, 6, periodic=True)
    near_start = spline.cubic_basis(t.remainder(1.0), 6, periodic=True)
    torch.testing.assert_close(near_end, near_start, atol=1e-12, rtol=0)


def test_hermite_equals_scipy():
    p = [torch.tensor([x], dtype=torch.float64) for x in (0.2, 1.5, -0.7, 0.4)]
    u = torch.linspace(0, 1, 11, dtype=torch.float64)[:, None]
    ours = spline.hermite(*p, u)[:, 0].numpy()
    curve = CubicHermiteSpline([0, 1], [0.2, -0.7], [1.5, 0.4])
    np.testing.assert_allclose(ours, curve(u[:, 0].numpy()), atol=1e-12)


def test_too_few_coefficients_is_an_error():
    with pytest.raises(ValueError, match="count must be at least 4 for a cubic spline, got 3"):
        spline.cubic_basis(torch.zeros(1), 3)
