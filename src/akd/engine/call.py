"""`Engine`: the protocol behind which calls run, here or elsewhere. No torch here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class Resources:
    """Resources of a call while it runs."""

    cpus: int = 1
    gpus: float = 0.0
    """A fraction lets several calls share a GPU."""


@dataclass(frozen=True)
class Seat:
    """Where a call runs."""

    node: str
    """Identifies the machine, for the log and for retries elsewhere."""
    files: Mapping[str, Path]
    """The call's input files, as they can be read there."""


@dataclass(frozen=True)
class Call:
    """A function to be run in another process: `function(*arguments, seat)`."""

    key: str
    function: Callable[..., Any]
    """Importable by its name; what it returns must be picklable."""
    arguments: tuple[Any, ...] = ()
    resources: Resources = field(default_factory=Resources)
    files: Mapping[str, Path] = field(default_factory=dict)
    """Input files, by the names under which the function looks for them."""
    avoid: str | None = None
    """A node to stay away from where another one is free."""


@dataclass(frozen=True)
class Ended:
    """How an attempt at a call ended."""

    key: str
    value: Any = None
    error: Exception | None = None
    """The exception of the function, or `WorkerLost`."""
    deferred: bool = False
    """Passed to another process: there is no value yet."""


class WorkerLost(Exception):
    """The process or the machine that ran a call is gone."""


class Refused(Exception):
    """The call can never succeed and is not retried. The message is a single line."""


class Busy(Exception):
    """Another process is at the same work: wait for it. This does not count as an attempt."""


@runtime_checkable
class Engine(Protocol):
    """Runs calls. The queue (`akd.engine.queue`) decides which, when, and how often."""

    def has_gpus(self) -> bool:
        """Whether calls may ask for GPUs."""
        ...

    def accepts(self, resources: Resources) -> bool:
        """Whether a call with these needs should be submitted now."""
        ...

    def submit(self, call: Call) -> None:
        """Start a call. One key is submitted again only after it ended."""
        ...

    def collect(self, timeout: float) -> list[Ended]:
        """The attempts that ended since; waits for one up to `timeout` seconds."""
        ...

    def close(self) -> None:
        """Stop what runs and let go of processes."""
        ...
