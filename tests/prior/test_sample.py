"""Sampling against an equation: of a Gaussian the probability flow is known in closed form."""

from itertools import pairwise

import pytest
import torch

from akd.prior.sample import sample_latents
from tests.distill.known_prior import KnownPrior

FIRST = 0.995


@pytest.fixture
def prior() -> KnownPrior:
    return KnownPrior(torch.full((4, 16, 16, 3), 0.2), 0.6)


def noise(rows: int) -> torch.Tensor:
    return torch.randn(rows, 4, 16, 16, 3, generator=torch.Generator().manual_seed(2)).double()


def true(prior: KnownPrior) -> torch.Tensor:
    """Where the flow carries the noise."""
    alpha, sigma = prior.signal(torch.tensor(FIRST).double())
    spread = (alpha**2 * prior.spread**2 + sigma**2).sqrt()
    return prior.mean + prior.spread * (noise(1) - alpha * prior.mean) / spread


def sampled(prior: KnownPrior, steps: int) -> torch.Tensor:
    condition = prior.condition("anything")
    return sample_latents(prior, [condition], noise(1), steps=steps, scale=1.0, first=FIRST)


def sampled_by_ddim(prior: KnownPrior, steps: int) -> torch.Tensor:
    """The solver of first order, written out."""
    z = clean = noise(1)
    for now, after in pairwise(torch.linspace(FIRST, 0.0, steps + 1).double()):
        clean = prior.predict(z, now[None], [])
        alpha, sigma = prior.signal(now)
        e = (z - alpha * clean) / sigma
        alpha, sigma = prior.signal(after)
        z = alpha * clean + sigma * e
    return clean


def error(prior: KnownPrior, found: torch.Tensor) -> float:
    return float((found - true(prior)).abs().max())


def test_a_dozen_steps_come_nearer_than_four_dozen_of_ddim(prior):
    by_steps = {steps: error(prior, sampled(prior, steps)) for steps in (12, 48, 96)}
    assert by_steps[12] < error(prior, sampled_by_ddim(prior, 48))
    assert by_steps[12] > by_steps[48] > by_steps[96]
    assert by_steps[96] < 0.005


def test_a_single_step_returns_the_estimate(prior):
    conditions = [prior.condition("anything")] * 2
    found = sample_latents(prior, conditions, noise(2), steps=1, scale=1.0, first=FIRST)
    torch.testing.assert_close(found, prior.predict(noise(2), torch.full((2,), FIRST), conditions))
