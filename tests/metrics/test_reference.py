"""The table of true clips is made of the training side alone."""

import json
from importlib import resources

import pytest

from akd.metrics.reference import natural_parts, reference_of
from benchmarks.score_reference import FEWEST, family_of


def test_nothing_of_the_measuring_side_is_in_the_table():
    found = json.loads(resources.files("akd.metrics").joinpath("reference.json").read_text())
    families = {family_of(source) for source in found["sources"]}
    assert {"quaternius-animals-hoofed", "zoo fox"} <= families
    assert all(group["families"] >= FEWEST for group in found["groups"].values())


@pytest.mark.parametrize("source", ["quaternius/animals_pack/Husky.glb", "zoo fox 0"])
def test_sources_of_the_measuring_side_are_refused(source):
    with pytest.raises(ValueError, match=rf"{source} is of the measuring side"):
        family_of(source)


def test_an_action_without_a_row_is_compared_with_all_gaits_on_as_many_legs():
    assert reference_of("walk", 4) != reference_of("gallop", 4)
    assert reference_of("sneak", 4) == reference_of(None, 4)
    assert reference_of(None, 6) == reference_of(None, 8) != reference_of(None, 4)


def test_medians_are_perfect_and_distance_from_them_costs():
    reference = reference_of("walk", 4)
    middles = {name: middle for name, (middle, _) in reference.items()}
    assert natural_parts(middles, reference) == dict.fromkeys(reference, 1.0)
    far = natural_parts({name: 9.0 * m + 9.0 for name, m in middles.items()}, reference)
    assert max(far.values()) < 0.5
