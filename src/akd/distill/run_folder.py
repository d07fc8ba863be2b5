"""`RunFolder`: the `run/` of an output folder, from which an interrupted job continues.

`run.json` describes the job, `log.jsonl` what happened, `preview.png` shows the motion so far.
Checkpoints: `videos.safetensors` (sampled), `starts.safetensors` (fitted) and
`distil.safetensors`; `*.before.safetensors` is the one before. `lock` is locked while a process
writes. A folder may come from elsewhere: links in it are refused, and nothing it says is
trusted.
"""

from __future__ import annotations

import json
import os
import shutil
import time
import weakref
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akd.base.files import (
    DamagedFile,
    json_hash,
    read_checkpoint,
    read_json,
    write_checkpoint,
    write_json,
)
from akd.base.lock import take_lock
from akd.base.observer import Observer
from akd.base.version import __version__

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = "akd-run-2"
CHECKPOINT_FORMAT = "akd-checkpoint-2"
_PREVIEW_SECONDS = 20.0


class RunError(Exception):
    """An output folder that cannot be used. The message is a single line."""


class RunFinished(Exception):
    """The folder holds the finished results of the same job. The message is a single line."""


class RunFolder(Observer):
    """One job's folder: an observer that keeps checkpoints and previews in it.

    Files are written atomically, and one process at a time may write.
    """

    def __init__(
        self,
        out: Path,
        *,
        results: Iterable[str] = (),
        options: Mapping[str, Any] | None = None,
        overwrite: bool = False,
    ) -> None:
        """Take an output folder for a job.

        Args:
            out: The output folder; `run/` in it belongs to this class.
            results: Names of the files that the job will write to `out`.
            options: What the command must be given to run the job again.
            overwrite: Start over, and overwrite what the folder holds.
        """
        self.out = out
        self.path = out / "run"
        self._results, self._options, self._overwrite = list(results), options, overwrite
        self._next_preview = 0.0
        self._about: dict[str, Any] | None = None
        """Contents of `run.json` about the job, wherever its file is by now."""
        self._unlock: weakref.finalize[..., RunFolder] | None = None

    def checkpoint(self, name: str) -> Path:
        """The file of a checkpoint."""
        return self.path / f"{name}.safetensors"

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Write a checkpoint and keep the one before it. Raises `OSError` if writing fails."""
        about = {"format": CHECKPOINT_FORMAT, "run": self.digest()}
        write_checkpoint(self.checkpoint(name), tensors, about=about)

    def load(self, name: str) -> dict[str, Tensor] | None:
        """Read a checkpoint, or the one before it where that is damaged; None if there is none.

        Raises `RunError` for a checkpoint of another job.
        """
        path = self.checkpoint(name)
        kept = read_checkpoint(path, say=lambda reason: self.log("damaged", reason=reason))
        if kept is None:
            return None
        tensors, about = kept
        if about.get("format") != CHECKPOINT_FORMAT:
            raise RunError(
                f"{path}: must be of format {CHECKPOINT_FORMAT}, got {about.get('format')}"
            )
        if about.get("run") != self.digest():
            raise RunError(
                f"{path}: belongs to another run; choose another folder, or start over with "
                f"--overwrite"
            )
        return tensors

    def wants_preview(self) -> bool:
        """Every twenty seconds."""
        return time.monotonic() >= self._next_preview

    def preview(self, frames: Tensor, fps: float) -> None:
        """Write a strip of eight frames to `preview.png`."""
        from akd.scene.video import Video

        Video(frames, fps).write_strip(self.path / "preview.png", count=8)
        self._next_preview = time.monotonic() + _PREVIEW_SECONDS

    def read(self) -> dict[str, Any] | None:
        """The content of `run.json`, or None. Raises `RunError` if it is broken."""
        self._refuse_links()
        path = self.path / "run.json"
        try:
            found = read_json(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except DamagedFile as error:
            raise RunError(str(error)) from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise RunError(f"{path}: must be of format {FORMAT}")
        for key, kind in (("job", dict), ("options", dict), ("results", list), ("done", bool)):
            if not isinstance(found.get(key), kind):
                raise RunError(f"{path}: {key} must be a {kind.__name__}")
        for name in found["results"]:
            # `_clear` deletes these: plain names only.
            if not isinstance(name, str) or name in ("", ".", "..") or Path(name).name != name:
                raise RunError(f"{path}: results must be file names, got {_short(name)}")
        return found

    def start(self, job: Mapping[str, Any]) -> None:
        """Begin a job, or continue one that was stopped.

        Raises:
            RunFinished: The folder holds all results of this very job; it may lack formats.
            RunError: The folder holds another run, or files of these names that no run made, or
                another process writes to it.
        """
        wanted = json.loads(json.dumps(dict(job)))
        if self.read() is None and not self._overwrite:
            self._refuse_results()
        self._lock()
        found = self.read()
        if self._overwrite:
            self._clear(found)
        elif found is not None:
            if differs := list(differences(found["job"], wanted)):
                raise RunError(
                    f"{self.out}: holds another run ({'; '.join(differs[:4])}"
                    f"{'; ...' if len(differs) > 4 else ''}): choose another folder, or start "
                    f"over with --overwrite"
                )
            results = found.get("results", ())
            if found.get("done") and all(_is_whole(self.out / name) for name in results):
                raise RunFinished(f"{self.out}: is finished already; --overwrite starts over")
            self._about = found
            self.log("continues")
            return
        self._about = {
            "format": FORMAT, "version": __version__, "done": False, "job": wanted,
            "options": dict(self._options or {}), "results": self._results,
        }  # fmt: skip
        self._write(self._about)
        self.log("begins")

    def digest(self) -> str:
        """A hash of the job."""
        return json_hash((self._about or self.read() or {}).get("job"))

    def kept(self) -> str:
        """The phase that a stopped run continues from, in words; empty where it starts again."""
        words = {"videos": "sampled videos", "starts": "fitted motions", "distil": "distillation"}
        there = (
            word for name, word in words.items() if any(self.path.glob(f"{name}*.safetensors"))
        )
        return ", ".join(there)

    def finish(self, **values: object) -> None:
        """Note that all results are written."""
        self._write({**(self._about or self.read() or {}), "done": True})
        self.log("done", **values)

    def log(self, event: str, **values: object) -> None:
        """Add a line to the log."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({"time": now, "event": event, **values})
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        with os.fdopen(os.open(self.path / "log.jsonl", flags, 0o666), "wb") as file:
            file.write(f"{line}\n".encode())

    def _write(self, about: Mapping[str, Any]) -> None:
        write_json(self.path / "run.json", about, durable=True)

    def close(self) -> None:
        """Let other processes write to the folder."""
        if self._unlock is not None:
            self._unlock()

    def _lock(self) -> None:
        """Hold the folder until it is closed, or this object or its process ends."""
        try:
            lock = take_lock(self.path)
        except BlockingIOError as error:
            raise RunError(f"{self.out}: {error.strerror}") from None
        self._unlock = weakref.finalize(self, os.close, lock)

    def _refuse_links(self) -> None:
        """Raise `RunError` if `run/` or anything in it is a link: writing might go elsewhere.

        Neither may anything in it be a pipe or a device, which could be read for ever.
        """
        inside = self.path.iterdir() if self.path.is_dir() else ()
        for path in (self.path, *inside):
            if path.is_symlink():
                raise RunError(f"{path}: must not be a link")
            if path.exists() and not (path.is_file() or path.is_dir()):
                raise RunError(f"{path}: must be a regular file")

    def _refuse_results(self) -> None:
        """Raise `RunError` if a file would be overwritten that no run wrote."""
        there = [name for name in self._results if (self.out / name).exists()]
        if there:
            raise RunError(
                f"{self.out}: holds {there[0]}, which no run wrote: choose another "
                f"folder, or pass --overwrite"
            )

    def _clear(self, found: Mapping[str, Any] | None) -> None:
        """Remove what an earlier run left, and nothing else. The lock stays."""
        if found is not None:
            for path in self.path.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
                elif path.name != "lock":
                    path.unlink()
        for name in (*self._results, *(found or {}).get("results", ())):
            (self.out / name).unlink(missing_ok=True)


def _is_whole(path: Path) -> bool:
    """Whether a result is there: a failed copy leaves empty files, and a link may lead nowhere."""
    return path.is_file() and path.stat().st_size > 0


def differences(old: object, new: object, name: str = "") -> Iterable[str]:
    """Where two sets of JSON values differ, a line each: `settings.iterations 300, now 4`."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            inner = f"{name}.{key}" if name else str(key)
            yield from differences(old.get(key), new.get(key), inner)
    elif old != new:
        if name.endswith("hash"):
            yield f"another {name.split('.', maxsplit=1)[0]}"
        else:
            yield f"{name} {_short(old)}, now {_short(new)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
