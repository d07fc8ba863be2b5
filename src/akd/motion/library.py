"""The motion library: true clips by action, from folders, and put on any body of their plan."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import torch

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.files import list_files
from akd.base.splits import asset_trains, mocap_trains
from akd.math import quaternion
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import clip_action, find_clip
from akd.motion.motion import Motion
from akd.motion.retargeting.retarget import retarget
from akd.rig.character import Character, load_character
from akd.rig.up_axis import find_up_axis

_JUMP = 0.5
"""Radians. A first frame as far as this from the second, in any joint, is a calibration pose."""
_PEOPLE = 2
"""Legs of whom motion capture records."""
_TABLE = "ACTIONS.tsv"
"""Of a folder of motion capture: columns `file` and `action`."""


@dataclass(frozen=True)
class LibraryClip:
    """A clip of motion capture, of an artist, or of the zoo."""

    name: str
    """File and clip, for a person to read."""
    action: str
    """The action, in the words of its source."""
    trains: bool
    """Whether it may be trained on."""
    load: Callable[[], tuple[Character, Motion]]
    """Reads the body and its motion; can be sent to another process."""
    legs: int | None = None
    """How many its body stands on, where that is known without reading it."""

    @property
    def file(self) -> str:
        """Its name without that of the clip."""
        return self.name.partition(":")[0]

    @classmethod
    def from_file(
        cls,
        path: Path,
        action: str,
        *,
        clip: str | None = None,
        trains: bool = False,
        legs: int | None = None,
    ) -> LibraryClip:
        """A clip of a glTF or BVH file.

        Args:
            path: The file.
            action: What is done in the clip.
            clip: Its name; may be left out where the file has one clip.
            trains: Whether it may be trained on.
            legs: How many the body stands on, where that is known.
        """
        name = path.name if clip is None else f"{path.name}:{clip}"
        return cls(name, action, trains, partial(load_clip, path, clip), legs)


def load_clip(path: Path, clip: str | None = None) -> tuple[Character, Motion]:
    """The character of a file and one of its clips, without a calibration pose at its start.

    Raises:
        AssetError: The file cannot be read.
        ValueError: There is no such clip.
    """
    character = _character(path)
    record = find_clip(character, clip) if clip is not None else character.asset.clips[0]
    return character, without_calibration(motion_from_clip(character, record))


def without_calibration(motion: Motion) -> Motion:
    """The motion without a first frame that is far from all the others: usually a T-pose."""
    if len(motion) < 4:
        return motion
    turns = quaternion.geodesic(motion.pose.rotation[:3], motion.pose.rotation[1:4]).amax(-1)
    if float(turns[0]) < _JUMP or float(turns[0]) < 4.0 * float(turns[1:].max()):
        return motion
    return motion.sample(motion.times[1:])


def perform(
    clip: LibraryClip,
    target: Character,
    *,
    fps: float = 30.0,
    start: float = 0.0,
    seconds: float | None = None,
    plant: bool = True,
) -> Motion:
    """A clip of the library on a character of the same body plan, travelling over the ground.

    Args:
        clip: The clip.
        target: Who performs it.
        fps: Frames per second.
        start: Seconds of the clip to skip.
        seconds: Seconds of the clip to take; all that is left by default.
        plant: Plant the feet; without it the clip is only transferred, in a tenth of the time.

    Returns:
        A motion of the target's skeleton: root motion scaled by leg length, lowest foot on y = 0.

    Raises:
        AssetError: The file of the clip cannot be read.
        ValueError: The bodies have different plans or too few joints in common.
    """
    source, motion = clip.load()
    end = motion.duration if seconds is None else min(start + seconds, motion.duration)
    if not 0.0 <= start < max(end, 1e-9):
        raise ValueError(f"start must be from 0 to {end:g}, got {start:g}")
    if start > 0.0 or end < motion.duration:
        frames = torch.arange(round(start * fps), int(end * fps + 1e-6) + 1) / fps
        motion = motion.sample(motion.times[0] + frames)
    return retarget(source, motion, target, fps=fps, plant=plant, travel=True)


@lru_cache(maxsize=4)
def _character(path: Path) -> Character:
    asset = read_asset(path)
    return load_character(asset, up=find_up_axis(asset))


def mocap_clips(folder: Path) -> list[LibraryClip]:
    """The clips of a folder of BVH files with a table of actions.

    Raises:
        AssetError: There is no such table.
    """
    table = folder / _TABLE
    if not table.is_file():
        raise AssetError(f"{folder}: has no {_TABLE} that says what is done in its files")
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
