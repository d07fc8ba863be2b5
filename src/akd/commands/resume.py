"""`akd resume`: an interrupted job goes on."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

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
        known = {field.name for field in fields(Animate)}
        options = {k: v for k, v in found["options"].items() if k in known}
        options["file"] = self.file or Path(options["file"])
        for name, given in (("weights", self.weights), ("roles", self.roles)):
            kept = options.get(name)
            options[name] = given or (None if kept is None else Path(kept))
        options["set"] = tuple(options["set"])
        options["device"] = self.device or options["device"]
        if not options["file"].exists():
            raise UsageError(f"{options['file']}: there is no such file; give it with --file")
        Animate(out=self.out, **options).run()
