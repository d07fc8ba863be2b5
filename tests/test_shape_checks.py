"""Shapes in signatures are checked in every test, on the first calls of each function."""

import pytest
import torch
from jaxtyping import TypeCheckError

from akd.math import quaternion
from akd.rig.pose import Pose
from tests import shape_checks


def pose_of(joints: int, scales: int) -> Pose:
    return Pose(torch.zeros(joints, 3), torch.ones(joints, 4), torch.ones(scales, 3))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (lambda: quaternion.normalize(torch.ones(4)), lambda: quaternion.normalize(torch.ones(3))),
        (lambda: pose_of(2, 2), lambda: pose_of(2, 5)),
    ],
    ids=["function", "dataclass"],
)
def test_a_wrong_shape_raises_until_enough_calls_were_checked(right, wrong):
    with pytest.raises(TypeCheckError):
        wrong()
    for _ in range(shape_checks.CALLS):
        right()
    wrong()
    shape_checks.start_again()
    with pytest.raises(TypeCheckError):
        wrong()
