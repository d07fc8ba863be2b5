"""The speed that feet on the spot imply."""

import pytest
import torch

from akd.motion.root_motion import implied_velocity

FPS = 24.0


def treadmill(speed: float, *, lift: float = 0.15, frames: int = 48) -> torch.Tensor:
    """Two soles on a belt that runs towards -z at `speed`; each stands half of a 0.5 s cycle."""
    phase = (torch.arange(frames)[:, None] / FPS / 0.5 + torch.tensor([0.0, 0.5])) % 1.0
    stands = phase < 0.5
    stride = 0.25 * speed  # how far the belt carries a foot in a stance
    z = torch.where(stands, 0.5 - 2.0 * phase, -0.5 + 2.0 * (phase - 0.5)) * stride
    y = torch.where(stands, 0.0, lift * torch.sin(2.0 * torch.pi * (phase - 0.5)))
    return torch.stack((torch.full_like(z, 0.1), y, z), dim=-1)


@pytest.mark.parametrize("speed", [0.5, 1.3])
def test_on_a_treadmill_the_body_goes_against_the_belt(speed):
    found = implied_velocity(treadmill(speed), fps=FPS, height=0.6)
    assert found is not None
    torch.testing.assert_close(found, torch.tensor([0.0, 0.0, speed]), atol=0.02, rtol=0.02)


def test_a_floor_at_another_height_makes_no_difference():
    raised = treadmill(1.0) + torch.tensor([0.0, 3.0, 0.0])
    found = implied_velocity(raised, fps=FPS, height=0.6)
    assert found is not None
    assert float(found[2]) == pytest.approx(1.0, rel=0.02)
    assert float(found[1]) == 0.0


def test_feet_that_stand_still_or_never_touch_imply_nothing():
    assert implied_velocity(treadmill(0.0), fps=FPS, height=0.6) is None
    airborne = treadmill(1.0)
    airborne[..., 1] = torch.linspace(0.0, 20.0, len(airborne))[:, None]
    assert implied_velocity(airborne, fps=FPS, height=0.6) is None
