"""Sheets of the pose space to look at: samples, IK drags, interpolations, and the worst samples.

    python -m benchmarks.posespace_sheets ASSETS out/pose.safetensors -o out/sheets

All bodies are of the measuring side; ASSETS is the folder of real files.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import Tensor

import akd
from akd.api.poses import creature_character
from akd.posespace.body import kinematics
from akd.posespace.space import PoseSpace
from akd.rig.character import Character
from akd.scene.film import film_motion

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
NAMES = 18


def bodies(assets: Path) -> Iterator[tuple[str, Character]]:
    """Twenty bodies that never trained."""
    for species, seed in ZOO:
        yield f"{species} {seed}", creature_character(species, seed)
    for path in FILES:
        yield Path(path).stem, akd.load(assets / path)


def shown(character: Character, space: PoseSpace, states: Tensor) -> np.ndarray:
    """Poses side by side."""
    motion = space.codec.motion(states)
    video = film_motion(character, motion, size=(SIZE, SIZE), splats=5000)
    return np.concatenate(list(video.bytes()[: len(states)]), axis=1)


def write_sheet(rows: list[tuple[str, np.ndarray]], path: Path) -> None:
    """Rows of images under their names."""
    width = max(row.shape[1] for _, row in rows)
    sheet = Image.new("RGB", (width, len(rows) * (SIZE + NAMES)), (255, 255, 255))
    draw = ImageDraw.Draw(sheet)
    for number, (name, row) in enumerate(rows):
        top = number * (SIZE + NAMES)
        draw.text((4, top + 3), name, fill=(0, 0, 0))
        sheet.paste(Image.fromarray(row), (0, top + NAMES))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path, quality=85)
    print(path, flush=True)


def drag(space: PoseSpace, joint: str, way: tuple[float, float, float], count: int = 8) -> Tensor:
    """Answers of IK while a joint is pulled along `way`, body sizes left, up and forward."""
    codec = space.codec
    places, _ = kinematics(codec.body.expand(1), torch.zeros(1, codec.body.tokens, 3))
    up, left, forward = codec.rig.root_axes
    axes = torch.stack((left, up, forward))
    found = []
    for share in torch.linspace(0.0, 1.0, count):
        point = places[0, space.token(joint)] + share * torch.tensor(way)
        target = codec.rig.root_pivot + codec.size * (point @ axes)
        found.append(space.ik({joint: target.tolist()}).states)
    return torch.cat(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assets", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("out/sheets"))
    options = parser.parse_args()
    samples, drags, between, all_of = [], [], [], []
    for name, character in bodies(options.assets):
        space = PoseSpace.of(character, options.weights)
        states = space.sample(8)
        row = shown(character, space, states)
        samples.append((name, row))
        values = space.score(states).poses
        for k in range(len(states)):
            image = row[:, k * SIZE : (k + 1) * SIZE]
            all_of.append((float(values[k]), name, image))
        if name in ("cat 0", "ostrich 0", "KnightCharacter", "Fox"):
            path = space.interpolate(states[0], states[1], 8)
            between.append((name, shown(character, space, path)))
            straight = torch.lerp(states[0], states[1], torch.linspace(0, 1, 8)[:, None, None])
            between.append((f"{name}, joint space", shown(character, space, straight)))
            joint = next(
                j
                for j in space.joints
                if j.startswith("left") and j.split()[-1] in ("hand", "foot")
            )
            poses = drag(space, joint, (0.1, 0.25, 0.15))
            drags.append((f"{name}: {joint}", shown(character, space, poses)))
        write_sheet(samples, options.out / "samples.jpg")
    write_sheet(drags, options.out / "ik.jpg")
    write_sheet(between, options.out / "interpolations.jpg")
    worst = sorted(all_of, key=lambda item: -item[0])[:16]
    rows = [worst[:8], worst[8:]]
    write_sheet(
        [
            (", ".join(f"{name} {value:.1f}" for value, name, _ in row),
             np.concatenate([image for _, _, image in row], axis=1))
            for row in rows
        ],
        options.out / "worst.jpg",
    )  # fmt: skip


if __name__ == "__main__":
    main()
