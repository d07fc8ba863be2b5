"""Reads the jobs of `akd batch` from a TOML file, and validates all of them before any runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akd.base.files import parse_toml
from akd.commands.batch_kinds import KINDS, Kind, Needs
from akd.commands.errors import UsageError, input_file

if TYPE_CHECKING:
    from akd.engine.call import Resources
    from akd.engine.job import Job

MOST_JOBS = 100_000
_MOST_BYTES = 16 << 20


def read_jobs(path: Path, needs: Needs) -> list[Job]:
    """The jobs of a file: see docs/scale.md.

    Args:
        path: The TOML file. Paths in it are relative to its folder.
        needs: Resources of a job, where the file does not state them.

    Raises:
        UsageError: Names the table, the key, the rule and the value.
    """
    if input_file(path).stat().st_size > _MOST_BYTES:
        raise UsageError(f"{path}: must be at most {_MOST_BYTES >> 20} MiB")
    try:
        found = parse_toml(path.read_text("utf-8-sig"))
    except ValueError as error:
        raise UsageError(f"{path}: is not valid TOML ({error})") from None
    _known_keys(str(path), found, {"options", "resources", "product", "job"})
    if stated := _resources(f"{path}: resources", _table(str(path), found, "resources")):
        needs = lambda prior, device: stated  # noqa: E731
    jobs: dict[str, Job] = {}
    for where, kind, row in _rows(path, found):
        for key in kind.required:
            if not isinstance(row[key], str) or not row[key]:
                raise UsageError(
                    f"{where}: {key} must be a string that is not empty, got {row[key]!r}"
                )
        try:
            job = kind.make(where, path.parent, row, needs)
            jobs[job.id] = job
        except (UsageError, ValueError) as error:
            said = str(error)
            raise UsageError(said if said.startswith(where) else f"{where}: {said}") from None
    if not jobs:
        raise UsageError(f"{path}: holds no jobs; add [[job]] or [[product]]")
    return list(jobs.values())


def _rows(path: Path, found: Mapping[str, Any]) -> Iterator[tuple[str, Kind, dict[str, Any]]]:
    """Where each job is in the file, its kind, and its keys."""
    asked = 0

    def count(more: int) -> None:
        """Before they are looked at, with those that are given twice."""
        nonlocal asked
        asked += more
        if asked > MOST_JOBS:
            raise UsageError(f"{path}: must hold at most {MOST_JOBS} jobs")

    common = _table(str(path), found, "options")
    _known_keys(f"{path}: options", common, {"task"}.union(*(k.options for k in KINDS.values())))
    for number, table in enumerate(_tables(str(path), found, "product"), start=1):
        where = f"{path}: product {number}"
        kind, options = _kind(where, table, common)
        keys = kind.axes.values()
        _known_keys(where, table, {"task", *kind.axes, *kind.options.difference(keys)})
        _required(where, table, [axis for axis, key in kind.axes.items() if key in kind.required])
        lists = {axis: table[axis] for axis in kind.axes if axis in table}
        for axis, values in lists.items():
            if not isinstance(values, list) or not values:
                raise UsageError(f"{where}: {axis} must be a list with items, got {values!r}")
        count(prod(map(len, lists.values())))
        rest = {key: value for key, value in table.items() if key not in (*lists, "task")}
        for chosen in product(*lists.values()):
            set_here = zip((kind.axes[axis] for axis in lists), chosen, strict=True)
            yield where, kind, {**options, **rest, **dict(set_here)}
    for number, table in enumerate(_tables(str(path), found, "job"), start=1):
        count(1)
        where = f"{path}: job {number}"
        kind, options = _kind(where, table, common)
        _known_keys(where, table, {"task", *kind.required, *kind.options})
        _required(where, table, kind.required)
        yield where, kind, {k: v for k, v in {**options, **table}.items() if k != "task"}


def _kind(
    where: str, table: Mapping[str, Any], common: Mapping[str, Any]
) -> tuple[Kind, dict[str, Any]]:
    """The kind of a table's jobs, and the common options."""
    task = table.get("task", common.get("task", "animate"))
    if not isinstance(task, str) or task not in KINDS:
        raise UsageError(f"{where}: task must be one of {', '.join(KINDS)}, got {task!r}")
    options = {key: value for key, value in common.items() if key != "task"}
    for key in options:
        if key not in KINDS[task].options:
            raise UsageError(
                f"{where}: {key!r} of [options] is not an option of {task}; move it to the "
                f"tables that it is for"
            )
    return KINDS[task], options


def _required(where: str, table: Mapping[str, Any], keys: Collection[str]) -> None:
    for key in keys:
        if key not in table:
            raise UsageError(f"{where}: {key} is missing")


def _resources(where: str, table: Mapping[str, Any]) -> Resources | None:
    from akd.engine.call import Resources

    if not table:
        return None
    _known_keys(where, table, {"cpus", "gpus"})
    cpus, gpus = table.get("cpus", 1), table.get("gpus", 0)
    if type(cpus) is not int or not 1 <= cpus <= 1024:
        raise UsageError(f"{where}: cpus must be a whole number from 1 to 1024, got {cpus!r}")
    if type(gpus) not in (int, float) or not 0 <= gpus <= 64:
        raise UsageError(f"{where}: gpus must be from 0 to 64, got {gpus!r}")
    return Resources(cpus, float(gpus))


def _known_keys(where: str, table: Mapping[str, Any], known: Collection[str]) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: {key!r} is unknown; known are {', '.join(sorted(known))}")


def _table(where: str, found: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = found.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(f"{where}: {key} must be a table, got {value!r}")
    return value


def _tables(where: str, found: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    value = found.get(key, [])
    value = [value] if isinstance(value, dict) else value
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise UsageError(f"{where}: {key} must be tables, written [[{key}]]")
    return value
