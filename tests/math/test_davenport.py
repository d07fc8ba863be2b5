"""Three angles about three axes: both ways, where they lock, and continuity over time."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from akd.math import davenport, quaternion

HALF = math.sqrt(0.5)
PERPENDICULAR = torch.tensor([[1.0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]], dtype=torch.float64)
TILTED = torch.tensor([[1.0, 0, 0], [0, 0, 1.0], [HALF, HALF, 0]], dtype=torch.float64)
MIRRORED = torch.tensor([[1.0, 0, 0], [0, 0, -1.0], [HALF, -HALF, 0]], dtype=torch.float64)
chains = pytest.mark.parametrize("axes", [PERPENDICULAR, TILTED, MIRRORED])
seeds = st.integers(0, 2**32 - 1)


@chains
@given(seed=seeds)
def test_angles_of_any_rotation_give_it_back(axes, seed):
    g = torch.Generator().manual_seed(seed)
    rotation = quaternion.normalize(torch.randn(4, generator=g, dtype=torch.float64))
    angles = davenport.from_quaternion(axes, rotation)
    assert quaternion.geodesic(davenport.to_quaternion(axes, angles), rotation) < 1e-6


@chains
def test_no_rotation_is_zero(axes):
    angles = davenport.from_quaternion(axes, quaternion.identity(like=axes))
    torch.testing.assert_close(angles, torch.zeros(3, dtype=torch.float64))


@chains
def test_the_gimbal_itself_still_gives_the_rotation(axes):
    u1, _, u3 = axes
    middle = math.acos(float(u1 @ u3))  # brings u3 on to u1, or away from it
    for sign in (1.0, -1.0):
        wanted = torch.tensor([0.4, sign * middle, -0.7], dtype=torch.float64)
        rotation = davenport.to_quaternion(axes, wanted)
        back = davenport.to_quaternion(axes, davenport.from_quaternion(axes, rotation))
        assert quaternion.geodesic(back, rotation) < 1e-6


def test_tilting_the_third_axis_moves_the_gimbal_to_135_degrees():
    """A hanging arm raised sideways by 90 degrees locks perpendicular axes and not tilted ones."""

    def wobble(axes: torch.Tensor, degrees: float) -> float:
        raised = torch.tensor([0.0, math.radians(degrees), 0.0], dtype=torch.float64)
        rotation = davenport.to_quaternion(axes, raised)
        nudge = quaternion.from_rotation_vector(torch.full((3,), 1e-3, dtype=torch.float64))
        angles = davenport.from_quaternion(axes, quaternion.multiply(nudge, rotation))
        return float((angles - raised).abs().max())

    assert wobble(PERPENDICULAR, 90.0) > 0.1
    assert wobble(TILTED, 90.0) < 0.01
    assert wobble(TILTED, 135.0) > 0.1


@chains
def test_unwrap_follows_a_path_of_several_turns(axes):
    t = torch.linspace(0, 1, 300, dtype=torch.float64)[:, None]
    path = torch.cat((9.0 * t, 0.4 * torch.sin(20 * t), -7.0 * t), dim=1)
    wrapped = davenport.from_quaternion(axes, davenport.to_quaternion(axes, path))
    assert (wrapped[1:] - wrapped[:-1]).abs().max() > 3.0
    torch.testing.assert_close(davenport.unwrap(axes, wrapped), path, atol=1e-6, rtol=0)


def test_unwrap_passes_over_the_gimbal_without_a_jump():
    t = torch.linspace(-1, 1, 401, dtype=torch.float64)[:, None]
    path = torch.cat((0.2 + 0 * t, math.pi / 2 + t, 0.3 + 0 * t), dim=1)
    rotation = davenport.to_quaternion(PERPENDICULAR, path)
    smooth = davenport.unwrap(PERPENDICULAR, davenport.from_quaternion(PERPENDICULAR, rotation))
    assert (smooth[1:] - smooth[:-1]).abs().max() < 0.02
    again = davenport.to_quaternion(PERPENDICULAR, smooth)
    assert quaternion.geodesic(again, rotation).max() < 1e-6


def test_gradcheck():
    angles = torch.tensor([0.3, -0.4, 0.9], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a: davenport.to_quaternion(TILTED, a), angles)
