"""Schedules, 8-bit weights, embeddings, the tiny encoder, prompts: each part by itself."""

from pathlib import Path

import diffusers
import pytest
import torch
from torch import Tensor, nn

from akd.prior.estimate import Prediction
from akd.prior.large.enrich import Enrichment, enrich
from akd.prior.large.errors import PriorError
from akd.prior.large.folder import open_folder
from akd.prior.large.quantise import LinearFp8, blocks_of, quantise, to_eight_bits
from akd.prior.large.schedulers import schedule_of
from akd.prior.large.settings import Weights
from akd.prior.large.text import Padding, TextRecipe, embed
from tests.prior.large.tiny_pipelines import cogvideox, wan_network

CPU = torch.device("cpu")


def test_numbered_steps() -> None:
    scheduler = diffusers.DDIMScheduler(prediction_type="v_prediction")
    schedule = schedule_of(scheduler, "here")
    assert schedule.prediction is Prediction.V
    t = torch.tensor([0.0, 0.5, 1.0])
    assert schedule.model_time(t).tolist() == [0, 500, 999]
    alpha, sigma = schedule.signal(t)
    torch.testing.assert_close(alpha**2, scheduler.alphas_cumprod[[0, 500, 999]])
    torch.testing.assert_close(alpha**2 + sigma**2, torch.ones(3))


def test_flow_time_is_sigma() -> None:
    scheduler = diffusers.FlowMatchEulerDiscreteScheduler(shift=5.0)
    schedule = schedule_of(scheduler, "here")
    assert schedule.prediction is Prediction.FLOW
    scheduler.set_timesteps(7)
    # Whatever the shift: the time that the network is told is the scheduler's sigma.
    t = scheduler.timesteps / 1000
    torch.testing.assert_close(schedule.signal(t)[1], scheduler.sigmas[:-1])
    torch.testing.assert_close(schedule.model_time(t), scheduler.timesteps)


def test_schedulers_that_do_not_fit() -> None:
    odd = diffusers.FlowMatchEulerDiscreteScheduler(invert_sigmas=True)
    with pytest.raises(PriorError, match="there: scheduler FlowMatchEulerDiscreteScheduler with"):
        schedule_of(odd, "there")
    noise = diffusers.DDIMScheduler(prediction_type="epsilon", rescale_betas_zero_snr=True)
    with pytest.raises(PriorError, match="rescale_betas_zero_snr must be false"):
        schedule_of(noise, "there")
    ve = diffusers.KarrasVeScheduler if hasattr(diffusers, "KarrasVeScheduler") else None
    if ve is not None:
        with pytest.raises(PriorError, match="does not fit"):
            schedule_of(ve(), "there")


def test_eight_bits_restore_a_matrix() -> None:
    matrix = torch.randn(32, 48, generator=torch.Generator().manual_seed(0))
    matrix[3] *= 1000.0
    eighths, scale = to_eight_bits(matrix)
    assert eighths.dtype == torch.float8_e4m3fn
    away = (eighths.float() * scale - matrix).abs() / matrix.abs().amax(1, keepdim=True)
    # Three bits of fraction: at most 1/16 of the value, so of the largest in the row.
    assert away.max() < 1 / 16
    assert away.mean() < 0.01


def test_linear_in_eight_bits_is_close() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(64, 32).requires_grad_(False)
    x = torch.randn(5, 7, 64)
    found, wanted = LinearFp8(layer, multiply=True)(x), layer(x)
    assert found.shape == wanted.shape
    error = float((found - wanted).norm() / wanted.norm())
    assert 0.0 < error < 0.04


@pytest.mark.parametrize("weights", [Weights.FP8, Weights.FP8_STORED])
def test_a_network_in_eight_bits(weights: Weights) -> None:
    network = wan_network(8).requires_grad_(False)
    latents = torch.randn(1, 8, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    words = torch.randn(1, 6, 16, generator=torch.Generator().manual_seed(1))
    call = {"timestep": torch.tensor([500]), "encoder_hidden_states": words, "return_dict": False}
    wanted = network(latents, **call)[0]
    before = sum(p.numel() for block in blocks_of(network) for p in block.parameters())
    # Two blocks of two attentions of four matrices and a feed-forward of two.
    assert quantise(network, weights, CPU) == 20
    after = sum(p.numel() for block in blocks_of(network) for p in block.parameters())
    assert after < before / 4
    found = network(latents, **call)[0]
    assert 0.0 < float((found - wanted).norm() / wanted.norm()) < 0.1


def test_full_weights_are_left_alone() -> None:
    network = wan_network(8)
    assert quantise(network, Weights.FULL, CPU) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "pipeline"
    cogvideox(rotary=False, picture=False).save_pretrained(path)
    return path


@pytest.mark.slow
def test_embeddings_are_kept_by_content(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from akd.prior.large import text

    loads: list[str] = []
    load = text.load_encoder

    def counted(*arguments: object) -> object:
        loads.append("load")
        return load(*arguments)  # pyright: ignore

    monkeypatch.setattr(text, "load_encoder", counted)
    recipe = TextRecipe(8, Padding.ENCODED)

    def run(prompts: list[str], recipe: TextRecipe = recipe) -> list[Tensor]:
        found = embed(open_folder(folder), prompts, recipe, device=CPU,
                      dtype=torch.float32, cache=tmp_path)  # fmt: skip
        return [embedding.text for embedding in found]

    first = run(["a fox walking", ""])
    again = run(["", "a  fox   walking"])
    assert loads == ["load"]
    assert torch.equal(first[0], again[1])
    assert torch.equal(first[1], again[0])
    run(["a man running"])
    # Another length is another embedding.
    assert run(["a fox walking"], TextRecipe(6, Padding.ENCODED))[0].shape == (6, 16)
    assert loads == ["load"] * 3
    assert not list(tmp_path.glob("*.part*"))


@pytest.mark.slow
def test_padding_of_each_kind(folder: Path, tmp_path: Path) -> None:
    def run(padding: Padding) -> tuple[Tensor, Tensor]:
        recipe = TextRecipe(8, padding)
        (found,) = embed(open_folder(folder), ["a fox"], recipe, device=CPU,
                         dtype=torch.float32, cache=tmp_path)  # fmt: skip
        return found.text, found.mask

    text, mask = run(Padding.ENCODED)
    assert mask.tolist() == [True, True, True] + [False] * 5
    assert (text[3:] != 0).all()
    text, mask = run(Padding.ZERO)
    assert (text[~mask] == 0).all()
    assert (text[mask] != 0).any()


def test_prompts_are_enriched() -> None:
    text = enrich("a fox walking.")
    assert text.startswith("A fox walking, seen from the side, on a flat checkerboard floor")
    assert "full body" in text
    assert text.endswith("motion.")
    assert enrich("a fox", Enrichment("", "", "", "", "", "")) == "A fox."
    long = " ".join(["word"] * 40)
    assert enrich(long) == long
    with pytest.raises(ValueError, match="a prompt must have words"):
        enrich("  ")
