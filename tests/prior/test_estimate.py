import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from akd.prior.estimate import Prediction, add_noise, clean_estimate, implied_noise

ANGLES = st.floats(0.05, 0.5 * math.pi - 0.05)


@given(angle=ANGLES, seed=st.integers(0, 1000))
def test_every_true_prediction_gives_the_clean_latents(angle: float, seed: int):
    g = torch.Generator().manual_seed(seed)
    z = torch.randn(2, 3, 4, generator=g, dtype=torch.float64)
    e = torch.randn(2, 3, 4, generator=g, dtype=torch.float64)
    alpha = torch.full((2,), math.cos(angle), dtype=torch.float64)
    sigma = torch.full((2,), math.sin(angle), dtype=torch.float64)
    noisy = add_noise(z, e, alpha=alpha, sigma=sigma)
    truths = {
        Prediction.EPSILON: e,
        Prediction.V: math.cos(angle) * e - math.sin(angle) * z,
        Prediction.SAMPLE: z,
    }
    for kind, truth in truths.items():
        got = clean_estimate(truth, noisy, kind, alpha=alpha, sigma=sigma)
        torch.testing.assert_close(got, z)
        torch.testing.assert_close(implied_noise(got, noisy, alpha=alpha, sigma=sigma), e)
    # Flow matching: alpha = 1 - sigma, prediction e - z.
    flow_noisy = add_noise(z, e, alpha=1.0 - sigma, sigma=sigma)
    flow = clean_estimate(e - z, flow_noisy, Prediction.FLOW, alpha=1.0 - sigma, sigma=sigma)
    torch.testing.assert_close(flow, z)


def test_v_uses_both_roots():
    # sqrt(a) z_t - sqrt(1 - a) v with a = 0.64: 0.8 * 1 - 0.6 * 0.5
    one = torch.ones(1, 1)
    got = clean_estimate(
        0.5 * one, one, Prediction.V, alpha=torch.tensor([0.8]), sigma=torch.tensor([0.6])
    )
    torch.testing.assert_close(got, torch.tensor([[0.5]]))


def test_rows_have_their_own_noise_level():
    z = torch.ones(2, 5)
    levels = torch.tensor([0.0, 1.0])
    noisy = add_noise(z, 3.0 * z, alpha=1.0 - levels, sigma=levels)
    torch.testing.assert_close(noisy, torch.tensor([[1.0] * 5, [3.0] * 5]))


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"one shape, got \(2, 3\) and \(2, 4\)"):
        clean_estimate(
            torch.zeros(2, 3), torch.zeros(2, 4), Prediction.V,
            alpha=torch.ones(2), sigma=torch.ones(2),
        )  # fmt: skip
