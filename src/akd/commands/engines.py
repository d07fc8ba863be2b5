"""Options of commands that run many jobs: which engine, and what its jobs need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from akd.commands.errors import UsageError

if TYPE_CHECKING:
    from akd.engine.call import Engine, Resources

EngineName = Literal["local", "ray", "shell"]


@contextmanager
def open_engine(
    name: EngineName,
    address: str | None,
    command: Callable[[str], Sequence[str]],
    *,
    together: int | None = None,
) -> Iterator[Engine]:
    """The engine of `--engine`, `--address` and `--together`, closed at the end.

    `command` makes the words of the command that runs the job of a given id.
    """
    if together is not None and name != "local":
        raise UsageError(f"--together is for --engine local, got --engine {name}")
    if address is not None and name != "ray":
        raise UsageError(f"--address is for --engine ray, got --engine {name}")
    match name:
        case "shell":
            from akd.engine.shell import Shell

            engine: Engine = Shell(command)
        case "ray":
            from akd.engine.ray_cluster import RayCluster

            try:
                engine = RayCluster(address)
            except ModuleNotFoundError:
                raise UsageError("--engine ray needs Ray: pip install 'akd[ray]'") from None
            except (ConnectionError, RuntimeError, ValueError) as error:
                reason = " ".join(str(error).split())[:200]
                where = f"--address {address}" if address else "--engine ray"
                raise UsageError(f"{where}: no Ray cluster answers ({reason})") from None
        case "local":
            engine = _local(together)
    try:
        yield engine
    finally:
        engine.close()


def _local(together: int | None) -> Engine:
    from akd.engine.local import Local, Service

    if together is None:
        return Local()
    from akd.prior.served import serve_predictions, use_server

    return Local(service=Service(serve_predictions, use_server))


def job_resources(
    prior: str | None, *, device: str, engine: Engine, together: int | None = None
) -> Resources:
    """What a job with a prior, or with none, needs.

    Without a prior it takes one core. The tiny prior takes a small part of a GPU, a large one all
    of it. A job has as many threads as cores, so that its result does not depend on the machine.
    """
    from akd.engine.call import Resources
    from akd.prior.choose import is_tiny

    if prior is None:
        return Resources()
    on_gpu = device.startswith("cuda") or (device == "auto" and engine.has_gpus())
    if is_tiny(prior):
        return Resources(cpus=2, gpus=1.0 / (together or 8) if on_gpu else 0.0)
    return Resources(cpus=4, gpus=1.0 if on_gpu else 0.0)
