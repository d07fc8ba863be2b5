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
    scaled,
    shipped_recognisers,
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


def test_they_differ_in_everything_but_what_they_look_at():
    a, b, c = (RECOGNISERS[name] for name in ("a", "b", "c"))
    assert isinstance(build_network(a), ConvolutionNetwork)
    assert isinstance(build_network(b), SequenceNetwork)
    assert len({one.seed for one in (a, b, c)}) == 3
    assert len({(one.azimuth, one.elevation) for one in (a, b, c)}) == 3
    assert len({one.looks_at for one in (a, b, c)}) == 1
    assert CLASSES[-2:] == ("gliding statue", "paddling in the air")


def test_videos_of_another_length_are_refused_and_of_another_size_scaled():
    recogniser = Recogniser(build_network(RECOGNISERS["b"]))
    with pytest.raises(ValueError, match=r"24 square frames, got \[8, 64, 64\]"):
        recogniser(torch.zeros(1, 8, 64, 64, 3))
    ramp = torch.linspace(0.0, 1.0, 96).expand(1, 24, 96, 96)[..., None].expand(-1, -1, -1, -1, 3)
    middle = scaled(ramp, 64)[0, 0, 0, 1:-1, 0]
    torch.testing.assert_close(middle.diff(), torch.full((61,), 1.5 / 95), rtol=0.05, atol=1e-3)
    assert recogniser(torch.rand(1, 24, 96, 96, 3)).shape == (1, len(CLASSES))


def test_together_they_are_small():
    weights = [build_network(one).parameters() for one in RECOGNISERS.values()]
    assert sum(2 * p.numel() for network in weights for p in network) < 6_000_000


def test_the_shipped_recognisers_are_small_load_and_look_at_the_same_frames():
    files = list(shipped_recognisers().glob("*.safetensors"))
    assert sum(file.stat().st_size for file in files) <= 6_000_000
    shipped = [load_recogniser(name) for name in ("a", "b", "c")]
    assert len(shipped) == len(files)
    assert {one.classes for one in shipped} == {CLASSES}
    assert len({one.settings.looks_at for one in shipped}) == 1


def test_a_missing_recogniser_is_said(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="`akd prior train-recogniser a` makes one"):
        load_recogniser("a", tmp_path)


def test_roughening_keeps_the_range_and_changes_something():
    videos, _ = stripes(4, 1)
    rough = roughen(videos, 0.2, torch.Generator().manual_seed(0))
    assert float(rough.min()) >= 0.0
    assert float(rough.max()) <= 1.0
    assert float((rough - videos).abs().mean()) > 0.01
