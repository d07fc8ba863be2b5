"""`Observer`: progress, previews, cancellation and checkpoints of a long job. No torch here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


class Observer:
    """Follows a long job. Every method does nothing by default: override what you need.

    An exception raised in `step` cancels the job; `KeyboardInterrupt` saves its state first.
    """

    def start(self, job: Mapping[str, Any]) -> None:
        """The job is about to start.

        Args:
            job: Everything that determines its result, as JSON values.
        """

    def note(self, text: str) -> None:
        """There is something to check before the long work.

        Args:
            text: Such as an assumed height, or words of the prompt that are ignored.
        """

    def begin(self, phase: str) -> None:
        """A phase begins.

        Args:
            phase: load, stage, sample, fit, distil, physics, select or measure.
        """

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        """An iteration of the phase is done.

        Args:
            iteration: How many are done, from 1.
            iterations: How many there are.
            values: Loss and its terms by name.
        """

    def wants_preview(self) -> bool:
        """Whether to render a preview now, which takes time.

        Returns:
            True for a call of `preview`.
        """
        return False

    def preview(self, frames: Tensor, fps: float) -> None:
        """The motion so far.

        Args:
            frames: [T, H, W, 3], sRGB 0..1, on the CPU.
            fps: Frames per second.
        """

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Save a checkpoint.

        Args:
            name: Of the checkpoint; a later one replaces it.
            tensors: Its content.
        """

    def load(self, name: str) -> dict[str, Tensor] | None:
        """Load a checkpoint that an earlier run of the same job saved.

        Args:
            name: Of the checkpoint.

        Returns:
            What `save` was given, or None if there is none.
        """
        return None

    def deferred_interrupts(self) -> AbstractContextManager[None]:
        """Let Ctrl-C wait for the next `step`.

        Returns:
            A context manager.
        """
        return nullcontext()


class Observers(Observer):
    """Several observers as one. The first checkpoint found is the one that is loaded."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def start(self, job: Mapping[str, Any]) -> None:
        """See `Observer`; all are called."""
        for observer in self._observers:
            observer.start(job)

    def note(self, text: str) -> None:
        """See `Observer`; all are called."""
        for observer in self._observers:
            observer.note(text)

    def begin(self, phase: str) -> None:
        """See `Observer`; all are called."""
        for observer in self._observers:
            observer.begin(phase)

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        """See `Observer`; all are called."""
        for observer in self._observers:
            observer.step(iteration, iterations, values)

    def wants_preview(self) -> bool:
        """See `Observer`; True if any wants one."""
        return any(observer.wants_preview() for observer in self._observers)

    def preview(self, frames: Tensor, fps: float) -> None:
        """See `Observer`; all are called."""
        for observer in self._observers:
            observer.preview(frames, fps)

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """See `Observer`; all are called."""
        for observer in self._observers:
            observer.save(name, tensors)

    def load(self, name: str) -> dict[str, Tensor] | None:
        """See `Observer`; the first that is found."""
        found = (observer.load(name) for observer in self._observers)
        return next((tensors for tensors in found if tensors is not None), None)

    @contextmanager
    def deferred_interrupts(self) -> Iterator[None]:
        """See `Observer`; all are entered."""
        with ExitStack() as stack:
            for observer in self._observers:
                stack.enter_context(observer.deferred_interrupts())
            yield
