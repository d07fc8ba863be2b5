"""What is missing or does not fit is one line, before any weights are read."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from akd.prior.large import plan as planning
from akd.prior.large.catalogue import ENTRIES, find, rows
from akd.prior.large.errors import PriorError
from akd.prior.large.families.base import VideoSize
from akd.prior.large.folder import open_folder
from akd.prior.large.memory import Need, check_memory, encoder_bytes, memory_needed
from akd.prior.large.settings import FAST, LEAN, LargeSettings, Recompute, Weights
from tests.prior.large.tiny_pipelines import (
    autoencoder,
    build,
    load_prior,
    picture_network,
)

FULL = LargeSettings(precision="float32")
SMALL: dict[str, Any] = {"frames": 9, "height": 32, "width": 32, "settings": FULL}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wan")
    build("wan2.1", folder).save_pretrained(folder / "pipeline")
    return folder / "pipeline"


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "pipeline"))


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def refused(folder: Path | str, **options: Any) -> str:
    with pytest.raises(PriorError) as caught:
        load_prior(folder, **(SMALL | options))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_unknown_names_and_places(tmp_path: Path) -> None:
    assert refused("sora") == (
        "prior 'sora' is not known: it must be tiny, a folder, or one of cogvideox-2b, "
        "cogvideox-5b, cogvideox-5b-i2v, wan2.1-t2v-1.3b, wan2.1-t2v-14b, wan2.2-ti2v-5b, "
        "wan2.2-t2v-a14b, ltx-video, animatediff"
    )
    assert refused(tmp_path / "none") == f"{tmp_path / 'none'}: there is no such folder"
    assert refused(tmp_path).endswith("there is no model_index.json in it, so it is not a pipeline")


def test_weights_that_are_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert refused("cogvideox-5b") == (
        "cogvideox-5b: its weights are not on this machine (19.7 GiB or more on disk, 10.8 GiB "
        "held while it runs); fetch them with `hf download zai-org/CogVideoX-5b`, or pass a folder"
    )


@pytest.mark.slow
def test_nothing_is_fetched_unasked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants
    from huggingface_hub.utils import _detect_agent

    from akd.prior.large.shap_e import _load

    asked = []

    def connect(*address, **_):
        asked.append(address)
        raise OSError("there is no network")

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    # What the library knows already it does not ask for.
    monkeypatch.setattr(constants, "AGENT_HARNESSES_PATH", str(tmp_path / "agents.json"))
    monkeypatch.setattr(_detect_agent, "_registry", None)
    monkeypatch.setattr(socket, "getaddrinfo", connect)
    monkeypatch.setattr(socket.socket, "connect", connect)
    for entry in ENTRIES:
        refused(entry.name)
    with pytest.raises(PriorError, match="--download to fetch"):
        _load(None, download=False)
    load_prior(folder, **SMALL)
    assert asked == []
    monkeypatch.setattr(_detect_agent, "_registry", None)
    _detect_agent.detect_agent()
    assert asked  # the test would see it
    assert not constants.HF_HUB_OFFLINE


def test_too_little_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    usage = shutil.disk_usage(tmp_path)._replace(free=5 * 2**30)
    monkeypatch.setattr(planning.shutil, "disk_usage", lambda _: usage)
    assert refused("cogvideox-5b", download=True) == (
        f"cogvideox-5b needs up to 39 GiB on disk, {tmp_path} has 5.0 GiB free"
    )


def test_too_little_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from akd.prior.large import memory

    monkeypatch.setattr(memory, "free_gib", lambda _: 0.0001)
    message = refused(folder)
    assert message.startswith("pipeline needs 0.0 GiB (0.0 weights, 0.0 encoding, 0.0 prediction)")
    assert "use the lean settings" in message
    with pytest.raises(PriorError, match=r"needs 33\.0 GiB \(10\.0 weights, 20\.0 encoding"):
        check_memory(Need(10.0, 20.0, 5.0, 3.0), torch.device("cpu"), "it")


def test_pipelines_and_parts_that_do_not_fit(folder: Path) -> None:
    index = folder / "model_index.json"
    own = json.loads(index.read_text())
    edit(index, _class_name="MochiPipeline")
    assert "pipeline MochiPipeline is not known; CogVideoX, Wan" in refused(folder)
    edit(index, **own | {"vae": ["my_code", "MyAutoencoder"]})
    assert refused(folder).endswith("vae must come from diffusers or transformers, got 'my_code'")
    edit(index, **own | {"boundary_ratio": 0.9})
    assert "boundary_ratio and transformer_2 must be given together" in refused(folder)
    edit(index, **own)
    edit(folder / "scheduler" / "scheduler_config.json", _class_name="FancyScheduler")
    assert refused(folder).endswith("has no FancyScheduler")
    edit(folder / "scheduler" / "scheduler_config.json", _class_name="UniPCMultistepScheduler",
         beta_schedule="steep")  # fmt: skip
    assert "scheduler UniPCMultistepScheduler cannot be made of its config" in refused(folder)


def test_schedulers_that_do_not_fit_are_said_early(folder: Path) -> None:
    config = folder / "scheduler" / "scheduler_config.json"
    config.write_text(json.dumps({"_class_name": "EDMEulerScheduler"}))
    message = refused(folder)
    assert "scheduler EDMEulerScheduler with prediction_type 'epsilon' does not fit" in message


def test_weights_that_are_missing_or_pickled(folder: Path) -> None:
    (folder / "transformer" / "diffusion_pytorch_model.safetensors").rename(
        folder / "transformer" / "diffusion_pytorch_model.bin"
    )
    assert "there are no weights (*.safetensors) in transformer; other formats" in refused(folder)
    shards = folder / "transformer" / "diffusion_pytorch_model.safetensors.index.json"
    shards.write_text(json.dumps({"weight_map": {"a": "model-00001-of-00002.safetensors"}}))
    assert refused(folder).endswith(
        "transformer is not complete, model-00001-of-00002.safetensors is missing"
    )
    (folder / "transformer" / "model-00001-of-00002.safetensors").write_bytes(b"not weights")
    assert refused(folder).endswith("is not a safetensors file")


def test_sizes_that_do_not_fit(folder: Path) -> None:
    assert "frames must be a multiple of 4 plus one, got 8" in refused(folder, frames=8)
    assert "height must be a multiple of 16, got 40" in refused(folder, height=40)


def test_devices_and_settings_that_do_not_fit(folder: Path) -> None:
    if not torch.cuda.is_available():
        assert "but there are 0 CUDA devices" in refused(folder, device="cuda")
    offload = LargeSettings(precision="float32", offload=True)
    assert refused(folder, settings=offload) == "offload needs a CUDA device, got cpu"
    with pytest.raises(ValueError, match="precision must be bfloat16, float16 or float32"):
        LargeSettings(precision="int4")
    with pytest.raises(ValueError, match="offload needs weights full or fp8-stored, got 'fp8'"):
        LargeSettings(offload=True, weights=Weights.FP8)


@pytest.mark.slow
def test_a_picture_and_words_must_be_given(tmp_path: Path) -> None:
    build("cogvideox-5b-i2v", tmp_path).save_pretrained(tmp_path / "pipeline")
    larger = {"settings": FULL, "height": 48}
    with pytest.raises(PriorError, match=r"positions are learned, .* must be 9 x 32 x 32"):
        load_prior(tmp_path / "pipeline", **larger)
    prior = load_prior(tmp_path / "pipeline", settings=FULL, cache=tmp_path / "cache")
    assert (prior.frames, prior.height, prior.width, prior.fps) == (9, 32, 32, 8.0)
    with pytest.raises(ValueError, match="a reference image must be given"):
        prior.condition("a fox")
    with pytest.raises(ValueError, match="a prompt must have words"):
        prior.condition(" ", reference_image=torch.rand(32, 32, 3))
    # Words that were said are remembered: a loop asks for the same ones every time.
    first = prior.condition("a fox", reference_image=torch.rand(32, 32, 3))
    shutil.rmtree(tmp_path / "pipeline" / "text_encoder")
    shutil.rmtree(tmp_path / "cache")
    again = prior.condition("a fox", reference_image=torch.rand(32, 32, 3))
    assert torch.equal(again.text, first.text)
    with pytest.raises(ValueError, match="video must be 32 x 32 pixels for pipeline, got 16 x 32"):
        prior.encode(torch.rand(1, 9, 16, 32, 3))
    with pytest.raises(ValueError, match="video must have 9 frames for pipeline, got 5"):
        prior.encode(torch.rand(1, 5, 32, 32, 3))


@pytest.mark.slow
def test_animatediff_by_name_joins_two_repositories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The base model's folder has an image network and another schedule of noise."""
    import diffusers

    whole = build("animatediff", tmp_path)
    whole.save_pretrained(tmp_path / "whole")
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    shutil.copytree(tmp_path / "whole", base)
    shutil.move(base / "motion_adapter", adapter)
    shutil.rmtree(base / "unet")
    picture_network().save_pretrained(base / "unet")
    edit(base / "model_index.json", _class_name="StableDiffusionPipeline", motion_adapter=None,
         unet=["diffusers", "UNet2DConditionModel"])  # fmt: skip
    diffusers.PNDMScheduler().save_pretrained(base / "scheduler")
    places = {"stable-diffusion-v1-5/stable-diffusion-v1-5": base,
              "guoyww/animatediff-motion-adapter-v1-5-3": adapter}  # fmt: skip
    monkeypatch.setattr(planning, "hub_folder", lambda entry, name, download: places[name])
    options: dict[str, Any] = {"frames": 3, "height": 16, "width": 16, "settings": FULL,
                               "cache": tmp_path / "cache"}  # fmt: skip
    joined, own = load_prior("animatediff", **options), load_prior(tmp_path / "whole", **options)
    assert joined.name == "animatediff"
    noisy = torch.randn(1, 4, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    t = torch.tensor([0.5])
    one, two = (p.predict(noisy, t, [p.condition("a fox")]) for p in (joined, own))
    torch.testing.assert_close(one, two)


@pytest.mark.slow
def test_eight_bit_weights_take_less_and_stay_close(folder: Path, tmp_path: Path) -> None:
    options = SMALL | {"cache": tmp_path / "cache"}
    full = load_prior(folder, **options)
    eight = load_prior(folder, **options | {
        "settings": LargeSettings(precision="float32", weights=Weights.FP8)
    })  # fmt: skip
    condition = full.condition("a fox walking")
    noisy = torch.randn(1, 16, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    t = torch.tensor([0.6])
    one, two = (prior.predict(noisy, t, [condition]) for prior in (full, eight))
    assert 0.0 < float((one - two).norm() / one.norm()) < 0.05


@pytest.mark.slow
def test_memory_by_the_settings(folder: Path) -> None:
    size = VideoSize(81, 480, 832, 16.0)
    opened = open_folder(folder)

    def need(**changes: Any) -> Need:
        return memory_needed(opened, ["transformer"], size, LargeSettings(**changes))

    kept = need(recompute=Recompute.NOTHING)
    plain = need(recompute=Recompute.NOTHING, frozen_kernels=False)
    chunks = need()
    on_cpu = need(caches_on_cpu=True)
    assert plain.kept > 1.5 * kept.kept > 2 * chunks.kept > 2 * on_cpu.kept > 0
    assert on_cpu.total < chunks.total < kept.total < plain.total
    assert need(weights=Weights.FP8).weights < chunks.weights
    assert need(precision="float32").weights == pytest.approx(2 * chunks.weights)
    assert need(together=False).prediction == pytest.approx(chunks.prediction / 2)


def test_what_the_encoder_keeps_is_what_is_said() -> None:
    """The count on shapes against what autograd keeps of a real video."""
    from akd.prior.large.encoder.vae import encode_moments

    vae = autoencoder("wan2.1").requires_grad_(False)
    settings = LargeSettings(precision="float32", recompute=Recompute.NOTHING, frozen_kernels=False)
    seen: dict[int, torch.Tensor] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        seen[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    pixels = torch.rand(1, 3, 33, 64, 64, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        encode_moments(vae, pixels, settings)
    weights = {p.untyped_storage().data_ptr() for p in vae.parameters()}
    held = sum(t.untyped_storage().nbytes() for place, t in seen.items() if place not in weights)
    empty = autoencoder("wan2.1").to("meta").requires_grad_(False)
    said, _ = encoder_bytes(empty, VideoSize(33, 64, 64, 16.0), settings)
    assert said == pytest.approx(held, rel=0.25)


def test_the_catalogue() -> None:
    assert not find("cogvideox-5b").commercial
    assert find("cogvideox-2b").licence == "Apache-2.0"
    assert all(e.licence == "Apache-2.0" for e in ENTRIES if e.family == "Wan")
    assert find("Wan-AI/Wan2.2-TI2V-5B-Diffusers").name == "wan2.2-ti2v-5b"
    table = rows()
    assert len({len(row) for row in table}) == 1
    assert len(table) == len(ENTRIES) + 1


def test_presets() -> None:
    assert FAST.recompute is Recompute.NOTHING
    assert LEAN.recompute is Recompute.BLOCKS
    assert LEAN.caches_on_cpu


def test_settings_and_catalogue_need_no_torch() -> None:
    code = (
        "import sys, akd.prior.large.settings, akd.prior.large.catalogue, "
        "akd.prior.large.enrich; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": "src"})
