"""A progress bar with the loss and the time left."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress


class Progress:
    """Called with the iteration, how many there are, and the loss."""

    def __init__(self, name: str) -> None:
        self._bar = RichProgress(
            TextColumn("{task.description:<14}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TextColumn("{task.fields[loss]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(name, total=1, loss="")

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def __call__(self, iteration: int, iterations: int, loss: float) -> None:
        """Show where the work stands; iterations count from zero."""
        done = min(iteration + 1, iterations)
        self._bar.update(self._task, completed=done, total=iterations, loss=f"loss {loss:.4g}")
