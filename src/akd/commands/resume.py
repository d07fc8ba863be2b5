"""`akd resume`: continue an interrupted job."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro

from akd.commands.animate import Animate
from akd.commands.errors import UsageError


@dataclass(frozen=True)
class Resume:
    """Resume an interrupted `akd animate`. The result is the same as without the interruption.

    Example: akd resume out/fox
    """

    out: tyro.conf.Positional[Path]
    """The output folder of the run."""
    file: Path | None = None
    """The asset, if it has moved since."""
    weights: Path | None = None
    """The folder of weights, if it has moved since."""
    roles: Path | None = None
    """The file of roles, if it has moved since."""
    device: str | None = None
    """auto, cpu or cuda, instead of the device it started on."""

    def run(self) -> None:
        """Read what the job was, and do the rest of it."""
        from akd.distill.run_folder import RunFolder

        found = RunFolder(self.out).read()
        if found is None:
            raise UsageError(f"{self.out}: holds no run to resume")
        options = checked_options(f"{self.out}: run.json", found["options"])
        for name in ("file", "weights", "roles", "device"):
            options[name] = getattr(self, name) or options[name]
        if not options["file"].exists():
            raise UsageError(f"{options['file']}: there is no such file; give it with --file")
        Animate(out=self.out, **options).run()


def checked_options(
    where: str, options: Mapping[str, Any], *, command: type[Any] = Animate
) -> dict[str, Any]:
    """The options of a command from JSON values, as `Animate.options` writes them.

    Raises `UsageError`, which says `where` they stand.
    """
    checked: dict[str, Any] = {}
    kinds = get_type_hints(command, include_extras=False)
    for field in fields(command):
        if field.name in ("out", "overwrite"):
            continue
        if field.name not in options and field.default is not MISSING:
            checked[field.name] = field.default
            continue
        value = options.get(field.name)
        try:
            checked[field.name] = _converted(value, kinds[field.name])
        except TypeError:
            raise UsageError(
                f"{where}: {field.name} must be of type {kinds[field.name]}, got {value!r}"
            ) from None
    return checked


def _converted(value: object, kind: Any) -> object:
    """A JSON value as the type of an option. Raises `TypeError` where it is of another."""
    inner = get_args(kind)
    match get_origin(kind) or kind:
        case origin if origin is Literal and value in inner:
            return value
        case origin if origin in (Union, UnionType):
            for one in inner:
                with suppress(TypeError):
                    return _converted(value, one)
        case origin if origin is tuple and isinstance(value, list):
            return tuple(_converted(item, inner[0]) for item in value)
        case origin if origin is Path and isinstance(value, str):
            return Path(value)
        case origin if origin is float and type(value) is int:
            return float(value)
        case origin if type(value) is origin:
            return value
    raise TypeError
