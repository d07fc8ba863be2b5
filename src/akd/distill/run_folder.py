"""`RunFolder`: the `run/` of an output folder, from which an interrupted job continues.

`run.json` says what the job is, `log.jsonl` what happened, `preview.png` what the motion looks like
so far. Checkpoints: `videos.safetensors` (sampled), `starts.safetensors` (fitted) and
`distil.safetensors`.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akd.base.files import json_hash, write_json, write_tensors
from akd.base.observer import Observer
from akd.base.version import __version__

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = "akd-run-2"
CHECKPOINT_FORMAT = "akd-checkpoint-1"
_PREVIEW_SECONDS = 20.0


class RunError(Exception):
    """An output folder that cannot be used. The message is one line."""


class RunFinished(Exception):
    """The folder holds the finished results of the same job. The message is one line."""


class RunFolder(Observer):
    """One job's folder: an observer that keeps checkpoints and previews in it.

    Files are written atomically.
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
            overwrite: Start anew, and write over what the folder holds.
        """
        self.out = out
        self.path = out / "run"
        self._results, self._options, self._overwrite = list(results), options, overwrite
        self._next_preview = 0.0

    def checkpoint(self, name: str) -> Path:
        """The file of a checkpoint."""
        return self.path / f"{name}.safetensors"

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Write a checkpoint. Where writing fails (`OSError`), the one before it stays."""
        about = {"format": CHECKPOINT_FORMAT, "run": self.digest()}
        write_tensors(self.checkpoint(name), tensors, about=about, durable=True)

    def load(self, name: str) -> dict[str, Tensor] | None:
        """Read a checkpoint. Raises `RunError` where it is broken or of another job."""
        from safetensors import SafetensorError, safe_open

        path = self.checkpoint(name)
        if not path.exists():
            return None
        try:
            with safe_open(path, "pt") as file:
                about = file.metadata() or {}
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise RunError(f"{path}: is not a checkpoint ({error})") from None
        if about.get("format") != CHECKPOINT_FORMAT:
            raise RunError(
                f"{path}: must be of format {CHECKPOINT_FORMAT}, got {about.get('format')}"
            )
        if about.get("run") != self.digest():
            raise RunError(
                f"{path}: belongs to another run; choose another folder, or start anew with "
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
        """What `run.json` says; None where there is none. Raises `RunError` where it is broken."""
        path = self.path / "run.json"
        try:
            found = json.loads(path.read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise RunError(f"{path}: cannot be read ({error})") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise RunError(f"{path}: must be of format {FORMAT}")
        return found

    def start(self, job: Mapping[str, Any]) -> None:
        """Begin a job, or continue one that was stopped.

        Raises:
            RunFinished: The folder holds all results of this very job; it may lack formats.
            RunError: The folder holds another run, or files of these names that no run made.
        """
        wanted = json.loads(json.dumps(dict(job)))
        found = self.read()
        if self._overwrite:
            self._clear()
        elif found is not None:
            if differs := list(differences(found["job"], wanted)):
                raise RunError(
                    f"{self.out}: holds another run ({'; '.join(differs[:4])}"
                    f"{'; ...' if len(differs) > 4 else ''}): choose another folder, or start "
                    f"anew with --overwrite"
                )
            results = found.get("results", ())
            if found.get("done") and all((self.out / name).exists() for name in results):
                raise RunFinished(f"{self.out}: was finished already; --overwrite makes it anew")
            self.log("continues")
            return
        else:
            there = [name for name in self._results if (self.out / name).exists()]
            if there:
                raise RunError(
                    f"{self.out}: holds {there[0]}, which no run left there: choose another "
                    f"folder, or write over it with --overwrite"
                )
        self.path.mkdir(parents=True, exist_ok=True)
        about = {"format": FORMAT, "version": __version__, "done": False, "job": wanted}
        self._write({**about, "options": dict(self._options or {}), "results": self._results})
        self.log("begins")

    def digest(self) -> str:
        """A hash of the job."""
        return json_hash((self.read() or {}).get("job"))

    def has_checkpoints(self) -> bool:
        """Whether anything is kept to continue from."""
        return any(self.path.glob("*.safetensors"))

    def kept(self) -> str:
        """What a stopped run continues from, in words; empty where it starts again."""
        words = {"videos": "sampled videos", "starts": "fitted motions"}
        found = sorted(self.path.glob("*.safetensors"), key=lambda path: path.stat().st_mtime)
        return ", ".join(
            words.get(path.stem, path.stem.replace("distil-", "distillation ")) for path in found
        )

    def finish(self, **values: object) -> None:
        """Note that all results are written."""
        self._write({**(self.read() or {}), "done": True})
        self.log("done", **values)

    def log(self, event: str, **values: object) -> None:
        """Add a line to the log."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({"time": now, "event": event, **values})
        with (self.path / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _write(self, about: Mapping[str, Any]) -> None:
        write_json(self.path / "run.json", about, durable=True)

    def _clear(self) -> None:
        """Remove what an earlier run left, and nothing else."""
        found = self.read()
        if found is not None:
            shutil.rmtree(self.path)
        for name in (*self._results, *(found or {}).get("results", ())):
            (self.out / name).unlink(missing_ok=True)


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
