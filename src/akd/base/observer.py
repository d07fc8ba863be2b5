"""`Watch`: who is told how a long job goes. No torch here."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, runtime_checkable


@runtime_checkable
class Watch(Protocol):
    """Told what is being done, and how far it is."""

    def begin(self, stage: str) -> None:
        """A stage begins: stage, sample, fit, distil, physics, choose, measure or film."""
        ...

    def step(self, iteration: int, iterations: int, parts: dict[str, float]) -> None:
        """So many of so many iterations of the stage are done, with these parts of the loss.

        May raise `KeyboardInterrupt` where the user wants to stop.
        """
        ...

    def patient(self) -> AbstractContextManager[object]:
        """While this lasts, Ctrl-C waits for the next `step`, where the state can be kept."""
        ...


class Silent:
    """Tells nobody."""

    def begin(self, stage: str) -> None:
        """Say nothing."""

    def step(self, iteration: int, iterations: int, parts: dict[str, float]) -> None:
        """Say nothing."""

    def patient(self) -> AbstractContextManager[object]:
        """Ctrl-C as ever."""
        return nullcontext()
