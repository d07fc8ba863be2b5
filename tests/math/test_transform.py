"""Affine transforms: composition, decomposition, inverse."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from akd.math import quaternion, transform


def random_trs(seed: int, *, mirrored: bool = False):
    g = torch.Generator().manual_seed(seed)
    t = torch.randn(3, generator=g, dtype=torch.float64)
    r = quaternion.normalize(torch.randn(4, generator=g, dtype=torch.float64))
    s = 0.1 + 3 * torch.rand(3, generator=g, dtype=torch.float64)
    if mirrored:
        s[0] = -s[0]
    return t, r, s


seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.booleans())
def test_decompose_undoes_compose(seed, mirrored):
    t, r, s = random_trs(seed, mirrored=mirrored)
    matrix = transform.compose(t, r, s)
    t2, r2, s2 = transform.decompose(matrix)
    torch.testing.assert_close(t2, t)
    torch.testing.assert_close(s2, s, atol=1e-9, rtol=0)
    assert quaternion.geodesic(r, r2) < 1e-6


@given(seeds)
def test_compose_is_scale_then_rotation_then_translation(seed):
    t, r, s = random_trs(seed)
    x = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64)
    expected = quaternion.rotate(r, s * x) + t
    torch.testing.assert_close(transform.apply(transform.compose(t, r, s), x), expected)


@given(seeds)
def test_inverse(seed):
    matrix = transform.compose(*random_trs(seed))
    eye = torch.eye(4, dtype=torch.float64)
    torch.testing.assert_close(transform.inverse(matrix) @ matrix, eye, atol=1e-9, rtol=0)


def test_pseudo_inverse_of_a_singular_matrix_undoes_what_can_be_undone():
    turn = quaternion.normalize(torch.tensor([1.0, 2.0, -1.0, 0.5], dtype=torch.float64))
    scale = torch.tensor([[2.0, 0.0, 3.0], [2.0, 1.0, 3.0]], dtype=torch.float64)
    matrices = transform.compose(torch.tensor([1.0, 2.0, 3.0]).double(), turn, scale)
    back = transform.pseudo_inverse(matrices)
    torch.testing.assert_close(back[1], transform.inverse(matrices[1]))
    points = torch.rand(5, 1, 3, dtype=torch.float64)
    there_and_back = transform.apply(back, transform.apply(matrices, points))
    kept = torch.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
    torch.testing.assert_close(there_and_back, points * kept)


def test_a_flattened_axis_still_gives_a_rotation():
    t, r, s = random_trs(1)
    for axis in range(3):
        flat = s.clone()
        flat[axis] = 0.0
        matrix = transform.compose(t, r, flat)
        again = transform.compose(*transform.decompose(matrix))
        torch.testing.assert_close(again, matrix, atol=1e-9, rtol=0)


def test_nothing_at_all_gives_the_identity_rotation_and_no_nan():
    _, rotation, scale = transform.decompose(torch.diag(torch.tensor([0.0, 0.0, 0.0, 1.0])))
    assert rotation.isfinite().all()
    assert abs(float(rotation.norm()) - 1.0) < 1e-6
    assert (scale == 0).all()


def test_about_point_keeps_the_point():
    t, r, _ = random_trs(4)
    matrix = transform.about_point(r, t)
    torch.testing.assert_close(transform.apply(matrix, t), t)
