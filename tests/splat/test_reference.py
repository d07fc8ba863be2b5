"""The reference rasterizer against closed forms and finite differences."""

from __future__ import annotations

import math

import pytest
import torch

from tests.splat.splat_clouds import LEAVES, random_call, reference


@pytest.mark.slow
def test_gradients_are_those_of_finite_differences() -> None:
    call = random_call(6, frames=1, width=7, height=6, scale=(0.2, 0.5))
    call["opacities"] = call["opacities"] * 0.8

    def run(*leaves: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return reference(**(call | dict(zip(LEAVES, leaves, strict=True))))

    leaves = [call[n].clone().requires_grad_() for n in LEAVES]
    # Smooth everywhere but at alpha = 1/255, where a step of 1e-7 seldom lands.
    assert torch.autograd.gradcheck(run, leaves, eps=1e-7, atol=1e-5)


def test_one_round_gaussian_is_the_formula() -> None:
    # sigma = 0.1 m at 2 m with a focal length of 40 px is 2 px; the low-pass makes it sqrt(4.3) px.
    call = random_call(1, frames=1, bones=1, influences=1, width=21, height=21)
    call["camera_from_mesh"] = torch.eye(4, dtype=torch.float64)[None, None, :3]
    call["means"] = torch.tensor([[0.0, 0.0, 2.0]], dtype=torch.float64)
    call["factors"] = 0.1 * torch.eye(3, dtype=torch.float64)[None]
    call["opacities"] = torch.tensor([0.8], dtype=torch.float64)
    call["intrinsics"] = torch.tensor([[40.0, 40.0, 10.5, 10.5]], dtype=torch.float64)
    call["colours"] = torch.ones(1, 1, 3, dtype=torch.float64)
    image, transmittance = reference(**call)
    for dx, dy in ((0, 0), (1, 0), (2, 3), (4, 4)):
        alpha = 0.8 * math.exp(-0.5 * (dx * dx + dy * dy) / 4.3)
        assert math.isclose(float(image[0, 10 + dy, 10 + dx, 0]), alpha, rel_tol=1e-9)
        assert math.isclose(float(transmittance[0, 10 + dy, 10 + dx]), 1.0 - alpha, rel_tol=1e-9)
    # Beyond sqrt(2 ln(0.8 * 255)) = 3.26 standard deviations = 6.76 px nothing is drawn.
    assert float(image[0, 10, 17, 0]) == 0.0
    assert float(image[0, 10, 16, 0]) > 0.0
