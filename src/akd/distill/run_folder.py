"""`RunFolder`: the `run/` of an output folder, from which an interrupted job goes on.

`run.json` says what the job is, `log.jsonl` what happened, `state-1.safetensors` holds the state of
the distillation, one file a finalist, `videos.safetensors` what the warm start has sampled and
`starts.safetensors` what it has come to, `preview.png` is what the motion looks like so far.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from akd.base.version import __version__
from akd.distill.disk import write_to_disk

FORMAT = "akd-run-1"
_SAMPLE = 1 << 20
"""Bytes at either end of a file of weights that are hashed: all of it would take minutes."""


class RunError(Exception):
    """An output folder that cannot be used. The message is one line."""


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def weights_hash(folder: Path) -> str:
    """A hash of a folder of weights: names, sizes, and both ends of every file in it."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*.safetensors") if p.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLE))
            file.seek(max(0, size - _SAMPLE))
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


class RunFolder:
    """One job's folder. What is written to it appears whole or not at all."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.path = out / "run"

    def state(self, finalist: int) -> Path:
        """The checkpoint of a finalist's distillation; the first has number 0."""
        return self.path / f"state-{finalist + 1}.safetensors"

    @property
    def videos(self) -> Path:
        """The videos that the warm start has sampled."""
        return self.path / "videos.safetensors"

    @property
    def starts(self) -> Path:
        """What the warm start has come to: where each finalist begins."""
        return self.path / "starts.safetensors"

    @property
    def preview(self) -> Path:
        """A strip of frames of the motion so far."""
        return self.path / "preview.png"

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

    def begin(
        self,
        job: Mapping[str, Any],
        *,
        results: Iterable[str],
        options: Mapping[str, Any] | None = None,
        overwrite: bool = False,
    ) -> bool:
        """Take the folder for a job; returns whether it goes on with an earlier run.

        `job` is all that decides the result, as JSON values. `results` are the names of the files
        that the job will write, `options` what the command must be given to do it again. Raises
        `RunError` where the folder holds another run, and says what differs, or files of these
        names that no run made.
        """
        wanted = json.loads(json.dumps(dict(job)))
        found = self.read()
        if overwrite:
            self._clear(results)
        elif found is not None:
            if differs := list(differences(found["job"], wanted)):
                raise RunError(
                    f"{self.out}: holds another run ({'; '.join(differs[:4])}"
                    f"{'; ...' if len(differs) > 4 else ''}): choose another folder, or start "
                    f"anew with --overwrite"
                )
            return True
        else:
            there = [name for name in results if (self.out / name).exists()]
            if there:
                raise RunError(
                    f"{self.out}: holds {there[0]}, which no run left there: choose another "
                    f"folder, or write over it with --overwrite"
                )
        self.path.mkdir(parents=True, exist_ok=True)
        about = {"format": FORMAT, "version": __version__, "done": False, "job": wanted}
        self._write({**about, "options": dict(options or {})})
        return False

    def digest(self) -> str:
        """A hash of the job."""
        job = (self.read() or {}).get("job")
        return hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()

    def finish(self) -> None:
        """Note that all results are written."""
        self._write({**(self.read() or {}), "done": True})

    def log(self, event: str, **values: object) -> None:
        """Add a line to the log."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({"time": now, "event": event, **values})
        with (self.path / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _write(self, about: Mapping[str, Any]) -> None:
        write_to_disk(self.path / "run.json", (json.dumps(about, indent=2) + "\n").encode())

    def _clear(self, results: Iterable[str]) -> None:
        """Remove what an earlier run left, and nothing else."""
        if self.read() is not None:
            shutil.rmtree(self.path)
        for name in results:
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
