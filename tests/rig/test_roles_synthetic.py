"""What decides about limbs and links, on rigs of a few joints without a surface."""

import numpy as np
import pytest
import torch

from akd.rig.pose import Pose
from akd.rig.roles import limb_kind
from akd.rig.roles.anatomy import find_anatomy
from akd.rig.roles.assemble import find_body
from akd.rig.roles.body import Evidence
from akd.rig.roles.limb_kind import KINDS, ShapeModel, classify
from akd.rig.roles.limbs import FEATURES
from akd.rig.roles.role import LimbKind
from akd.rig.roles.symmetry import find_sagittal
from akd.rig.skeleton import Skeleton

Joints = dict[str, tuple[str, tuple[float, float, float]]]


def evidence_of(joints: Joints) -> Evidence:
    """From each joint's parent, '' for none, and its position."""
    names = tuple(joints)
    parents = tuple(names.index(p) if p else -1 for p, _ in joints.values())
    skeleton = Skeleton(names, parents, Pose.identity(len(names), dtype=torch.float64))
    positions = np.array([x for _, x in joints.values()])
    return Evidence(skeleton, positions, np.ones(len(names), bool), np.zeros((0, 3)), None)


def mirrored(joints: Joints) -> Joints:
    """With the mirror image of every joint whose name ends in `.L`."""
    other = {
        name.replace(".L", ".R"): (parent.replace(".L", ".R"), (-x, y, z))
        for name, (parent, (x, y, z)) in joints.items()
        if name.endswith(".L")
    }
    return joints | other


def test_legs_that_start_at_one_place_pair_by_what_hangs_below():
    joints: Joints = {"bone_0": ("", (0.0, 1.0, 0.0))}
    # The hip joints of the two sides are crossed over; their feet are where they should be.
    hips, feet = {"a": 0.02, "b": -0.02}, {"a": 1.0, "b": -1.0}
    for side, sign in (("1", 1.0), ("2", -1.0)):
        for leg in "ab":
            hip = f"bone_{side}{leg}"
            joints[hip] = ("bone_0", (0.2 * sign, 1.0, sign * hips[leg]))
            joints[hip + "_1"] = (hip, (1.0 * sign, 0.0, feet[leg]))
    evidence = evidence_of(joints)
    partners = find_sagittal(evidence, find_body(evidence)).partners
    names = evidence.skeleton.names
    assert {names[a]: names[b] for a, b in partners.items() if names[a].startswith("bone_1")} == {
        "bone_1a": "bone_2a",
        "bone_1b": "bone_2b",
        "bone_1a_1": "bone_2a_1",
        "bone_1b_1": "bone_2b_1",
    }


def test_the_spine_of_a_flat_tree_hangs_on_the_hips_and_not_on_a_leg():
    flat = {
        "hips": ("", (0.0, 1.0, 0.0)),
        "spine": ("", (0.0, 1.0, 0.6)),
        "head": ("", (0.0, 1.2, 1.0)),
        # Long bones from the hips: their ends are nearer to the spine than the hips are.
        "hind_thigh.L": ("", (0.05, 1.0, 0.55)),
        "hind_foot.L": ("", (0.1, 0.0, 0.1)),
        "fore_thigh.L": ("", (0.1, 0.9, 0.65)),
        "fore_foot.L": ("", (0.1, 0.0, 0.7)),
    }
    evidence = evidence_of(mirrored(flat))
    names = evidence.skeleton.names
    parents = {names[j]: names[p] for j, p in find_body(evidence).parents.items() if p >= 0}
    assert (parents["spine"], parents["head"]) == ("hips", "spine")
    assert parents["fore_foot.R"] == "fore_thigh.R"


def test_what_is_called_a_leg_is_one_on_a_body_in_flight():
    wasp = {
        "body": ("", (0.0, 1.0, 0.0)),
        "head": ("body", (0.0, 1.0, 0.5)),
        "sting": ("body", (0.0, 0.0, -0.5)),  # the lowest point
        "leg1.L": ("body", (0.1, 0.9, 0.1)),
        "leg2.L": ("leg1.L", (0.3, 0.7, 0.1)),
        "leg3.L": ("leg2.L", (0.3, 0.4, 0.1)),
    }
    anatomy = find_anatomy(evidence_of(mirrored(wasp)))
    assert [(x.kind, x.side) for x in anatomy.limbs] == [("leg", "left"), ("leg", "right")]
    names = list(mirrored(wasp))
    assert [names[x.tip] for x in anatomy.limbs] == ["leg3.L", "leg3.R"]


@pytest.fixture
def shape_is_log_odds(monkeypatch):
    """Features are the log-odds of the kinds themselves."""
    count = len(KINDS)
    model = ShapeModel(np.zeros(count), np.ones(count), np.eye(count), np.zeros(count), np.zeros(5))
    monkeypatch.setattr(limb_kind, "shape_model", lambda: model)


def odds(**kinds: float) -> np.ndarray:
    return np.array([kinds.get("none" if k is None else k.value, -3.0) for k in KINDS])


@pytest.mark.usefixtures("shape_is_log_odds")
def test_a_body_with_fins_has_no_legs_unless_names_say_so():
    fin, doubtful = odds(fin=3.0), odds(fin=0.0, leg=1.0)
    kinds = [x.kind for x in classify([fin, doubtful], [(), ()], [True, True])]
    assert kinds == [LimbKind.FIN, LimbKind.FIN]
    kinds = [x.kind for x in classify([doubtful], [()], [True])]
    assert kinds == [LimbKind.LEG]
    turtle = classify([fin, doubtful], [{"fin"}, {"leg"}], [True, True])
    assert [x.kind for x in turtle] == [LimbKind.FIN, LimbKind.LEG]


@pytest.mark.usefixtures("shape_is_log_odds")
def test_a_leg_with_a_shoulder_is_a_leg():
    assert classify([odds(leg=0.0, arm=2.0)], [{"arm", "leg"}], [True])[0].kind is LimbKind.LEG
    assert classify([odds(leg=0.0, arm=2.0)], [{"arm"}], [True])[0].kind is LimbKind.ARM


@pytest.mark.usefixtures("shape_is_log_odds")
def test_ears_on_four_legs_are_no_arms():
    leg, ear = odds(leg=3.0), odds(arm=1.0, none=0.0)
    assert [x.kind for x in classify([leg, ear], [(), ()], [True, False])][1] is LimbKind.ARM
    kinds = [x.kind for x in classify([leg, leg, ear], [(), (), ()], [True, True, False])]
    assert kinds == [LimbKind.LEG, LimbKind.LEG, None]


@pytest.mark.usefixtures("shape_is_log_odds")
def test_a_limb_that_stands_nowhere_is_no_leg():
    assert classify([odds(leg=3.0, arm=1.0)], [()], [False])[0].kind is LimbKind.ARM
    # Half of a hip that hangs apart is no arm either.
    assert classify([odds(arm=1.0, none=2.0)], [{"leg"}], [False])[0].kind is None


def test_what_looks_like_no_limb_on_two_legs_may_be_small_wings():
    # As measured of a hen, in the order of `FEATURES`.
    leg = np.array([0.38, 0.9, 0.95, 0.88, -3.49, 0.28, 0.25, 0.12, 0.18, -0.04, -0.79, 0, 0])
    wing = np.array([0.06, 0.42, 0.04, 0.61, -3.47, 0.46, 0.64, 0.0, 0.44, -0.04, -0.79, 1, 1])
    kinds = [x.kind for x in classify([leg, wing], [(), ()], [True, False])]
    assert kinds == [LimbKind.LEG, LimbKind.WING]
    on_the_head = np.where(np.arange(len(wing)) == FEATURES.index("top"), 0.9, wing)
    kinds = [x.kind for x in classify([leg, on_the_head], [(), ()], [True, False])]
    assert kinds == [LimbKind.LEG, None]


@pytest.mark.parametrize(
    ("names", "segments"),
    [
        (("clavicle", "upperarm", "lowerarm", "hand"), ("girdle", "upper", "lower", "hand")),
        (("Shoulder", "Arm", "ForeArm", "Hand"), ("girdle", "upper", "lower", "hand")),
        (("肩", "腕", "ひじ", "手首"), ("girdle", "upper", "lower", "hand")),
        # MakeHuman has a second joint in the collar bone; it follows.
        (
            ("clavicle", "shoulder01", "upperarm01", "lowerarm01", "wrist"),
            ("girdle", "other", "upper", "lower", "hand"),
        ),
        # SMPL calls the upper arm a shoulder: names say nothing, and no segment is short.
        (("Collar", "Shoulder", "Elbow", "Wrist"), ("upper", "lower", "cannon", "hand")),
        # No hand: an arm of two bones, and one whose last joint is the hand.
        (("Shoulder", "UpperArm", "LowerArm"), ("girdle", "upper", "lower")),
        (("Shoulder", "Arm", "Hand"), ("upper", "lower", "hand")),
    ],
)
def test_a_collar_bone_as_long_as_the_upper_arm_is_told_by_name(names, segments):
    joints: Joints = {
        "pelvis": ("", (0.0, 1.0, 0.0)),
        "chest": ("pelvis", (0.0, 1.5, 0.0)),
        "head": ("chest", (0.0, 1.7, 0.0)),
        "thigh.L": ("pelvis", (0.1, 0.9, 0.0)),
        "shin.L": ("thigh.L", (0.1, 0.5, 0.02)),
        "foot.L": ("shin.L", (0.1, 0.0, 0.0)),
    }
    above = "chest"
    for k, name in enumerate(names):
        joints[f"{name}.L"] = (above, (0.1 + 0.3 * k, 1.5, 0.01 * (k % 2)))
        above = f"{name}.L"
    evidence = evidence_of(mirrored(joints))
    roles = find_anatomy(evidence).roles
    for side in ("L", "R"):
        found = [roles[evidence.skeleton.names.index(f"{name}.{side}")] for name in names]
        assert tuple(role.part.value for role in found) == segments
        assert {role.limb for role in found} == {LimbKind.ARM}
