"""`Job`: a task with its arguments, known by a hash of its content."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from akd.base.files import file_hash, json_hash, sampled_hash
from akd.engine.call import Resources

LARGEST_FILE = 1 << 30
"""Bytes of an input file that is read as a whole, for its hash or for another node. A larger one is
refused by the job that reads it, and must not hold up the others."""
_LABEL_LENGTH = 60


@dataclass(frozen=True)
class Workspace:
    """Context of a task, besides its arguments."""

    folder: Path
    """The job's own, on storage that all nodes share: a task that is tried again finds what it
    left there."""
    out: Path
    """The folder of all results."""
    files: Mapping[str, Path]
    """The job's input files, as they can be read on this node."""


Task = Callable[[Mapping[str, Any], Workspace], Mapping[str, Any]]
"""Does the work of a job. Takes and returns JSON values; must be importable by its name."""


@dataclass(frozen=True)
class Job:
    """One unit of a batch. Jobs of the same content have the same id and are done once."""

    task: Task
    arguments: Mapping[str, Any]
    """JSON values: together with the task and the files, all that decides the result."""
    label: str
    """For people."""
    files: Mapping[str, Path] = field(default_factory=dict)
    resources: Resources = field(default_factory=Resources)
    publish: bool = True
    """Whether the job's folder becomes a folder of the results; else the task writes to `out`."""

    @cached_property
    def id(self) -> str:
        """Twenty hexadecimal digits. Raises `ValueError` where an input is not a regular file."""
        content = {
            "task": f"{self.task.__module__}.{self.task.__qualname__}",
            "arguments": self.arguments,
            "files": {name: _hash(path) for name, path in self.files.items()},
        }
        return json_hash(content)[:20]

    @property
    def name(self) -> str:
        """Name of the folder of results: the label in plain letters, and the start of the id."""
        plain = re.sub(r"[^A-Za-z0-9]+", "-", self.label).strip("-").lower()
        return f"{plain[:_LABEL_LENGTH].rstrip('-')}-{self.id[:12]}".lstrip("-")


def _hash(path: Path) -> str:
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):  # a device or a pipe may have no end
        raise ValueError(f"{path}: is not a regular file")
    return _known_hash(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=4096)
def _known_hash(path: Path, changed: int, size: int) -> str:
    return file_hash(path) if size <= LARGEST_FILE else sampled_hash(path)
