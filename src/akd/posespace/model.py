"""Files of pose models: weights in half precision, settings, and the record of their training."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib import resources
from pathlib import Path

import torch

from akd.base.files import checking_content, read_tensors, write_tensors
from akd.base.weights import check_weights
from akd.posespace.network import PoseNetwork
from akd.posespace.settings import PoseNetworkSettings

FORMAT = "akd-pose-model-1"


def shipped_model() -> Path:
    """The weights that come with the package."""
    return Path(str(resources.files("akd.posespace") / "weights" / "pose.safetensors"))


def save_model(network: PoseNetwork, path: Path, *, training: dict[str, object]) -> None:
    """Write weights; `training` is recorded beside them."""
    tensors = {name: value.half() for name, value in network.state_dict().items()}
    about = {
        "format": FORMAT,
        "settings": json.dumps(asdict(network.settings)),
        "training": json.dumps(training),
    }
    write_tensors(path, tensors, about=about)


def load_model(path: Path | None = None, *, device: torch.device | str = "cpu") -> PoseNetwork:
    """A trained network from a file, by default the one that ships.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file is no pose model.
    """
    path = path or shipped_model()
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no pose model; `akd pose train` makes one")
    tensors, about = read_tensors(path, format=FORMAT)
    with checking_content(path):
        settings = PoseNetworkSettings(**json.loads(about["settings"]))
        check_weights(settings.least_weights, tensors)
        network = PoseNetwork(settings)
        network.load_state_dict({name: value.float() for name, value in tensors.items()})
    return network.eval().requires_grad_(False).to(device)
