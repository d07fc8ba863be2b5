"""Curves over time: what they span, and how they are scaled."""

import math

import pytest
import torch

from akd.math.spline import cubic_basis
from akd.motion.curves import bumps, harmonics_within, waves

FRAMES, FPS, COUNT = 16, 12.0, 7


def at_frames(count: int = COUNT, *, periodic: bool = False) -> torch.Tensor:
    seconds = torch.arange(FRAMES) / FPS
    return bumps(seconds, frames=FRAMES, fps=FPS, count=count, periodic=periodic)


@pytest.mark.parametrize("periodic", [False, True])
def test_bumps_are_orthogonal_and_of_one_size(periodic):
    basis = at_frames(periodic=periodic)
    expected = FRAMES / COUNT * torch.eye(COUNT)
    torch.testing.assert_close(basis.T @ basis, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("periodic", [False, True])
def test_bumps_span_the_cubic_splines_and_nothing_else(periodic):
    end = FRAMES / FPS if periodic else (FRAMES - 1) / FPS
    seconds = torch.linspace(0.0, end, 50, dtype=torch.float64)
    options = {"frames": FRAMES, "fps": FPS, "count": COUNT, "periodic": periodic}
    ours = bumps(seconds.float(), **options).double()
    splines = cubic_basis(seconds / end, COUNT, periodic=periodic)
    assert torch.linalg.matrix_rank(ours) == COUNT
    for a, b in ((ours, splines), (splines, ours)):
        left = a - b @ torch.linalg.lstsq(b, a).solution
        assert float(left.abs().max()) < 1e-5


def test_as_many_bumps_as_frames_are_the_frames_themselves():
    torch.testing.assert_close(at_frames(FRAMES), torch.eye(FRAMES))


def test_the_curve_of_one_frame_is_constant():
    basis = bumps(torch.tensor([0.0, 0.1]), frames=1, fps=FPS, count=4, periodic=False)
    assert torch.equal(basis, torch.ones(2, 1))


def test_bumps_hold_still_after_the_last_frame():
    later = torch.tensor([(FRAMES - 1) / FPS, 9.0])
    last, after = bumps(later, frames=FRAMES, fps=FPS, count=COUNT, periodic=False)
    torch.testing.assert_close(last, after)


def test_waves_come_again_after_a_period_and_are_scaled_like_bumps():
    period, count = torch.tensor(0.8), 3
    seconds = torch.arange(40) * 0.02  # one period, evenly
    basis = waves(seconds, period, count)
    torch.testing.assert_close(waves(seconds + 0.8, period, count), basis, atol=1e-4, rtol=0)
    assert float((waves(seconds + 0.4, period, count) - basis).abs().max()) > 0.5
    size = 1.0 / (2 * count + 1)
    expected = size * torch.eye(2 * count + 1)
    torch.testing.assert_close(basis.T @ basis / len(seconds), expected, atol=1e-5, rtol=0)


def test_waves_say_how_they_change_with_the_period():
    seconds = torch.linspace(0.0, 1.2, 9, dtype=torch.float64)
    period = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda p: waves(seconds, p, 2), (period,))
    weights = torch.arange(5, dtype=torch.float64)
    (waves(seconds, period, 2) @ weights).sum().backward()
    assert abs(float(period.grad)) > 0.1


@pytest.mark.parametrize(("period", "expected"), [(1.0, 3), (0.4, 2), (0.3, 1), (0.01, 1)])
def test_only_harmonics_that_the_frame_rate_shows_are_used(period, expected):
    """At 12 frames per second; each needs 2.2 frames, and one is always there."""
    assert harmonics_within(period, 12.0, 3) == expected
    assert expected == max(1, min(3, math.floor(period * 12.0 / 2.2)))
