"""What `animate` tells the user to check before the long work."""

from dataclasses import replace

import pytest

from akd.api.animatable import doubts
from akd.api.loading import load
from akd.api.request import make_request
from akd.export.character import write_motions
from akd.export.creature import write_creature
from akd.motion.motion import Motion
from akd.zoo.creature import build_creature
from tests.commands.small_prior import write_fox, write_weights


@pytest.fixture(scope="module")
def elephant(tmp_path_factory):
    """A fox in a file whose name says that it is an elephant."""
    return write_fox(tmp_path_factory.mktemp("elephant") / "elephant.glb")


def test_an_assumed_height_and_ignored_words_are_noted(elephant, tmp_path):
    weights = write_weights(tmp_path)
    request = make_request(elephant, "an okapi walking happily", weights=weights, device="cpu")
    height, words = request.notes
    assert "is small for an elephant: timing and physics for 3 m; --height overrides it" in height
    assert words == "the prior takes the prompt as 'a creature, walk'; it ignores: okapi, happily"
    plain = make_request(load(elephant, height=0.5), "a fox walking", weights=weights, device="cpu")
    assert plain.notes == ()


def test_limbs_in_doubt_are_noted(elephant):
    character = load(elephant, height=0.5)
    limb, *rest = character.anatomy.limbs
    unsure = replace(limb, confidence=0.6, doubt="names say leg, shape says arm")
    anatomy = replace(character.anatomy, limbs=(unsure, *rest))
    (note,) = doubts(replace(character, anatomy=anatomy))
    assert f"{limb} (60 % sure: names say leg, shape says arm)" in note
    assert "--roles" in note


def test_a_written_clip_keeps_the_height_of_the_body(elephant, tmp_path):
    character = load(elephant)
    assert character.height == pytest.approx(3.0)
    neutral = character.control_rig.neutral.expand(2)
    motion = Motion(character.skeleton, neutral.translation.new_tensor((0.0, 1.0)), neutral, "held")
    write_motions(character, [motion], tmp_path / "preview.glb")
    again = load(tmp_path / "preview.glb")
    assert again.height == pytest.approx(3.0)
    assert again.units.found_by == "a clip of akd states 3 m; --height overrides it"
    assert not again.units.is_assumed
    assert load(tmp_path / "preview.glb", height=2.0).height == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("species", "prompt", "reason"),
    [
        ("snake", "a snake slithering", "friction that is lower along the body than across it"),
        ("crow", "a crow flying", "the simulator has no air to carry a body"),
    ],
)
def test_what_no_simulation_helps_is_noted(species, prompt, reason, tmp_path):
    path = tmp_path / f"{species}.glb"
    write_creature(build_creature(species, seed=1000, vertices=600), [], path)
    request = make_request(path, prompt, device="cpu")
    assert request.physics is None
    assert any(note.startswith("physics is skipped") and reason in note for note in request.notes)
    assert not any("no feet were found" in note for note in request.notes)
