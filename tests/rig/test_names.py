"""What names say."""

import pytest

from akd.rig.roles import names
from akd.rig.roles.names import Side


@pytest.mark.parametrize(
    ("name", "side", "parts"),
    [
        ("mixamorig:LeftUpLeg", Side.LEFT, {"leg"}),
        ("b_RightForeArm_07", Side.RIGHT, {"arm"}),
        ("Skeleton_arm_joint_L__4_", Side.LEFT, {"arm"}),
        ("Bip01 R Thigh", Side.RIGHT, {"leg"}),
        ("LHipJoint", Side.LEFT, {"pelvis"}),
        ("upperarm_l", Side.LEFT, {"arm"}),
        ("FFB.R", Side.RIGHT, set()),
        ("Tail_Base", Side.CENTRE, {"tail"}),
        ("bone_17", Side.CENTRE, set()),
        ("", Side.CENTRE, set()),
    ],
)
def test_side_and_parts(name, side, parts):
    assert names.side_of(name) is side
    assert names.parts_of(name) == parts


def test_pairs_by_exact_name_and_by_name_without_numbers():
    joints = ("Arm.L", "Arm.R", "b_LeftLeg01_015", "b_RightLeg01_019", "Head", "Ear.L")
    assert names.mirror_pairs(joints, list(range(6))) == [(0, 1), (2, 3)]


def test_no_pair_where_a_name_is_not_unique():
    assert names.mirror_pairs(("Arm.L", "Arm.L", "Arm.R"), [0, 1, 2]) == []
