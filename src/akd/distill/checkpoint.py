"""The state of a distillation on disk, so that it can go on where it stopped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from akd.distill.unknowns import Unknowns

FORMAT = "akd-distill-1"


@dataclass(frozen=True)
class Checkpoint:
    """Everything that the next iteration depends on."""

    iteration: int
    """The next one."""
    leaves: list[Tensor]
    optimiser: dict[int, dict[str, Tensor]]
    generator: Tensor
    history: list[dict[str, float]]

    def save(self, path: Path, *, fingerprint: str) -> None:
        """Write it whole, under a temporary name first. `fingerprint` names what it belongs to."""
        from safetensors.torch import save_file

        tensors = {f"leaf.{i}": leaf.detach().clone() for i, leaf in enumerate(self.leaves)}
        for i, state in self.optimiser.items():
            for name, value in state.items():
                tensors[f"optimiser.{i}.{name}"] = torch.as_tensor(value).clone()
        tensors["generator"] = self.generator
        about = {
            "format": FORMAT,
            "fingerprint": fingerprint,
            "iteration": str(self.iteration),
            "history": json.dumps(self.history),
        }
        waiting = path.with_suffix(".part")
        save_file(tensors, waiting, metadata=about)
        waiting.replace(path)

    @classmethod
    def load(cls, path: Path, *, fingerprint: str) -> Checkpoint:
        """Read it. Raises `ValueError` where it belongs to something else."""
        from safetensors import safe_open

        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            if about.get("format") != FORMAT:
                raise ValueError(f"{path}: must be of format {FORMAT}, got {about.get('format')}")
            if about.get("fingerprint") != fingerprint:
                raise ValueError(
                    f"{path}: belongs to another asset, prompt, prior or settings; "
                    "give another output folder, or remove this one"
                )
            names = list(file.keys())
            tensors = {name: file.get_tensor(name) for name in names}
        leaves = [tensors[f"leaf.{i}"] for i in range(sum(n.startswith("leaf.") for n in names))]
        optimiser: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("optimiser."):
                _, index, key = name.split(".")
                optimiser.setdefault(int(index), {})[key] = value
        return cls(
            int(about["iteration"]), leaves, optimiser, tensors["generator"],
            json.loads(about["history"]),
        )  # fmt: skip


def capture(
    iteration: int,
    unknowns: Unknowns,
    optimiser: torch.optim.Optimizer,
    generator: torch.Generator,
    history: list[dict[str, float]],
) -> Checkpoint:
    """The state as it is now, copied."""
    state = optimiser.state_dict()["state"]
    return Checkpoint(
        iteration,
        [leaf.detach().clone() for leaf in unknowns.leaves()],
        {i: {k: torch.as_tensor(v).clone() for k, v in s.items()} for i, s in state.items()},
        generator.get_state(),
        [dict(row) for row in history],
    )


def restore(
    checkpoint: Checkpoint,
    unknowns: Unknowns,
    optimiser: torch.optim.Optimizer,
    generator: torch.Generator,
) -> None:
    """Put a state back."""
    with torch.no_grad():
        for leaf, value in zip(unknowns.leaves(), checkpoint.leaves, strict=True):
            leaf.copy_(value)
    whole = optimiser.state_dict()
    whole["state"] = {
        i: {k: v.clone() for k, v in s.items()} for i, s in checkpoint.optimiser.items()
    }
    optimiser.load_state_dict(whole)
    generator.set_state(checkpoint.generator)
