"""A prior by what a user calls it, and the words it is asked with."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from akd.prior import choose
from akd.prior.choose import prompt_for
from akd.prior.large import memory, plan
from akd.prior.large.enrich import Enrichment
from akd.prior.large.errors import PriorError
from akd.prior.large.memory import Need
from akd.prior.large.prior import PriorDiffusers
from akd.prior.large.settings import FAST, LEAN, LargeSettings
from akd.prior.protocol import VideoPrior
from akd.prior.source import PriorSource
from akd.prior.tiny.load import save_tiny
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.settings import TinySettings
from tests.prior.large.tiny_pipelines import build

SMALL = TinySettings(channels=48, layers=2, heads=2, text_channels=16, refine_channels=8)

SOURCE = {"weights", "frames", "height", "width", "fps", "download"}


def given(name: str | Path, options: dict[str, Any]) -> tuple[PriorSource, dict[str, Any]]:
    """The source, and the options that are not about it."""
    source = {k: v for k, v in options.items() if k in SOURCE}
    return PriorSource(name, **source), {k: v for k, v in options.items() if k not in SOURCE}


def check_prior(name: str | Path, **options: Any) -> str:
    source, others = given(name, options)
    return str(choose.check_prior(source, **others))


def choose_prior(name: str | Path, **options: Any) -> VideoPrior:
    source, others = given(name, options)
    return choose.choose_prior(source, **others)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("tiny")
    save_tiny(TinyNetwork(SMALL), folder)
    return folder


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    build("cogvideox-5b", folder).save_pretrained(folder / "pipeline")
    return folder / "pipeline"


def refused(name: str | Path, **options: Any) -> str:
    """What is said, the same before loading and while choosing."""
    options = {"device": "cpu"} | options
    said = []
    for function in (check_prior, choose_prior):
        with pytest.raises(PriorError) as caught:
            function(name, **options)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "\n" not in said[0]
    return said[0]


def test_the_tiny_prior_by_name_and_by_folder(tiny: Path) -> None:
    for name, weights in (("tiny", tiny), (str(tiny), None), (tiny, None)):
        prior = choose_prior(name, weights=weights, device="cpu")
        assert isinstance(prior, PriorTiny)
        assert prior.network.settings == SMALL
        assert check_prior(name, weights=weights) == str(tiny)


@pytest.mark.slow
def test_a_large_prior_by_folder_and_by_name(large: Path, tmp_path: Path) -> None:
    full = LargeSettings(precision="float32")
    by_folder = choose_prior(large, device="cpu", held=full, cache=tmp_path)
    by_name = choose_prior("cogvideox-5b", weights=large, device="cpu", cache=tmp_path)
    assert isinstance(by_folder, PriorDiffusers)
    assert isinstance(by_name, PriorDiffusers)
    assert (by_folder.name, by_name.name) == ("pipeline", "cogvideox-5b")
    assert (by_folder.dtype, by_name.dtype) == (torch.float32, torch.bfloat16)
    assert (by_name.frames, by_name.height, by_name.width) == (9, 32, 32)
    assert choose_prior(large, frames=17, device="cpu").frames == 17
    line = check_prior("cogvideox-5b", weights=large, device="cpu")
    assert line.startswith("cogvideox-5b: 9 x 32 x 32 at 8 fps; needs 0.0 GiB (0.0 weights, ")
    assert line.endswith("GiB free on cpu")


def test_what_is_missing_is_said_first(
    large: Path, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    def nothing_is_read(*_: object, **__: object) -> None:
        raise AssertionError("weights were read")

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(choose, "load_planned", nothing_is_read)
    monkeypatch.setattr(choose, "load_tiny", nothing_is_read)
    assert "prior 'sora' is not known: it must be tiny, a folder, or one of cog" in refused("sora")
    assert "wan2.2-ti2v-5b: its weights are not on this machine (21.2 GiB or more" in refused(
        "wan2.2-ti2v-5b"
    )
    assert refused("tiny", weights=tmp_path) == (
        f"{tmp_path}: holds no weights of the tiny prior (tiny-*.safetensors); `akd prior train` "
        f"makes some"
    )
    assert refused("tiny", weights=tiny, frames=49) == (
        "the tiny prior's videos have one size: frames, height, width and fps must be left out"
    )
    itself = "is a folder itself, so that weights must be left out"
    assert refused(tiny, weights=tiny) == f"{tiny}: {itself}"
    assert refused(large, weights=tiny) == f"{large}: {itself}"
    assert refused(large, device="gpu") == "device must be auto, cpu or cuda, got 'gpu'"
    assert refused(large, held="fast") == "fast is for a CUDA device, got cpu; auto runs anywhere"
    assert "frames must be a multiple of 4 plus one, got 10" in refused(large, frames=10)
    assert "height must be a multiple of 16, got 40" in refused(large, height=40)
    monkeypatch.setattr(memory, "free_gib", lambda _: 0.0001)
    assert "on cpu, which has 0.0 GiB free; use the lean settings" in refused(large)


def test_the_home_of_an_unknown_user_is_no_folder() -> None:
    assert not choose.is_tiny("~nobody-here/weights")
    with pytest.raises(PriorError, match="~nobody-here"):
        check_prior("~nobody-here")


@pytest.mark.slow
def test_auto_takes_what_fits(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a stand-in for a GPU: only its memory is looked at."""
    need = {FAST: Need(10.0, 40.0, 30.0, 3.0), LEAN: Need(6.0, 12.0, 1.0, 3.0, loading=9.0)}
    free = {"cuda": 80.0, "cpu": 64.0}
    monkeypatch.setattr(choose, "choose_device", torch.device)
    monkeypatch.setattr(plan, "check_device", lambda *_: None)
    monkeypatch.setattr(
        plan,
        "memory_needed",
        lambda *given: replace(
            need[replace(given[-1], spread=1)],
            weights=need[replace(given[-1], spread=1)].weights / given[-1].spread,
        ),
    )
    for module in (memory, plan):
        monkeypatch.setattr(module, "free_gib", lambda device: free[device.type])
    assert "55.0 GiB (10.0 weights, 40.0 encoding" in check_prior(large, device="cuda")
    free["cuda"] = 24.0
    assert "19.8 GiB (6.0 weights, 12.0 encoding" in check_prior(large, device="cuda")
    with pytest.raises(PriorError, match=r"needs 55\.0 GiB .* on cuda, which has 24\.0 GiB free"):
        check_prior(large, device="cuda", held="fast")
    free["cuda"] = 12.0
    with pytest.raises(PriorError, match=r"needs 19\.8 GiB .* on cuda, which has 12\.0 GiB free"):
        check_prior(large, device="cuda")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    free["cuda"] = 17.0
    found = choose.check_prior(PriorSource(large), device="cuda")
    assert isinstance(found, plan.Plan)
    assert found.settings == replace(LEAN, spread=2)
    with pytest.raises(PriorError, match=r"needs .* on cuda, which has 17\.0 GiB free"):
        check_prior(large, device="cuda", held="fast")
    free |= {"cuda": 24.0, "cpu": 4.0}
    with pytest.raises(PriorError, match=r"needs 9\.0 GiB of main memory while it is loaded, 4\.0"):
        check_prior(large, device="cuda")


def test_the_words_a_prior_is_asked_with(tiny: Path) -> None:
    assert prompt_for("tiny", " a fox   walking ") == "a fox walking"
    assert prompt_for(tiny, "a fox walking", exactly=True) == "a fox walking"
    with pytest.raises(ValueError, match="prompt 'a fox baking'"):
        prompt_for("tiny", "a fox baking")
    shown = prompt_for("cogvideox-5b", "a fox baking")
    assert shown.startswith("A fox baking, seen from the side, on a flat checkerboard floor")
    assert prompt_for("cogvideox-5b", "a fox baking", exactly=True) == "a fox baking"
    front = Enrichment(view="seen from the front", style="")
    edited = prompt_for("wan2.1-t2v-14b", "a fox baking", words=front)
    assert "seen from the front" in edited
    assert "3D animation" not in edited
    for name in ("tiny", "cogvideox-5b"):
        with pytest.raises(ValueError, match="the prompt is empty: say what the character does"):
            prompt_for(name, "  ")
