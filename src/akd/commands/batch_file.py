"""Reads the jobs of `akd batch` from a TOML file, and refuses what cannot work before any runs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akd.commands.animate import Animate
from akd.commands.batch_task import animate_task
from akd.commands.errors import SEEDS, UsageError, check_ranges, input_file
from akd.commands.resume import checked_options

if TYPE_CHECKING:
    from akd.engine.call import Resources
    from akd.engine.job import Job

MOST_JOBS = 100_000
_MOST_BYTES = 16 << 20
_AXES = {"assets": "asset", "prompts": "prompt", "seeds": "seed", "priors": "prior"}
"""Lists of a product, and the key of a job that each of them sets."""
_OWN = ("file", "prompt", "out", "quick", "overwrite")
_OPTIONS = {field.name for field in fields(Animate)} - set(_OWN)
_PATHS = ("weights", "roles", "pose_weights")


def read_jobs(path: Path, needs: Callable[[str, str], Resources]) -> list[Job]:
    """The jobs of a file: see docs/scale.md.

    Args:
        path: The TOML file. Paths in it are relative to its folder.
        needs: Resources of a job by its prior and device, where the file does not state them.

    Raises:
        UsageError: One line that names the table, the key, the rule and the value.
    """
    if input_file(path).stat().st_size > _MOST_BYTES:
        raise UsageError(f"{path}: must be at most {_MOST_BYTES >> 20} MiB")
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: is no TOML ({error})") from None
    _known_keys(str(path), found, {"options", "resources", "product", "job"})
    common = _table(str(path), found, "options")
    _known_keys(f"{path}: options", common, _OPTIONS)
    resources = _resources(f"{path}: resources", _table(str(path), found, "resources"))
    jobs: dict[str, Job] = {}
    prompts: set[tuple[str, str]] = set()
    for number, (where, row) in enumerate(_rows(path, found), start=1):
        # Counted with those that are given twice: lists of one name multiply as others do.
        if number > MOST_JOBS:
            raise UsageError(f"{path}: must hold at most {MOST_JOBS} jobs")
        job = _job(where, path.parent, {**common, **row}, resources or needs, prompts)
        jobs[job.id] = job
    if not jobs:
        raise UsageError(f"{path}: holds no jobs; add [[job]] or [[product]]")
    return list(jobs.values())


def _rows(path: Path, found: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each job stands in the file, and its keys."""
    for number, table in enumerate(_tables(str(path), found, "product"), start=1):
        where = f"{path}: product {number}"
        _known_keys(where, table, {*_AXES, *_OPTIONS} - set(_AXES.values()))
        lists = {axis: table[axis] for axis in _AXES if axis in table}
        for axis in ("assets", "prompts"):
            if axis not in lists:
                raise UsageError(f"{where}: {axis} is missing")
        for axis, values in lists.items():
            if not isinstance(values, list) or not values:
                raise UsageError(f"{where}: {axis} must be a list with items, got {values!r}")
        rest = {key: value for key, value in table.items() if key not in lists}
        for chosen in product(*lists.values()):
            keys = (_AXES[axis] for axis in lists)
            yield where, {**rest, **dict(zip(keys, chosen, strict=True))}
    for number, table in enumerate(_tables(str(path), found, "job"), start=1):
        where = f"{path}: job {number}"
        _known_keys(where, table, {"asset", "prompt", *_OPTIONS})
        for key in ("asset", "prompt"):
            if key not in table:
                raise UsageError(f"{where}: {key} is missing")
        yield where, table


def _job(
    where: str,
    folder: Path,
    row: Mapping[str, Any],
    resources: Resources | Callable[[str, str], Resources],
    prompts: set[tuple[str, str]],
) -> Job:
    from akd.base.files import weights_hash
    from akd.engine.call import Resources
    from akd.engine.job import Job
    from akd.prior.choose import prompt_for
    from akd.request import LONGEST_PROMPT

    values = dict(row)
    asset, prompt = values.pop("asset"), values.pop("prompt")
    for name, value in (("asset", asset), ("prompt", prompt)):
        if not isinstance(value, str) or not value:
            raise UsageError(f"{where}: {name} must be a string that is not empty, got {value!r}")
    for name in _PATHS:
        if isinstance(values.get(name), str):
            values[name] = str((folder / values[name]).resolve())
    file = input_file((folder / asset).resolve())
    options = checked_options(where, {**values, "file": str(file), "prompt": prompt})
    command = Animate(out=folder, **options)
    try:
        check_ranges(command, seed=SEEDS, fps=(1, 240))
        command.checked()
        if (command.prior, prompt) not in prompts:
            if len(prompt) > LONGEST_PROMPT:
                raise ValueError(f"prompt must be at most {LONGEST_PROMPT} letters")
            prompt_for(command.weights or command.prior, prompt)
            prompts.add((command.prior, prompt))
    except (UsageError, ValueError) as error:
        raise UsageError(f"{where}: {error}") from None
    needs = (
        resources
        if isinstance(resources, Resources)
        else resources(str(command.weights or command.prior), command.device)
    )
    arguments: dict[str, Any] = {"prompt": prompt, "options": values, "threads": needs.cpus}
    if command.weights is not None:
        arguments["weights_hash"] = weights_hash(command.weights)
    label = f"{file.stem}: {prompt} ({command.prior}, seed {command.seed})"
    return Job(animate_task, arguments, label, files={"asset": file}, resources=needs)


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


def _known_keys(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: {key!r} is not known; known are {', '.join(sorted(known))}")


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
