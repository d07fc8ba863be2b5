"""Grounded walks of twenty low-poly quadrupeds and bipeds: depth of the skin, contact of each foot.

    python -m benchmarks.low_poly [--only TEXT] [--report docs/benchmarks/low_poly.md]

Each file's own walk is grounded as `akd ground` does it. Penetration is of the skin, at worst over
the clip, in % of body height; contact is of the foot that touches least; before is the clip with
the travel that its feet imply.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from akd.api.grounding import ground
from akd.asset.read import read_asset
from akd.base.splits import asset_trains
from akd.metrics.motion import measure
from akd.metrics.motion_metrics import MotionMetrics
from akd.rig.character import load_character
from benchmarks.measured import write_report

ASSETS = Path(__file__).resolve().parents[2] / "shared" / "assets"
FILES = (
    "kenney/cube-pets/animal_cat.glb",
    "kenney/cube-pets/animal_dog.glb",
    "kenney/cube-pets/animal_elephant.glb",
    "kenney/cube-pets/animal_giraffe.glb",
    "kenney/cube-pets/animal_lion.glb",
    "kenney/prototype-kit/animal_bison.glb",
    "kenney/prototype-kit/animal_horse.glb",
    "quaternius/cubeworldkit/cat.glb",
    "quaternius/cubeworldkit/horse.glb",
    "quaternius/cubeworldkit/pig.glb",
    "quaternius/cubeworldkit/sheep.glb",
    "quaternius/zombieapocalypsekit/characters_pug.glb",
    "kenney/blocky-characters/character_a.glb",
    "kenney/mini-characters/character_male_f.glb",
    "kenney/mini-dungeon/character_orc.glb",
    "quaternius/cubeworldkit/character_male_1.glb",
    "quaternius/cubeworldkit/goblin.glb",
    "quaternius/cubeworldkit/yeti.glb",
    "quaternius/single_knight_pack/KnightCharacter.glb",
    "quaternius/ultimate_space_kit/Mech.glb",
)
"""Twelve quadrupeds, eight bipeds: rigid pieces, block figures, chibis, a mech."""
MOST_PENETRATION = 0.005
LEAST_CONTACT = 0.3


def row(path: str) -> tuple[str, bool]:
    """The row of one file, and whether both aims are met."""
    character = load_character(read_asset(ASSETS / path))
    walks = [c.name for c in character.asset.clips if "walk" in c.name.lower()]
    given_height = character.height
    grounding = ground(character, min(walks, key=len))
    character, result = grounding.character, grounding.result
    rig = character.control_rig
    given = rig.to_pose(result.character.control_pose(result.clip, result.controls))
    before, after = (
        measure(character, rig, motion, asked="walk")
        for motion in (replace(result.motion, pose=given), result.motion)
    )
    met = after.penetration < MOST_PENETRATION and min(after.contact) >= LEAST_CONTACT
    side = "training" if asset_trains(path) else "measuring"
    name = "/".join(Path(path).with_suffix("").parts[-2:])
    size = f"{given_height:.2f}"
    if character.height != given_height:
        size += f" > {character.height:.2f}"
    cells = (
        f"{100 * before.penetration:.2f} > {100 * after.penetration:.2f}",
        f"{min(before.contact):.2f} > {min(after.contact):.2f}",
        f"{100 * before.float_:.2f} > {100 * after.float_:.2f}",
        f"{_skate(before):.2f} > {_skate(after):.2f}",
        f"{100 * result.tracking.error:.1f}",
        "yes" if met else "no",
    )
    return f"| {name} | {side} | {size} | {len(after.contact)} | {' | '.join(cells)} |", met


def _skate(metrics: MotionMetrics) -> float:
    return max(metrics.skate, default=0.0)


def main() -> None:
    """Ground every file's walk."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="only files whose path holds this")
    parser.add_argument("--report", type=Path, help="write the table here, as Markdown")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    lines = [
        "| file | side | height, m | feet | penetration, % | contact | float, % | skate | error, % "
        "| met |",
        "|" + " --- |" * 10,
    ]
    print("\n".join(lines), flush=True)
    count = 0
    chosen = [path for path in FILES if arguments.only in path]
    for path in chosen:
        line, met = row(path)
        count += met
        lines.append(line)
        print(line, flush=True)
    lines += ["", f"Both aims are met by {count} of {len(chosen)} files.", ""]
    print("\n".join(lines[-3:]))
    if arguments.report:
        write_report(arguments.report, "\n".join(lines))


if __name__ == "__main__":
    main()
