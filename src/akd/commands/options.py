"""Options that commands share, and their errors by the options' names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from akd.commands.errors import UsageError, input_file

if TYPE_CHECKING:
    from akd.rig.character import Character


class CharacterOptions(Protocol):
    """A command with the options of a character."""

    @property
    def file(self) -> Path:
        """The file."""
        ...

    @property
    def height(self) -> float | None:
        """Metres."""
        ...

    @property
    def up(self) -> str:
        """The file's up axis."""
        ...

    @property
    def roles(self) -> Path | None:
        """Corrected roles."""
        ...


def load_character(command: CharacterOptions) -> Character:
    """The character that a command's options name."""
    return load_file(command.file, height=command.height, up=command.up, roles=command.roles)


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
