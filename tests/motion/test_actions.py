"""The table of actions, and how sentences are read by it."""

import subprocess
import sys

import pytest

from akd.metrics.recognise.settings import CLASSES
from akd.motion.actions import (
    ACTION_LABELS,
    ACTIONS,
    FASTEST_WALK,
    MANNER_LABELS,
    MANNERS,
    TURN,
    action_label,
    read_sentence,
)
from akd.motion.gait import starting_speed
from akd.prior.tiny.load import known_tokens, shipped_weights
from akd.prior.tiny.vocabulary import CREATURES, NONE, TOKENS, read_prompt
from akd.zoo.acts.catalogue import acts_of
from akd.zoo.species.catalogue import SPECIES
from akd.zoo.species.parameters import Arthropod, Fish, Humanoid, Quadruped, Serpent, Theropod

VERBS = [(verb, a) for a in ACTIONS.values() if not a.turn for verb in a.verbs or (a.name,)]


def test_vocabulary_and_classes_are_made_of_the_labels():
    assert (NONE, *CREATURES, *ACTION_LABELS, *MANNER_LABELS) == TOKENS
    assert (*ACTION_LABELS, "gliding statue", "paddling in the air") == CLASSES


def test_the_shipped_weights_know_words_of_the_table():
    known = [token for token in known_tokens(shipped_weights()) if token in ACTION_LABELS]
    assert {"stand", "walk", "run", "jump", "turn_left"} <= set(known)


def test_kinds_and_manners_are_in_the_table():
    assert set(ACTION_LABELS) <= set(ACTIONS)
    assert {a.kind for a in ACTIONS.values()} - {None} <= set(ACTION_LABELS)
    assert {a.manner for a in ACTIONS.values()} - {None} <= set(MANNER_LABELS)
    words = [word for manner in MANNERS for word in manner.words]
    assert len(words) == len(set(words))
    assert len(VERBS) == len({verb for verb, _ in VERBS})


def test_every_act_of_the_zoo_is_one_that_its_body_plan_does():
    plans = {Quadruped: "quadruped", Humanoid: "biped", Theropod: "biped", Arthropod: "many-legged",
             Serpent: "legless", Fish: "finned"}  # fmt: skip
    for species, parameters in SPECIES.items():
        for action in (*parameters.actions, *acts_of(parameters)):
            if action not in ("fly", "glide"):  # of those with wings besides
                assert plans[type(parameters)] in ACTIONS[action].bodies, (species, action)


@pytest.mark.parametrize(("verb", "action"), VERBS)
def test_every_verb_is_read_and_has_a_starting_speed(verb, action):
    sentence = f"a fox can {verb}"
    assert read_sentence(sentence).actions == (action,)
    assert starting_speed(sentence, 1.0) == pytest.approx((9.81 * action.froude) ** 0.5)
    assert read_prompt(sentence).action == action_label(sentence) == action.label
    known = known_tokens(shipped_weights())
    if action.label not in known:
        with pytest.raises(ValueError, match="the tiny prior knows no such action"):
            read_prompt(sentence, known)


@pytest.mark.parametrize(
    ("word", "action"),
    [
        ("marching", "march"),
        ("gets up", "get_up"),
        ("stood up", "get_up"),
        ("lying down", "lie_down"),
        ("sat", "sit_down"),
        ("walks backwards", "back_up"),
        ("picking up", "pick_up"),
        ("flew", "fly"),
        ("swimming", "swim"),
        ("strides", "walk"),
        ("wandered", "walk"),
        ("ambling", "amble"),
        ("dashes", "run"),
        ("racing", "run"),
        ("ran", "run"),
        ("bounding", "jump"),
        ("hopped", "hop"),
        ("leapt", "leap"),
        ("breathing", "stand"),
        ("stood", "stand"),
        ("speed-walking", "walk"),
    ],
)
def test_forms_of_verbs_are_read(word, action):
    assert read_sentence(f"a fox {word}").gait == ACTIONS[action]


@pytest.mark.parametrize(
    ("prompt", "action"),
    [
        ("a waiter running", "run"),
        ("a runway model walking", "walk"),
        ("a jogger standing", "stand"),
        ("a hopeful, hoping man trots", "trot"),
        ("a walking-stick insect runs", "run"),
    ],
)
def test_words_that_begin_like_a_verb_are_other_words(prompt, action):
    assert read_sentence(prompt).action == ACTIONS[action]
    assert action_label(prompt) == read_prompt(prompt).action == action


def test_a_turn_needs_a_side_and_keeps_its_gait():
    left = read_sentence("a horse trots and turns left")
    assert left.action == ACTIONS["turn_left"]
    assert left.gait == ACTIONS["trot"]
    for prompt in ("a fox turning", "a fox turning left and right"):
        assert read_sentence(prompt).action is TURN
        assert action_label(prompt) is None


def test_a_sentence_may_name_nothing():
    assert action_label("a fox knitting") is None
    assert read_sentence("").gait is None


@pytest.mark.parametrize(
    ("prompt", "pace", "manner"),
    [
        ("a fox walking", 1.0, NONE),
        ("a fox walking calmly", 0.6, "slowly"),
        ("a quick fox walks", 1.4, "quickly"),
        ("a fox walks briskly", 1.3, "quickly"),
        ("a crouched fox walking slowly", 0.6, "crouching"),
        ("a cat sneaks", 1.0, "crouching"),
        ("a high-stepping horse trots", 1.0, "prancing"),
    ],
)
def test_pace_and_manner(prompt, pace, manner):
    assert read_sentence(prompt).pace == pace
    assert read_prompt(prompt).manner == manner


@pytest.mark.parametrize(
    ("name", "cyclic", "two", "four"),
    [
        ("stand", False, False, False),
        ("walk", True, True, True),
        ("jog", True, True, True),
        ("run", True, True, False),
        ("gallop", True, False, False),
        ("hop", False, False, False),
        ("turn_left", True, True, True),
    ],
)
def test_how_legs_move(name, cyclic, two, four):
    action = ACTIONS[name]
    assert action.is_cyclic is cyclic
    assert (action.alternates_on(2), action.alternates_on(4)) == (two, four)


def test_the_table_needs_no_torch():
    code = "import sys, akd.motion.actions, akd.motion.gait; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_leaves_the_ground_is_too_fast_to_stay_on_it_or_jumps():
    flying = {a.name for a in ACTIONS.values() if a.label == a.name and a.leaves_ground}
    assert flying == {"run", "gallop", "jump", "fly", "glide"}
    assert ACTIONS["walk"].froude < FASTEST_WALK < ACTIONS["run"].froude
