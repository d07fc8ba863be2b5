"""Known frames through `animate`: keyframes, and actions in a row."""

import pytest
import torch

import akd
from akd.api.clips import find_motion
from akd.distill.settings import DistillSettings
from akd.export.creature import write_creature
from akd.fit.settings import WarmStartSettings
from akd.motion.direction import Direction
from akd.motion.feet import leg_length
from akd.prior.tiny.load import load_tiny
from akd.zoo import build_creature, make_clip
from tests.commands.small_prior import write_weights
from tests.distill.fox import Screen

SETTINGS = DistillSettings(
    iterations=1, splats=100,
    warm_start=WarmStartSettings(
        samples=1, steps=1, trial=0, iterations=1, finalists=1, phase_search=False
    ),
)  # fmt: skip


@pytest.fixture
def prior(tmp_path, monkeypatch):
    """A small prior with random weights, and the masks of known frames that it was asked with."""
    prior, asked = load_tiny(write_weights(tmp_path, frames=12), dtype=torch.float32), []
    predict = type(prior).predict

    def note(self, latents, t, conditions):
        asked.append([None if c.known is None else c.known.mask.tolist() for c in conditions])
        return predict(self, latents, t, conditions)

    monkeypatch.setattr(type(prior), "predict", note)
    return prior, asked


@pytest.fixture(autouse=True)
def unseen(monkeypatch):
    """No recogniser looks at the results."""
    monkeypatch.setattr("akd.api.search.reporting_recognisers", lambda weights, device: {})


def made(fox, prior, prompt, **more):
    return akd.animate(
        fox, prompt, prior=prior, preset=SETTINGS, physics=False, steering=False, **more
    )


@pytest.fixture(scope="module")
def lying(tmp_path_factory):
    """A file whose clip ends with the fox lying down."""
    creature = build_creature("fox", vertices=800)
    path = tmp_path_factory.mktemp("poses") / "lying.glb"
    write_creature(creature, [make_clip(creature, "lie_down")], path)
    return path


def rate(fox, prior) -> float:
    return prior.for_body(leg_length(fox, fox.control_rig)).fps


def apart(fox, one, other) -> float:
    """Mean distance of driven joints from each other, heading and place apart, in body heights."""
    rig = fox.control_rig
    places = [motion.world()[0, [rig.root, *rig.joints], :3, 3] for motion in (one, other)]
    level = torch.tensor((1.0, 0.0, 1.0))
    places = [p - p[0] * level for p in places]
    return float((places[0] - places[1]).norm(dim=-1).mean()) / fox.height


@pytest.mark.slow
def test_keyframes_are_known_frames(fox, prior, lying):
    prior, asked = prior
    fps = rate(fox, prior)
    last = 11 / fps
    direction = Direction(keyframes=(f"0={lying}@0", f"{last:.2f}={lying}@9"))
    clip = made(fox, prior, "a fox lies down", direction=direction).motion
    wanted = [True, *[False] * 10, True]
    assert asked
    assert all(mask == wanted for masks in asked for mask in masks)
    true = find_motion(akd.load(lying))
    assert apart(fox, clip, true) < 0.03
    end, lies = clip.sample(clip.times[-1:]), true.sample(true.times[-1:])
    assert apart(fox, end, lies) < 0.03


@pytest.mark.slow
def test_a_clip_that_is_retimed_meets_its_keyframes_afterwards(fox, prior, lying):
    prior, asked = prior
    with pytest.raises(ValueError, match=r"^speed "):
        made(fox, prior, "a fox lies down",
             direction=Direction(speed=1.0, keyframes=(f"0={lying}@0",)))  # fmt: skip
    assert not any(mask for masks in asked for mask in masks)


@pytest.mark.slow
def test_an_action_begins_with_the_last_frames_of_the_one_before(fox, prior):
    prior, asked = prior
    clip = made(fox, prior, "a fox shakes, then roars")
    lead = [True] * 4 + [False] * 8
    masks = [mask for masks in asked for mask in masks]
    first = masks.count(None)
    assert masks == [None] * first + [lead] * (len(masks) - first)
    assert 0 < first < len(masks)
    fps = rate(fox, prior)
    assert clip.motion.duration == pytest.approx((11 + 11 - 3) / fps, abs=0.1)


@pytest.mark.slow
def test_a_prior_without_known_frames_is_shown_the_poses_all_the_same(fox, lying):
    prior = Screen()
    direction = Direction(keyframes=(f"0={lying}@0",))
    clip = made(fox, prior, "a fox lies down", direction=direction)
    assert clip.motion.duration == pytest.approx(7 / prior.fps, abs=0.05)
