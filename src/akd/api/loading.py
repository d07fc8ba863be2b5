"""`load`: a character from a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from akd.asset.read import read_asset
from akd.rig.character import Character, load_character
from akd.rig.role_file import correct_roles, read_role_file
from akd.rig.roles.role import Role
from akd.rig.up_axis import find_up_axis
from akd.rig.vrm import vrm_roles


def loaded(character: Character | str | Path, *, up: str = "auto") -> Character:
    """The character that was given, or that of the file. Raises as `load`."""
    return character if isinstance(character, Character) else load(character, up=up)


def check_frame(*, height: float | None, up: str) -> None:
    """Raise `ValueError` where no body can have that height, or no file that axis up."""
    if up not in ("auto", "x", "y", "z"):
        raise ValueError(f"up must be auto, x, y or z, got {up!r}")
    if height is not None and not 0 < height < 1e6:
        raise ValueError(f"height must be in metres, above zero and below 1e6, got {height:g}")


def load(
    path: str | Path,
    *,
    height: float | None = None,
    up: str = "auto",
    roles: str | Path | Mapping[str, Role] | None = None,
) -> Character:
    """Load a character: mesh, skeleton, joint roles, control rig, and problems of the file.

    Args:
        path: A glTF, VRM, FBX, USD, .blend, OBJ, PLY, STL, OFF or BVH file.
        height: Height of the character in metres, if the file's units are wrong.
        up: The file's up axis: `x`, `y`, `z`, or `auto`, which is Y or, for BVH files, which state
            none, the axis along which the legs hang.
        roles: Corrected roles by joint name, or a TOML file of them. They take precedence over
            those of a VRM file.

    Returns:
        The character, in metres, Y up.

    Raises:
        AssetError: The file cannot be read.
        ValueError: An argument is out of range.
    """
    check_frame(height=height, up=up)
    asset = read_asset(Path(path))
    character = load_character(asset, height=height, up=find_up_axis(asset) if up == "auto" else up)
    given = vrm_roles(asset)
    if roles is not None:
        given |= roles if isinstance(roles, Mapping) else read_role_file(Path(roles))
    return correct_roles(character, given) if given else character
