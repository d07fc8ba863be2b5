"""True poses from the clips of files: motion capture and artists' animation."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.files import list_files
from akd.base.splits import pose_file_trains
from akd.motion.clip import motion_from_clip
from akd.posespace.codec import PoseCodec
from akd.posespace.dataset import BodyPoses, BodyRecord
from akd.posespace.ground import grounded
from akd.rig.character import Character, load_character
from akd.rig.up_axis import find_up_axis

FPS = 15.0
"""Poses a second of a clip that are looked at."""
_NEAR = 0.12
"""Poses whose every number is nearer than this to another of the same clip are left out."""
_FAR = 9.5
"""A pose with a number beyond this is broken: more than half a turn, or a body that left."""
_FEWEST_JOINTS = 2


def character_poses(
    character: Character, *, name: str, source: str, family: str, most: int = 2000
) -> BodyPoses | None:
    """The poses of all clips of a character, thinned; None where it has none or cannot move.

    Root heights are above the ground of `akd.posespace.ground.grounded`.
    """
    if len(character.control_rig) < _FEWEST_JOINTS:
        return None
    codec = PoseCodec.of(character)
    clips = []
    for clip in character.asset.clips:
        try:
            motion = motion_from_clip(character, clip)
        except AssetError:
            continue
        motion = motion.resample(FPS)
        states = codec.encode(codec.rig.from_pose(motion.pose))
        states = grounded(codec.body, states, fps=FPS)
        times = motion.times - motion.times[0]
        keep = distinct(states) & states.isfinite().all((1, 2)).logical_and(
            states.abs().amax((1, 2)) < _FAR
        )
        if character.asset.format == "bvh":
            keep &= times > 0.1  # many files start with a T-pose for calibration
        if bool(keep.any()):
            clips.append((clip.name, states[keep], times[keep].float()))
    total = sum(len(states) for _, states, _ in clips)
    if not total:
        return None
    stride = -(-total // most)
    thinned = tuple((n, s[::stride], t[::stride]) for n, s, t in clips)
    height = character.height / codec.size
    record = BodyRecord(name, source, family, codec.body.tokens, height)
    return BodyPoses(record, codec.body, thinned)


def distinct(states: Float[Tensor, "T J 3"]) -> Bool[Tensor, "T"]:
    """Which poses are not near one that was kept before."""
    kept: list[int] = []
    for frame in range(len(states)):
        near = (states[kept] - states[frame]).abs().amax((1, 2)) < _NEAR
        if not bool(near.any()):
            kept.append(frame)
    keep = torch.zeros(len(states), dtype=torch.bool)
    keep[kept] = True
    return keep


def asset_families(folder: Path) -> dict[str, str]:
    """Family of every rigged file of a folder of assets: files that share animation.

    From the column `family` of its MANIFEST.tsv, else the first two folders of its path.
    """
    manifest, families = folder / "MANIFEST.tsv", {}
    if manifest.is_file():
        with manifest.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            families = {row["path"]: row["family"] for row in rows if row.get("family")}
    for path in list_files(folder, (".glb", ".gltf", ".bvh"), deep=True):
        place = path.relative_to(folder).as_posix()
        if not place.startswith("robustness"):
            families.setdefault(place, "/".join(Path(place).parts[:-1][:2]))
    return families


def asset_side(folder: Path, *, training: bool) -> list[tuple[str, str]]:
    """Path and family of the files of one side of a folder of assets.

    The measuring side leaves out every family of which a file is on the training side or which
    shares animation with one, and motion capture of CMU, whose subjects train in `collect_mocap`.
    """
    families = asset_families(folder)
    trains = {path: pose_file_trains(path, family) for path, family in families.items()}
    if training:
        return [(path, families[path]) for path in sorted(families) if trains[path]]
    seen = {family for path, family in families.items() if trains[path]}
    stems = {Path(path).stem for path in families if trains[path]}
    return [
        (path, family)
        for path, family in sorted(families.items())
        if family not in seen and not stems & _shared(family) and not path.startswith("cmu_bvh/")
    ]


def _shared(family: str) -> set[str]:
    """Names of other files whose animation a family shares: `NAME [also shared Fox Wolf]`."""
    found = re.search(r"\[also shared ([^\]]*)\]", family)
    return set(re.split(r"[ ,]+", found[1])) if found else set()


def collect_assets(folder: Path, *, training: bool) -> Iterator[BodyPoses]:
    """Poses of the files of one side of a folder of assets."""
    for path, family in asset_side(folder, training=training):
        found = _file_poses(folder / path, name=path, source="assets", family=family)
        if found is not None:
            yield found


def collect_mocap(folder: Path, *, training: bool) -> Iterator[BodyPoses]:
    """Poses of one side of a folder of motion capture, by the sides in its ACTIONS.tsv."""
    with (folder / "ACTIONS.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for row in rows:
        if (row["side"] == "train") == training:
            family = f"mocap-{row['subject']}"
            path = folder / row["file"]
            found = _file_poses(path, name=row["file"], source="mocap", family=family, most=400)
            if found is not None:
                yield found


def _file_poses(
    path: Path, *, name: str, source: str, family: str, most: int = 2000
) -> BodyPoses | None:
    try:
        asset = read_asset(path)
        character = load_character(asset, up=find_up_axis(asset))
    except (AssetError, OSError):
        return None
    return character_poses(character, name=name, source=source, family=family, most=most)
