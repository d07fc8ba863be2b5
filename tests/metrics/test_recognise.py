"""The recognisers with weights made here; what needs the shipped ones is skipped by name."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from akd.metrics.recognise.network import ConvolutionNetwork, SequenceNetwork, build_network
from akd.metrics.recognise.recogniser import (
    Recogniser,
    has_recogniser,
    load_recogniser,
    save_recogniser,
)
from akd.metrics.recognise.settings import CLASSES, RECOGNISERS
from akd.metrics.recognise.train import measure_accuracy, roughen, train_recogniser


def stripes(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Videos of stripes that stand still (stand) or move (walk): only time tells them apart."""
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(2, (count,), generator=g)
    phase = 6.0 * torch.rand(count, 1, 1, 1, 1, generator=g)
    x = 0.5 * torch.arange(32.0).view(1, 1, 1, 32, 1)
    t = torch.arange(8.0).view(1, 8, 1, 1, 1) * labels.view(-1, 1, 1, 1, 1)
    videos = 0.5 + 0.4 * torch.sin(x + phase + 0.9 * t)
    return videos.expand(-1, -1, 32, -1, 3).contiguous(), labels


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a", "b"])
def test_a_recogniser_learns_what_only_time_tells_and_comes_back(name: str, tmp_path: Path):
    settings = replace(
        RECOGNISERS[name], frames=8, size=32, batch=16, learning_rate=2e-3, noise=0.02
    )
    seeds = iter(range(10_000))
    recogniser = train_recogniser(
        settings, lambda count: stripes(count, next(seeds)), seconds=600.0, most_steps=60,
        device=torch.device("cpu"),
    )  # fmt: skip
    videos, labels = stripes(48, 77_777)
    scores = measure_accuracy(recogniser, videos, labels)
    assert scores["all"] > 0.9
    assert set(scores) == {"all", "stand", "walk"}
    probabilities = recogniser(videos)
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(48))
    assert recogniser.names(videos[:1])[0] in CLASSES
    assert not has_recogniser(settings.name, tmp_path)
    save_recogniser(recogniser, tmp_path)
    again = load_recogniser(settings.name, tmp_path)
    assert again.settings == settings
    torch.testing.assert_close(again(videos), probabilities, rtol=0.02, atol=0.02)


def test_the_two_differ_in_everything_but_what_they_look_at():
    a, b = RECOGNISERS["a"], RECOGNISERS["b"]
    assert isinstance(build_network(a), ConvolutionNetwork)
    assert isinstance(build_network(b), SequenceNetwork)
    assert a.seed != b.seed
    assert (a.azimuth, a.elevation) != (b.azimuth, b.elevation)
    assert (a.frames, a.size, a.fps) == (b.frames, b.size, b.fps)
    assert CLASSES[-2:] == ("gliding statue", "paddling in the air")


def test_videos_of_another_size_are_refused():
    recogniser = Recogniser(build_network(RECOGNISERS["b"]))
    with pytest.raises(ValueError, match=r"16 frames of 64 x 64 pixels, got \[8, 64, 64\]"):
        recogniser(torch.zeros(1, 8, 64, 64, 3))


def test_a_missing_recogniser_is_said(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="`akd prior train-recogniser a` makes one"):
        load_recogniser("a", tmp_path)


def test_roughening_keeps_the_range_and_changes_something():
    videos, _ = stripes(4, 1)
    rough = roughen(videos, 0.2, torch.Generator().manual_seed(0))
    assert float(rough.min()) >= 0.0
    assert float(rough.max()) <= 1.0
    assert float((rough - videos).abs().mean()) > 0.01
