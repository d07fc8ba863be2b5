"""`GraphStep`: a step of an optimisation as one CUDA graph, replayed in place of its launches.

Launching a thousand small kernels from Python takes far longer than running them. A graph holds
them all, with the memory they work on, and is launched at once.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

_WARM_UP = 2
"""Plain calls before a capture: kernels are loaded, constants copied and sizes measured."""

_log = logging.getLogger(__name__)


@runtime_checkable
class Room(Protocol):
    """Memory whose size depends on the data: see `akd.splat.list_room.ListRoom`."""

    def measuring(self) -> AbstractContextManager[None]:
        """Calls in this context find out how much is needed."""
        ...

    def fixed(self) -> AbstractContextManager[None]:
        """Calls in this context take what was measured, with a margin."""
        ...

    def overflow(self) -> bool:
        """Whether the last run needed more."""
        ...


class GraphStep:
    """A function of tensors, called as usual and replayed as a CUDA graph where it can be.

    The function must read no value back to the host, must launch everything on torch's current
    stream, and must not change what it is called with: a call whose lists outgrow their room is
    made again. Other tensors that it uses, such as the parameters, must stay where they are; they
    may be written to between calls. On the CPU, and where a capture fails, it is simply called.
    """

    def __init__(
        self,
        function: Callable[..., Sequence[Tensor | None]],
        *,
        device: torch.device,
        capture: bool = True,
        room: Room | None = None,
    ) -> None:
        """
        Args:
            function: What is captured. Returns tensors.
            device: Where it runs.
            capture: Whether it may be captured at all.
            room: Memory of the rasterizer whose size depends on the data.
        """
        self._function, self._room, self._device = function, room, device
        self._may_capture = capture and device.type == "cuda"
        self._warm_calls = 0
        self._stream: torch.cuda.Stream | None = None
        self._graph: torch.cuda.CUDAGraph | None = None
        self._broken_by: RuntimeError | None = None
        self._inputs: list[Tensor] = []
        self._outputs: Sequence[Tensor | None] = ()

    @property
    def is_captured(self) -> bool:
        """Whether calls replay a graph."""
        return self._graph is not None

    def __call__(self, *inputs: Tensor, **options: Any) -> Sequence[Tensor | None]:
        """Call the function, or replay its graph.

        Args:
            inputs: Tensors of the same shapes at every call. They are copied into the graph's own.
            options: Of calls without a graph; a graph keeps those of its capture.

        Returns:
            The function's tensors. Those of a graph are overwritten by the next call.
        """
        if not self._may_capture:
            return self._function(*inputs, **options)
        if self._graph is None:
            if self._warm_calls < _WARM_UP:
                return self._warm_up(inputs, options)
            try:
                self._capture(inputs, options)
            except RuntimeError as error:
                self._may_capture, self._graph, self._outputs = False, None, ()
                # What went wrong within a capture shows again, as another error, at its end.
                why = _told(self._broken_by or error)
                _log.warning("no CUDA graph, every kernel is launched by itself: %s", why)
                return self._function(*inputs, **options)
        assert self._graph is not None
        for own, given in zip(self._inputs, inputs, strict=True):
            own.copy_(given, non_blocking=True)
        self._graph.replay()
        if self._room is not None and self._room.overflow():
            self._graph, self._outputs, self._warm_calls = None, (), _WARM_UP - 1
            return self(*inputs, **options)
        return self._outputs

    def _warm_up(self, inputs: Sequence[Tensor], options: dict[str, Any]) -> Sequence[Any]:
        """A plain call on the stream of the capture.

        Libraries and Warp keep memory and handles for each stream, and make them at its first use:
        a capture forbids that.
        """
        self._warm_calls += 1
        main, side = torch.cuda.current_stream(self._device), self._side_stream()
        side.wait_stream(main)
        with torch.cuda.stream(side), self._measuring():
            outputs = self._function(*inputs, **options)
        main.wait_stream(side)
        for output in outputs:
            if output is not None:
                output.record_stream(main)
        return outputs

    def _capture(self, inputs: Sequence[Tensor], options: dict[str, Any]) -> None:
        self._inputs = [given.to(self._device, copy=True) for given in inputs]
        graph, side = torch.cuda.CUDAGraph(), self._side_stream()
        side.wait_stream(torch.cuda.current_stream(self._device))
        # Other threads may go on using the device meanwhile.
        with (
            torch.cuda.device(self._device),
            torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"),
            self._fixed(),
        ):
            try:
                self._outputs = self._function(*self._inputs, **options)
            except RuntimeError as error:
                self._broken_by = error
                raise
        self._graph = graph

    def _measuring(self) -> AbstractContextManager[None]:
        return nullcontext() if self._room is None else self._room.measuring()

    def _fixed(self) -> AbstractContextManager[None]:
        return nullcontext() if self._room is None else self._room.fixed()

    def _side_stream(self) -> torch.cuda.Stream:
        """The one stream of the plain calls before the capture and of the capture itself."""
        if self._stream is None:
            self._stream = torch.cuda.Stream(self._device)
        return self._stream


def _told(error: BaseException) -> str:
    """An error in one line: type, message, and the line outside of libraries that raised it."""
    message = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename]
    for frame in reversed(own or frames):
        return f"{message}; at {frame.filename}, line {frame.lineno}: {frame.line}"
    return message
