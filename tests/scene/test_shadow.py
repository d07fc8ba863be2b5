"""The shadow follows s(P) = 1 - s_max exp(-beta d(P))."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from akd.scene.settings import ShadowSettings
from akd.scene.shadow import cast_shadow

SETTINGS = ShadowSettings(strength=0.5, decay=2.0, cells=64, blur=1.0)


def plate(height: float, count: int = 4000) -> torch.Tensor:
    """Centres of a flat square, one metre wide, above the origin."""
    g = torch.Generator().manual_seed(0)
    flat = torch.rand(count, 2, generator=g) - 0.5
    return torch.stack((flat[:, 0], torch.full((count,), height), flat[:, 1]), dim=-1)[None]


def shade_at(x: float, z: float, centres: torch.Tensor, settings=SETTINGS) -> torch.Tensor:
    return cast_shadow(torch.tensor([x, z]).view(1, 1, 1, 2), centres, settings, body_height=1.0)


def test_under_a_plate_the_formula_holds() -> None:
    for height in (0.0, 0.3, 1.0):
        expected = 1.0 - 0.5 * math.exp(-2.0 * height)
        assert abs(float(shade_at(0.1, -0.2, plate(height))) - expected) < 0.02


def test_beside_the_asset_there_is_no_shadow() -> None:
    assert float(shade_at(0.8, 0.0, plate(0.0))) == 1.0
    assert float(shade_at(1e6, -1e6, plate(0.0))) == 1.0


def test_the_lowest_part_above_a_point_decides() -> None:
    both = torch.cat((plate(0.1), plate(1.5)), dim=1)
    expected = 1.0 - 0.5 * math.exp(-0.2)
    assert abs(float(shade_at(0.0, 0.0, both)) - expected) < 0.03


def test_distances_are_in_body_heights() -> None:
    twice = cast_shadow(torch.zeros(1, 1, 1, 2), 2.0 * plate(0.4), SETTINGS, body_height=2.0)
    torch.testing.assert_close(twice, shade_at(0.0, 0.0, plate(0.4)))


def test_gradients_flow_only_where_the_setting_says() -> None:
    centres = plate(0.3, 400).requires_grad_()
    assert not shade_at(0.49, 0.0, centres).requires_grad
    soft = replace(SETTINGS, differentiable=True)
    shade = shade_at(0.49, 0.0, centres, soft)
    (gradient,) = torch.autograd.grad(shade.sum(), centres)
    # Raising the plate brightens the ground; sliding it away brightens it too.
    assert float(gradient[..., 1].sum()) > 0.0
    assert float(gradient[..., 0].sum()) < 0.0
    assert torch.isfinite(gradient).all()


def test_the_gradient_in_height_is_that_of_the_formula() -> None:
    soft = replace(SETTINGS, differentiable=True)
    lift = torch.tensor(0.0, requires_grad=True)
    centres = plate(0.4) + lift * torch.tensor([0.0, 1.0, 0.0])
    (slope,) = torch.autograd.grad(shade_at(0.0, 0.0, centres, soft).sum(), lift)
    # d/dh (1 - s exp(-b h)) = s b exp(-b h)
    assert abs(float(slope) - 0.5 * 2.0 * math.exp(-0.8)) < 0.03
