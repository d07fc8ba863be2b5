"""Colour without brightness, and where each hue is."""

import torch

from akd.fit.hues import hue_maps
from akd.fit.photometric import chroma, photometric_loss, pyramid
from akd.scene.roles import LIMBS

RED, BLUE = LIMBS["left", "fore"], LIMBS["right", "fore"]


def squares() -> torch.Tensor:
    """Red on the left, blue on the right, on grey of every brightness."""
    video = torch.linspace(0.0, 1.0, 32)[None, :, None, None].expand(1, 32, 32, 3).clone()
    video[0, 8:16, 4:12] = torch.tensor(RED)
    video[0, 8:16, 20:28] = torch.tensor(BLUE)
    return video


def test_chroma_ignores_grey_and_brightness():
    grey = torch.linspace(0.0, 1.0, 16).reshape(1, 4, 4, 1).expand(1, 4, 4, 3)
    assert float(chroma(grey).abs().max()) < 1e-6
    coloured = torch.rand(1, 4, 4, 3, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(chroma(coloured + 0.2), chroma(coloured), atol=1e-6, rtol=0)
    assert float(chroma(torch.tensor(RED).expand(1, 1, 1, 3)).norm()) > 0.5


def test_chroma_tells_all_limbs_of_a_quadruped_apart():
    four = [LIMBS[s, limb] for limb in ("fore", "hind") for s in ("left", "right")]
    hues = chroma(torch.tensor(four)[None, None])[0, 0]
    alike = torch.nn.functional.cosine_similarity(hues[:, None], hues[None], dim=-1)
    assert float((alike - torch.eye(4)).max()) < 0.9


def test_each_hue_is_found_where_it_is_and_nowhere_else():
    maps = hue_maps(squares(), torch.tensor([RED, BLUE]))[0]
    assert maps.shape[0] == 2
    columns = maps.sum(1)
    middle = maps.shape[2] // 2
    left, right = columns[:, :middle].sum(1), columns[:, middle:].sum(1)
    assert float(left[0]) > 0.5
    assert float(right[1]) > 0.5
    assert float(right[0]) < 0.02 * float(left[0])
    assert float(left[1]) < 0.02 * float(right[1])


def test_a_darker_shade_of_a_hue_is_still_that_hue():
    dark = 0.6 * squares()
    maps = hue_maps(dark, torch.tensor([RED, BLUE]))[0].sum((1, 2))
    bright = hue_maps(squares(), torch.tensor([RED, BLUE]))[0].sum((1, 2))
    assert bool((maps > 0.4 * bright).all())


def test_grey_has_no_hue():
    grey = torch.linspace(0.0, 1.0, 64).reshape(1, 8, 8, 1).expand(1, 8, 8, 3)
    assert float(hue_maps(grey, torch.tensor([RED, BLUE])).max()) == 0.0


def test_the_loss_of_a_video_against_itself_is_zero_and_grows_as_it_moves_away():
    here = squares()
    target = pyramid(chroma(here))
    losses = [
        float(photometric_loss(chroma(torch.roll(here, shift, dims=2)), target))
        for shift in (0, 1, 3, 8)
    ]
    assert losses[0] == 0.0
    assert losses == sorted(losses)
    assert losses[1] > 0.0
