"""Real assets for tests: which there are, and each read once."""

import json
import os
import struct
from functools import cache
from pathlib import Path
from typing import Any

from akd.asset.read import read_asset
from akd.rig.character import Character, load_character
from akd.rig.control import ControlRig
from akd.rig.control_build import build_control_rig
from akd.rig.up_axis import find_up_axis

SHARED_ASSETS = Path(__file__).resolve().parents[1].parent / "shared" / "assets"


def gltf_files() -> list[str]:
    """Every glTF file outside the folder of broken ones."""
    found = [*SHARED_ASSETS.glob("**/*.glb"), *SHARED_ASSETS.glob("**/*.gltf")]
    paths = sorted(p.relative_to(SHARED_ASSETS).as_posix() for p in found)
    return [p for p in paths if not p.startswith("robustness/")]


def gltf_json(path: str) -> dict[str, Any]:
    """What a file says of itself, without its buffers: quick enough to choose tests by."""
    with (SHARED_ASSETS / path).open("rb") as file:
        if path.endswith(".gltf"):
            return json.load(file)
        (length,) = struct.unpack("<12xI4x", file.read(20))
        return json.loads(file.read(length))


def one_of_each_rig(paths: list[str]) -> list[str]:
    """The first file of each set of joints, for tests that take long: of 222 rigged files 92 are
    left. All of them where the environment variable `AKD_TEST_EVERY_FILE` is set."""
    if os.environ.get("AKD_TEST_EVERY_FILE"):
        return paths
    return list({_joint_names(path): path for path in reversed(paths)}.values())[::-1]


def _joint_names(path: str) -> tuple[str, ...]:
    """Names of the joints of all skins; the path where there is none."""
    said = gltf_json(path)
    joints = {j for skin in said.get("skins", []) for j in skin["joints"]}
    return tuple(sorted(said["nodes"][j].get("name", "") for j in joints)) or (path,)


@cache
def character(path: str) -> Character:
    return load_character(read_asset(SHARED_ASSETS / path))


@cache
def up_axis(path: str) -> str:
    return find_up_axis(character(path).asset)


@cache
def upright(path: str) -> Character:
    """The character of a file whose up axis may be another than Y."""
    body, up = character(path), up_axis(path)
    return body if up == "y" else load_character(body.asset, up=up)


@cache
def control_rig(path: str) -> ControlRig:
    return build_control_rig(character(path))
