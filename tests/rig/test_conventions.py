"""Known bodies in the conventions of other tools, and after what exporters do to a skeleton."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from akd.report.describe import describe
from akd.rig.character import Character, load_character
from akd.rig.control_build import build_control_rig
from akd.rig.roles.role import LimbKind, Part
from benchmarks.rig_conventions import PEOPLE_ONLY, Case, body, cases, judge
from benchmarks.stress_bodies import BODIES, POSES_AND_PARTS, grafted
from benchmarks.stress_names import CONVENTIONS, PLAIN, named, numbered
from benchmarks.stress_rig import Joint, StressRig, to_asset
from benchmarks.stress_structures import STRUCTURES, control_chains, pedestal, twists, weapons
from benchmarks.stress_tools import TOOLS, motors

QUICK = ("man", "fox")
WRONG_WITHOUT_NAMES = {
    # A strand of hair begins above the joint of the head and is taken for it.
    ("man", "hair"),
}


@cache
def cases_of(species: str) -> dict[tuple[str, str], Case]:
    return {(c.convention, c.variant): c for c in cases((species,))}


def case(species: str, convention: str, variant: str) -> Case | None:
    return cases_of(species).get((convention, variant))


def read(rig: StressRig) -> tuple[Character, dict[str, int]]:
    """A rig as read from its file, and the joints by key."""
    first = len(rig.armature.holders)
    return load_character(to_asset(rig)), {j.key: first + i for i, j in enumerate(rig.joints)}


@pytest.mark.slow
@pytest.mark.parametrize("convention", [*CONVENTIONS, *STRUCTURES])
@pytest.mark.parametrize("species", QUICK)
def test_feet_sides_limbs_and_segments(species, convention):
    if species == "fox" and convention in PEOPLE_ONLY:
        return
    chosen = case(species, convention, "names")
    if chosen is None:  # the change leaves this body as it is
        assert species == "fox"
        return
    verdict = judge(chosen)
    assert not verdict.found
    assert not verdict.joints


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_without_names(structure):
    if ("man", structure) in WRONG_WITHOUT_NAMES:
        pytest.xfail("known")
    chosen = case("man", structure, "no names")
    assert chosen is not None
    assert not judge(chosen).found


@pytest.mark.slow
@pytest.mark.parametrize("structure", POSES_AND_PARTS)
@pytest.mark.parametrize("variant", ["names", "no names"])
def test_other_poses_and_further_parts(structure, variant):
    chosen = case("man", structure, variant)
    if chosen is None:  # a man does not rear
        assert structure == "rearing"
        return
    if structure in ("tentacles", "robe") and variant == "no names":
        pytest.xfail("known: four more arms, and legs among chains that reach the ground")
    assert not judge(chosen).found


WRONG_WITH_TOOLS = {
    # Arms alone have no trunk to be arms of; what lies does not stand; two bodies are one skin.
    ("arms alone", "no names"),
    ("lying", "no names"),
    ("another beside", "no names"),
}


@pytest.mark.parametrize("structure", TOOLS)
@pytest.mark.parametrize("variant", ["names", "no names"])
def test_skeletons_of_more_tools(structure, variant):
    chosen = case("man", structure, variant)
    assert chosen is not None
    if (structure, variant) in WRONG_WITH_TOOLS:
        pytest.xfail("known")
    assert not judge(chosen).found


@pytest.mark.parametrize("variant", ["names", pytest.param("no names", marks=pytest.mark.slow)])
@pytest.mark.parametrize("structure", ["a face of 48 joints", "motors in one place"])
def test_a_fox_with_many_joints_in_its_face_or_limbs_has_legs(structure, variant):
    chosen = case("fox", structure, variant)
    assert chosen is not None
    assert not judge(chosen).found


def test_small_arms_are_arms_without_names():
    chosen = case("trex", "as made", "no names")
    assert chosen is not None
    assert not judge(chosen).found


def test_of_several_joints_in_one_place_the_first_is_driven():
    plain, _ = read(numbered(body("man")))
    character, joints = read(numbered(motors(body("man"))))
    roles = character.anatomy.roles
    assert str(roles[joints["left_leg_upper"]]) == "left leg upper"
    assert str(roles[joints["left_leg_lower"]]) == "left leg lower"
    assert roles[joints["left_leg_upper_pitch"]].part is Part.OTHER
    assert joints["left_leg_upper_pitch"] not in character.control_rig.joints
    assert len(character.control_rig) == len(plain.control_rig)


def test_a_rearing_fox_has_four_legs_by_name():
    chosen = case("fox", "rearing", "names")
    assert chosen is not None
    assert not judge(chosen).found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["angel", "demon"])
def test_the_second_pair_of_arms_is_wings(name):
    assert not judge(Case(name, "as made", "no names", numbered(body(name)))).found


@pytest.mark.parametrize(
    "name",
    [b if b == "centaur" else pytest.param(b, marks=pytest.mark.slow) for b in BODIES],
)
def test_bodies_made_of_several_with_names(name):
    assert not judge(Case(name, "as made", "names", named(body(name), PLAIN))).found


def test_a_case_with_swapped_sides_counts_as_wrong():
    chosen = case("man", "as made", "names")
    assert chosen is not None
    swap = {"left": "right", "right": "left"}
    swapped = [type(j)(**{**vars(j), "side": swap.get(j.side, j.side)}) for j in chosen.rig.joints]
    wrong = StressRig(
        "man", tuple(swapped), chosen.rig.vertices, chosen.rig.faces, chosen.rig.weights
    )
    assert judge(Case("man", "as made", "names", wrong)).found


@pytest.mark.parametrize("rename", [lambda rig: named(rig, PLAIN), numbered])
def test_twist_joints_in_the_chain_follow_and_are_not_driven(rename):
    plain, _ = read(rename(body("man")))
    character, joints = read(rename(twists(inline=True, count=2)(body("man"))))
    twisting = [i for key, i in joints.items() if "twist" in key]
    assert len(twisting) == 16
    assert {character.anatomy.roles[i].part for i in twisting} == {Part.OTHER}
    rig, plain_rig = build_control_rig(character), build_control_rig(plain)
    assert set(twisting).isdisjoint(rig.joints)
    assert sorted(map(str, rig.roles)) == sorted(map(str, plain_rig.roles))
    # A twist joint is moved by the joint that its segment hangs on.
    knee, twist = joints["left_leg_lower"], joints["left_leg_lower_twist_1"]
    assert int(rig.driver_index[twist]) == int(rig.driver_index[knee])


def test_limbs_that_hang_on_controls_hang_on_the_bones_that_lie_there():
    character, joints = read(numbered(control_chains("tops")(body("man"))))
    anatomy = character.anatomy
    assert joints["spine_3"] in anatomy.trunk
    assert anatomy.body.parents[joints["left_arm_shoulder"]] == joints["spine_3"]
    assert anatomy.body.detached[joints["left_arm_shoulder"]] == joints["spine_3"]
    assert str(anatomy.roles[joints["ctrl_spine_3"]]) == "helper"
    # Controls were written with identities: they are where they rest, not at the origin.
    world = character.skeleton.forward(character.bind)[:, :3, 3]
    np.testing.assert_allclose(
        world[joints["ctrl_left_arm_hand"]], world[joints["left_arm_hand"]], atol=1e-4
    )


def test_a_bone_is_what_the_control_is_that_holds_it():
    character, joints = read(numbered(control_chains("each")(body("man"))))
    roles = character.anatomy.roles
    for key in ("pelvis", "head", "left_leg_lower", "right_arm_hand"):
        assert roles[joints[key]] == roles[joints[f"ctrl_{key}"]]
    assert str(roles[joints["left_leg_lower"]]) == "left leg lower"
    assert joints["ctrl_left_leg_lower"] in character.control_rig.joints
    assert joints["left_leg_lower"] not in character.control_rig.joints


def test_weapons_of_no_name_are_found_by_shape():
    bare = load_character(to_asset(numbered(body("man"))))
    armed, joints = read(numbered(weapons("skinned")(body("man"))))
    assert armed.mesh is not None
    assert armed.body_mesh is not None
    assert len(armed.mesh.vertices) - len(armed.body_mesh.vertices) == 16  # two boxes
    assert armed.height == pytest.approx(bare.height)
    assert [x.kind for x in armed.anatomy.legs] == [LimbKind.LEG, LimbKind.LEG]
    assert str(armed.anatomy.roles[joints["sword_right"]]) == "helper"


def with_rider(mount: StressRig, height: float) -> StressRig:
    """A man, his pelvis at this share of the mount's height, who hangs on its spine."""
    seat = max((j for j in mount.joints if j.part == "spine"), key=lambda j: j.number)
    top = float(mount.vertices[:, 1].max())

    def rename(joint: Joint) -> Joint:
        name = f"rider_{joint.name}"
        return replace(joint, key=f"rider_{joint.key}", name=name, limb="", side="", part="other")

    place = seat.place * np.array([1.0, 0.0, 1.0]) + np.array([0.0, height * top, 0.0])
    return grafted(mount, body("man"), "pelvis", seat.key, place=place, rename=rename)


@pytest.mark.parametrize("species", ["horse", "ostrich"])
def test_a_rider_follows_what_he_sits_on(species):
    bare = load_character(to_asset(body(species)))
    ridden, joints = read(with_rider(body(species), 1.2))
    said = [p.where for p in ridden.problems if p.what == "a rider sits on the body"]
    assert said == [f"node {joints['rider_pelvis']}"]
    assert ridden.height == pytest.approx(bare.height)
    assert len(ridden.anatomy.limbs) == len(bare.anatomy.limbs)
    assert [x.kind for x in ridden.anatomy.limbs] == [x.kind for x in bare.anatomy.limbs]
    # All of him moves with the joint that he hangs on.
    seat = ridden.skeleton.parents[joints["rider_pelvis"]]
    drivers = ridden.control_rig.driver_index
    assert {int(drivers[j]) for k, j in joints.items() if k.startswith("rider")} == {
        int(drivers[seat])
    }


@pytest.mark.slow
def test_what_reaches_the_ground_or_is_no_whole_body_is_no_rider():
    """A man who leads a horse is another body, and half a man on it is a centaur."""
    beside, _ = read(with_rider(body("horse"), 0.5))
    assert "a rider sits on the body" not in [p.what for p in beside.problems]
    centaur, _ = read(BODIES["centaur"]())
    assert "a rider sits on the body" not in [p.what for p in centaur.problems]


@pytest.mark.parametrize(
    ("species", "rename"),
    [("man", None), ("horse", None), ("crow", None), ("horse", numbered), ("fox", numbered)],
)
def test_legs_that_lie_are_said(species, rename):
    """In a file with Z up that does not say so."""
    rig, turn = body(species), Rotation.from_euler("x", 90.0, degrees=True)
    rig = rename(rig) if rename else rig
    joints = tuple(replace(j, place=turn.apply(j.place)) for j in rig.joints)
    turned = to_asset(replace(rig, joints=joints, vertices=turn.apply(rig.vertices)))

    def said(character: Character) -> list[str]:
        return [p.what for p in character.problems if p.where == "body"]

    upright = load_character(to_asset(rig))
    assert not said(upright)
    assert said(load_character(turned)) == ["the legs lie along z"]
    read = load_character(turned, up="z")
    assert not said(read)
    assert read.anatomy.roles == upright.anatomy.roles
    assert describe(upright)["axes"]["forward"] == "+z"
    assert describe(read)["axes"]["forward"] == "-y"


def test_a_stand_is_no_part_of_the_body():
    bare, _ = read(body("frog"))
    standing, _ = read(pedestal(body("frog")))
    assert standing.body_mesh is not None
    assert standing.height == pytest.approx(bare.height)
    assert float(standing.body_mesh.vertices[:, 1].min()) == pytest.approx(0.0, abs=1e-3)
