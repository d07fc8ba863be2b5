"""Context parallelism: the tokens of one video over several GPUs, one process each, by diffusers.

Every process holds the whole network. The first one runs as it would alone; what its network is
given goes to the others, which compute their share of each prediction and nothing else.
"""

from __future__ import annotations

import atexit
import json
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from akd.base.process_group import ProcessGroup
from akd.prior.large.errors import PriorError

_KNOWN = ("WanTransformer3DModel",)
"""Networks whose divided predictions are those of one process. diffusers 0.42 has no plan for
CogVideoX, and fails with LTX-Video, whose mask of words it makes for all heads."""
_FIRST = 0
"""Rank of the process that the others follow."""
_RELEASED_WITHIN = 5.0
"""Seconds after which a message that gloo still holds is given up on."""


def divide_context(networks: Sequence[Any], device: torch.device) -> None:
    """Divide predictions over the processes that `torchrun` or `accelerate launch` started.

    Returns in the first process. All others serve it until it ends, and then exit.

    Args:
        networks: The same in every process, each on its own device. Their heads are divided:
            Ulysses attention, which needs no kernel of its own.
        device: Of this process.

    Raises:
        PriorError: There is one process alone, such a network cannot be divided, or its heads
            not evenly.
    """
    group, device = ProcessGroup.join(device)
    if group.size == 1:
        raise PriorError("context_parallel needs several processes: start them with torchrun")
    for network in networks:
        _divide(network, group.size)
    if not group.leads:
        _follow(networks, device)
        sys.exit(0)
    for number, network in enumerate(networks):
        hand_out = partial(_hand_out, number, device)
        network.register_forward_pre_hook(hand_out, with_kwargs=True)
    atexit.register(_send, None, (), device)  # before the group is left, which was registered first


def _divide(network: Any, count: int) -> None:
    from diffusers import ContextParallelConfig  # pyright: ignore[reportPrivateImportUsage]

    if (name := type(network).__name__) not in _KNOWN:
        raise PriorError(
            f"context_parallel is for {', '.join(_KNOWN)}, got {name}; set spread instead"
        )
    heads = network.config.num_attention_heads
    if heads % count:
        raise PriorError(f"context_parallel: {count} processes must divide the {heads} heads")
    network.enable_parallelism(config=ContextParallelConfig(ulysses_degree=count))


def _hand_out(
    number: int, device: torch.device, _: Any, given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    """Send what a network is called with to the processes that follow."""
    values = [*given, *named.values()]
    message = {
        "network": number, "names": list(named), "values": [_described(value) for value in values],
    }  # fmt: skip
    _send(message, [value for value in values if isinstance(value, Tensor)], device)


def _follow(networks: Sequence[Any], device: torch.device) -> None:
    """Compute this process's share of each prediction until the first process ends."""
    while (message := _receive(device)) is not None:
        values = list(_values(message["values"], device))
        plain = len(values) - len(message["names"])
        named = dict(zip(message["names"], values[plain:], strict=True))
        with torch.no_grad():
            networks[message["network"]](*values[:plain], **named)


def _described(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return {"plain": value}
    return {"shape": list(value.shape), "dtype": str(value.dtype).removeprefix("torch.")}


def _values(described: Sequence[dict[str, Any]], device: torch.device) -> Iterator[Any]:
    for one in described:
        if "plain" in one:
            yield one["plain"]
        else:
            dtype = getattr(torch, one["dtype"])
            yield _shared(torch.empty(one["shape"], dtype=dtype, device=device))


def _send(message: Any, tensors: Sequence[Tensor], device: torch.device) -> None:
    text = torch.tensor(list(json.dumps(message).encode()), dtype=torch.uint8, device=device)
    _shared(torch.tensor([len(text)], device=device))
    _shared(text)
    for tensor in tensors:
        _shared(tensor.detach().contiguous())


def _receive(device: torch.device) -> Any:
    length = int(_shared(torch.zeros(1, dtype=torch.long, device=device)))
    text = _shared(torch.empty(length, dtype=torch.uint8, device=device))
    return json.loads(bytes(text.tolist()))


def _shared(tensor: Tensor) -> Tensor:
    """The first process's tensor, in all of them.

    gloo's threads hold a tensor for a moment longer in one message of ten, and the networks' device
    meshes keep these threads alive until Python shuts down, when a release aborts the process.
    """
    held = _holders(tensor)
    torch.distributed.broadcast(tensor, _FIRST)
    until = time.monotonic() + _RELEASED_WITHIN
    while not tensor.is_cuda and _holders(tensor) > held and time.monotonic() < until:
        time.sleep(1e-4)  # without the interpreter's lock, which those threads need
    return tensor


def _holders(tensor: Tensor) -> int:
    return tensor._use_count()  # pyright: ignore[reportAttributeAccessIssue]
