"""`Local`: an engine that fills the cores and GPUs of one machine with worker processes.

A worker runs one call after another, and is replaced if it dies: the call it had is lost, the
others go on. Workers end with this process, even where it is killed. Messages are pickled, by this
process and by workers that it started itself. A `Service` gives the workers of a GPU one process
more, which they share.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import platform
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from akd.base.parent import end_with_parent
from akd.engine.call import Call, Ended, Resources, Seat, WorkerLost

_STOP_SECONDS = 10.0
"""For a worker to keep its state when it is stopped."""


@dataclass(frozen=True)
class Service:
    """A process beside the workers of each GPU, or of the CPU. Functions are importable by name."""

    serve: Callable[[str, Connection], None]
    """Runs in that process: serves at a socket's path until the connection is closed."""
    use: Callable[[str], None]
    """Called once in each worker, with the same path."""


@dataclass(eq=False)
class _Server:
    process: BaseProcess
    alive: Connection
    address: str


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    gpu: str | None
    call: Call | None = field(default=None)


class Local:
    """Worker processes on this machine."""

    def __init__(
        self,
        *,
        cpus: int | None = None,
        processes: int | None = None,
        service: Service | None = None,
    ) -> None:
        """Make an engine; workers start when calls come.

        Args:
            cpus: Cores to fill; all that this process may use by default.
            processes: Calls at a time, at most; as many as there is room for by default.
            service: What the workers of a GPU share. One that died is started again with the next
                call.

        Raises:
            ValueError: `cpus` or `processes` is less than one.
        """
        for name, value in (("cpus", cpus), ("processes", processes)):
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self._cpus = cpus or len(os.sched_getaffinity(0))
        self._processes = processes
        self._gpus: dict[str, float] | None = None
        self._workers: list[_Worker] = []
        self._service = service
        self._servers: dict[str | None, _Server] = {}
        self._sockets: tempfile.TemporaryDirectory[str] | None = None

    def has_gpus(self) -> bool:
        """Whether this machine has CUDA devices."""
        return bool(self._free_gpus())

    def accepts(self, resources: Resources) -> bool:
        """Whether cores and a GPU are free; an idle machine takes anything."""
        busy = [w.call.resources for w in self._workers if w.call is not None]
        if self._processes is not None and len(busy) >= self._processes:
            return False
        if not busy:
            return True
        fits = sum(r.cpus for r in busy) + resources.cpus <= self._cpus
        return fits and (not resources.gpus or self._roomy(resources) is not None)

    def submit(self, call: Call) -> None:
        """Give a call to an idle worker, or to a new one."""
        gpu = self._roomy(call.resources) if call.resources.gpus else None
        self._keep_served(gpu)
        idle = [w for w in self._workers if w.call is None and w.gpu == gpu]
        worker = idle[0] if idle else self._hire(gpu)
        worker.call = call
        seat = Seat(platform.node(), call.files)
        # One that died while idle is found by `collect`: its pipe is closed.
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.pipe.send((call.function, call.arguments, seat))

    def collect(self, timeout: float) -> list[Ended]:
        """Results from the workers, and the calls of workers that died."""
        ended = []
        by_pipe = {worker.pipe: worker for worker in self._workers}
        for pipe in wait(list(by_pipe), timeout):
            worker = by_pipe[pipe]  # pyright: ignore[reportArgumentType]
            try:
                value, error = worker.pipe.recv()
            except (EOFError, ConnectionResetError):
                self._workers.remove(worker)
                worker.pipe.close()
                worker.process.join()
                value, code = None, worker.process.exitcode
                error = WorkerLost(f"the worker process ended with exit code {code}")
            if worker.call is not None:
                ended.append(Ended(worker.call.key, value, error))
                worker.call = None
        return ended

    def close(self) -> None:
        """Stop the workers; a running call has a few seconds to keep its state."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_STOP_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.pipe.close()
        self._workers.clear()
        for server in self._servers.values():
            server.alive.close()
            server.process.join(_STOP_SECONDS)
            server.process.kill()
        self._servers.clear()
        if self._sockets is not None:
            self._sockets.cleanup()
            self._sockets = None

    def _keep_served(self, gpu: str | None) -> None:
        """See that the server of a GPU runs."""
        if self._service is None:
            return
        if gpu in self._servers and self._servers[gpu].process.is_alive():
            return
        if self._sockets is None:
            self._sockets = tempfile.TemporaryDirectory(prefix="akd-")
        address = Path(self._sockets.name) / f"server-{gpu}"
        address.unlink(missing_ok=True)  # of one that died
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(
            target=_serve, args=(self._service.serve, str(address), there, gpu), daemon=True
        )
        process.start()
        there.close()
        self._servers[gpu] = _Server(process, here, str(address))

    def _hire(self, gpu: str | None) -> _Worker:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        begin = None
        if self._service is not None:
            begin = partial(self._service.use, self._servers[gpu].address)
        process = context.Process(target=_work, args=(there, gpu, begin), daemon=True)
        process.start()
        there.close()
        worker = _Worker(process, here, gpu)
        self._workers.append(worker)
        return worker

    def _free_gpus(self) -> dict[str, float]:
        """The free share of each GPU, by what CUDA_VISIBLE_DEVICES calls it."""
        if self._gpus is None:
            import torch

            count = torch.cuda.device_count() if torch.cuda.is_available() else 0
            names = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
            names = names if names != [""] else [str(k) for k in range(count)]
            self._gpus = dict.fromkeys(names[:count], 1.0)
        free = dict(self._gpus)
        for worker in self._workers:
            if worker.call is None or worker.gpu is None:
                continue
            names = worker.gpu.split(",")
            for name in names:
                free[name] -= worker.call.resources.gpus / len(names)
        return free

    def _roomy(self, resources: Resources) -> str | None:
        """The emptiest GPU, or the emptiest ones with commas between them, if there is room."""
        free, count = self._free_gpus(), max(1, math.ceil(resources.gpus))
        chosen = sorted(free, key=lambda name: -free[name])[:count]
        share = resources.gpus / count - 1e-6
        if len(chosen) < count or any(free[name] < share for name in chosen):
            return None
        return ",".join(chosen)


def _serve(
    serve: Callable[[str, Connection], None], address: str, alive: Connection, gpu: str | None
) -> None:
    """A server process. Ctrl-C is for the workers, which may ask it until they end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    serve(address, alive)


def _work(pipe: Connection, gpu: str | None, begin: Callable[[], None] | None) -> None:
    """A worker process: run calls until the pipe is closed or it is asked to stop."""
    # Ctrl-C reaches the whole process group, SIGTERM this process: both keep the state of the call.
    # A batch in the background of a shell ignores SIGINT, and its workers would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    end_with_parent(grace=_STOP_SECONDS)
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    if begin is not None:
        begin()
    try:
        while True:
            function, arguments, seat = pipe.recv()
            try:
                answer = function(*arguments, seat), None
            except Exception as error:
                answer = None, _portable(error)
            try:
                pipe.send(answer)
            except (BrokenPipeError, ConnectionResetError):
                return
            except Exception as error:  # an answer that cannot be pickled
                pipe.send((None, RuntimeError(f"{error}: {answer[1]!r}"[:1000])))
    except (EOFError, KeyboardInterrupt):
        return


def _portable(error: Exception) -> Exception:
    """An error that survives the pipe: those with arguments of their own may not."""
    try:
        copy(error)  # made again from its arguments, as pickle does
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
