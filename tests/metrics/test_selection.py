"""What may steer the search: merits of motions, and who may judge which videos."""

import pytest
import torch

from akd.export.creature import write_creature
from akd.metrics.recognise.network import build_network
from akd.metrics.recognise.recogniser import Recogniser, load_recogniser
from akd.metrics.recognise.settings import CLASSES, RECOGNISERS
from akd.metrics.selection import judge_of, merit
from akd.motion.clip import motion_from_clip
from akd.motion.root_motion import displaced
from akd.subject import load_subject
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from tests.distill.known_prior import KnownPrior


@pytest.fixture(scope="module")
def fox(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fox")
    creature = build_creature("fox", vertices=1200)
    clips = [make_clip(creature, action) for action in ("walk", "gallop")]
    write_creature(creature, clips, folder / "fox.glb")
    subject = load_subject(folder / "fox.glb", rigged=folder / "rigged.glb")
    character = subject.character
    return subject, *(motion_from_clip(character, clip) for clip in character.asset.clips)


@pytest.mark.slow
def test_a_walk_is_worth_more_than_one_in_the_air_and_than_a_gallop(fox):
    subject, walk, gallop = fox
    steering = load_recogniser("a")
    up = torch.tensor((0.0, 0.1, 0.0)).expand(len(walk), 3)
    true = merit(subject, walk, steering, "walk")
    assert true > 1.5
    assert merit(subject, displaced(subject.rig, walk, up), steering, "walk") < true - 0.5
    assert merit(subject, gallop, steering, "walk") < true - 0.5
    # Legs that go together are a fault of a walk and none of a gallop.
    assert merit(subject, gallop, None, "gallop") > merit(subject, gallop, None, "walk")


def test_without_a_recogniser_or_its_word_only_soundness_counts(fox):
    subject, walk, _ = fox
    sound = merit(subject, walk, None, "walk")
    assert 0.0 < sound <= 1.0
    assert merit(subject, walk, load_recogniser("a"), None) == sound


def prior_of(frames: int, height: int, width: int, *, name: str = "tiny") -> KnownPrior:
    prior = KnownPrior(torch.full((frames, height, width, 3), 0.5), 0.3)
    prior.name, prior.frames, prior.height, prior.width = name, frames, height, width
    return prior


def test_only_what_it_was_trained_on_is_judged():
    recogniser = Recogniser(build_network(RECOGNISERS["a"]))
    size = recogniser.settings
    tiny = prior_of(size.frames, size.size, size.size)
    judge = judge_of(recogniser, tiny, "trot")
    assert judge is not None
    videos = torch.rand(2, size.frames, size.size, size.size, 3)
    expected = recogniser(videos)[:, CLASSES.index("trot")]
    torch.testing.assert_close(judge(videos), expected)
    assert judge_of(None, tiny, "trot") is None
    assert judge_of(recogniser, tiny, None) is None
    assert judge_of(recogniser, prior_of(size.frames, size.size, 96), "trot") is None
    other = prior_of(size.frames, size.size, size.size, name="wan")
    assert judge_of(recogniser, other, "trot") is None
