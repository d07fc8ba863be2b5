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
        """The job is about to start. `job` is all that decides its result, as JSON values."""

    def note(self, text: str) -> None:
        """Something for the user to check before the long work, such as an assumed height."""

    def begin(self, phase: str) -> None:
        """A phase begins: one of load, stage, sample, search, fit, distil, physics, select, measure
        and film."""

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        """An iteration of the phase is done.

        Args:
            iteration: How many are done, from 1.
            iterations: How many there are.
            values: Loss and its terms by name.
        """

    def wants_preview(self) -> bool:
        """Whether `preview` should be called now: rendering one costs time."""
        return False

    def preview(self, frames: Tensor, fps: float) -> None:
        """The motion so far: frames [T, H, W, 3], sRGB 0..1."""

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Keep a checkpoint, so that `load` returns it in a later run of the same job."""

    def load(self, name: str) -> dict[str, Tensor] | None:
        """A checkpoint of this name that an earlier run of the same job kept."""
        return None

    def deferred_interrupts(self) -> AbstractContextManager[None]:
        """While this context lasts, Ctrl-C waits for the next `step`."""
        return nullcontext()


class Observers(Observer):
    """Several observers as one. The first checkpoint found is the one that is loaded."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def start(self, job: Mapping[str, Any]) -> None:
        """Tell all of them."""
        for observer in self._observers:
            observer.start(job)

    def note(self, text: str) -> None:
        """Tell all of them."""
        for observer in self._observers:
            observer.note(text)

    def begin(self, phase: str) -> None:
        """Tell all of them."""
        for observer in self._observers:
            observer.begin(phase)

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        """Tell all of them."""
        for observer in self._observers:
            observer.step(iteration, iterations, values)

    def wants_preview(self) -> bool:
        """Whether any of them wants one."""
        return any(observer.wants_preview() for observer in self._observers)

    def preview(self, frames: Tensor, fps: float) -> None:
        """Show it to all of them."""
        for observer in self._observers:
            observer.preview(frames, fps)

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Let all of them keep it."""
        for observer in self._observers:
            observer.save(name, tensors)

    def load(self, name: str) -> dict[str, Tensor] | None:
        """The first that is found."""
        found = (observer.load(name) for observer in self._observers)
        return next((tensors for tensors in found if tensors is not None), None)

    @contextmanager
    def deferred_interrupts(self) -> Iterator[None]:
        """In all of them."""
        with ExitStack() as stack:
            for observer in self._observers:
                stack.enter_context(observer.deferred_interrupts())
            yield
