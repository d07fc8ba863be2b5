"""One network on several GPUs: its blocks in order, an equal number on each."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from akd.prior.large.errors import PriorError
from akd.prior.large.quantise import blocks_of


def spread_devices(device: torch.device, count: int) -> list[torch.device]:
    """`count` GPUs from `device` on; main memory is one device, however often it is counted."""
    if device.type != "cuda":
        return [device] * count
    first = device.index or 0
    return [torch.device("cuda", first + k) for k in range(count)]


def spread_network(network: Any, devices: list[torch.device]) -> None:
    """Put a network's blocks on devices, and all its other layers on the first.

    What a layer is given follows it to its device, so that the result is that of one device.

    Raises:
        PriorError: The network is no chain of blocks, or has fewer of them than there are devices.
    """
    from accelerate.hooks import AlignDevicesHook, add_hook_to_module

    blocks = blocks_of(network)
    if any(isinstance(block, nn.ModuleList) for block in blocks):
        raise PriorError(f"spread needs a transformer, got {type(network).__name__}")
    if len(blocks) < len(devices):
        raise PriorError(f"spread must be at most {len(blocks)}, the blocks, got {len(devices)}")
    places = {id(b): devices[k * len(devices) // len(blocks)] for k, b in enumerate(blocks)}
    # diffusers' own `to` interferes with hooks and casts.
    nn.Module.to(network, devices[0])
    layers = [layer for layer in network.children() if not isinstance(layer, nn.ModuleList)]
    for layer in (*layers, *blocks):
        hook = AlignDevicesHook(execution_device=places.get(id(layer), devices[0]))
        layer.to(hook.execution_device)
        add_hook_to_module(layer, hook)
