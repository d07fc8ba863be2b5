"""The state of a distillation on disk, so that it can go on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from akd.base.files import write_tensors
from akd.motion.parameters import MotionParameters

FORMAT = "akd-distill-2"


@dataclass(frozen=True)
class Checkpoint:
    """Everything that the next iteration depends on."""

    iteration: int
    """The next one."""
    leaves: list[Tensor]
    optimiser: dict[int, dict[str, Tensor]]
    generator: Tensor
    history: list[dict[str, float]]
    rollbacks: int = 0
    """How often the search ran away so far; each time halved the learning rate."""
    notes: tuple[str, ...] = ()
    """What a person should know of: one line for each time that it ran away."""

    def save(self, path: Path, *, belongs_to: Mapping[str, str]) -> None:
        """Write it to the disk.

        `belongs_to` names what the state depends on, such as the asset's hash. Where writing fails
        (`OSError`), the state that was there before stays.
        """
        tensors = {f"leaf.{i}": leaf for i, leaf in enumerate(self.leaves)}
        for i, state in self.optimiser.items():
            for name, value in state.items():
                tensors[f"optimiser.{i}.{name}"] = torch.as_tensor(value)
        tensors["generator"] = self.generator
        about = {
            "format": FORMAT,
            "belongs_to": json.dumps(dict(belongs_to)),
            "iteration": str(self.iteration),
            "history": json.dumps(self.history),
            "rollbacks": str(self.rollbacks),
            "notes": json.dumps(self.notes),
        }
        write_tensors(path, tensors, about=about, durable=True)

    @classmethod
    def load(cls, path: Path, *, belongs_to: Mapping[str, str]) -> Checkpoint:
        """Read it. Raises `ValueError`, one line, where it belongs to something else or is none."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "pt") as file:
                about = file.metadata() or {}
                names = list(file.keys())
                tensors = {name: file.get_tensor(name) for name in names}
        except SafetensorError as error:
            raise ValueError(f"{path}: is no saved state ({error})") from None
        if about.get("format") != FORMAT:
            raise ValueError(f"{path}: must be of format {FORMAT}, got {about.get('format')}")
        if other := differing(json.loads(about["belongs_to"]), belongs_to):
            raise ValueError(
                f"{path}: belongs to another {' and another '.join(other)}; give another output "
                f"folder, or start anew with --overwrite"
            )
        leaves = [tensors[f"leaf.{i}"] for i in range(sum(n.startswith("leaf.") for n in names))]
        optimiser: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("optimiser."):
                _, index, key = name.split(".")
                optimiser.setdefault(int(index), {})[key] = value
        return cls(
            int(about["iteration"]), leaves, optimiser, tensors["generator"],
            json.loads(about["history"]), int(about["rollbacks"]),
            tuple(json.loads(about["notes"])),
        )  # fmt: skip


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Names of what is not the same in both."""
    names = dict.fromkeys((*one, *other))
    return [name for name in names if one.get(name) != other.get(name)]


def capture(
    iteration: int,
    unknowns: MotionParameters,
    optimiser: torch.optim.Optimizer,
    generator: torch.Generator,
    history: list[dict[str, float]],
    *,
    rollbacks: int = 0,
    notes: tuple[str, ...] = (),
) -> Checkpoint:
    """The state as it is now, copied."""
    state = optimiser.state_dict()["state"]
    return Checkpoint(
        iteration,
        [leaf.detach().clone() for leaf in unknowns.leaves()],
        {i: {k: torch.as_tensor(v).clone() for k, v in s.items()} for i, s in state.items()},
        generator.get_state(),
        [dict(row) for row in history],
        rollbacks,
        notes,
    )


def restore(
    checkpoint: Checkpoint,
    unknowns: MotionParameters,
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
