"""The length of a cycle, seen in a video whose cycle is known."""

import math

import pytest
import torch

from akd.fit.period import find_period


def going_round(frames: int, lasts: float, *, ground: bool = False) -> torch.Tensor:
    """A red dot on grey that goes round in `lasts` frames; grey squares come by on the ground."""
    size = 32
    y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    video = torch.full((frames, size, size, 3), 0.6)
    for t in range(frames):
        if ground:
            squares = ((x + 2 * t) // 4 + y // 4) % 2
            video[t] += 0.3 * squares[..., None]
        angle = 2 * math.pi * t / lasts
        away = (x - 16 - 8 * math.cos(angle)) ** 2 + (y - 16 - 8 * math.sin(angle)) ** 2
        spot = torch.exp(-away / 18.0)[..., None]
        video[t] = (1 - spot) * video[t] + spot * torch.tensor([0.9, 0.1, 0.1])
    return video


@pytest.mark.parametrize("lasts", [5.0, 6.3, 8.5])
@pytest.mark.parametrize("ground", [False, True])
def test_the_period_of_a_dot_that_goes_round_is_found(lasts, ground):
    """Whatever was expected, and with squares of the ground that have a rate of their own."""
    video = going_round(16, lasts, ground=ground)
    for expected in (0.8 * lasts, 1.2 * lasts):
        found = find_period(video, 12.0, near=expected / 12.0)
        assert found * 12.0 == pytest.approx(lasts, rel=0.04)


def test_two_cycles_are_not_taken_for_one():
    # Twice the true length explains all that the length itself does.
    found = find_period(going_round(16, 4.2), 12.0, near=5.9 / 12.0)
    assert found * 12.0 == pytest.approx(4.2, rel=0.04)


def test_periods_far_from_the_expected_one_are_not_looked_for():
    found = find_period(going_round(16, 5.0), 12.0, near=12.0 / 12.0)
    assert 0.7 <= found <= 1.45
    short = find_period(going_round(16, 2.5), 12.0, near=4.0 / 12.0)
    assert short * 12.0 >= 3.2
