"""A recogniser looks at a motion: what it is shown, and how its answers are put together."""

from dataclasses import replace

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.metrics import action
from akd.metrics.action import SCENE, VIEWS, film_for, score_action, score_by_each
from akd.metrics.recognise.network import build_network
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import CLASSES, RECOGNISERS
from akd.motion.clip import motion_from_clip
from akd.motion.feet import leg_length
from akd.motion.loop import close_loop
from akd.prior.tiny import film
from akd.rig.character import load_character
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

    monkeypatch.setattr(action, "film_for", film)
    other = Recogniser(build_network(replace(RECOGNISERS["c"], frames=12)))
    same = Recogniser(build_network(RECOGNISERS["c"]))
    scores = score_by_each({"b": recogniser, "c": same}, character, walk, "walk")
    assert len(filmed) == 1
    assert scores["b"] == score_action(recogniser, character, walk, "walk")
    score_by_each({"b": recogniser, "c": other}, character, walk, "walk")
    assert len(filmed) == 4


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
