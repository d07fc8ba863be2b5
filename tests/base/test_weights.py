"""What files of weights state is checked before a network is made of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from akd.base.files import DamagedFile, read_tensors, write_tensors
from akd.fit.regressor.network import RegressorNetwork
from akd.fit.regressor.regressor import load_regressor, save_regressor
from akd.fit.regressor.settings import RegressorSettings
from akd.metrics.recognise.recogniser import load_recogniser, shipped_recognisers
from akd.posespace.model import load_model, save_model
from akd.posespace.network import PoseNetwork
from akd.posespace.settings import PoseNetworkSettings
from akd.prior.tiny.load import load_tiny
from tests.commands.small_prior import write_weights

Load = Callable[[Path], object]
Model = Callable[[Path], tuple[Path, Load]]


def regressor(folder: Path) -> tuple[Path, Load]:
    settings = RegressorSettings(frames=2, size=16, channels=(8, 8), width=32, layers=1)
    return save_regressor(RegressorNetwork(settings), folder), load_regressor


def recogniser(folder: Path) -> tuple[Path, Load]:
    path = folder / "recogniser-b.safetensors"
    path.write_bytes((shipped_recognisers() / path.name).read_bytes())
    return path, lambda path: load_recogniser("b", path.parent)


def pose_model(folder: Path) -> tuple[Path, Load]:
    path = folder / "pose.safetensors"
    settings = PoseNetworkSettings(width=32, layers=1, heads=2, point_width=8)
    save_model(PoseNetwork(settings), path, training={})
    return path, load_model


def tiny_prior(folder: Path) -> tuple[Path, Load]:
    (path,) = write_weights(folder).glob("*.safetensors")
    return path, lambda path: load_tiny(path.parent)


MODELS = (regressor, recogniser, pose_model, tiny_prior)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
@pytest.mark.parametrize("value", [math.nan, math.inf], ids=str)
def test_weights_that_are_not_finite_are_refused(tmp_path: Path, model: Model, value: float):
    path, load = model(tmp_path)
    load(path)
    tensors, about = read_tensors(path)
    name = next(name for name, tensor in tensors.items() if tensor.is_floating_point())
    write_tensors(path, {**tensors, name: torch.full_like(tensors[name], value)}, about=about)
    with pytest.raises(DamagedFile, match=f"{name} must hold finite numbers"):
        load(path)


@pytest.mark.parametrize(
    ("model", "change", "said"),
    [
        (regressor, {"layers": 10**6}, r"ask for at least \d+ weights, got \d+"),
        (regressor, {"size": 10**5}, r"ask for at least \d+ weights, got \d+"),
        (regressor, {"frames": 10**9}, r"ask for at least \d+ weights, got \d+"),
        (regressor, {"width": 32 * 10**6}, r"ask for at least \d+ weights, got \d+"),
        (regressor, {"channels": [8] * 10**4}, r"ask for at least \d+ weights, got \d+"),
        (regressor, {"width": 10_000}, "width must be a multiple of 32, got 10000"),
        (regressor, {"layers": 0}, "layers must be a whole number above zero, got 0"),
        (regressor, {"channels": [8, -8]}, "channels must be a whole number above zero, got -8"),
        (recogniser, {"size": 1024}, r"ask for at least \d+ weights, got \d+"),
        (recogniser, {"size": 10**9}, "size must be at most 1024"),
        (recogniser, {"frames": 10**9}, r"ask for at least \d+ weights, got \d+"),
        (recogniser, {"channels": [8] * 10**4}, r"ask for at least \d+ weights, got \d+"),
        (recogniser, {"width": 0}, "width must be a whole number above zero, got 0"),
        (pose_model, {"layers": 10**6}, r"ask for at least \d+ weights, got \d+"),
        (pose_model, {"heads": 32, "layers": 10**6}, r"ask for at least \d+ weights, got \d+"),
        (pose_model, {"point_width": 10**9}, r"ask for at least \d+ weights, got \d+"),
        (pose_model, {"width": 0, "layers": 10**6}, "width must be a whole number above zero"),
        (pose_model, {"heads": 3}, "width must be a multiple of heads 3, got 32"),
    ],
)
def test_settings_of_another_network_are_refused_at_once(
    tmp_path: Path, model: Model, change: dict[str, Any], said: str
):
    path, load = model(tmp_path)
    tensors, about = read_tensors(path)
    about["settings"] = json.dumps({**json.loads(about["settings"]), **change})
    write_tensors(path, tensors, about=about)
    with pytest.raises(DamagedFile, match=said):
        load(path)
