"""`Job`: an animation that is distilled in a thread while a browser watches. No viser here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Thread

from jaxtyping import UInt8
from numpy import ndarray
from torch import Tensor

from akd.api.animation import Animation
from akd.base.observer import Observer, Observers
from akd.distill.run_folder import RunFinished, RunFolder
from akd.report.results import result_names
from akd.rig.character import Character

Animate = Callable[..., Animation]
"""`akd.pipeline.animate`, or the same with other settings."""


class _Watcher(Observer):
    """Holds the requests of a browser, and stops the job when asked."""

    def __init__(self, stopped: Event) -> None:
        self.phase, self.share = "load", 0.0
        self.frames: UInt8[ndarray, "T H W 3"] | None = None
        self.fps = 8.0
        self.versions = 0
        self.notes: list[str] = []
        self._stopped, self._asked = stopped, False

    def note(self, text: str) -> None:
        self.notes.append(text)

    def begin(self, phase: str) -> None:
        self._check()
        self.phase, self.share, self._asked = phase, 0.0, False

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        self._check()
        self.share = iteration / max(iterations, 1)
        self._asked = iteration == 1 or iteration % max(iterations // 12, 1) == 0

    def wants_preview(self) -> bool:
        return self._asked

    def preview(self, frames: Tensor, fps: float) -> None:
        self.frames = (255.0 * frames.detach().clamp(0.0, 1.0)).round().byte().numpy(force=True)
        self.fps, self.versions, self._asked = fps, self.versions + 1, False

    def _check(self) -> None:
        if self._stopped.is_set():
            raise KeyboardInterrupt  # saves a checkpoint first


class Job:
    """Animations of one prompt, one for each seed, each to a folder of its own."""

    def __init__(
        self,
        animate: Animate,
        character: Character,
        prompt: str,
        folders: Mapping[int, Path],
        done: Callable[[Path], object],
    ) -> None:
        """Start.

        Args:
            animate: Makes the animation.
            character: Who moves.
            prompt: What it does.
            folders: Where to write, by seed.
            done: Called with each folder that was written.
        """
        self._stopped = Event()
        self.watcher = _Watcher(self._stopped)
        self.error: str | None = None
        self.seed: int | None = None
        """Of the animation that is being made."""
        self.folders = dict(folders)
        self._work = (animate, character, prompt, done)
        self._thread = Thread(target=self._run, name="akd-view-job", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it is still at work."""
        return self._thread.is_alive()

    @property
    def was_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Stop at the next iteration; the same prompt and seed continue from there."""
        self._stopped.set()

    def join(self, seconds: float) -> None:
        """Wait for its thread."""
        self._thread.join(seconds)

    def _run(self) -> None:
        animate, character, prompt, done = self._work
        for seed, out in self.folders.items():
            if self._stopped.is_set():
                return
            self.seed = seed
            folder: RunFolder | None = None
            try:
                folder = RunFolder(out, results=result_names(), options={"up": character.units.up})
                made = animate(
                    character, prompt, observer=Observers(self.watcher, folder), seed=seed
                )
                self.watcher.begin("film")
                made.save(out)
                folder.finish(notes=list(made.notes))
            except RunFinished:
                pass
            except KeyboardInterrupt:
                return
            except Exception as error:  # shown to the user: a browser has no terminal
                self.error = " ".join(str(error).split()) or type(error).__name__
                return
            finally:
                if folder is not None:
                    folder.close()
            done(out)
