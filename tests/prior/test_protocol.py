"""What every prior promises, tried on the tiny one and on large ones in their real classes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from akd.prior.estimate import Prediction
from akd.prior.guidance import predict_guided
from akd.prior.large.prior import PriorDiffusers
from akd.prior.large.schedulers import Schedule
from akd.prior.large.settings import LargeSettings
from akd.prior.protocol import Condition, VideoPrior
from akd.prior.sample import sample_latents, sample_videos
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.settings import TinySettings
from tests.prior.large.tiny_pipelines import SIZES, build, load_prior

LARGE = ("cogvideox-5b", "wan2.2-5b", "ltx", "animatediff")
"""Velocity, flow with a time a token, flow with packed latents, noise."""
SCALE = 7.5


@dataclass
class Case:
    """A prior, a video it takes, and words."""

    prior: Any
    video: Tensor
    condition: Condition


def tiny_prior() -> PriorTiny:
    torch.manual_seed(0)
    settings = TinySettings(
        frames=4, width=16, height=16, patch=8, channels=32, layers=2, heads=2, text_channels=8
    )
    network = TinyNetwork(settings)
    # Random weights: an untrained network predicts nothing at all, whatever it is told.
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return PriorTiny(network)


def large_prior(name: str, folder: Path, **options: Any) -> PriorDiffusers:
    if not (folder / "pipeline").is_dir():
        build(name, folder).save_pretrained(folder / "pipeline")
    frames, height, width = SIZES[name]
    settings = LargeSettings(precision="float32", **options)
    return load_prior(folder / "pipeline", settings=settings, cache=folder / "cache",
                      frames=frames, height=height, width=width)  # fmt: skip


@pytest.fixture(
    scope="module",
    params=["tiny", LARGE[0], *(pytest.param(p, marks=pytest.mark.slow) for p in LARGE[1:])],
)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp(request.param)
    prior = tiny_prior() if request.param == "tiny" else large_prior(request.param, folder)
    generator = torch.Generator().manual_seed(1)
    video = torch.rand(1, prior.frames, prior.height, prior.width, 3, generator=generator)
    picture = torch.rand(prior.height, prior.width, 3, generator=generator)
    reference = picture if prior.takes_reference_image else None
    return Case(prior, video, prior.condition("a fox walking", reference_image=reference))


def noisy_pair(case: Case) -> tuple[Tensor, Tensor]:
    """Noise of the latents' shape, two rows, and their times."""
    shape = case.prior.encode(case.video).shape[1:]
    noise = torch.randn(2, *shape, generator=torch.Generator().manual_seed(2))
    return noise, torch.tensor([0.35, 0.8])


@pytest.mark.slow
def test_it_is_a_video_prior(case: Case) -> None:
    prior: VideoPrior = case.prior
    assert isinstance(prior, VideoPrior)
    assert prior.name
    assert prior.fps > 0
    latents = prior.encode(case.video)
    assert latents.dtype == torch.float32
    assert latents.device == prior.device
    assert prior.decode(latents).shape == case.video.shape
    noise, t = noisy_pair(case)
    found = prior.predict(noise, t, [case.condition] * 2)
    assert found.shape == noise.shape
    assert found.dtype == torch.float32
    assert not found.requires_grad
    assert bool(found.isfinite().all())
    with pytest.raises(ValueError, match="latents, t and conditions must"):
        prior.predict(noise, t, [case.condition])


def test_noise_is_added_by_the_schedule(case: Case) -> None:
    prior = case.prior
    times = torch.linspace(0.0, 1.0, 21)
    alpha, sigma = prior.signal(times)
    assert float(alpha[0]) > 0.99
    assert float(sigma[-1]) > 0.95
    assert bool((alpha.diff() < 0).all())
    assert bool((sigma.diff() > 0).all())
    noise, t = noisy_pair(case)
    latents = prior.encode(case.video).expand_as(noise)
    alpha, sigma = (value.view(2, *(1,) * (noise.dim() - 1)) for value in prior.signal(t))
    wanted = alpha * latents + sigma * noise
    torch.testing.assert_close(prior.add_noise(latents, noise, t), wanted)


def test_guidance_is_one_formula(case: Case) -> None:
    """Distillation's guided estimate and a sampler's are without + scale (with - without)."""
    prior, condition = case.prior, case.condition
    noise, _ = noisy_pair(case)
    t = torch.full((2,), 0.995)
    with_words = prior.predict(noise, t, [condition] * 2)
    without = prior.predict(noise, t, [prior.unconditioned(condition)] * 2)
    assert (with_words - without).abs().max() > 1e-4
    wanted = without + SCALE * (with_words - without)
    close = {"rtol": 1e-3, "atol": 1e-3 * float(wanted.abs().max())}
    guided = predict_guided(prior, noise, t, condition, scale=SCALE)
    torch.testing.assert_close(guided, wanted, **close)
    sampled = sample_latents(prior, [condition] * 2, noise, steps=1, scale=SCALE)
    # A sampler keeps to the latents' bound, where the prior has one; distillation does not.
    within = wanted if prior.bound is None else wanted.clamp(-prior.bound, prior.bound)
    torch.testing.assert_close(sampled, within, **close)
    plain = predict_guided(prior, noise, t, condition, scale=1.0)
    torch.testing.assert_close(plain, with_words)


@pytest.mark.slow
def test_encoding_has_the_gradient_of_its_values(case: Case) -> None:
    """Along a random direction, against central differences."""
    prior = case.prior
    generator = torch.Generator().manual_seed(3)
    video = case.video.clone().requires_grad_()
    latents = prior.encode(video)
    weights = torch.randn(latents.shape, generator=generator)
    (slope,) = torch.autograd.grad((latents * weights).sum(), video)
    # One direction a frame: the gradient must reach every frame.
    for frame in range(prior.frames):
        way = torch.zeros_like(case.video)
        way[:, frame] = torch.randn(way[:, frame].shape, generator=generator)
        with torch.no_grad():
            ends = [prior.encode(case.video + step * way) for step in (1e-2, -1e-2)]
        wanted = float(((ends[0] - ends[1]).double() * weights).sum() / 2e-2)
        found = float((slope.double() * way).sum())
        size = float(slope[:, frame].double().norm() * way.norm())
        assert size > 0
        assert abs(found - wanted) < 0.01 * size


def test_a_gradient_runs_back_through_noise_but_not_the_network(case: Case) -> None:
    noise, t = noisy_pair(case)
    latents = case.prior.encode(case.video).detach().expand_as(noise).clone().requires_grad_()
    noisy = case.prior.add_noise(latents, noise, t)
    assert noisy.requires_grad
    assert not case.prior.predict(noisy, t, [case.condition] * 2).requires_grad


@pytest.mark.slow
def test_videos_can_be_sampled(case: Case) -> None:
    prior = case.prior
    others = prior.condition("a man running", reference_image=case.condition.reference_image)

    def sample(words: Condition, seed: int = 0) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return sample_videos(prior, [words], generator=generator, steps=3, scale=SCALE)

    found = sample(case.condition)
    assert found.shape == case.video.shape
    assert float(found.min()) >= 0.0
    assert float(found.max()) <= 1.0
    assert float(found.std()) > 1e-3
    assert torch.equal(found, sample(case.condition))
    for other in (sample(case.condition, seed=1), sample(others)):
        assert (other - found).abs().max() > 1e-4


STEPS = torch.linspace(0.999, 0.05, 1000, dtype=torch.float64)


@pytest.mark.parametrize("kind", list(Prediction))
def test_whatever_is_predicted_ends_as_the_clean_estimate(
    kind: Prediction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network that knows the truth, in each of the four languages."""
    prior = large_prior("cogvideox-5b", tmp_path)
    flow = kind is Prediction.FLOW
    schedule = Schedule(kind, 1000) if flow else Schedule(kind, 1000, STEPS)
    monkeypatch.setattr(prior.family.parts, "schedule", schedule)
    generator = torch.Generator().manual_seed(4)
    z, e = torch.randn(2, 2, 3, 4, 4, 4, generator=generator)
    t = torch.tensor([0.3, 0.9])
    alpha, sigma = (value.view(2, 1, 1, 1, 1) for value in prior.signal(t))
    truth = {
        Prediction.EPSILON: e,
        Prediction.V: alpha * e - sigma * z,
        Prediction.SAMPLE: z,
        Prediction.FLOW: e - z,
    }[kind]
    told: list[Tensor] = []

    def knows(latents: Tensor, time: Tensor, conditions: Any) -> Tensor:
        told.append(time)
        return truth

    monkeypatch.setattr(prior.family, "predict", knows)
    words = Condition(torch.zeros(8, 16))
    found = prior.predict(prior.add_noise(z, e, t), t, [words, words])
    torch.testing.assert_close(found, z, rtol=1e-4, atol=1e-4)
    assert told[0].tolist() == pytest.approx([300.0, 900.0] if flow else [300, 899])


def test_the_tiny_network_predicts_the_clean_video() -> None:
    prior = tiny_prior()
    truth = torch.randn(1, 4, 16, 16, 3, generator=torch.Generator().manual_seed(5))
    prior.network.forward = lambda *_: truth
    condition = prior.condition("a fox walking")
    noisy = prior.add_noise(truth, torch.ones_like(truth), torch.tensor([0.5]))
    assert torch.equal(prior.predict(noisy, torch.tensor([0.5]), [condition]), truth)


@pytest.mark.slow
def test_rows_one_by_one_take_less_at_a_time_and_give_the_same(tmp_path: Path) -> None:
    together = large_prior("cogvideox-5b", tmp_path)
    apart = large_prior("cogvideox-5b", tmp_path, together=False)
    rows: list[int] = []
    for prior in (together, apart):
        network = prior.family.parts.networks[0]
        network.register_forward_pre_hook(
            lambda _, __, given: rows.append(len(given["hidden_states"])), with_kwargs=True
        )
    noise = torch.randn(1, 3, 4, 4, 4, generator=torch.Generator().manual_seed(2))
    t, condition = torch.tensor([0.5]), together.condition("a fox walking")
    one, two = (predict_guided(p, noise, t, condition, scale=SCALE) for p in (together, apart))
    torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)
    assert rows == [2, 1, 1]
