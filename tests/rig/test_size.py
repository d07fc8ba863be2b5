"""Believable heights."""

from dataclasses import replace

import numpy as np
import pytest

from akd.rig.character import load_character
from akd.rig.roles.names import Side
from akd.rig.roles.role import Limb, LimbKind
from akd.rig.size import assume_height
from tests.zoo.menagerie import creature


@pytest.mark.parametrize(
    ("height", "stem", "assumed"),
    [
        (4.8, "Horse", 1.6),
        (1.8, "horse_walk", None),
        (2.0, "farm-mouse_01", 0.06),
        (0.02, "Elephant", 3.0),
        (0.79, "Fox", None),
        (1.0, "fox-cat", 0.4),  # what it is comes last
        (8.2, "elephant_asian_male", 3.0),
        (4.4, "character_male", 1.7),
        (2.2, "mastiff", 0.8),
        (4.8, "model", None),
        (0.0, "Horse", None),
    ],
)
def test_by_name(zoo_character, height, stem, assumed):
    anatomy = replace(zoo_character("fox").anatomy, limbs=())
    found = assume_height(height, stem=stem, anatomy=anatomy)
    assert (found and found.metres) == assumed
    if found:
        assert found.why.endswith(f"timing and physics for {assumed:g} m; --height overrides it")


@pytest.mark.parametrize(
    ("kinds", "height", "assumed"),
    [
        ((LimbKind.LEG, LimbKind.ARM), 9.0, 1.7),
        ((LimbKind.LEG, LimbKind.ARM), 1.1, None),
        ((LimbKind.FORE, LimbKind.HIND), 12.0, 0.8),
        ((LimbKind.FORE, LimbKind.MID, LimbKind.HIND), 12.0, None),
    ],
)
def test_by_plan(zoo_character, kinds, height, assumed):
    limbs = tuple(Limb(kind, Side.LEFT, (0,), 0) for kind in kinds)
    anatomy = replace(zoo_character("fox").anatomy, limbs=limbs, tail=())
    found = assume_height(height, stem="model", anatomy=anatomy)
    assert (found and found.metres) == assumed


@pytest.mark.parametrize(
    ("height", "breadth", "assumed"),
    [
        (0.8, 2.0, None),  # an eagle that stands with its wings spread
        (0.25, 2.0, None),  # in flight
        (0.86, 6.4, 0.86 * 0.8 * 2.4 / 6.4),
        (0.1, 0.2, 0.8),
    ],
)
def test_a_bird_in_flight_is_as_large_as_its_wingspan(zoo_character, height, breadth, assumed):
    wing = Limb(LimbKind.WING, Side.LEFT, (0,), 0)
    anatomy = replace(zoo_character("fox").anatomy, limbs=(wing,))
    found = assume_height(height, stem="eagle", anatomy=anatomy, breadth=breadth)
    assert (found and found.metres) == (assumed and pytest.approx(assumed))
    if breadth > 6:
        assert found.why.startswith("a wingspan of 6.4 m is wide for an eagle: ")


def test_arms_are_no_wings(zoo_character):
    anatomy = replace(zoo_character("fox").anatomy, limbs=())
    assert assume_height(1.7, stem="man", anatomy=anatomy, breadth=9.0) is None


@pytest.mark.slow
def test_two_legs_arms_and_a_long_tail_may_have_any_height(zoo_character):
    anatomy = zoo_character("trex").anatomy
    assert {LimbKind.LEG, LimbKind.ARM} <= {limb.kind for limb in anatomy.limbs}
    assert assume_height(5.0, stem="model", anatomy=anatomy) is None


@pytest.mark.parametrize("factor", [0.01, 0.1, 100.0])
def test_a_body_of_any_scale_has_the_same_roles_and_a_believable_height(zoo_character, factor):
    fox = zoo_character("fox")
    nodes = tuple(
        replace(n, scale=factor * n.scale, translation=factor * n.translation)
        if n.parent < 0
        else n
        for n in fox.asset.nodes
    )
    other = load_character(replace(fox.asset, nodes=nodes))
    assert other.anatomy.roles == fox.anatomy.roles
    np.testing.assert_allclose(other.anatomy.forward, fox.anatomy.forward, atol=1e-6)
    assert 0.4 < other.height < 0.91
    assert load_character(replace(fox.asset, nodes=nodes), height=0.5).height == pytest.approx(0.5)


@pytest.mark.slow
def test_the_menagerie_is_believed(zoo_character):
    for species in ("fox", "horse", "man", "trex", "ostrich"):
        assert zoo_character(species).height == pytest.approx(creature(species).height, rel=0.6)
