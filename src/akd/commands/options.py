"""Turning options into objects, with errors that name the option."""

from __future__ import annotations

from pathlib import Path

from akd.asset.asset import Asset
from akd.commands.errors import UsageError
from akd.rig.character import Character, load_character


def character_of(
    asset: Asset, *, height: float | None = None, up: str = "y", roles: Path | None = None
) -> Character:
    """The character in an asset, for the options `--height`, `--up` and `--roles`."""
    if up not in ("x", "y", "z"):
        raise UsageError(f"--up must be x, y or z, got {up!r}")
    if height is not None and not 0 < height < 1e6:
        raise UsageError(f"--height must be in metres, above zero and below 1e6, got {height:g}")
    return with_roles(load_character(asset, height=height, up=up), roles)


def with_roles(character: Character, roles: Path | None) -> Character:
    """The character with the roles that a file puts right, for the option `--roles`."""
    if roles is None:
        return character
    from akd.commands.errors import input_file
    from akd.rig.role_file import correct_roles, read_role_file

    return correct_roles(character, read_role_file(input_file(roles)))
