"""Files of pose models: weights in half precision, settings, and the record of their training."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib import resources
from pathlib import Path

import torch

from akd.base.files import write_tensors
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
    from safetensors import safe_open

    path = path or shipped_model()
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no pose model; `akd pose train` makes one")
    with safe_open(path, "pt") as file:
        about = file.metadata() or {}
        if about.get("format") != FORMAT:
            raise ValueError(f"{path}: must be of format {FORMAT}, got {about.get('format')}")
        tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    network = PoseNetwork(PoseNetworkSettings(**json.loads(about["settings"])))
    network.load_state_dict(tensors)
    return network.eval().requires_grad_(False).to(device)
