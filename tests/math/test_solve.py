"""`solve_definite`: the solutions of `torch.linalg.solve`, without anything read back."""

import pytest
import torch

from akd.math.solve import solve_definite
from tests.host_reads import HostReads


def systems(
    count: int, rank: int, damping: float, dtype: torch.dtype = torch.float64
) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(count)
    half = torch.randn(7, count, rank, generator=draw, dtype=dtype)
    half[:, -1] = 0.0  # as of a target that does not count
    one = torch.eye(count, dtype=dtype)
    return half @ half.mT + damping * one, torch.randn(7, count, generator=draw, dtype=dtype)


@pytest.mark.parametrize(("count", "rank"), [(1, 3), (3, 9), (12, 30), (24, 20)])
def test_solutions_are_those_of_lapack(count: int, rank: int) -> None:
    a, y = systems(count, rank, 1e-3)
    torch.testing.assert_close(solve_definite(a, y), torch.linalg.solve(a, y), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_single_precision_is_as_good_as_lapacks_at_any_scale(size: float) -> None:
    a, y = systems(12, 30, 1e-3)
    expected = torch.linalg.solve(a, y)
    few = (size * a).float(), (size * y).float()

    def error(found: torch.Tensor) -> float:
        return float((found - expected).norm() / expected.norm())

    assert error(solve_definite(*few)) < 3.0 * error(torch.linalg.solve(*few))


def test_no_value_is_read() -> None:
    a, y = systems(6, 9, 1e-3)
    with HostReads() as seen:
        solve_definite(a, y)
    assert seen.operators > 6
    assert seen.found == []
    meta = solve_definite(a.to("meta"), y.to("meta"))
    assert meta.shape == y.shape
