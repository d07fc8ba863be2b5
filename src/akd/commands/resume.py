"""`akd resume`: an interrupted job goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import tyro

from akd.commands.animate import Animate
from akd.commands.errors import UsageError


@dataclass(frozen=True)
class Resume:
    """Go on with an `akd animate` that was stopped, to the same result as if it had not been."""

    out: tyro.conf.Positional[Path]
    """The folder that it writes to."""
    file: Path | None = None
    """The asset, where it has been moved since."""
    weights: Path | None = None
    """The folder of weights, where it has been moved since."""
    roles: Path | None = None
    """The file of roles, where it has been moved since."""
    device: str | None = None
    """auto, cpu or cuda, in place of the one it began on."""

    def run(self) -> None:
        """Read what the job was, and do the rest of it."""
        from akd.distill.run_folder import RunFolder

        found = RunFolder(self.out).read()
        if found is None:
            raise UsageError(f"{self.out}: holds no run to go on with")
        options = _checked(self.out, found["options"])
        for name in ("file", "weights", "roles", "device"):
            options[name] = getattr(self, name) or options[name]
        if not options["file"].exists():
            raise UsageError(f"{options['file']}: there is no such file; give it with --file")
        Animate(out=self.out, **options).run()


def _checked(out: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `Animate` as `Animate.options` wrote them. Raises `UsageError`."""
    checked: dict[str, Any] = {}
    kinds = get_type_hints(Animate, include_extras=False)
    for field in fields(Animate):
        if field.name in ("out", "overwrite"):
            continue
        value, kind = options.get(field.name, field.default), kinds[field.name]
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = tuple(value)
        elif isinstance(value, str) and Path in (kind, *get_args(kind)):
            value = Path(value)
        elif type(value) is int and float in get_args(kind):
            value = float(value)
        allowed = (kind, *get_args(kind), get_origin(kind))
        if type(value) not in allowed and value not in allowed and not isinstance(value, Path):
            raise UsageError(f"{out}: run.json: {field.name} must be {kind}, got {value!r}")
        checked[field.name] = value
    return checked
