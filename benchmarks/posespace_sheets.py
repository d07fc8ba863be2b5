"""Sheets of the pose space to look at: samples, IK drags, interpolations, and the worst samples.

    python -m benchmarks.posespace_sheets ASSETS out/pose.safetensors -o out/sheets --processes 8

All bodies are of the measuring side; ASSETS is the folder of real files. `--only Fox "cat 0"` shows
a few. The sheets are written anew after each body.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import akd
from akd.api.poses import zoo_character
from akd.posespace.body import kinematics
from akd.posespace.space import PoseSpace
from akd.rig.character import Character
from akd.scene.video import Video
from benchmarks.sheet import NamedRow, write_sheet

ZOO = (("cat", 0), ("giraffe", 0), ("ostrich", 0), ("cat", 1), ("giraffe", 1), ("ostrich", 1))
FILES = (
    "khronos/Fox/glTF-Binary/Fox.glb",
    "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
    "khronos/RiggedFigure/glTF-Binary/RiggedFigure.glb",
    "quaternius/single_knight_pack/KnightCharacter.glb",
    "threejs/RobotExpressive/RobotExpressive.glb",
    "quaternius/rpg_characters/monk.glb",
    "quaternius/rpg_characters/ranger.glb",
    "quaternius/rpg_characters/wizard.glb",
    "quaternius/cyberpunkgamekit/character.glb",
    "quaternius/ultimate_space_kit/Mech.glb",
    "quaternius/mech_pack/George.glb",
    "raylib/robot.glb",
    "quaternius/fish_pack/Dolphin.glb",
    "sketchfab_ccby/chicken_barav.glb",
)
SIZE = 150
"""Pixels of an image."""
COUNT = 8
"""Images of a row."""
DRAGGED = ("cat 0", "ostrich 0", "KnightCharacter", "Fox")
"""Bodies of the sheets of IK and interpolation."""


@dataclass(frozen=True)
class BodySheets:
    """The rows of one body."""

    name: str
    samples: np.ndarray
    scores: list[float]
    drags: list[NamedRow]
    between: list[NamedRow]

    def images(self) -> list[tuple[float, str, np.ndarray]]:
        """Score, name and image of each sample."""
        images = np.split(self.samples, len(self.scores), axis=1)
        return [(score, self.name, x) for score, x in zip(self.scores, images, strict=True)]


def body_name(body: str | tuple[str, int]) -> str:
    """Of a creature of the zoo, or of a file."""
    return Path(body).stem if isinstance(body, str) else f"{body[0]} {body[1]}"


def body_sheets(body: str | tuple[str, int], *, assets: Path, weights: Path) -> BodySheets:
    """Samples of a body, and for some what IK and interpolation make of it."""
    torch.set_num_threads(1)
    name = body_name(body)
    character = akd.load(assets / body) if isinstance(body, str) else zoo_character(*body)
    space = akd.poses(character, weights=weights)
    states = space.sample(COUNT)
    drags, between = [], []
    if name in DRAGGED:
        path = space.interpolate(states[0], states[1], COUNT)
        between.append((name, shown(character, space, path)))
        straight = torch.lerp(states[0], states[1], torch.linspace(0, 1, COUNT)[:, None, None])
        between.append((f"{name}, joint space", shown(character, space, straight)))
        joint = next(
            j for j in space.joints if j.startswith("left") and j.split()[-1] in ("hand", "foot")
        )
        for handle, way in ((joint, (0.1, 0.25, 0.15)), ("pelvis", (0.0, -0.12, 0.0))):
            poses = drag(space, handle, way)
            drags.append((f"{name}: {handle}", shown(character, space, poses)))
    scores = space.score(states).poses.tolist()
    return BodySheets(name, shown(character, space, states), scores, drags, between)


def shown(character: Character, space: PoseSpace, states: Tensor) -> np.ndarray:
    """Poses side by side, on one ground, seen by one camera."""
    images = akd.keyframes(character, space, states, size=(SIZE, SIZE)).mesh
    return np.concatenate(list(Video(images, 24.0).bytes()), axis=1)


def drag(space: PoseSpace, joint: str, way: tuple[float, float, float]) -> Tensor:
    """Answers of IK while a joint is pulled along `way`, body sizes left, up and forward."""
    codec = space.codec
    places, _ = kinematics(codec.body.expand(1), torch.zeros(1, codec.body.tokens, 3))
    up, left, forward = codec.rig.root_axes
    axes = torch.stack((left, up, forward))
    found = []
    for share in torch.linspace(0.0, 1.0, COUNT):
        point = places[0, space.spot(joint).token] + share * torch.tensor(way)
        target = codec.rig.root_pivot + codec.size * (point @ axes)
        found.append(space.ik({joint: target.tolist()}).states)
    return torch.cat(found)


def write_sheets(found: list[BodySheets], out: Path) -> None:
    """The four sheets of the bodies so far."""
    write_sheet([(s.name, s.samples) for s in found], out / "samples.jpg")
    write_sheet([row for s in found for row in s.drags], out / "ik.jpg")
    write_sheet([row for s in found for row in s.between], out / "interpolations.jpg")
    worst = sorted((x for s in found for x in s.images()), key=lambda x: -x[0])[: 2 * COUNT]
    rows = [
        (", ".join(f"{name} {score:.1f}" for score, name, _ in row),
         np.concatenate([image for _, _, image in row], axis=1))
        for row in (worst[:COUNT], worst[COUNT:]) if row
    ]  # fmt: skip
    write_sheet(rows, out / "worst.jpg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assets", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("out/sheets"))
    parser.add_argument("--only", nargs="+", help="bodies by species or name of the file")
    parser.add_argument("--processes", type=int, default=1, help="a body each")
    options = parser.parse_args()
    make = partial(body_sheets, assets=options.assets, weights=options.weights)
    bodies = [
        body
        for body in (*ZOO, *FILES)
        if options.only is None or body_name(body) in options.only
    ]  # fmt: skip
    found = []
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        for sheets in pool.map(make, bodies):
            print(sheets.name, *(f"{score:.1f}" for score in sheets.scores), flush=True)
            found.append(sheets)
            write_sheets(found, options.out)


if __name__ == "__main__":
    main()
