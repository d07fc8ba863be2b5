"""Folders of true clips: motion capture with a table of actions, and artists' files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.files import list_files
from akd.base.splits import asset_trains, mocap_trains
from akd.motion.clip_names import clip_action
from akd.motion.library.clip import LibraryClip

_PEOPLE = 2
"""Legs of whom motion capture records."""
TABLE = "ACTIONS.tsv"
"""Of a folder of motion capture: columns `file` and `action`."""


def mocap_clips(folder: Path) -> list[LibraryClip]:
    """The clips of a folder of BVH files with a table of actions.

    Raises:
        AssetError: There is no such table.
    """
    table = folder / TABLE
    if not table.is_file():
        raise AssetError(f"{folder}: has no {TABLE} that says what is done in its files")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [
        LibraryClip.from_file(
            folder / row["file"], row["action"], trains=mocap_trains(row["file"]), legs=_PEOPLE
        )
        for row in rows
    ]


def artist_clips(folder: Path) -> Iterator[LibraryClip]:
    """The clips in a folder of glTF files whose names say for certain what is done in them.

    Files that cannot be read are passed over.
    """
    for path in list_files(folder, (".glb", ".gltf"), deep=True):
        place = path.relative_to(folder).as_posix()
        try:
            clips = read_asset(path).clips
        except AssetError:
            continue
        for clip in clips:
            action = clip_action(clip.name, owner=path.stem)
            if action is not None:
                yield LibraryClip.from_file(
                    path, action.name, clip=clip.name, trains=asset_trains(place)
                )
