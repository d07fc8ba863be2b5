"""Which creatures and files may train anything, and which only measure: reads `splits.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

OWN = "training"
"""Folder of assets that may train though `splits.toml` does not list them: a user's own."""


@cache
def _splits() -> dict[str, Any]:
    return tomllib.loads(resources.files("akd.base").joinpath("splits.toml").read_text("utf-8"))


def zoo_seed_trains(seed: int) -> bool:
    """Whether a creature of this seed may be trained on."""
    return seed >= _splits()["zoo"]["first_training_seed"]


def asset_trains(path: str | PurePosixPath) -> bool:
    """Whether a file, by its path in the folder of real assets, may be trained on."""
    return training_family(path) is not None


def training_family(path: str | PurePosixPath) -> str | None:
    """Family of a file that may be trained on; None where the file is for measuring.

    Args:
        path: In the folder of assets.
    """
    path = PurePosixPath(path)
    if path.parts[:1] == (OWN,):
        return OWN
    places = {path.as_posix(), *(parent.as_posix() for parent in path.parents)}
    families = _splits()["assets"]["training"]
    return next((name for name, files in families.items() if not places.isdisjoint(files)), None)


def pose_file_trains(path: str, family: str) -> bool:
    """Whether the pose space may train on a file of real assets.

    Args:
        path: In the folder of real assets.
        family: As MANIFEST.tsv names it. What it says in brackets is not part of the name.
    """
    poses = _splits()["poses"]
    name = re.split(r" *[\[(]", family, maxsplit=1)[0]
    known = name in poses["training_families"] and path not in poses["held_out_files"]
    return known or path in poses["trained_files"] or asset_trains(path)


def mocap_trains(file: str) -> bool:
    """Whether a clip of the CMU database, such as `02_01.bvh`, may be trained on."""
    return file.partition("_")[0] not in _splits()["mocap"]["measuring_subjects"]


def pose_species_trains(species: str) -> bool:
    """Whether the pose space may train on a species of the zoo."""
    return species not in _splits()["poses"]["held_out_species"]


def roles_family_develops(family: str) -> bool:
    """Whether mistakes on a family of rigs may be looked at while role inference is developed."""
    return family in _splits()["roles"]["development"]
