import pytest
import torch

from akd.prior.estimate import Prediction, clean_estimate
from akd.prior.guidance import guide, predict_guided
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.settings import TinySettings


def test_scale_one_is_the_conditional_and_zero_the_unconditional_estimate():
    a, b = torch.randn(2, 3, 4, 5)
    torch.testing.assert_close(guide(a, b, scale=1.0), a)
    torch.testing.assert_close(guide(a, b, scale=0.0), b)
    torch.testing.assert_close(guide(a, b, scale=7.5), b + 7.5 * (a - b))


@pytest.mark.parametrize("kind", [Prediction.EPSILON, Prediction.V, Prediction.FLOW])
def test_guiding_the_estimate_is_guiding_the_prediction(kind: Prediction):
    noisy, with_words, without = torch.randn(3, 2, 6, dtype=torch.float64)
    sigma = torch.tensor([0.3, 0.8], dtype=torch.float64)
    alpha = 1.0 - sigma if kind is Prediction.FLOW else (1.0 - sigma**2).sqrt()

    def clean(prediction: torch.Tensor) -> torch.Tensor:
        return clean_estimate(prediction, noisy, kind, alpha=alpha, sigma=sigma)

    guided = guide(clean(with_words), clean(without), scale=12.0)
    torch.testing.assert_close(guided, clean(guide(with_words, without, scale=12.0)))


def test_rescale_brings_the_spread_back():
    a, b = torch.randn(2, 3, 400)
    guided = guide(a, b, scale=9.0)
    assert (guided.std(1) > 3.0 * a.std(1)).all()
    torch.testing.assert_close(guide(a, b, scale=9.0, rescale=1.0).std(1), a.std(1))
    half = guide(a, b, scale=9.0, rescale=0.5)
    torch.testing.assert_close(half.std(1), 0.5 * (guided.std(1) + a.std(1)))


def test_bad_arguments_are_named():
    a = torch.zeros(2, 3)
    with pytest.raises(ValueError, match=r"rescale must lie in 0..1, got 1.5"):
        guide(a, a, scale=2.0, rescale=1.5)
    with pytest.raises(ValueError, match=r"one shape, got \(2, 3\) and \(2, 1\)"):
        guide(a, a[:, :1], scale=2.0)


def test_one_batch_gives_what_two_estimates_give():
    torch.manual_seed(0)
    settings = TinySettings(
        frames=4, width=16, height=16, patch=8, channels=32, layers=2, heads=2, text_channels=8
    )
    network = TinyNetwork(settings)
    # Random weights: an untrained network predicts nothing at all, whatever it is told.
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    prior = PriorTiny(network)
    z, t = torch.randn(2, 4, 16, 16, 3), torch.tensor([0.4, 0.7])
    condition = prior.condition("a fox walking", reference_image=torch.rand(16, 16, 3))
    one = predict_guided(prior, z, t, condition, scale=4.0)
    with_words = prior.predict(z, t, [condition] * 2)
    without_words = prior.predict(z, t, [prior.unconditioned(condition)] * 2)
    two = guide(with_words, without_words, scale=4.0)
    # Batches of two and of four round differently, in parts of the largest numbers.
    torch.testing.assert_close(one, two, rtol=0.0, atol=1e-5 * float(two.abs().max()))
    plain = predict_guided(prior, z, t, condition, scale=1.0)
    torch.testing.assert_close(plain, prior.predict(z, t, [condition, condition]))
    assert not torch.allclose(one, plain, atol=1e-3)
