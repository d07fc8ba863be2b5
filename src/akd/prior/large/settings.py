"""How a large model is held and run. No torch is imported here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Weights(StrEnum):
    """How the weights of the frozen network are kept."""

    FULL = "full"
    """In the working precision."""
    FP8 = "fp8"
    """8-bit floats with one scale a row, multiplied in 8 bits where the GPU can (Hopper, Ada)."""
    FP8_STORED = "fp8-stored"
    """8-bit floats, brought back to the working precision for every product."""


class Recompute(StrEnum):
    """Activations that the encoder recomputes in the backward pass instead of keeping them."""

    NOTHING = "nothing"
    """Fastest; every layer's input is kept."""
    CHUNKS = "chunks"
    """Between chunks of frames only the convolutions' caches are kept."""
    BLOCKS = "blocks"
    """The same, and a recomputed chunk keeps only the inputs of its residual blocks, which are
    recomputed once more (CogVideoX; as `chunks` for others)."""


class Convolutions(StrEnum):
    """How the frozen encoder's convolutions are computed. The result is the same."""

    PLAIN = "plain"
    """By PyTorch, forward and back."""
    TURNED = "turned"
    """Back by a forward convolution with the weights turned round, where the stride is one."""
    FRAMES = "frames"
    """The same, and neighbouring frames laid side by side, as a convolution over images."""
    FASTEST = "fastest"
    """Each way is tried on a GPU when a size first comes up (seconds, once); plain elsewhere."""


@dataclass(frozen=True)
class LargeSettings:
    """Precision, memory and speed of a large prior. Only `weights` changes what is computed beyond
    rounding."""

    precision: str = "bfloat16"
    """`bfloat16`, `float16` or `float32`, for network and autoencoder."""
    weights: Weights = Weights.FULL
    """How the network's matrices are kept."""
    recompute: Recompute = Recompute.CHUNKS
    """Activations that the encoder recomputes for its gradient."""
    caches_on_cpu: bool = False
    """Keep the caches between chunks in main memory until they are needed."""
    frozen_kernels: bool = True
    """Convolutions and norms that keep nothing for the gradient of weights that never change."""
    channels_last: bool = False
    """Use the channels-last memory layout, which GPU convolutions prefer."""
    convolutions: Convolutions = Convolutions.PLAIN
    """How the encoder's convolutions are computed, where `frozen_kernels` is set."""
    compile: bool = False
    """Compile the network's blocks and the encoder's norms on first use (a minute, once)."""
    offload: bool = False
    """Keep the network in main memory and bring it to the GPU block by block."""
    spread: int = 1
    """GPUs that hold the network's blocks, in order, from the prior's own GPU on."""
    context_parallel: bool = False
    """Divide each prediction over the processes that `torchrun` started, one a GPU, each of which
    holds the whole network. The first process continues; the others serve it and end with it."""
    together: bool = True
    """Evaluate all rows (with the words and without, and several samples of noise) in one batch;
    one after the other takes less memory."""

    def __post_init__(self) -> None:
        if self.precision not in ("bfloat16", "float16", "float32"):
            raise ValueError(
                f"precision must be bfloat16, float16 or float32, got {self.precision!r}"
            )
        if self.spread < 1:
            raise ValueError(f"spread must be at least 1, got {self.spread}")
        if self.spread > 1 and self.offload:
            raise ValueError("spread and offload exclude each other: set only one of them")
        if self.context_parallel and (self.spread > 1 or self.offload):
            raise ValueError("context_parallel needs the whole network: no spread, no offload")
        if self.offload and self.weights is Weights.FP8:
            raise ValueError("offload needs weights full or fp8-stored, got 'fp8'")


FAST = LargeSettings(
    recompute=Recompute.NOTHING,
    channels_last=True,
    convolutions=Convolutions.FASTEST,
    compile=True,
)
"""For a GPU with 80 GiB or more. `weights=Weights.FP8` is faster still, and less exact."""

LEAN = LargeSettings(
    weights=Weights.FP8,
    recompute=Recompute.BLOCKS,
    caches_on_cpu=True,
    channels_last=True,
    convolutions=Convolutions.TURNED,
    compile=True,
)
"""For a GPU with 24 GiB; matrices in 8 bits, so that network and encoder fit side by side."""
