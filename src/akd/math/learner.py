"""`Learner`: a network in training, with its running average, optimisers and progress."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from akd.base.files import checking_content, read_checkpoint, write_checkpoint
from akd.base.process_group import ProcessGroup

Network = TypeVar("Network", bound=nn.Module)


@dataclass
class Progress:
    """Where a training stands; saved with it."""

    step: int = 0
    seconds: float = 0.0
    """Over all runs."""
    loss: float = float("nan")
    """Running mean."""


@dataclass(frozen=True)
class Descent:
    """How a network is trained."""

    learning_rate: float
    warm_up: int
    """Steps over which the learning rate rises from zero."""
    weight_decay: float
    ema: float
    """Decay of the averaged weights, which are the ones released."""
    betas: tuple[float, float] = (0.9, 0.99)

    def rate(self, step: int, part: float) -> float:
        """The learning rate: full for a third of the time, then down to nothing."""
        return (
            self.learning_rate
            * min(1.0, (step + 1) / self.warm_up)
            * (min(1.0, 1.5 * (1.0 - part)) + 1e-3)
        )


def compiled_if_it_works(
    function: Callable[..., Tensor], attempt: Callable[[Callable[..., Tensor]], Tensor]
) -> Callable[..., Tensor]:
    """A function compiled, or as it is where that fails; the reason is printed.

    Args:
        function: Returns a loss, or what one is made of.
        attempt: Calls a function as training will, and returns a scalar to go back from.
    """
    started = time.perf_counter()
    try:
        compiled = torch.compile(function)
        attempt(compiled).backward()
    except Exception as error:  # a compiler may fail in many ways; plain torch still works
        print(f"not compiled: {type(error).__name__}: {str(error)[:300]}", flush=True)
        return function
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    print(f"compiled in {time.perf_counter() - started:.1f} s", flush=True)
    return compiled


def linear_weights(module: nn.Module) -> list[Tensor]:
    """The matrices of the linear layers within a module."""
    return [layer.weight for layer in module.modules() if isinstance(layer, nn.Linear)]


class Learner(Generic[Network]):
    """Takes losses, makes steps, and keeps the average of the weights.

    The `matrices` are trained by Muon, everything else by AdamW. On a small tiny prior (0.7 M
    weights, batches of 32), Muon reached after 200 steps the error that AdamW reached after 300,
    each with its best learning rate. Muon's steps are scaled to AdamW's, so that one learning rate
    serves both.
    """

    def __init__(
        self,
        network: Network,
        descent: Descent,
        *,
        device: torch.device,
        group: ProcessGroup | None = None,
        matrices: Iterable[Tensor] = (),
    ) -> None:
        self.device, self.descent = device, descent
        self.group = group or ProcessGroup()
        self.network = network.to(device)
        self.average = copy.deepcopy(network).requires_grad_(False)
        self.progress = Progress()
        hidden = list(matrices)
        rest = [p for p in network.parameters() if not any(p is other for other in hidden)]
        rate, decay = descent.learning_rate, descent.weight_decay
        self.optimisers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(
                rest, lr=rate, betas=descent.betas, weight_decay=decay, fused=device.type == "cuda"
            )
        ]
        if hidden:
            self.optimisers.append(
                torch.optim.Muon(
                    hidden, lr=rate, weight_decay=decay, adjust_lr_fn="match_rms_adamw"
                )
            )

    def descend(self, loss: Tensor, *, part: float) -> None:
        """One step down; `part` of the whole training is over, 0..1.

        Raises:
            FloatingPointError: The loss is huge or not a number.
        """
        progress = self.progress
        rate = self.descent.rate(progress.step, part)
        for optimiser in self.optimisers:
            for parameters in optimiser.param_groups:
                parameters["lr"] = rate
            optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.group.average_gradients(self.network.parameters())
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        for optimiser in self.optimisers:
            optimiser.step()
        keep = min(self.descent.ema, (progress.step + 1) / (progress.step + 10))
        with torch.no_grad():
            pairs = zip(self.average.parameters(), self.network.parameters(), strict=True)
            for slow, quick in pairs:
                slow.lerp_(quick, 1.0 - keep)
        progress.step += 1
        if progress.step % 20 == 1:  # reading the loss waits for the device
            value = self.group.mean(float(loss.detach()), self.device)
            if not value < 1e4:
                raise FloatingPointError(f"the loss is {value} at step {progress.step}")
            first = progress.loss != progress.loss
            progress.loss = value if first else 0.9 * progress.loss + 0.1 * value

    def save(self, path: Path) -> None:
        """Write the state from which training continues."""
        tensors = {f"network.{k}": v for k, v in self.network.state_dict().items()}
        tensors |= {f"average.{k}": v for k, v in self.average.state_dict().items()}
        for name, parameter in self.network.named_parameters():
            for optimiser in self.optimisers:
                for key, value in optimiser.state.get(parameter, {}).items():
                    tensors[f"optimiser.{key}.{name}"] = torch.as_tensor(value)
        write_checkpoint(path, tensors, about={"progress": json.dumps(asdict(self.progress))})

    def restore(self, path: Path) -> bool:
        """Go on from what `save` wrote; False where there is nothing. Raises `DamagedFile`."""
        kept = read_checkpoint(path)
        if kept is None:
            return False
        tensors, about = kept
        with checking_content(path):
            self.progress = Progress(**json.loads(about["progress"]))
            for prefix, module in (("network.", self.network), ("average.", self.average)):
                module.load_state_dict(
                    {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
                )
            parameters = dict(self.network.named_parameters())
            for title, value in tensors.items():
                kind, _, rest = title.partition(".")
                if kind != "optimiser":
                    continue
                key, _, name = rest.partition(".")
                self._optimiser_of(parameters[name]).state[parameters[name]][key] = value.to(
                    self.device
                )
        return True

    def _optimiser_of(self, parameter: nn.Parameter) -> torch.optim.Optimizer:
        for optimiser in self.optimisers:
            if any(parameter is p for group in optimiser.param_groups for p in group["params"]):
                return optimiser
        raise KeyError("a parameter of another network")
