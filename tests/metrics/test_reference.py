"""The table of true clips is made of the training side alone."""

import json
from importlib import resources

import pytest

from akd.metrics.reference import kind_of, natural_parts, reference_of
from akd.motion.actions import ACTION_LABELS, ACTIONS
from benchmarks.score_reference import FEWEST, family_of


def test_nothing_of_the_measuring_side_is_in_the_table():
    found = json.loads(resources.files("akd.metrics").joinpath("reference.json").read_text())
    families = {family_of(source) for source in found["sources"]}
    assert {"quaternius-animals-hoofed", "zoo fox"} <= families
    assert all(group["families"] >= FEWEST for group in found["groups"].values())


@pytest.mark.parametrize(
    "source", ["quaternius/animals_pack/Husky.glb", "zoo fox 0", "mocap 13_29.bvh"]
)
def test_sources_of_the_measuring_side_are_refused(source):
    with pytest.raises(ValueError, match=rf"{source} is of the measuring side"):
        family_of(source)


def test_an_action_without_a_row_is_compared_with_all_gaits_on_as_many_legs():
    assert reference_of("walk", 4) != reference_of("gallop", 4)
    assert reference_of("amble", 4) == reference_of(None, 4)
    assert reference_of(None, 6) == reference_of(None, 8) != reference_of(None, 4)


def test_what_is_no_gait_is_compared_with_its_kind():
    kinds = {name: kind_of(name) for name in ("trot", "turn_left", "jump", "lie_down", "kick")}
    assert list(kinds.values()) == ["gait", "gait", "leap", "goes down", "in place"]
    assert kind_of(None) == "gait"
    assert reference_of("kick", 2) != reference_of("wave", 2)
    # No row of its own: the one of its kind on as many legs, then on any.
    assert reference_of("cheer", 4) == reference_of("wave", 4)
    assert reference_of("kick", 5) == reference_of("dance", 7) != reference_of("jump", 7)
    down, up = (reference_of(name, 2)["tilt"] for name in ("lie_down", "wave"))
    assert down[1] > 2.0 * up[1]


def test_every_action_on_feet_has_a_reference():
    for name in ACTION_LABELS:
        if ACTIONS[name].needs_feet:
            for legs in (2, 4, 6, 8):
                assert reference_of(name, legs)["roughness"][1] > 0.0


def test_medians_are_perfect_and_distance_from_them_costs():
    reference = reference_of("walk", 4)
    middles = {name: middle for name, (middle, _) in reference.items()}
    assert natural_parts(middles, reference) == dict.fromkeys(reference, 1.0)
    far = natural_parts({name: 9.0 * m + 9.0 for name, m in middles.items()}, reference)
    assert max(far.values()) < 0.5
