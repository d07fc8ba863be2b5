"""A fox as the pose model sees it, and a set of its poses."""

import pytest
import torch

from akd.posespace.codec import PoseCodec
from akd.posespace.dataset import BodyPoses, BodyRecord, PoseSet, join_poses
from akd.posespace.settings import PoseNetworkSettings

SMALL = PoseNetworkSettings(width=32, layers=2, heads=2, point_width=8)


@pytest.fixture(scope="session")
def codec(fox) -> PoseCodec:
    return PoseCodec.of(fox)


@pytest.fixture(scope="session")
def poses(fox, codec) -> PoseSet:
    draw = torch.Generator().manual_seed(0)
    states = 0.5 * torch.randn(40, codec.body.tokens, 3, generator=draw)
    record = BodyRecord("fox", "zoo", "fox", codec.body.tokens, fox.height / codec.size)
    return join_poses([BodyPoses(record, codec.body, (("random", states, torch.arange(40.0)),))])
