"""`Timeline`: the clock of one browser. One thread a browser draws; callbacks only set values."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Condition, Thread

_RATE = 30.0
"""Frames a second at most."""


class Timeline:
    """Plays, loops and seeks. `draw(seconds)` is called in the timeline's own thread."""

    def __init__(self, draw: Callable[[float], None]) -> None:
        self._draw = draw
        self._wake = Condition()
        self._seconds, self._length = 0.0, 0.0
        self._playing, self._dirty, self._closed = False, False, False
        self.loop, self.speed = True, 1.0
        self._thread = Thread(target=self._run, name="akd-view-timeline", daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Where it is."""
        return self._seconds

    @property
    def is_playing(self) -> bool:
        """Whether it runs."""
        return self._playing

    def open(self, length: float) -> None:
        """Start over with clips of another length, seconds."""
        with self._wake:
            self._length = max(length, 0.0)
            self._seconds = min(self._seconds, self._length)
            self._touch()

    def play(self, wanted: bool) -> None:
        """Play or pause; from the start where it had ended."""
        with self._wake:
            self._playing = wanted and self._length > 0
            if self._playing and not self.loop and self._seconds >= self._length:
                self._seconds = 0.0
            self._touch()

    def seek(self, seconds: float) -> None:
        """Go to a time."""
        with self._wake:
            self._seconds = min(max(seconds, 0.0), self._length)
            self._touch()

    def redraw(self) -> None:
        """Draw the present frame again: something else about it changed."""
        with self._wake:
            self._touch()

    def close(self) -> None:
        """End the thread."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join(timeout=5.0)

    def _touch(self) -> None:
        self._dirty = True
        self._wake.notify()

    def _run(self) -> None:
        before = time.monotonic()
        while True:
            with self._wake:
                while not (self._dirty or self._playing or self._closed):
                    self._wake.wait()
                    before = time.monotonic()
                if self._closed:
                    return
                now = time.monotonic()
                if self._playing:
                    self._advance((now - before) * self.speed)
                before, self._dirty, seconds = now, False, self._seconds
            self._draw(seconds)
            rest = 1.0 / _RATE - (time.monotonic() - now)
            if rest > 0:
                time.sleep(rest)

    def _advance(self, step: float) -> None:
        self._seconds += step
        if self._seconds > self._length:
            if self.loop:
                self._seconds %= max(self._length, 1e-6)
            else:
                self._seconds, self._playing = self._length, False
