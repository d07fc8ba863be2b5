"""Foot skate, on soles whose motion is known."""

from __future__ import annotations

import pytest
import torch

from akd.metrics.skate import skate_speed


def sole(height: torch.Tensor, speed: float, fps: float = 30.0) -> torch.Tensor:
    """One point that moves along x at a speed (m/s), at the heights given (m)."""
    x = speed * torch.arange(len(height)) / fps
    return torch.stack((x, height, torch.zeros_like(x)), -1)[:, None]


def test_a_sliding_sole_skates_at_its_speed() -> None:
    sliding = sole(torch.zeros(10), 0.7)
    assert skate_speed(sliding, fps=30.0, touch=0.02) == pytest.approx(0.7, rel=1e-5)
    sunk = sole(torch.full((10,), -0.5), 0.7)
    assert skate_speed(sunk, fps=30.0, touch=0.02) == pytest.approx(0.7, rel=1e-5)


def test_what_is_high_or_still_does_not_skate() -> None:
    assert skate_speed(sole(torch.full((10,), 0.02), 3.0), fps=30.0, touch=0.02) == 0.0
    assert skate_speed(sole(torch.zeros(10), 0.0), fps=30.0, touch=0.02) == 0.0
    assert skate_speed(sole(torch.zeros(1), 0.0), fps=30.0, touch=0.02) == 0.0


def test_a_point_counts_by_its_nearness() -> None:
    # One sole stands on the ground, one is dragged at 1 m/s half way up: weights 1 and 1/2.
    both = torch.cat((sole(torch.zeros(8), 0.0), sole(torch.full((8,), 0.01), 1.0)), dim=1)
    assert skate_speed(both, fps=30.0, touch=0.02) == pytest.approx(0.5 / 1.5, rel=1e-5)


def test_lifting_counts_for_nothing_however_fast() -> None:
    lifted = torch.tensor((0.0, 0.0, 0.1, 0.2))
    points = sole(lifted, 0.0)
    points[2:, :, 0] = 5.0
    assert skate_speed(points, fps=30.0, touch=0.02) == 0.0


def test_touch_must_be_a_height() -> None:
    with pytest.raises(ValueError, match=r"touch must be above zero, got 0\.0"):
        skate_speed(sole(torch.zeros(3), 1.0), fps=30.0, touch=0.0)
