"""`Checkpoint`: everything that the next iteration of a distillation depends on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

_TEXT_BLOCK = 1 << 16
"""Bytes to a multiple of which the history is filled up."""


@dataclass(frozen=True)
class Checkpoint:
    """The state after an iteration, copied."""

    iteration: int
    """The next one."""
    parameters: list[Tensor]
    optimiser: dict[int, dict[str, Tensor]]
    generator: Tensor
    history: list[dict[str, float]]
    """Loss and its terms at every iteration; rows are shared with the search, and never change."""
    rollbacks: int = 0
    """How often the search diverged so far; each time halved the learning rate."""
    notes: tuple[str, ...] = ()
    """For the user: one line for each time that it diverged."""

    @classmethod
    def capture(
        cls,
        iteration: int,
        parameters: Sequence[Tensor],
        optimiser: torch.optim.Optimizer,
        generator: torch.Generator,
        history: Sequence[dict[str, float]],
        *,
        rollbacks: int = 0,
        notes: tuple[str, ...] = (),
    ) -> Checkpoint:
        """The current state."""
        state = optimiser.state_dict()["state"]
        return cls(
            iteration,
            [_copy(value) for value in parameters],
            {i: {k: _copy(v) for k, v in s.items()} for i, s in state.items()},
            generator.get_state(),
            list(history),
            rollbacks,
            notes,
        )

    def restore(
        self,
        parameters: Sequence[Tensor],
        optimiser: torch.optim.Optimizer,
        generator: torch.Generator,
    ) -> None:
        """Put the state back. Raises `ValueError` for a state of other parameters."""
        if [p.shape for p in parameters] != [p.shape for p in self.parameters]:
            raise ValueError("it holds other parameters than this run")
        for i, state in self.optimiser.items():
            if any(v.dim() and v.shape != parameters[i].shape for v in state.values()):
                raise ValueError("the optimiser's state is of other parameters than this run's")
        with torch.no_grad():
            for value, kept in zip(parameters, self.parameters, strict=True):
                value.copy_(kept)
        whole = optimiser.state_dict()
        whole["state"] = {
            i: {k: v.clone() for k, v in s.items()} for i, s in self.optimiser.items()
        }
        optimiser.load_state_dict(whole)
        generator.set_state(self.generator)

    def to_tensors(self) -> dict[str, Tensor]:
        """As tensors by name, for `Observer.save`; what is no tensor is JSON in `about`."""
        tensors = {f"parameter.{i}": value for i, value in enumerate(self.parameters)}
        for i, state in self.optimiser.items():
            tensors |= {f"optimiser.{i}.{name}": value for name, value in state.items()}
        about = {
            "iteration": self.iteration,
            "history": self.history,
            "rollbacks": self.rollbacks,
            "notes": self.notes,
        }
        text = json.dumps(about).encode()
        # safetensors keeps a ctypes type for each length it has written: a few lengths, not one a
        # checkpoint, keep memory flat.
        text += b" " * (-len(text) % _TEXT_BLOCK)
        about_text = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        return {**tensors, "generator": self.generator, "about": about_text}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Checkpoint:
        """The inverse of `to_tensors`, to be called within `checking_content`."""
        count = sum(name.startswith("parameter.") for name in tensors)
        optimiser: dict[int, dict[str, Tensor]] = {}
        about = json.loads(bytes(tensors["about"].tolist()))
        for name, value in tensors.items():
            if name.startswith("optimiser."):
                _, index, key = name.split(".")
                optimiser.setdefault(int(index), {})[key] = value
        return cls(
            int(about["iteration"]), [tensors[f"parameter.{i}"] for i in range(count)],
            optimiser, tensors["generator"], [dict(row) for row in about["history"]],
            int(about["rollbacks"]), tuple(map(str, about["notes"])),
        )  # fmt: skip


def _copy(value: Tensor) -> Tensor:
    """On the CPU, whatever the device."""
    return value.detach().to("cpu", copy=True)


def pack(states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Several sets of tensors as one, their number in front of the names."""
    return {f"{k}.{name}": value for k, one in enumerate(states) for name, value in one.items()}


def unpack(tensors: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
    """The inverse of `pack`."""
    found: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, _, rest = name.partition(".")
        found.setdefault(int(number), {})[rest] = value
    return [found[k] for k in sorted(found)]
