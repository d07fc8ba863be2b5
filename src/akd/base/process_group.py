"""`ProcessGroup`: training in several processes, one a GPU, as `accelerate launch` starts them.

`torchrun` sets the same environment variables and works as well. Every process draws the random
numbers of the whole batch and takes its own part of them, so that the averaged gradients are those
of one process with all of it.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def is_first_process() -> bool:
    """Whether this process writes files and prints: the only one, or the first of those started."""
    return os.environ.get("RANK", "0") == "0"


@dataclass(frozen=True)
class ProcessGroup:
    """This process among those that train together."""

    rank: int = 0
    size: int = 1

    @classmethod
    def join(cls, device: torch.device) -> tuple[ProcessGroup, torch.device]:
        """Meet the other processes, where there are any; also returns this process's own device."""
        import torch

        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            return cls(), device
        if device.type == "cuda":
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(device)
        if not torch.distributed.is_initialized():
            torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
            atexit.register(torch.distributed.destroy_process_group)
        return cls(torch.distributed.get_rank(), size), device

    @property
    def leads(self) -> bool:
        """Whether this process writes files and prints: the first one."""
        return self.rank == 0

    def part(self, count: int) -> slice:
        """This process's rows of a batch of `count` rows, which the size must divide."""
        each, rest = divmod(count, self.size)
        assert not rest, f"{count} rows for {self.size} processes"
        return slice(self.rank * each, (self.rank + 1) * each)

    def average_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Replace each gradient by its mean over all processes, in one message."""
        if self.size == 1:
            return
        import torch

        gradients = [p.grad for p in parameters if p.grad is not None]
        whole = torch.cat([gradient.flatten() for gradient in gradients])
        torch.distributed.all_reduce(whole)
        whole /= self.size
        for gradient, mean in zip(
            gradients, whole.split([g.numel() for g in gradients]), strict=True
        ):
            gradient.copy_(mean.view_as(gradient))

    def mean(self, value: float, device: torch.device) -> float:
        """The mean of a number over all processes."""
        return self._reduced(value / self.size, device)

    def leader(self, value: float, device: torch.device) -> float:
        """The number of the first process, for all: such as its clock."""
        return self._reduced(value if self.leads else 0.0, device)

    def _reduced(self, value: float, device: torch.device) -> float:
        if self.size == 1:
            return value
        import torch

        number = torch.tensor(value, dtype=torch.float64, device=device)
        torch.distributed.all_reduce(number)
        return float(number)
