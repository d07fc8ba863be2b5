# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of akd: a process, and the last line that it printed."""

import subprocess
import tempfile
import threading
from pathlib import Path

_SECONDS_TO_STOP = 20.0


class Job:
    """A process that writes to `folder / "out"`. The folder is removed with the job."""

    def __init__(self, program: str, armature: str) -> None:
        self.program = program
        self.armature = armature
        """Name of the object that the clip is for."""
        self.status = ""
        self._temporary = tempfile.TemporaryDirectory(prefix="akd-")
        self.folder = Path(self._temporary.name)
        self.character = self.folder / "character.glb"
        self.out = self.folder / "out"
        self._process: subprocess.Popen[str] | None = None

    def start(self, *words: str) -> None:
        """Run akd. Raises `OSError` where the program is missing."""
        self._process = subprocess.Popen(
            [self.program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", cwd=self.folder,
        )  # fmt: skip
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip():
                self.status = line.strip()[:120]

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return None if self._process is None else self._process.poll()

    def wait(self, seconds: float) -> int | None:
        """Wait for the end; return the exit code, or None where it still runs."""
        assert self._process is not None
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """Stop the process, and remove the folder.

        akd takes SIGTERM as it takes Ctrl-C. SIGINT would not reach it where Blender was started in
        the background: a shell lets such programs, and what they start, ignore it.
        """
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            if self.wait(_SECONDS_TO_STOP) is None:
                self._process.kill()
                self._process.wait()
        self._temporary.cleanup()

    def result(self) -> Path | None:
        """The GLB that was written: motion.glb, a preview, or poses."""
        found = sorted(self.out.glob("*.glb"), key=lambda path: path.name != "motion.glb")
        return found[0] if found else None
