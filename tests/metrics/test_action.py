"""A recogniser looks at a motion: what it is shown, and how its answers are put together."""

from dataclasses import replace

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.metrics import films, measures
from akd.metrics.action import ActionScore, score_films
from akd.metrics.films import SCENE, VIEWS, Films, film_for
from akd.metrics.measures import Measures
from akd.metrics.motion import measure
from akd.metrics.recognise.network import build_network
from akd.metrics.recognise.recogniser import Recogniser, reporting_recognisers
from akd.metrics.recognise.settings import CLASSES, RECOGNISERS
from akd.metrics.selection import selection_score
from akd.motion.clip import motion_from_clip
from akd.motion.feet import leg_length
from akd.motion.loop import close_loop
from akd.prior.tiny import film
from akd.rig.character import load_character
from akd.scene.film import film_motion
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip


@pytest.fixture(scope="module")
def recogniser():
    torch.manual_seed(1)
    return Recogniser(build_network(RECOGNISERS["b"]))


@pytest.fixture(scope="module")
def fox(tmp_path_factory):
    creature = build_creature("fox", vertices=800)
    path = tmp_path_factory.mktemp("fox") / "fox.glb"
    write_creature(creature, [make_clip(creature, "walk")], path)
    character = load_character(read_asset(path))
    return character, motion_from_clip(character, character.asset.clips[0])


def score_action(recogniser, character, motion, asked) -> ActionScore:
    return score_films({"only": recogniser}, Films(character, asked), motion)["only"]


def test_recognisers_see_the_scene_they_were_trained_on():
    assert SCENE == film.SCENE


@pytest.mark.slow
def test_every_view_of_every_window_is_shown(recogniser, fox):
    character, walk = fox
    videos = film_for(recogniser, character, walk)
    assert videos.shape == (len(VIEWS), 24, 64, 64, 3)
    # The character fills a good part of the image, and moves in it.
    assert float((videos[:, 1:] - videos[:, :-1]).abs().mean()) > 0.003
    assert float((videos[0] - videos[3]).abs().mean()) > 0.01


@pytest.mark.slow
def test_recognisers_that_look_alike_share_videos(recogniser, fox, monkeypatch):
    character, walk = fox
    filmed = []

    def film(*given, **more):
        filmed.append(given)
        return film_for(*given, **more)

    monkeypatch.setattr(films, "film_for", film)
    other = Recogniser(build_network(replace(RECOGNISERS["c"], frames=12)))
    same = Recogniser(build_network(RECOGNISERS["c"]))
    scores = score_films({"b": recogniser, "c": same}, Films(character, "walk"), walk)
    assert len(filmed) == 1
    assert scores["b"] == score_action(recogniser, character, walk, "walk")
    score_films({"b": recogniser, "c": other}, Films(character, "walk"), walk)
    assert len(filmed) == 4


@pytest.mark.slow
def test_a_motion_is_measured_and_filmed_once(recogniser, fox, monkeypatch):
    character, walk = fox
    made = []

    def noting(function):
        def noted(*given, **more):
            made.append(function.__name__)
            return function(*given, **more)

        return noted

    monkeypatch.setattr(films, "film_for", noting(film_for))
    monkeypatch.setattr(measures, "measure", noting(measure))
    other = Recogniser(build_network(RECOGNISERS["c"]))
    asked = Measures(character, "walk")
    chosen = selection_score(asked, walk, recogniser)
    found = asked.with_recognisers(walk, {"b": recogniser, "c": other})
    assert made == ["measure", "film_for"]
    assert found == replace(
        measure(character, character.control_rig, walk, asked="walk"),
        action=score_action(recogniser, character, walk, "walk"),
        action_c=score_action(other, character, walk, "walk"),
    )
    assert found.action is not None
    assert chosen == asked.of(walk).score - 0.1 * len(found.fails) + found.action.probability
    asked.with_recognisers(replace(walk), {})
    assert made.count("measure") == 2


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_recognisers_and_films_on_a_gpu_say_the_same(fox):
    character, walk = fox
    scores = []
    for device in ("cpu", "cuda"):
        recognisers = reporting_recognisers(device=device)
        asked = Measures(character, "walk", device)
        assert asked.films.of(recognisers["b"], walk).device.type == device
        scores.append(asked.with_recognisers(walk, recognisers).action)
    assert scores[0].said == scores[1].said
    assert scores[0].probability == pytest.approx(scores[1].probability, abs=0.02)
    videos = [film_motion(character, walk, size=(96, 54), device=d) for d in ("cpu", "cuda")]
    apart = (videos[0].frames.float() - videos[1].frames.float()).abs()
    assert float(apart.mean()) < 0.5  # of 255


@pytest.mark.slow
def test_a_short_loop_is_repeated_and_a_jump_is_held(recogniser, fox):
    character, walk = fox
    stride = walk.sample(walk.times[0] + torch.linspace(0.0, 0.5 * walk.duration, 16))
    stride = close_loop(character.control_rig, stride)
    assert stride.duration < 0.5 * 23 / recogniser.settings.rate(
        leg_length(character, character.control_rig)
    )

    def moves(action):
        videos = film_for(recogniser, character, stride, action=action)
        return float((videos[:, -5:-1] - videos[:, -4:]).abs().mean())

    assert moves("walk") > 0.003
    assert moves("jump") < 0.5 * moves("walk")  # the camera still settles


@pytest.mark.slow
def test_a_score_is_the_mean_over_views(recogniser, fox):
    character, walk = fox
    found = score_action(recogniser, character, walk, "walk")
    expected = recogniser(film_for(recogniser, character, walk)).mean(0)
    assert list(found.probabilities) == list(CLASSES)
    assert sum(found.probabilities.values()) == pytest.approx(1.0, abs=1e-5)
    assert found.probability == pytest.approx(float(expected[CLASSES.index("walk")]))
    assert found.said == CLASSES[int(expected.argmax())]
    assert score_action(recogniser, character, walk, None).probability is None
    with pytest.raises(ValueError, match="asked must be one of stand, walk"):
        score_action(recogniser, character, walk, "knit")
