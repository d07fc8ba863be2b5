"""Lists of a fixed room: the images and gradients of lists as long as they must be."""

import pytest
import torch

from akd.splat.list_room import ListRoom
from tests.splat.splat_clouds import LEAVES, Outcome, as_single, differentiate, random_call
from tests.splat.splat_clouds import rasterize as rasterize_with


def rasterize(**call: object) -> tuple[torch.Tensor, torch.Tensor]:
    return rasterize_with(tiles=True, **call)


@pytest.fixture(scope="module")
def call() -> dict:
    return as_single(random_call(60, frames=2, width=20, height=17))


@pytest.fixture(scope="module")
def waited(call: dict) -> tuple[Outcome, ListRoom]:
    room = ListRoom()
    with room.measuring():
        return differentiate(rasterize, call), room


@pytest.mark.slow
def test_fixed_lists_change_no_bit(call: dict, waited: tuple[Outcome, ListRoom]) -> None:
    expected, room = waited
    with room.fixed():
        found = differentiate(rasterize, call)
    assert not room.overflow()
    assert torch.equal(found.image, expected.image)
    assert torch.equal(found.transmittance, expected.transmittance)
    for name in LEAVES:
        assert torch.equal(found.gradients[name], expected.gradients[name]), name


def test_a_list_that_outgrows_its_room_is_cut_and_told(call: dict) -> None:
    room = ListRoom()
    away = call | {"means": call["means"] + torch.tensor((50.0, 0.0, 0.0))}
    with room.measuring(), torch.no_grad():
        rasterize(**away)
    with room.fixed(), torch.no_grad():
        image, _ = rasterize(**call)
    assert room.overflow()
    assert torch.isfinite(image).all()


def test_a_call_that_was_not_measured_is_refused(call: dict) -> None:
    with (
        ListRoom().fixed(),
        pytest.raises(RuntimeError, match=r"shape \(2, 60, 20, 17\) was measured"),
    ):
        rasterize(**call)
