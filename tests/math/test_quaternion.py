"""Quaternions against matrices, axioms of rotations, and finite gradients everywhere."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from akd.math import quaternion as q

finite = st.floats(-10, 10, allow_nan=False)
vectors = st.tuples(finite, finite, finite).map(lambda v: torch.tensor(v, dtype=torch.float64))
rotations = st.integers(0, 2**32 - 1).map(
    lambda seed: q.normalize(
        torch.randn(4, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    )
)


def scipy_matrix(quat: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(Rotation.from_quat(quat.numpy(), scalar_first=True).as_matrix())


@given(rotations)
def test_matrix_equals_scipy(a):
    torch.testing.assert_close(q.to_matrix(a), scipy_matrix(a), atol=1e-12, rtol=0)


@given(rotations)
def test_matrix_round_trip_up_to_sign(a):
    back = q.from_matrix(q.to_matrix(a))
    assert min((back - a).norm(), (back + a).norm()) < 1e-7


@given(rotations, rotations, vectors)
def test_product_applies_the_right_factor_first(a, b, v):
    torch.testing.assert_close(
        q.rotate(q.multiply(a, b), v), q.rotate(a, q.rotate(b, v)), atol=1e-9, rtol=0
    )


@given(rotations, vectors)
def test_conjugate_undoes(a, v):
    torch.testing.assert_close(q.rotate(q.conjugate(a), q.rotate(a, v)), v, atol=1e-9, rtol=0)


@given(rotations)
def test_rotation_vector_round_trip(a):
    back = q.from_rotation_vector(q.to_rotation_vector(a))
    assert q.geodesic(back, a) < 1e-6


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-5, 1.0, math.pi])
def test_rotation_vector_and_its_gradient_are_finite_at_any_size(size):
    v = torch.tensor([size, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    out = q.from_rotation_vector(v)
    expected = [math.cos(size / 2), math.sin(size / 2), 0.0, 0.0]
    torch.testing.assert_close(out, torch.tensor(expected, dtype=torch.float64), atol=1e-9, rtol=0)
    out.sum().backward()
    assert v.grad is not None
    assert v.grad.isfinite().all()


@given(rotations, rotations)
def test_slerp_moves_at_constant_speed(a, b):
    whole = q.geodesic(a, b)
    for t in (0.0, 0.25, 0.5, 1.0):
        middle = q.slerp(a, b, torch.tensor(t, dtype=torch.float64))
        assert abs(q.geodesic(a, middle) - t * whole) < 1e-5


def test_slerp_gradient_is_finite_between_equal_rotations():
    a = torch.tensor([1.0, 0.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    q.slerp(a, a.detach().clone(), torch.tensor(0.3, dtype=torch.float64)).sum().backward()
    assert a.grad is not None
    assert a.grad.isfinite().all()


@given(vectors, vectors)
def test_between_takes_one_direction_to_the_other(u, v):
    if u.norm() < 1e-3 or v.norm() < 1e-3:
        return
    u, v = u / u.norm(), v / v.norm()
    torch.testing.assert_close(q.rotate(q.between(u, v), u), v, atol=1e-5, rtol=0)


def test_between_opposite_directions_turns_half_way():
    u = torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64)
    torch.testing.assert_close(q.rotate(q.between(u, -u), u), -u)


def test_gradcheck_of_from_matrix_and_to_matrix():
    a = q.normalize(
        torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    )
    assert torch.autograd.gradcheck(
        lambda x: q.to_matrix(q.normalize(x)), a.clone().requires_grad_()
    )
    m = q.to_matrix(a).requires_grad_()
    assert torch.autograd.gradcheck(q.from_matrix, m)


def test_make_continuous_keeps_rotations_and_removes_flips():
    angle = torch.linspace(0, 4 * math.pi, 100, dtype=torch.float64)
    path = q.about_axis(torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64), angle)
    flipped = path * torch.where(torch.arange(100) % 3 == 0, -1.0, 1.0)[:, None]
    smooth = q.make_continuous(flipped)
    assert ((smooth[1:] * smooth[:-1]).sum(-1) > 0).all()
    assert q.geodesic(smooth, path).max() < 1e-6


def test_a_wrong_shape_raises():
    with pytest.raises(Exception, match="type"):
        q.multiply(torch.zeros(3), torch.zeros(4))
