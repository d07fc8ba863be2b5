"""FBX files that Blender wrote from real assets, read back and compared with the GLB.

    AKD_BLENDER=/path/to/python-with-bpy python -m benchmarks.fbx_round_trip ../shared/assets

Prints for each file, as a share of the body's height, how far joints are from the GLB's in every
frame of every clip and vertices in the first, and by how much weights differ.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.spatial import cKDTree

from akd.asset.asset import ClipRecord
from akd.asset.read import read_asset
from akd.export import fbx
from akd.motion.clip import motion_from_clip
from akd.motion.grid import find_fps
from akd.rig.character import Character, load_character

FILES = (
    "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
    "khronos/Fox/glTF/Fox.gltf",
    "khronos/RiggedFigure/glTF-Binary/RiggedFigure.glb",
    "quaternius/animals_pack/Alpaca.glb",
    "quaternius/animals_pack/Bull.glb",
    "quaternius/animals_pack/Deer.glb",
    "quaternius/animals_pack/Cow.glb",
    "quaternius/animals_pack/Husky.glb",
    "quaternius/animals_pack/Wolf.glb",
    "quaternius/dinosaurs_pack/Apatosaurus.glb",
    "quaternius/dinosaurs_pack/Stegosaurus.glb",
    "quaternius/dinosaurs_pack/Trex.glb",
    "quaternius/easy_enemies_pack/Rat.glb",
    "quaternius/easy_enemies_pack/Wasp.glb",
    "quaternius/modular_men/King.glb",
    "threejs/RobotExpressive/RobotExpressive.glb",
    "kaykit/Rogue_Hooded.glb",
    "godot/player.glb",
    "raylib/greenman.glb",
    "raylib/robot.glb",
)


@dataclass(frozen=True)
class Difference:
    """The largest differences, in body heights; weights are shares of one."""

    joints: float
    """Over all frames of all clips that both files have."""
    vertices: float
    """In the first frame of the first clip: distance to the nearest vertex of the other file."""
    weights: float
    """From the vertex that fits best among those in the same place."""
    clips: int
    """How many were compared."""


def compare(before: Path, after: Path, *, fps: float) -> Difference:
    """Compare the skinned joints and the surface of a glTF file with those of an FBX made of it.

    Joints are found by name. A file without clips is compared in its rest pose.
    """
    one, two = load_character(read_asset(before)), load_character(read_asset(after))
    names = sorted(_joints(one))
    found = {clip.name.rpartition("|")[2]: clip for clip in two.asset.clips}
    if len(one.asset.clips) == len(two.asset.clips) == 1:
        found = {one.asset.clips[0].name.rpartition("|")[2]: two.asset.clips[0]}
    joints, clips, surfaces = 0.0, 0, (0.0, 0.0)
    for clip in one.asset.clips or (None,):
        same = None if clip is None else found.get(clip.name.rpartition("|")[2])
        if clip is not None and same is None:
            continue
        frames = 0 if clip is None else int((clip.end - clip.start) * fps + 1e-3)
        times = torch.arange(frames + 1, dtype=torch.float64) / fps
        ours = _world(one, clip, times + (0.0 if clip is None else clip.start))
        theirs = _world(two, same, times)
        if not clips:
            surfaces = _surfaces(one, ours[0], two, theirs[0])
        apart = _places(one, ours, names) - _places(two, theirs, names)
        joints, clips = max(joints, float(np.abs(apart).max()) / _height(one)), clips + 1
    return Difference(joints, *surfaces, clips)


def frame_rate(path: Path) -> float:
    """The rate on whose frames the keys of a file lie, as `akd export` finds it."""
    character = load_character(read_asset(path))
    clips = character.asset.clips
    return max((find_fps(motion_from_clip(character, clip)) for clip in clips), default=30.0)


def _height(character: Character) -> float:
    """In the file's units, in which files are compared."""
    return character.height / character.units.metres_per_unit


def _world(character: Character, clip: ClipRecord | None, times: torch.Tensor) -> torch.Tensor:
    """world_from_joint [T, J, 4, 4], metres."""
    if clip is None:
        skeleton = character.skeleton
        return skeleton.forward(skeleton.rest)[None].expand(len(times), -1, -1, -1)
    return motion_from_clip(character, clip).sample(times).world()


def _joints(character: Character) -> dict[str, int]:
    """Joints of skins by name; a node that shows a mesh may have the same."""
    asset = character.asset
    return {asset.nodes[int(j)].name: int(j) for skin in asset.skins for j in skin.joints}


def _places(character: Character, world: torch.Tensor, names: list[str]) -> np.ndarray:
    """Positions [T, J, 3] of the named joints."""
    joints = _joints(character)
    order = [joints[name] for name in names]
    return world[:, order, :3, 3].numpy() / character.units.metres_per_unit


def _surfaces(
    one: Character, ours: torch.Tensor, two: Character, theirs: torch.Tensor
) -> tuple[float, float]:
    """Differences of vertices and weights, with the joints as given."""
    if one.mesh is None or two.mesh is None:
        return 0.0, 0.0
    bones = sorted(set(_bone_names(one)) | set(_bone_names(two)))
    first, second = _dense(one, bones), _dense(two, bones)
    mine = one.mesh.pose(ours).numpy() / one.units.metres_per_unit
    other = two.mesh.pose(theirs).numpy() / two.units.metres_per_unit
    near, places = cKDTree(other).query(mine, k=16)
    apart = np.abs(second[places] - first[:, None]).max(axis=2)
    apart[near > near[:, :1] + 1e-3 * _height(one)] = np.inf
    return float(near[:, 0].max()) / _height(one), float(apart.min(axis=1).max())


def _bone_names(character: Character) -> list[str]:
    assert character.mesh is not None
    joints = character.mesh.skin.bone_joints.tolist()
    return [character.skeleton.names[j] for j in joints]


def _dense(character: Character, bones: list[str]) -> np.ndarray:
    assert character.mesh is not None
    skin = character.mesh.skin
    columns = np.array([bones.index(name) for name in _bone_names(character)])
    dense = np.zeros((len(skin.bones), len(bones)), np.float32)
    rows = np.arange(len(dense))[:, None]
    np.add.at(dense, (rows, columns[skin.bones.numpy()]), skin.weights.numpy())
    return dense


def main() -> None:
    """Write, read back and print a line for each file."""
    parser = argparse.ArgumentParser(prog="fbx_round_trip")
    parser.add_argument("assets", type=Path)
    parser.add_argument("files", nargs="*", default=FILES)
    given = parser.parse_args()
    for name in given.files:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made.fbx"
            fps = frame_rate(given.assets / name)
            fbx.write_fbx(given.assets / name, path, fps=fps)
            found = compare(given.assets / name, path, fps=fps)
        print(
            f"{name}: {found.clips} clips, joints {found.joints:.1e}, "
            f"vertices {found.vertices:.1e}, weights {found.weights:.1e}", flush=True
        )  # fmt: skip


if __name__ == "__main__":
    main()
