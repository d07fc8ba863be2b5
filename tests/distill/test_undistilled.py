"""The fit of an action that is no gait competes with what distillation makes of it."""

from dataclasses import replace

import pytest
import torch

import akd
from akd.distill.settings import DistillSettings
from akd.fit.settings import WarmStartSettings
from akd.prior.tiny.load import load_tiny
from tests.commands.small_prior import write_weights

pytestmark = pytest.mark.slow

SETTINGS = DistillSettings(
    iterations=3, splats=100, checkpoint_every=1, learning_rate=2.0,
    warm_start=WarmStartSettings(
        samples=1, steps=1, trial=0, iterations=1, finalists=1, phase_search=False
    ),
)  # fmt: skip
"""Steps of distillation so large that the body flails."""


class Kept(akd.Observer):
    """Keeps checkpoints in memory, and may stop within distillation."""

    def __init__(self, stops: bool = False) -> None:
        self.kept, self.phase, self.stops = {}, "", stops

    def begin(self, phase):
        self.phase = phase

    def step(self, iteration, iterations, values):
        if self.stops and self.phase == "distil" and iteration == 2:
            raise KeyboardInterrupt

    def save(self, name, tensors):
        self.kept[name] = dict(tensors)

    def load(self, name):
        return self.kept.get(name)


@pytest.fixture(scope="module")
def prior(tmp_path_factory):
    """A small prior with random weights."""
    return load_tiny(
        write_weights(tmp_path_factory.mktemp("prior"), frames=12), dtype=torch.float32
    )


@pytest.fixture(autouse=True)
def unseen(monkeypatch):
    """Recognisers B and C do not look at the results."""
    monkeypatch.setattr("akd.api.search.reporting_recognisers", lambda weights, device: {})


def made(fox, prior, prompt="a fox jumping", settings=SETTINGS, **more):
    return akd.animate(fox, prompt, prior=prior, preset=settings, physics=False, **more)


def test_a_fit_that_distillation_ruins_is_kept(fox, prior):
    found = made(fox, prior)
    distilled, fitted = found.selection_scores
    assert fitted > distilled
    fit = made(fox, prior, settings=replace(SETTINGS, iterations=0))
    assert fit.selection_scores == (1.0,)
    assert torch.equal(found.motion.pose.rotation, fit.motion.pose.rotation)
    assert len(found.history) == 3
    assert f"{fitted:.2f}, with score distillation {distilled:.2f}" in found.notes[-1]


@pytest.mark.parametrize(
    ("prompt", "steering"), [("a fox walking", True), ("a fox jumping", False)]
)
def test_gaits_are_distilled_and_so_is_all_without_recogniser_a(fox, prior, prompt, steering):
    found = made(fox, prior, prompt, steering=steering)
    assert found.selection_scores == (1.0,)
    fit = made(fox, prior, prompt, steering=steering, settings=replace(SETTINGS, iterations=0))
    assert not torch.equal(found.motion.pose.rotation, fit.motion.pose.rotation)


def test_a_run_that_stops_within_distillation_has_the_same_choice(fox, prior):
    whole = made(fox, prior)
    observer = Kept(stops=True)
    with pytest.raises(KeyboardInterrupt):
        made(fox, prior, observer=observer)
    observer.stops = False
    resumed = made(fox, prior, observer=observer)
    assert resumed.selection_scores == whole.selection_scores
    assert torch.equal(resumed.motion.pose.rotation, whole.motion.pose.rotation)
