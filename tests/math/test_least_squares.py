"""Least squares: the shortest solution, and the same one whatever memory held before."""

import pytest
import torch

from akd.math.least_squares import least_squares


def _fill_free_memory(value: int) -> None:
    """Small blocks that the next allocations will be given hold `value`."""
    blocks = [torch.full((count,), value, dtype=torch.int32) for count in (1, 2, 3, 4, 6, 8) * 50]
    del blocks


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_memory_held_before_changes_nothing(dtype):
    draw = torch.Generator().manual_seed(0)
    matrix = torch.randn(3, 3, 3, generator=draw, dtype=dtype)
    values = torch.randn(3, 3, 1, generator=draw, dtype=dtype)
    found = set()
    for value in (0, 1, -1, 7, 0):
        _fill_free_memory(value)
        found.add(least_squares(matrix, values).numpy().tobytes())
    assert len(found) == 1


def test_solution_of_full_rank_and_shortest_one_without():
    matrix = torch.tensor(((1.0, 0.0), (0.0, 2.0), (0.0, 0.0)), dtype=torch.float64)
    values = torch.tensor(((3.0,), (4.0,), (5.0,)), dtype=torch.float64)
    torch.testing.assert_close(least_squares(matrix, values).T, values.new_tensor([[3.0, 2.0]]))
    alike = torch.ones(3, 2, dtype=torch.float64)  # x + y = 4 on average
    torch.testing.assert_close(least_squares(alike, values).T, values.new_tensor([[2.0, 2.0]]))
