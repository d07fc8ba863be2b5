"""What a job of `akd batch` can be: its keys in the file, and the `Job` that they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akd.base.constants import FPS_RANGE
from akd.commands.animate import Animate
from akd.commands.batch_task import KEYFRAME, animate_task, retarget_task, with_files
from akd.commands.errors import SEEDS, check_ranges, input_file
from akd.commands.resume import checked_options
from akd.commands.retarget import Retarget, file_and_clip

if TYPE_CHECKING:
    from akd.engine.call import Resources
    from akd.engine.job import Job

Needs = Callable[[str | None, str], "Resources"]
"""Resources of a job by its prior, if it has one, and its device."""


@dataclass(frozen=True)
class Kind:
    """A value of `task`."""

    axes: Mapping[str, str]
    """Lists of a product, and the key of a job that each of them sets."""
    required: tuple[str, ...]
    """Keys without which there is no job; the lists of a product that set them are required too."""
    options: frozenset[str]
    """All other keys."""
    make: Callable[[str, Path, dict[str, Any], Needs], Job]
    """The job of a table: where the table is, the folder of its paths, its keys. Raises
    `UsageError`."""


def _options(command: type, *own: str) -> frozenset[str]:
    return frozenset(field.name for field in fields(command)) - {*own, "out"}


def _animate(where: str, folder: Path, values: dict[str, Any], needs: Needs) -> Job:
    from akd.base.files import weights_hash
    from akd.engine.job import Job
    from akd.prior.source import whole_name

    files = {"file": input_file(folder / values.pop("asset")).resolve()}
    if isinstance(values.get("weights"), str):
        values["weights"] = str((folder / values["weights"]).resolve())
    if isinstance(values.get("prior"), str):
        values["prior"] = whole_name(values["prior"], folder=folder)
    files |= _take_files(folder, values, "roles", "pose_weights")
    files |= _take_keyframes(folder, values)
    prompt = values["prompt"]
    command = Animate(out=folder, **checked_options(where, with_files(values, files)))
    check_ranges(command, seed=SEEDS, fps=FPS_RANGE)
    command.checked()
    source = command.weights or Path(command.prior)
    _check_prior_and_prompt(str(source), prompt)
    resources = needs(str(source), command.device)
    arguments: dict[str, Any] = {"options": values, "threads": resources.cpus}
    if source.is_absolute():
        arguments["weights_hash"] = weights_hash(source)
    label = f"{files['file'].stem}: {prompt} ({Path(command.prior).name}, seed {command.seed})"
    return Job(animate_task, arguments, label, files=files, resources=resources)


@lru_cache(maxsize=4096)
def _check_prior_and_prompt(prior: str, prompt: str) -> None:
    from akd.api.request import check_prompt
    from akd.prior.choose import is_tiny, prompt_for
    from akd.prior.large.catalogue import find

    if not is_tiny(prior) and not Path(prior).is_dir():
        if Path(prior).is_absolute():
            raise ValueError(f"{prior}: there is no such folder")
        find(prior)
    check_prompt(prompt)
    prompt_for(prior, prompt)


def _retarget(where: str, folder: Path, values: dict[str, Any], needs: Needs) -> Job:
    from akd.engine.job import Job

    clip, name = file_and_clip(str(folder / values.pop("clip")))
    files = {"clip": clip.resolve(), "target": input_file(folder / values.pop("target")).resolve()}
    files |= _take_files(folder, values, "roles", "clip_roles")
    options = checked_options(where, with_files(values, files), command=Retarget)
    Retarget(out=folder / "motion.glb", **options).checked()
    resources = needs(None, "cpu")
    arguments = {"clip": name, "options": values, "threads": resources.cpus}
    label = f"{clip.stem}{f': {name}' if name else ''} on {files['target'].stem}"
    return Job(retarget_task, arguments, label, files=files, resources=resources)


def _take_files(folder: Path, values: dict[str, Any], *names: str) -> dict[str, Path]:
    """Options that are files, moved out of `values`: the content of a job's files is hashed."""
    return {
        name: input_file(folder / values.pop(name)).resolve()
        for name in names
        if isinstance(values.get(name), str)
    }


def _take_keyframes(folder: Path, values: dict[str, Any]) -> dict[str, Path]:
    """Files of keyframes, by the names that `with_files` puts them back under."""
    from akd.api.directing import split_keyframe, with_keyframe_file

    given, files = values.get("keyframe"), {}
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        return {}  # `checked_options` says so
    values["keyframe"] = given = list(given)
    for number, text in enumerate(given):
        path = folder / split_keyframe(text)[1]
        if path.is_file():
            name = f"{KEYFRAME}{number}"
            files[name] = path.resolve()
            given[number] = with_keyframe_file(text, Path(name))
    return files


KINDS = {
    "animate": Kind(
        {"assets": "asset", "prompts": "prompt", "seeds": "seed", "priors": "prior"},
        ("asset", "prompt"),
        _options(
            Animate,
            "file",
            "prompt",
            "create",
            "create_weights",
            "create_download",
            "quick",
            "overwrite",
        ),
        _animate,
    ),
    "retarget": Kind(
        {"clips": "clip", "targets": "target"},
        ("clip", "target"),
        _options(Retarget, "clip", "target"),
        _retarget,
    ),
}
