"""`RayCluster`: an engine that runs each call as one Ray task, on any node of a cluster.

Ray schedules, this room retries: `max_retries` is 0, so that there is one queue and one count of
attempts. Input files go into the object store once and are written to a temporary folder on the
node. A call with a GPU gets a fresh worker process, because nothing but its end returns all of the
GPU's memory.

What no node of the cluster can run waits for one that can, since a lost node may come back and
clusters grow when they are asked to; a warning says so.
"""

from __future__ import annotations

import logging
import math
import os
import re
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from akd.engine.call import Call, Ended, Refused, Resources, Seat, WorkerLost
from akd.engine.job import LARGEST_FILE

SINGLE_FILES = (".glb", ".ply", ".stl", ".off", ".bvh", ".fbx")
"""Suffixes of files that stand alone. Others are read from where they are: shared storage."""
_AHEAD = 2
"""Tasks in flight for each core of the cluster, of those with the same needs: enough to keep it
busy, few enough to hold. Tasks that wait for a GPU keep none from the cores."""
_LEAST_AHEAD = 16
_CORES_SECONDS = 2.0
"""How long the number of cores is taken to be the same."""
_STORED_BYTES = 4 << 30
"""Of files in the object store, besides those of tasks in flight: the latest are kept."""

_CONNECT_SECONDS = 10.0
"""For a cluster to accept a connection. Ray itself tries for many minutes."""

_log = logging.getLogger(__name__)


class RayCluster:
    """Tasks on a Ray cluster."""

    def __init__(self, address: str | None = None) -> None:
        """Connect.

        Args:
            address: Of the cluster, such as `auto` or `10.0.0.1:6379`; None for the one in
                RAY_ADDRESS, or one of this machine that ends with this process.

        Raises:
            ModuleNotFoundError: Ray is not installed.
            ConnectionError: There is no cluster at the address, or Ray does not start.
        """
        import ray

        self._ray = ray
        self._owns = not ray.is_initialized()
        if self._owns:
            _check_reachable(address or os.environ.get("RAY_ADDRESS", ""))
            try:
                ray.init(address=address, log_to_driver=False)
            except Exception as error:  # of no kind of its own where a node is slow to start
                raise ConnectionError(str(error)) from error
        shared = ray.remote(max_retries=0)(_run)
        fresh = ray.remote(max_retries=0, max_calls=1)(_run)
        self._remote = {False: shared, True: fresh}
        self._running: dict[Any, Call] = {}
        self._unsent: list[Ended] = []
        self._alike: Counter[Resources] = Counter()
        """Tasks in flight by what they need."""
        self._stored: dict[Path, tuple[Any, int]] = {}
        self._stored_bytes = 0
        self._cores = 0, -math.inf

    def has_gpus(self) -> bool:
        """Whether any node has a GPU."""
        return self._ray.cluster_resources().get("GPU", 0.0) > 0

    def accepts(self, resources: Resources) -> bool:
        """Whether few tasks with the same needs wait in Ray's own queue."""
        cores, asked = self._cores
        if time.monotonic() - asked > _CORES_SECONDS:
            cores = int(self._ray.cluster_resources().get("CPU", 1.0))
            self._cores = cores, time.monotonic()
        return self._alike[resources] < max(_LEAST_AHEAD, _AHEAD * cores)

    def submit(self, call: Call) -> None:
        """Start a task. One whose files cannot be read has ended."""
        stored, plain = [], {}
        try:
            for name, path in call.files.items():
                if path.suffix.lower() in SINGLE_FILES and path.stat().st_size <= LARGEST_FILE:
                    stored.append((name, path, self._put(path)))
                else:
                    plain[name] = path
        except OSError as error:
            self._unsent.append(Ended(call.key, error=error))
            return
        needs = call.resources
        if needs not in self._alike:
            self._warn(needs)
        task = self._remote[needs.gpus > 0].options(
            num_cpus=needs.cpus, num_gpus=needs.gpus, name=call.key, **_elsewhere(call.avoid)
        )  # fmt: skip
        names = [(name, path) for name, path, _ in stored]
        blobs = [blob for _, _, blob in stored]
        reference = task.remote(call.function, call.arguments, plain, names, *blobs)
        self._running[reference] = call
        self._alike[needs] += 1

    def collect(self, timeout: float) -> list[Ended]:
        """Tasks that ended; those of a worker or a node that died are `WorkerLost`."""
        ray, ended = self._ray, self._unsent
        self._unsent = []
        if ended or not self._running:
            return ended
        waiting = list(self._running)
        ready, _ = ray.wait(waiting, num_returns=1, timeout=timeout)
        if ready:  # and all others that are
            ready, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
        for reference in ready:
            call = self._running.pop(reference)
            key = call.key
            self._alike[call.resources] -= 1
            try:
                ended.append(Ended(key, ray.get(reference)))
            except ray.exceptions.RayTaskError as error:
                cause = error.cause if isinstance(error.cause, Exception) else error
                ended.append(Ended(key, error=cause))
            except ray.exceptions.RayError as error:
                ended.append(Ended(key, error=WorkerLost(f"{type(error).__name__}: {error}")))
        return ended

    def close(self) -> None:
        """Stop the tasks, and disconnect if this object connected."""
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._running.clear()
        self._alike.clear()
        self._stored.clear()
        self._stored_bytes = 0
        if self._owns:
            self._ray.shutdown()

    def _put(self, path: Path) -> Any:
        """A file in the object store; those used least recently make room for it."""
        found = self._stored.pop(path, None)
        if found is None:
            data = path.read_bytes()
            found = self._ray.put(data), len(data)
            self._stored_bytes += len(data)
        self._stored[path] = found
        while self._stored_bytes > _STORED_BYTES and len(self._stored) > 1:
            _, size = self._stored.pop(next(iter(self._stored)))
            self._stored_bytes -= size
        return found[0]

    def _warn(self, needs: Resources) -> None:
        """Say so where no node can run a task."""
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        if not any(
            node.get("CPU", 0.0) >= needs.cpus and node.get("GPU", 0.0) >= needs.gpus
            for node in nodes
        ):
            _log.warning(
                "no node of the Ray cluster has %d cores and %g GPUs: jobs that need them wait",
                needs.cpus, needs.gpus,
            )  # fmt: skip


def _elsewhere(node: str | None) -> dict[str, Any]:
    """Options of a task that stays away from a node, unless no other one can run it."""
    if node is None:
        return {}
    selector = {"ray.io/node-id": f"!{node}"}
    return {"label_selector": selector, "fallback_strategy": [{"label_selector": {}}]}


def _check_reachable(address: str) -> None:
    """Raise `ConnectionError` where nothing listens at the address of a head node."""
    found = re.fullmatch(r"(?:ray://)?\[?([^/\[\]]+)\]?:(\d+)", address)
    if found is None:
        return  # `auto`, or nothing at all
    try:
        port = (found[1], int(found[2]))
        socket.create_connection(port, timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise ConnectionError(f"{address}: {error}") from None


def _run(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    files: Mapping[str, Path],
    names: list[tuple[str, Path]],
    *blobs: bytes,
) -> Any:
    """A task: put the files where the function can read them, and call it."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    with tempfile.TemporaryDirectory(prefix="akd-") as folder:
        here = dict(files)
        for (name, path), blob in zip(names, blobs, strict=True):
            here[name] = Path(folder) / name / path.name
            here[name].parent.mkdir()
            here[name].write_bytes(blob)
        try:
            return function(*arguments, Seat(node, here))
        except Refused as error:  # of a file: the one that the user knows
            message = str(error)
            for name, path in names:
                message = message.replace(str(here[name]), str(path))
            raise Refused(message) from error
