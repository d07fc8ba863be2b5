"""Options that commands share, and their errors by the options' names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from akd.commands.errors import UsageError, input_file

if TYPE_CHECKING:
    from akd.rig.character import Character


def load_file(
    file: Path, *, height: float | None = None, up: str = "auto", roles: Path | None = None
) -> Character:
    """`akd.load`, with errors for the options `--height`, `--up` and `--roles`."""
    from akd.api.loading import load

    if roles is not None:
        input_file(roles)
    try:
        return load(input_file(file), height=height, up=up, roles=roles)
    except ValueError as error:
        raise UsageError(f"--{error}") from None


def usage_error(error: ValueError, command: object) -> UsageError:
    """The API's error about an argument as one about the option of the same name."""
    name = str(error).split(maxsplit=1)[0]
    return UsageError(f"--{error}" if hasattr(command, name) else str(error))
