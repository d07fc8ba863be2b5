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
        ("LHipJoint", Side.LEFT, {"leg"}),  # CMU
        ("upperarm_l", Side.LEFT, {"arm"}),
        ("FFB.R", Side.RIGHT, set()),
        ("Tail_Base", Side.CENTRE, {"tail"}),
        ("mixamorig:LeftToeBase", Side.LEFT, {"toe"}),
        ("calf_twist_01_l", Side.LEFT, {"leg", "helper"}),  # Unreal
        ("RightLowerLeg", Side.RIGHT, {"leg"}),  # Unity
        ("J_Bip_L_UpperArm", Side.LEFT, {"arm"}),  # VRM
        ("J_Sec_Hair1_03", Side.CENTRE, {"prop"}),
        ("DEF-shin.L", Side.LEFT, {"leg"}),  # Rigify
        ("MCH-thigh_ik.R", Side.RIGHT, {"leg", "helper"}),
        ("ORG-upper_arm.L", Side.LEFT, {"arm", "helper"}),
        ("Bip01 L Clavicle", Side.LEFT, {"arm"}),  # 3ds Max Biped
        ("Bip01 Ponytail1", Side.CENTRE, {"prop"}),
        ("LeafLeftUpLegRoll1", Side.LEFT, {"leg", "helper"}),  # HumanIK
        ("lShldrBend", Side.LEFT, {"arm"}),  # Daz
        ("rThighTwist", Side.RIGHT, {"leg", "helper"}),
        ("lowerleg01.L", Side.LEFT, {"leg"}),  # MakeHuman
        ("lfemur", Side.LEFT, {"leg"}),  # CMU
        ("rclavicle", Side.RIGHT, {"arm"}),
        ("rear_leg", Side.CENTRE, {"leg"}),
        ("L_Hip", Side.LEFT, {"leg"}),  # SMPL
        ("Pelvis", Side.CENTRE, {"pelvis"}),
        ("R_Ankle", Side.RIGHT, {"foot"}),
        ("muslo_izq", Side.LEFT, {"leg"}),
        ("bigtoe_01_l", Side.LEFT, {"toe"}),  # Unreal 5
        ("RL_calf", Side.LEFT, {"leg"}),  # URDF of robots on four legs
        ("RH_SHANK", Side.RIGHT, {"leg"}),
        ("j_asi_b_l", Side.LEFT, {"leg"}),  # romaji
        ("migi_hiza", Side.RIGHT, {"leg"}),
        ("左足ＩＫ", Side.LEFT, {"leg", "helper"}),
        ("caudal", Side.CENTRE, {"tail"}),
        ("pincer_L", Side.LEFT, {"hand"}),
        ("antebrazo.der", Side.RIGHT, {"arm"}),
        ("Oberschenkel_links", Side.LEFT, {"leg"}),
        ("Flügel.R", Side.RIGHT, {"wing"}),
        ("左足首", Side.LEFT, {"foot"}),
        ("右ひじ", Side.RIGHT, {"arm"}),
        ("上半身2", Side.CENTRE, {"spine"}),
        ("左大腿", Side.LEFT, {"leg"}),
        ("尾巴_01", Side.CENTRE, {"tail"}),
        ("handslot.l", Side.LEFT, {"helper"}),
        ("thighl_012", Side.LEFT, {"leg"}),  # what three.js leaves of `thigh.l`
        ("l_thightwist1", Side.LEFT, {"leg"}),  # Daz
        ("bowl", Side.CENTRE, set()),
        ("FL_Leg", Side.LEFT, {"leg"}),
        ("LeftBreast", Side.LEFT, {"flesh"}),
        ("dedos_pie_izq", Side.LEFT, {"toe"}),
        ("tail_feather_L", Side.LEFT, {"tail"}),
        ("perna.esq", Side.LEFT, {"leg"}),
        ("Нога_правая", Side.RIGHT, {"leg"}),
        ("左脚趾", Side.LEFT, {"toe"}),
        ("右前臂", Side.RIGHT, {"arm"}),
        ("leftupperarm", Side.LEFT, {"arm"}),
        ("handright_02", Side.RIGHT, {"hand"}),
        ("upright", Side.CENTRE, set()),
        ("오른쪽_다리", Side.RIGHT, {"leg"}),
        ("voet.links", Side.LEFT, {"foot"}),
        ("tentacle_01.L", Side.LEFT, {"tentacle"}),
        ("bone_17", Side.CENTRE, set()),
        ("", Side.CENTRE, set()),
    ],
)
def test_side_and_parts(name, side, parts):
    assert names.side_of(name) is side
    assert names.parts_of(name) == parts


@pytest.mark.parametrize(
    ("name", "segment"),
    [
        ("DEF-upper_arm.L", "upper"),
        ("mixamorig:LeftForeArm", "lower"),
        ("LoArm_L", "lower"),
        ("clavicle_l", "girdle"),
        ("Front_Leg_Shoulder_L", "girdle"),
        ("左ひじ", "lower"),
        ("brazo.izq", "upper"),
        ("hand_l", ""),
    ],
)
def test_segments_of_an_arm(name, segment):
    assert names.segment_of_arm(name) == segment


def test_pairs_by_exact_name_and_by_name_without_numbers():
    joints = ("Arm.L", "Arm.R", "b_LeftLeg01_015", "b_RightLeg01_019", "Head", "Ear.L")
    assert names.mirror_pairs(joints, list(range(6))) == [(0, 1), (2, 3)]


def test_no_pair_where_a_name_is_not_unique():
    assert names.mirror_pairs(("Arm.L", "Arm.L", "Arm.R"), [0, 1, 2]) == []


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("front_thigh.L", "front"),
        ("HindLeg_R", "back"),
        ("FR_Leg", "front"),
        ("Hinter_Fuss_links", "back"),
        ("muslo_delantera_izq", "front"),
        ("左後足", "back"),
        ("右前臂", ""),  # a forearm
        ("forearm.L", ""),
    ],
)
def test_front_and_back(name, end):
    assert names.end_of(name) == end
