"""Run mode: type a prompt, watch the motion while it is distilled, stop, compare seeds, export."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from akd.asset.asset import AssetError
from akd.export.clip_files import key_motions, write_clip_files
from akd.export.settings import KeySettings
from akd.view.content import safe_name
from akd.view.frames import FPS
from akd.view.job import Animate, Job

if TYPE_CHECKING:
    from akd.view.session import Session

_SECONDS = 0.2
"""Between two looks at a job."""
_MOST_SEEDS = 16
_LONGEST = 1000
_WIDTH = 288
"""Pixels that the panel has for a preview."""


class RunPanel:
    """Controls of run mode, and the job of this browser."""

    def __init__(self, session: Session, make: Animate) -> None:
        self.session, self._make = session, make
        self.job: Job | None = None
        self._closed = Event()
        gui = session.client.gui
        self._prompt = gui.add_text("Prompt", "", hint="such as: a fox walking")
        self._seed = gui.add_number("Seed", 0, min=0, max=2**31 - 1, step=1)
        self._seeds = gui.add_number("How many seeds", 1, min=1, max=_MOST_SEEDS, step=1)
        self._start = gui.add_button("Start")
        self._stop = gui.add_button("Stop", visible=False)
        self._says = gui.add_markdown("Results go to `runs/` in the folder that is shown.")
        self._bar = gui.add_progress_bar(0.0, visible=False)
        self._image = gui.add_image(
            np.zeros((8, 8, 3), np.uint8), label="what the video model sees", visible=False
        )
        self._format = gui.add_dropdown(
            "Export as", ["glb", "bvh", "usd", "mp4", "gif", "webp"], initial_value="glb"
        )
        self._export = gui.add_button("Export the clip shown")
        self._start.on_click(lambda _: self.start())
        self._stop.on_click(lambda _: self.stop())
        self._export.on_click(lambda _: self.export())

    def start(self) -> None:
        """Start one job; a browser has one at a time."""
        if self.job is not None and self.job.is_running:
            return
        prompt = " ".join(self._prompt.value.split())
        if not prompt or len(prompt) > _LONGEST:
            self.session.say(f"The prompt must have 1 to {_LONGEST} characters.")
            return
        subject, first = self.session.subject, int(self._seed.value)
        count = min(max(int(self._seeds.value), 1), _MOST_SEEDS)
        stem = safe_name(subject.character.asset.path.stem)[:14]
        name = f"{stem}-{safe_name(prompt)[:30]}"
        try:
            folders = {
                seed: self.session.content.new_path("runs", f"{name}-{seed}")
                for seed in range(first, first + count)
            }
        except ValueError as error:
            self.session.say(str(error))
            return
        self.job = Job(self._make, subject.character, prompt, folders, self._done)
        self._start.visible, self._stop.visible, self._bar.visible = False, True, True
        Thread(target=self._watch, args=(self.job,), name="akd-view-watch", daemon=True).start()

    def stop(self) -> None:
        """Stop at the next iteration."""
        if self.job is not None:
            self.job.stop()
            self._says.content = "stopping ..."

    def close(self) -> None:
        """The browser is gone: stop."""
        self._closed.set()
        if self.job is not None:
            self.job.stop()

    def _watch(self, job: Job) -> None:
        """Show progress and play the latest preview, until the job ends."""
        began = time.monotonic()
        while job.is_running and not self._closed.wait(_SECONDS):
            watcher = job.watcher
            if not job.was_stopped:
                notes = "".join(f"\n\n*Note:* {note}" for note in dict.fromkeys(watcher.notes))
                said = f"seed {job.seed}: {watcher.phase}, {watcher.share:.0%}{notes}"
                self._says.content = said
            self._bar.value = 100.0 * watcher.share
            if (frames := watcher.frames) is not None:
                at = int((time.monotonic() - began) * watcher.fps) % len(frames)
                self._image.image, self._image.visible = enlarged(frames[at]), True
        if self._closed.is_set():
            return
        self._start.visible, self._stop.visible, self._bar.visible = True, False, False
        if job.error is not None:
            self._says.content = "failed"
            self.session.say(job.error, stays=True)  # who waited may be out of the room
        elif job.was_stopped:
            self._says.content = "stopped; the same prompt and seed continue from there"
        else:
            self._says.content = "done"
            if len(job.folders) > 1:
                self.session.compare_seeds()

    def _done(self, out: Path) -> None:
        """A run was written: show it."""
        if not self._closed.is_set():
            self.session.saved(out)

    def export(self) -> None:
        """Write the clip that is shown to `export/`, and let the browser download it."""
        session, kind = self.session, self._format.value
        subject, clip = session.subject, session.clip
        keys = KeySettings(FPS, "every", "repeat")
        stem = f"{safe_name(Path(subject.name).stem)}-{safe_name(clip)}"
        motions = key_motions(subject.character, {stem: subject.motions[clip]}, keys)
        try:
            files = write_clip_files(
                subject.character, motions, session.content.new_path("export"), formats=[kind],
                keys=keys, stem=stem, alone=True,
            )  # fmt: skip
        except (AssetError, ImportError, ValueError, OSError) as error:
            session.say(str(error))
            return
        for path in files:
            session.client.send_file_download(path.name, path.read_bytes(), save_immediately=True)
        session.say(f"export/{files[0].name}")


def enlarged(frame: UInt8[np.ndarray, "H W 3"]) -> UInt8[np.ndarray, "h w 3"]:
    """A preview at the width of the panel: frames of the small model are 96 pixels wide."""
    height, width, _ = frame.shape
    scale = max(_WIDTH / width, 1.0)
    size = round(width * scale), round(height * scale)
    return np.asarray(Image.fromarray(frame).resize(size, Image.Resampling.BICUBIC))
