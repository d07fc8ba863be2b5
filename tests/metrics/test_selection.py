"""What may steer the search: selection scores, and which videos recogniser A may score."""

from dataclasses import replace

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.metrics.measures import Measures
from akd.metrics.motion import measure
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.recognise.network import build_network
from akd.metrics.recognise.recogniser import Recogniser, load_recogniser
from akd.metrics.recognise.settings import CLASSES, RECOGNISERS
from akd.metrics.selection import (
    Criteria,
    lowered,
    selection_score,
    soundness_score,
    video_score,
)
from akd.motion.actions import ACTION_LABELS
from akd.motion.clip import motion_from_clip
from akd.motion.root_motion import displaced
from akd.rig.character import bound_character, load_character
from akd.scene.settings import SceneStyle
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip


@pytest.fixture(scope="module")
def fox(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fox")
    creature = build_creature("fox", vertices=1200)
    clips = [make_clip(creature, action) for action in ("walk", "gallop")]
    write_creature(creature, clips, folder / "fox.glb")
    character = load_character(read_asset(folder / "fox.glb"))
    return character, *(motion_from_clip(character, clip) for clip in character.asset.clips)


@pytest.mark.slow
def test_a_walk_is_worth_more_than_one_in_the_air_and_than_a_gallop(fox):
    character, walk, gallop = fox
    steering = load_recogniser("a")
    up = torch.tensor((0.0, 0.1, 0.0)).expand(len(walk), 3)
    true = selection_score(Measures(character, "walk"), walk, steering)
    assert true > 1.5
    aloft = displaced(character.control_rig, walk, up)
    assert selection_score(Measures(character, "walk"), aloft, steering) < true - 0.5
    assert selection_score(Measures(character, "walk"), gallop, steering) < true - 0.5
    # Legs that go together are a fault of a walk and none of a gallop.
    alone = Measures(character, "gallop"), Measures(character, "walk")
    assert selection_score(alone[0], gallop, None) > selection_score(alone[1], gallop, None)


def test_without_a_recogniser_or_its_word_only_soundness_counts(fox):
    character, walk, _ = fox
    sound = selection_score(Measures(character, "walk"), walk, None)
    assert 0.0 < sound <= 1.0
    unasked = selection_score(Measures(character, None), walk, None)
    assert selection_score(Measures(character, None), walk, load_recogniser("a")) == unasked


def test_only_what_it_was_trained_on_is_judged():
    recogniser = Recogniser(build_network(RECOGNISERS["a"]))
    trained = recogniser.settings
    given = {"style": SceneStyle.ROLES, "size": (trained.frames, trained.size, trained.size)}
    score = video_score(recogniser, "trot", **given)
    assert score is not None
    videos = torch.rand(2, trained.frames, trained.size, trained.size, 3)
    expected = recogniser(videos)[:, CLASSES.index("trot")]
    torch.testing.assert_close(score(videos), expected)
    assert video_score(None, "trot", **given) is None
    assert video_score(recogniser, None, **given) is None
    wide = (trained.frames, trained.size, 96)
    assert video_score(recogniser, "trot", style=SceneStyle.ROLES, size=wide) is None
    textured = given | {"style": SceneStyle.TEXTURED}
    assert video_score(recogniser, "trot", **textured) is None
    assert soundness_score(None, **given) is None
    assert soundness_score(recogniser, **textured) is None
    sound = soundness_score(recogniser, **given)
    assert sound is not None
    actions = recogniser(videos)[:, : len(ACTION_LABELS)]
    torch.testing.assert_close(sound(videos), actions.sum(-1))


def worse(before: MotionMetrics, after: MotionMetrics) -> str | None:
    return lowered(Criteria(before), Criteria(after))


def test_physics_that_lowers_a_result_is_named(fox):
    character, walk, _ = fox
    rig = character.control_rig
    up = torch.tensor((0.0, 0.1, 0.0)).expand(len(walk), 3)
    good, bad = (measure(character, rig, m) for m in (walk, displaced(rig, walk, up)))
    assert worse(bad, good) is None
    assert worse(good, good) is None
    assert "a foot touches the ground for 0%" in (worse(good, bad) or "")
    # A loss that nobody sees is none; a clip that shakes is named for it.
    assert worse(good, replace(good, roughness=1.1 * good.roughness)) is None
    shaken = worse(good, replace(good, roughness=20.0 * good.roughness)) or ""
    assert "the part for roughness fell from 1.00 to 0." in shaken


def test_physics_that_makes_a_bad_motion_worse_is_named(fox):
    """Where the score is zero before and after, as of a spider that attacks, it cannot tell."""
    character, walk, _ = fox
    rig = character.control_rig
    down = torch.tensor((0.0, -0.08, 0.0)).expand(len(walk), 3)
    bad = replace(measure(character, rig, displaced(rig, walk, down)), penetration=0.081)
    assert bad.score < 0.3
    sunk = worse(bad, replace(bad, penetration=0.115)) or ""
    assert sunk == "it sinks by 8.1% of the body's height before physics and by 11.5% after"
    slides = worse(replace(bad, skate=(2.8,)), replace(bad, skate=(24.9,))) or ""
    assert slides == "a foot slides at 2.8 times the body's speed before physics and at 24.9 after"
    assert worse(bad, bad) is None


def test_physics_that_hides_an_action_is_named(fox):
    character, walk, _ = fox
    sound = replace(measure(character, character.control_rig, walk), asked="kick")
    seen = Criteria(sound, likeness=0.8)
    assert lowered(seen, Criteria(sound, likeness=0.3)) == (
        "it looks less like kicking: recogniser A gives 0.80 before physics and 0.30 after"
    )
    assert lowered(seen, Criteria(sound, likeness=0.77)) is None
    # What looks more like it may sound worse, unless a foot drills.
    shaken, unlike = replace(sound, roughness=20.0 * sound.roughness), Criteria(sound, 0.1)
    assert 0.1 < sound.score - shaken.score < 0.8
    assert lowered(unlike, Criteria(shaken, likeness=0.95)) is None
    assert "the part for roughness fell" in (lowered(unlike, Criteria(shaken, 0.1)) or "")
    assert "a foot slides" in (lowered(seen, Criteria(replace(sound, skate=(9.0,)), 1.0)) or "")


@pytest.mark.slow
def test_recogniser_a_is_asked_about_actions_that_are_no_gaits():
    man = build_creature("man", seed=1000, vertices=1200)
    character = bound_character("man", man.skeleton, man.mesh)
    steering = load_recogniser("a")
    kick, stand = (make_clip(man, action) for action in ("kick", "stand"))
    measures = Measures(character, "kick")
    kicks, stands = (Criteria.of(measures, m, steering) for m in (kick, stand))
    assert kicks.likeness is not None
    assert stands.likeness is not None
    assert kicks.likeness > 0.8
    assert stands.likeness < 0.2
    assert "it looks less like kicking" in (lowered(kicks, stands) or "")
    assert kicks.improves_on(stands)
    assert not stands.improves_on(kicks)
    assert Criteria.of(measures, kick, None).likeness is None
    assert Criteria.of(Measures(character, "walk"), kick, steering).likeness is None
