"""Masks found before a plain background are as large as the character, whatever blurs its edges."""

import pytest
import torch
import torch.nn.functional as nn

from akd.fit.masks import find_masks
from akd.fit.matte import unmixed

SIDE, FRAMES, FINE = 96, 8, 4
WALL = torch.tensor((0.78, 0.84, 0.9))
FUR, SOCKS = torch.tensor((0.5, 0.25, 0.1)), torch.tensor((0.1, 0.1, 0.12))


def body(frame: int) -> torch.Tensor:
    """Coverage of a trunk and two thin legs, sampled four times along each side of a pixel."""
    y, x = torch.meshgrid(*(torch.arange(FINE * SIDE) / FINE,) * 2, indexing="ij")
    middle = 30.2 + 2.7 * frame
    trunk = ((x - middle) / 20.0).square() + ((y - 40.0) / 11.0).square() < 1.0
    legs = (((x - middle).abs() - 12.0).abs() < 2.6) & (y > 40.0) & (y < 80.0)
    return nn.avg_pool2d((trunk | legs).float()[None, None], FINE)[0, 0]


@pytest.fixture(scope="module")
def filmed() -> tuple[torch.Tensor, torch.Tensor]:
    """Frames, and how much of each pixel is covered."""
    true = torch.stack([body(frame) for frame in range(FRAMES)])
    colours = torch.where(torch.arange(SIDE)[:, None, None] > 64, SOCKS, FUR)
    share = true[..., None]
    return share * colours + (1.0 - share) * WALL, true


def blurred(frames: torch.Tensor) -> torch.Tensor:
    """Means over 3 x 3 pixels."""
    images = nn.avg_pool2d(frames.movedim(-1, 1), 3, 1, 1, count_include_pad=False)
    return images.movedim(1, -1)


def noisy(frames: torch.Tensor) -> torch.Tensor:
    draw = torch.Generator().manual_seed(0)
    return (frames + 0.06 * torch.randn(frames.shape, generator=draw)).clamp(0.0, 1.0)


@pytest.mark.parametrize(("spoilt", "most"), [(torch.clone, 0.02), (blurred, 0.06), (noisy, 0.02)])
def test_masks_before_a_plain_background_are_as_large_as_the_character(filmed, spoilt, most):
    frames, true = filmed
    found = find_masks(spoilt(frames))
    assert found.source == "plain background"
    assert float(found.masks.sum() / true.sum()) == pytest.approx(1.0, abs=most)
    own, wanted = found.masks > 0.5, true > 0.5
    assert float((own & wanted).sum() / (own | wanted).sum()) > 0.9


def test_edges_of_masks_are_the_share_of_each_pixel_that_is_covered(filmed):
    frames, true = filmed
    found = find_masks(frames).masks
    assert float((found - true).abs().max()) < 0.25
    assert float(found[true == 0.0].max()) < 0.01


def test_light_parts_beside_dark_ones_are_kept_and_shadows_are_not(filmed):
    frames, true = filmed
    light = torch.tensor((0.93, 0.92, 0.88))
    white = (torch.arange(SIDE) > 44)[:, None, None] & (torch.arange(SIDE) < 56)[:, None, None]
    share = true[..., None]
    spotted = torch.where(white, share * light + (1.0 - share) * WALL, frames)
    found = find_masks(spotted).masks > 0.5
    wanted = true > 0.5
    assert float((found & wanted).sum() / wanted.sum()) > 0.95
    y, x = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    shadow = (((x - 40.0) / 25.0).square() + ((y - 82.0) / 4.0).square() < 1.0).float()
    shaded = frames * (1.0 - 0.12 * shadow * (1.0 - true))[..., None]
    own = find_masks(shaded).masks > 0.5
    assert float((own & wanted).sum() / (own | wanted).sum()) > 0.95


def test_mixed_colours_are_unmixed_before_another_background_in_every_pixel(filmed):
    _, true = filmed
    wall = torch.rand(SIDE, SIDE, 3, generator=torch.Generator().manual_seed(1))[None]
    wall = 0.6 + 0.4 * blurred(wall)
    frames = true[..., None] * FUR + (1.0 - true[..., None]) * wall
    found = unmixed(frames, wall, true > 0.0, 2)
    torch.testing.assert_close(found, true, atol=0.05, rtol=0.0)
    nothing = unmixed(frames, wall, torch.zeros_like(true, dtype=torch.bool), 2)
    assert float(nothing.abs().max()) == 0.0


def test_what_is_coloured_like_the_background_keeps_its_rough_mask():
    wall = WALL.expand(1, 20, 20, 3)
    rough = torch.zeros(1, 20, 20, dtype=torch.bool)
    rough[:, 5:15, 5:15] = True
    assert torch.equal(unmixed(wall, wall, rough, 2), rough.float())
