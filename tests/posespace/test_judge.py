"""The pose model's judge tells natural poses from random ones."""

import torch

from akd.posespace.judge import implausibility
from akd.rig.control import ControlPose


def test_random_poses_are_less_plausible_than_the_neutral_one(fox):
    rig, draw = fox.control_rig, torch.Generator().manual_seed(0)
    still = torch.zeros(4, 3)
    neutral = ControlPose(still, still, torch.zeros(4, len(rig), 3))
    wild = ControlPose(still, still, 2.0 * torch.rand(4, len(rig), 3, generator=draw) - 1.0)
    assert implausibility(fox, neutral) < -2.0 < implausibility(fox, wild)
