"""Parameters of a fit, their optimiser, and checkpoints of both."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor

from akd.base.files import (
    DamagedFile,
    checking_content,
    read_checkpoint,
    read_tensors,
    write_checkpoint,
    write_tensors,
)
from akd.math import quaternion
from akd.splat.cloud import SplatCloud
from akd.splat.settings import FitSettings

RATES = {"means": 6e-4, "log_scales": 1.5e-2, "rotations": 6e-3, "logits": 6e-2, "constant": 1.2e-2}
"""Learning rates; that of the centres is in extents of the mesh. After 3DGS, three times
larger: the start is good and the run is short."""
LAST = 0.05
"""Final learning rates as a fraction of the first ones; they decay exponentially."""


class FitState:
    """Unconstrained parameters of a cloud, and Adam's memory of them."""

    def __init__(self, values: dict[str, Tensor], extent: float, settings: FitSettings) -> None:
        self.values = {k: v.detach().clone().requires_grad_() for k, v in values.items()}
        self.settings = settings
        self.iteration = 0
        rates = {**RATES, "higher": RATES["constant"] / 20.0}
        rates["means"] *= extent
        groups = [
            {"params": [v], "lr": settings.rate * rates[k], "name": k}
            for k, v in self.values.items()
        ]
        self.optimiser = torch.optim.Adam(groups, eps=1e-15)
        self._first_rates = [float(g["lr"]) for g in self.optimiser.param_groups]

    @classmethod
    def of(cls, cloud: SplatCloud, extent: float, settings: FitSettings) -> FitState:
        """Start from a cloud."""
        values = {
            "means": cloud.means,
            "log_scales": cloud.scales.log(),
            "rotations": cloud.rotations,
            "logits": cloud.opacities.clamp(0.02, 0.98).logit(),
            "constant": cloud.sh[:, :1],
            "higher": cloud.sh[:, 1:],
        }
        return cls(values, extent, settings)

    def cloud(self) -> SplatCloud:
        """The current cloud, on one bone."""
        v = self.values
        count = len(v["means"])
        return SplatCloud(
            v["means"],
            v["log_scales"].exp(),
            quaternion.normalize(v["rotations"]),
            v["logits"].sigmoid(),
            torch.cat((v["constant"], v["higher"]), dim=1),
            torch.zeros(count, 1, dtype=torch.int64),
            torch.ones(count, 1),
            antialias=self.settings.antialias,
        )

    def step(self, loss: Tensor) -> None:
        """Go down the gradient once."""
        done = self.iteration / max(self.settings.iterations, 1)
        for group, first in zip(self.optimiser.param_groups, self._first_rates, strict=True):
            group["lr"] = first * LAST**done
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        self.iteration += 1


def save_state(path: Path, state: FitState) -> None:
    """Write parameters and optimiser to a file."""
    tensors = {f"value.{k}": v for k, v in state.values.items()}
    for name, value in state.values.items():
        for key, memory in state.optimiser.state.get(value, {}).items():
            tensors[f"adam.{name}.{key}"] = torch.as_tensor(memory)
    write_checkpoint(path, tensors, about=_about(iteration=state.iteration))


def load_state(path: Path, state: FitState) -> None:
    """Take a run up again where `save_state` left it, if it did. Raises `DamagedFile`."""
    kept = read_checkpoint(path)
    if kept is None:
        return
    tensors, about = kept
    with checking_content(path), torch.no_grad():
        state.iteration = json.loads(about["akd"])["iteration"]
        for name, value in state.values.items():
            value.copy_(tensors[f"value.{name}"])
            prefix = f"adam.{name}."
            memory = {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}
            if memory:
                state.optimiser.state[value] = memory


_FIELDS = ("means", "scales", "rotations", "opacities", "sh", "bones", "weights", "normals")


def save_cloud(path: Path, cloud: SplatCloud) -> None:
    """Write a cloud with its bones."""
    parts = {k: getattr(cloud, k) for k in _FIELDS if getattr(cloud, k) is not None}
    write_tensors(path, parts, about=_about(kind="cloud", antialias=cloud.antialias))


def load_cloud(path: Path) -> SplatCloud | None:
    """Read what `save_cloud` wrote; None where it is missing or damaged, to be fitted again."""
    try:
        tensors, about = read_tensors(path)
        with checking_content(path):
            return SplatCloud(**tensors, antialias=json.loads(about["akd"])["antialias"])
    except (FileNotFoundError, DamagedFile):
        return None


def _about(**values: object) -> dict[str, str]:
    return {"akd": json.dumps({"format": 1, **values})}
