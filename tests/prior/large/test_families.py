"""Each family in its real classes: saved, loaded as a real one is, compared with its pipeline."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate.hooks import remove_hook_from_submodules
from torch import Tensor

from akd.prior.estimate import Prediction
from akd.prior.guidance import predict_guided
from akd.prior.large.errors import PriorError
from akd.prior.large.prior import PriorDiffusers
from akd.prior.large.settings import LargeSettings
from akd.prior.large.spread import spread_network
from akd.prior.protocol import VideoPrior
from akd.scene.settings import SceneStyle
from tests.prior.large.tiny_pipelines import NAMES, SIZES, build, load_prior

FULL = LargeSettings(precision="float32")
PROMPT = "a fox walking on the ground"
SCALE = 6.0


@pytest.fixture(scope="module", params=NAMES)
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A name, its pipeline, and the folder it was saved to."""
    folder = tmp_path_factory.mktemp(request.param)
    pipeline = build(request.param, folder)
    pipeline.save_pretrained(folder / "pipeline")
    pipeline.set_progress_bar_config(disable=True)
    return request.param, pipeline, folder / "pipeline"


def load(name: str, folder: Path, **options: Any) -> PriorDiffusers:
    frames, height, width = SIZES[name]
    options = {"settings": FULL, "cache": folder.parent / "cache"} | options
    return load_prior(folder, frames=frames, height=height, width=width, **options)


def picture_for(prior: PriorDiffusers) -> Tensor | None:
    if not prior.family.needs_reference_image:
        return None
    generator = torch.Generator().manual_seed(5)
    return torch.rand(prior.height, prior.width, 3, generator=generator)


def start(prior: PriorDiffusers) -> Tensor:
    """Noise of the shape of latents."""
    generator = torch.Generator().manual_seed(1)
    shape = prior.encode(torch.zeros(1, prior.frames, prior.height, prior.width, 3)).shape
    return torch.randn(shape, generator=generator)


def record_steps(pipeline: Any, call: dict[str, Any]) -> list[dict[str, Any]]:
    """What the pipeline's scheduler is given and gives back, step by step."""
    scheduler, steps = pipeline.scheduler, []
    own = type(scheduler).step

    def step(found: Tensor, t: Tensor, sample: Tensor, **options: Any) -> Any:
        before = copy.deepcopy({k: v for k, v in vars(scheduler).items() if k != "step"})
        result = own(scheduler, found, t, sample, **options)
        after = result[0] if isinstance(result, tuple) else result.prev_sample
        steps.append({"before": before, "t": t, "sample": sample, "after": after})
        return result

    scheduler.step = step
    try:
        pipeline(**call)
    finally:
        del scheduler.step
    return steps


def as_prediction(prior: PriorDiffusers, clean: Tensor, noisy: Tensor, t: Tensor) -> Tensor:
    """The network output that a clean estimate came from, by the definitions."""
    alpha, sigma = (value.view(-1, *(1,) * (noisy.dim() - 1)) for value in prior.signal(t))
    match prior.family.parts.schedule.prediction:
        case Prediction.EPSILON:
            return (noisy - alpha * clean) / sigma
        case Prediction.V:
            return (alpha * noisy - clean) / sigma
        case Prediction.FLOW:
            return (noisy - clean) / sigma
        case other:
            raise AssertionError(other)


def time_of(prior: PriorDiffusers, number: Tensor) -> Tensor:
    schedule = prior.family.parts.schedule
    last = schedule.steps if schedule.alphas is None else schedule.steps - 1
    return number.reshape(1).float() / last


def compare(prior: PriorDiffusers, pipeline: Any, call: dict[str, Any], condition: Any) -> None:
    """Every step of the pipeline against the prior's guided estimate through the same scheduler."""
    packed = type(pipeline).__name__ == "LTXPipeline"
    steps = record_steps(pipeline, call)
    assert len(steps) >= 3
    moved = []
    for step in steps:
        sample = step["sample"].float()
        shape = start(prior).shape
        noisy = unpack(sample, shape) if packed else sample
        t = time_of(prior, step["t"])
        clean = predict_guided(prior, noisy, t, condition, scale=SCALE)
        found = as_prediction(prior, clean, noisy, t)
        scheduler = copy.deepcopy(pipeline.scheduler)
        vars(scheduler).update(step["before"])
        after = scheduler.step(pack(found) if packed else found, step["t"], sample)
        after = after[0] if isinstance(after, tuple) else after.prev_sample
        torch.testing.assert_close(after, step["after"].float(), rtol=2e-3, atol=2e-3)
        moved.append(float((after - sample).abs().max()))
    assert max(moved) > 0.05


def pack(latents: Tensor) -> Tensor:
    return latents.flatten(2).transpose(1, 2)


def unpack(tokens: Tensor, shape: torch.Size) -> Tensor:
    return tokens.transpose(1, 2).reshape(shape)


@pytest.mark.slow
def test_steps_are_those_of_the_pipeline(saved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name, pipeline, folder = saved
    prior = load(name, folder)
    picture = picture_for(prior)
    call: dict[str, Any] = {
        "prompt": PROMPT,
        "negative_prompt": "",
        "num_frames": prior.frames,
        "height": prior.height,
        "width": prior.width,
        "num_inference_steps": 4,
        "guidance_scale": SCALE,
        "latents": start(prior),
        "output_type": "latent",
    }
    if "wan" in name or "cog" in name:
        call |= {"max_sequence_length": prior.family.text.tokens}
    if name == "ltx":
        call |= {"latents": pack(call["latents"]), "frame_rate": 25}
    if picture is not None:
        # The pipeline draws from the posterior of the image; a prior takes its mode.
        from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution

        mode = DiagonalGaussianDistribution.mode
        monkeypatch.setattr(
            DiagonalGaussianDistribution, "sample", lambda self, generator=None: mode(self)
        )
        call |= {"image": picture.permute(2, 0, 1)[None]}
    compare(prior, pipeline, call, prior.condition(PROMPT, reference_image=picture))


@pytest.mark.slow
def test_wan_5b_with_a_first_frame(tmp_path: Path) -> None:
    import diffusers

    build("wan2.2-5b", tmp_path).save_pretrained(tmp_path / "pipeline")
    pipeline = build("wan2.2-5b", tmp_path)
    pipeline = diffusers.WanImageToVideoPipeline(
        tokenizer=pipeline.tokenizer,
        text_encoder=pipeline.text_encoder,
        vae=pipeline.vae,
        scheduler=pipeline.scheduler,
        transformer=pipeline.transformer,
        expand_timesteps=True,
    )
    pipeline.set_progress_bar_config(disable=True)
    prior = load("wan2.2-5b", tmp_path / "pipeline")
    assert prior.takes_reference_image
    picture = torch.rand(64, 32, 3, generator=torch.Generator().manual_seed(5))
    condition = prior.condition(PROMPT, reference_image=picture)
    noise = start(prior)
    call = {
        "image": picture.permute(2, 0, 1)[None],
        "prompt_embeds": condition.text[None],
        "negative_prompt_embeds": condition.extra["negative"][None],
        "num_frames": prior.frames,
        "height": prior.height,
        "width": prior.width,
        "num_inference_steps": 2,
        "guidance_scale": SCALE,
        "latents": noise,
        "output_type": "latent",
    }
    found: list[Tensor] = []
    own = type(pipeline.scheduler).step

    def step(output: Tensor, t: Tensor, sample: Tensor, **options: Any) -> Any:
        found.extend((output, t, sample))
        return own(pipeline.scheduler, output, t, sample, **options)

    pipeline.scheduler.step = step
    pipeline(**call)
    flow, number, sample = found[:3]
    t = time_of(prior, number)
    clean = predict_guided(prior, sample, t, condition, scale=SCALE)
    later = (sample - t * flow)[:, :, 1:]
    torch.testing.assert_close(clean[:, :, 1:], later, rtol=1e-3, atol=1e-3)
    first = prior.family.encode(prior.pixels(picture[None, None]))
    torch.testing.assert_close(clean[:, :, :1], first)
    # The image matters.
    plain = prior.predict(sample, t, [prior.condition(PROMPT)])
    assert (plain - clean)[:, :, 1:].abs().max() > 1e-3


@pytest.mark.slow
def test_protocol_and_gradient(saved: Any) -> None:
    name, _, folder = saved
    prior = load(name, folder)
    assert isinstance(prior, VideoPrior)
    assert prior.style is SceneStyle.TEXTURED
    video = torch.rand(
        1, prior.frames, prior.height, prior.width, 3, generator=torch.Generator().manual_seed(2)
    ).requires_grad_()
    latents = prior.encode(video)
    assert latents.dtype == torch.float32
    latents.square().sum().backward()
    assert video.grad is not None
    assert video.grad.abs().amax(dim=(0, 2, 3, 4)).min() > 0
    assert not any(p.requires_grad for n in prior.family.parts.networks for p in n.parameters())
    assert prior.decode(latents.detach()).shape == video.shape


@pytest.mark.slow
def test_rows_have_their_own_time_and_words(saved: Any) -> None:
    name, _, folder = saved
    prior = load(name, folder)
    picture = picture_for(prior)
    condition = prior.condition(PROMPT, reference_image=picture)
    other = prior.condition("a man running", reference_image=picture)
    noisy = torch.cat((start(prior), start(prior).flip(-1)))
    # On both sides of the boundary between Wan 2.2's two networks.
    t = torch.tensor([0.95, 0.3])
    both = prior.predict(noisy, t, [condition, other])
    one = prior.predict(noisy[:1], t[:1], [condition])
    two = prior.predict(noisy[1:], t[1:], [other])
    torch.testing.assert_close(both, torch.cat((one, two)), rtol=1e-4, atol=1e-4)
    assert (prior.predict(noisy[:1], t[:1], [other]) - one).abs().max() > 1e-4


@pytest.mark.slow
def test_spread_over_devices_gives_the_same(saved: Any) -> None:
    name, _, folder = saved
    spread = replace(FULL, spread=2)
    if name == "animatediff":
        with pytest.raises(PriorError, match="spread needs a transformer, got UNetMotionModel"):
            load(name, folder, settings=spread)
        return
    found = []
    for settings in (FULL, spread):
        prior = load(name, folder, settings=settings)
        condition = prior.condition(PROMPT, reference_image=picture_for(prior))
        found.append(prior.predict(start(prior), torch.tensor([0.5]), [condition]))
    assert torch.equal(found[0], found[1])
    # Tensors do follow the blocks: on a device without numbers, there is no way back from it.
    for network in prior.family.parts.networks:
        remove_hook_from_submodules(network)
        spread_network(network, [torch.device("cpu"), torch.device("meta")])
    with pytest.raises(NotImplementedError, match="meta tensor"):
        prior.predict(start(prior), torch.tensor([0.5]), [condition])


@pytest.mark.slow
def test_noise_is_that_of_the_scheduler(saved: Any) -> None:
    name, pipeline, folder = saved
    prior = load(name, folder)
    latents, noise = start(prior), start(prior).flip(1)
    scheduler = copy.deepcopy(pipeline.scheduler)
    if "wan" in name or name == "ltx":
        t = torch.tensor([0.4])
        torch.testing.assert_close(prior.add_noise(latents, noise, t), 0.6 * latents + 0.4 * noise)
        return
    number = torch.tensor([437])
    t = time_of(prior, number)
    torch.testing.assert_close(
        prior.add_noise(latents, noise, t), scheduler.add_noise(latents, noise, number)
    )
