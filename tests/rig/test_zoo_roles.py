"""Roles, limbs and mirror pairs of bodies whose joints the zoo names by what they are."""

from dataclasses import replace

import numpy as np
import pytest

from akd.rig.character import Character, load_character
from akd.rig.control_build import build_control_rig
from akd.rig.roles.names import Side
from akd.rig.roles.role import Part
from benchmarks.roles_variants import without_names
from tests.zoo.menagerie import creature, joint_weights

LEGS = {
    "fox": ("fore", "hind"),
    "horse": ("fore", "hind"),
    "man": ("leg",),
    "trex": ("leg",),
    "ostrich": ("leg",),
}
SPECIES = tuple(LEGS)
QUADRUPEDS = ("fox", "horse")


def unskinned(species: str) -> set[str]:
    """Joints that move no vertex, such as the hands of a theropod."""
    animal = creature(species)
    moved = joint_weights(animal).any(axis=0)
    return {name for name, moves in zip(animal.skeleton.names, moved, strict=True) if not moves}


def true_role(species: str, name: str) -> str:
    """What a joint of the zoo is, from its name: `left_hind_foot` is the left hind foot."""
    if name in {"root", species} | unskinned(species):
        return "helper"
    if name == "jaw":
        return "other"
    return name.replace("shoulder", "girdle").replace("_", " ")


def roles(body: Character) -> dict[str, str]:
    return dict(zip(body.skeleton.names, map(str, body.anatomy.roles), strict=True))


def is_fore_leg(name: str) -> bool:
    return "_fore_" in name


@pytest.mark.parametrize("species", SPECIES)
def test_every_joint_is_what_its_name_says(zoo_character, species):
    found = roles(zoo_character(species))
    checked = [n for n in found if not (is_fore_leg(n) and not n.endswith(("foot", "toes")))]
    assert len(checked) > 20
    assert {n: found[n] for n in checked} == {n: true_role(species, n) for n in checked}


@pytest.mark.parametrize("species", QUADRUPEDS)
def test_the_shoulder_blade_of_a_fore_leg_is_its_girdle(zoo_character, species):
    found = {n: role for n, role in roles(zoo_character(species)).items() if is_fore_leg(n)}
    assert found == {n: true_role(species, n) for n in found}


@pytest.mark.parametrize("species", SPECIES)
def test_legs_stand_on_their_feet_on_their_own_sides(zoo_character, species):
    body = zoo_character(species)
    names, legs = body.skeleton.names, body.anatomy.legs
    pairs = [(kind, side) for kind in LEGS[species] for side in ("left", "right")]
    assert [(limb.kind, limb.side) for limb in legs] == pairs
    plans = {foot.name: foot.leg for foot in creature(species).feet}
    for limb in legs:
        plan = plans[f"{limb.side}_{limb.kind}"]
        assert names[limb.tip] == plan.foot
        assert names[limb.joints[-1]] == plan.toes
    assert body.anatomy.feet == tuple(limb.tip for limb in legs)


@pytest.mark.parametrize("species", SPECIES)
def test_trunk_and_tail_run_outwards_from_the_pelvis(zoo_character, species):
    body = zoo_character(species)
    names = body.skeleton.names
    trunk, tail = ([names[j] for j in chain] for chain in (body.anatomy.trunk, body.anatomy.tail))
    assert (trunk[0], trunk[-1]) == ("pelvis", "head")
    assert trunk[1:-1] == [n for n in names if n.startswith(("spine", "neck"))]
    assert tail == [n for n in names if n.startswith("tail")]


@pytest.mark.parametrize("species", SPECIES)
def test_left_and_right_joints_are_partners(zoo_character, species):
    body = zoo_character(species)
    names = body.skeleton.names
    partners = {names[a]: names[b] for a, b in body.anatomy.partners.items()}
    sided = {n for n in names if n.startswith(("left", "right"))} - unskinned(species)
    swap = {"left": "right", "right": "left"}
    assert partners == {
        n: f"{swap[side]}_{rest}" for n in sided for side, rest in [n.split("_", 1)]
    }


@pytest.mark.parametrize("species", SPECIES)
def test_a_body_faces_the_way_the_zoo_made_it(zoo_character, species):
    anatomy = zoo_character(species).anatomy
    np.testing.assert_allclose(anatomy.forward, [0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(anatomy.left, [1, 0, 0], atol=1e-6)


@pytest.mark.parametrize("species", SPECIES)
def test_geometry_alone_tells_legs_sides_and_forward(zoo_character, species):
    named = zoo_character(species)
    bare = load_character(without_names(named.asset))
    assert [(x.kind, x.side) for x in bare.anatomy.legs] == [
        (x.kind, x.side) for x in named.anatomy.legs
    ]
    np.testing.assert_allclose(bare.anatomy.forward, [0, 0, 1], atol=1e-6)
    assert bare.anatomy.trunk[0] == named.anatomy.trunk[0]
    # Foot and toes are both near the ground, and nothing but a name says which is which.
    for limb, true in zip(bare.anatomy.legs, named.anatomy.legs, strict=True):
        assert limb.joints == true.joints
        assert limb.tip in true.joints[true.joints.index(true.tip) :]
    assert len(set(bare.anatomy.feet)) == len(bare.anatomy.legs)
    assert sum(role.part is Part.FOOT for role in bare.anatomy.roles) == len(bare.anatomy.legs)


@pytest.mark.slow
def test_a_joint_that_carries_several_legs_belongs_to_none_of_them(zoo_character):
    """As in artists' spiders, whose legs hang on an anchor on either side."""
    asset = zoo_character("spider").asset
    nodes = list(asset.nodes)
    names = [node.name for node in nodes]
    pelvis, out = names.index("pelvis"), 0.2 * zoo_character("spider").height
    for side, sign in (("left", 1.0), ("right", -1.0)):
        anchor, shift = len(nodes), np.array((sign * out, 0.0, 0.0), dtype=np.float32)
        still = nodes[pelvis]
        nodes.append(
            replace(still, name=f"{side}_anchor", parent=pelvis, translation=shift, mesh=None,
                    skin=None, rotation=np.array((1.0, 0.0, 0.0, 0.0), dtype=np.float32))
        )  # fmt: skip
        for i, name in enumerate(names):
            if name.startswith(side) and name.endswith("_upper"):
                nodes[i] = replace(
                    nodes[i], parent=anchor, translation=nodes[i].translation - shift
                )
    anchored = load_character(replace(asset, nodes=tuple(nodes)))
    legs = anchored.anatomy.legs
    assert len(legs) == 8
    assert len({joint for leg in legs for joint in leg.joints}) == sum(len(x.joints) for x in legs)
    rig = anchored.control_rig
    anchors = {len(nodes) - 2, len(nodes) - 1}
    assert anchors.isdisjoint(rig.joints)
    uppers = [role.limb_id for role in rig.roles if role.part is Part.UPPER]
    assert len(set(uppers)) == len(uppers) == 8


def test_joints_are_let_go_on_both_sides(zoo_character, monkeypatch):
    monkeypatch.setattr("akd.rig.control_build.MOST_DRIVEN", 27)
    rig = build_control_rig(zoo_character("spider"))
    assert 24 <= len(rig) <= 27
    sides = [
        sorted((str(r.limb), str(r.part), r.number) for r in rig.roles if r.side is side)
        for side in (Side.LEFT, Side.RIGHT)
    ]
    assert sides[0] == sides[1]
