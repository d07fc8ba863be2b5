"""`Terminal`: the command line's observer: progress, time left, and a Ctrl-C that waits."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, Task, TextColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from akd.base.observer import Observer
from akd.commands.errors import say
from akd.commands.time_left import TimeLeft

PHASES = {
    "read": "read the file",
    "load": "load the model",
    "stage": "set the stage",
    "sample": "sample videos",
    "search": "search the view",
    "fit": "fit to videos",
    "distil": "distil",
    "physics": "physics",
    "select": "select",
    "measure": "measure",
    "film": "film",
}
_LINE_SECONDS = 30.0


class Terminal(Observer):
    """Progress in a terminal; elsewhere a line per phase and one every half minute.

    The time left is that of the whole job (`TimeLeft`). A line fits 80 columns.
    """

    def __init__(self, *, quick: bool = False) -> None:
        """With `quick`, the time left is that of a preview."""
        self._quick = quick
        self._console = Console(stderr=True)
        self._bar = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description:<15}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[count]:>9}"),
            _TimeColumn(self),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = None
        self._phase = ""
        self._began = self._last = self._said = time.monotonic()
        self._left = TimeLeft()
        self._remaining: int | None = None
        self._waits = self._wanted = False
        self._before = None
        self._notes: set[str] = set()

    def __enter__(self) -> Terminal:
        self._bar.start()
        if threading.current_thread() is threading.main_thread():
            self._before = {
                number: signal.signal(number, self._asked_to_stop)
                for number in (signal.SIGINT, signal.SIGTERM)
            }
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        from akd.distill.run_folder import RunFinished

        for number, handler in (self._before or {}).items():
            signal.signal(number, handler)
        self._finish(whole=kind is None or issubclass(kind, RunFinished))
        self._bar.stop()

    def start(self, job: Mapping[str, Any]) -> None:
        """Plan the time."""
        self._left.start(job, quick=self._quick)

    def note(self, text: str) -> None:
        """Print it above the progress, once."""
        if text in self._notes:
            return
        self._notes.add(text)
        whole = not self._console.is_terminal  # elsewhere each note is one line
        self._console.print(f"akd: note: {text}", markup=False, highlight=False, soft_wrap=whole)

    def begin(self, phase: str) -> None:
        """Show the next phase."""
        self._finish(whole=True)
        self._phase = phase
        self._began = self._last = self._said = time.monotonic()
        self._left.begin()
        self._remaining = None
        name = PHASES.get(phase, phase)
        self._task = self._bar.add_task(name, total=None, count="")

    def times(self) -> str:
        """Time since the phase began, and time left of the whole job."""
        elapsed = time.monotonic() - self._began
        left = self._left.left(self._phase, elapsed, self._remaining)
        return f"{clock(elapsed):>8}" + ("" if left is None else f"   {clock(left)} left")

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        """Show how far the phase is, and stop where the user wants to."""
        now = time.monotonic()
        self._left.step(now - self._last)
        self._last = now
        self._remaining = iterations - iteration
        count = f"{iteration}/{iterations}"
        if self._task is not None:
            self._bar.update(self._task, completed=iteration, total=iterations, count=count)
        if not self._console.is_terminal and now - self._said >= _LINE_SECONDS:
            self._said = now
            line = f"{PHASES.get(self._phase, self._phase):<15} {count} {self.times()}"
            self._console.print(line, soft_wrap=True, highlight=False)
        if self._wanted:
            self._wanted = False
            raise KeyboardInterrupt

    @contextmanager
    def deferred_interrupts(self) -> Iterator[None]:
        """Ctrl-C waits for the next step; a second one does not wait."""
        self._waits = True
        try:
            yield
        finally:
            self._waits = False
        if self._wanted:
            raise KeyboardInterrupt

    def _asked_to_stop(self, number: int, frame: FrameType | None) -> None:
        if not self._waits or self._wanted:
            raise KeyboardInterrupt
        self._wanted = True

    def _finish(self, *, whole: bool) -> None:
        """Leave a line behind about the phase that ends."""
        if self._task is None:
            return
        self._bar.remove_task(self._task)
        self._task = None
        seconds = time.monotonic() - self._began
        if whole:
            self._left.finish(self._phase, seconds)
        took = clock(seconds)
        end = f"{took:>8}" if whole else f"stopped after {took}"
        self._console.print(
            f"{PHASES.get(self._phase, self._phase):<15} {end}", highlight=False, soft_wrap=True
        )


class _TimeColumn(TextColumn):
    """Redrawn all the time, so that a long iteration does not look like a freeze."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__("")
        self._terminal = terminal

    def render(self, task: Task) -> Text:
        return Text(self._terminal.times())


def name_clips(path: Path, clips: Iterable[str]) -> None:
    """Say which clips were written to a file, and what opens it."""
    named = [repr(name) for name in clips]
    word = "clip" if len(named) == 1 else "clips"
    opens = "any glTF viewer" if path.suffix == ".glb" else "any BVH viewer"
    say(f"{path}: {word} {', '.join(named)}; open it in Blender or {opens}")


def viewer_needs() -> str:
    """What to add where `akd view` is recommended: nothing if the viewer is installed."""
    return "" if find_spec("viser") else " (first: pip install 'akd[view]')"


def clock(seconds: float) -> str:
    """Seconds as people read them: 42 s, 3:05 min, 2:10 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60) if seconds >= 6000 else int(seconds // 60)
    if seconds < 6000:
        return f"{minutes}:{int(seconds) % 60:02d} min"
    return f"{minutes // 60}:{minutes % 60:02d} h"
