"""Feet and sides of every rigged file with feet: with its names, and with names that say nothing.

The truth is written down here by hand, from the names that the artists gave. Left and right are the
character's own. Two files call left what is on the left of the picture: theirs is swapped here.

    python benchmarks/roles.py [--report docs/benchmarks/roles.md]
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from akd.asset.asset import Asset
from akd.asset.read import read_asset
from akd.rig.character import Character, load_character
from benchmarks.measured import write_report

ASSETS = Path(__file__).resolve().parents[2] / "shared" / "assets"

ANIMAL = ("IKFrontLeg.L IKBackLeg.L", "IKFrontLeg.R IKBackLeg.R")
FOUR = ("FrontFoot.L BackFoot.L", "FrontFoot.R BackFoot.R")
TWO = ("BackFoot.L", "BackFoot.R")
DOT = ("Foot.L", "Foot.R")
SMALL = ("foot.l", "foot.r")
UNDER = ("foot_l", "foot_r")
CESIUM = ("leg_joint_L_3", "leg_joint_R_3")
FOX = ("b_LeftHand_011 b_LeftFoot02_018", "b_RightHand_08 b_RightFoot02_022")
QUAD = ("Front_Leg_Ankle_L Back_Leg_Foot_L", "Front_Leg_Ankle_R Back_Leg_Foot_R")

# file: joints that stand on the ground, left ones and right ones.
TRUTH: dict[str, tuple[str, str]] = {
    "godot/enemy.glb": ("r-frontleg001 r-backleg001", "l-frontleg001 l-backleg001"),
    "godot/player.glb": ("r-foot", "l-foot"),
    "kaykit/Rogue_Hooded.glb": SMALL,
    "kaykit/char_anim/mannequin_v2/manny_med_mod.gltf": SMALL,
    "kaykit/char_anim/anim/Med_General.glb": SMALL,
    "kenney/character.glb": ("leg-left", "leg-right"),
    "khronos/CesiumMan/glTF-Binary/CesiumMan.glb": CESIUM,
    "khronos/Fox/glTF-Binary/Fox.glb": FOX,
    "khronos/RiggedFigure/glTF-Binary/RiggedFigure.glb": CESIUM,
    "mesh2motion/animations/bird-animations.glb": ("Foot_L", "Foot_R"),
    "mesh2motion/animations/fox-animations.glb": QUAD,
    "mesh2motion/animations/human-addon-animations-2025.glb": ("DEF-foot.L", "DEF-foot.R"),
    "mesh2motion/animations/kaiju-animations.glb": ("Back_Leg_Foot_1_L", "Back_Leg_Foot_1_R"),
    "mesh2motion/animations/quad-creature-animations-2025.glb": (
        "Front_Foot.L Back_Foot.L",
        "Front_Foot.R Back_Foot.R",
    ),
    "mesh2motion/animations/spider-animations.glb": (
        "leg_a_tip_l leg_b_tip_l leg_c_tip_l leg_d_tip_l",
        "leg_a_tip_r leg_b_tip_r leg_c_tip_r leg_d_tip_r",
    ),
    "mesh2motion/models-variation/bird-eagle.glb": ("Foot_L", "Foot_R"),
    "mesh2motion/models-variation/fox-cat.glb": QUAD,
    "mesh2motion/models-variation/fox-dog.glb": QUAD,
    "mesh2motion/models-variation/human-bunny.glb": UNDER,
    "mesh2motion/models-variation/human-female.glb": UNDER,
    "mesh2motion/models-variation/human-male.glb": UNDER,
    "mesh2motion/models-variation/human-sintel.glb": UNDER,
    "mesh2motion/retarget-rigs/human-kenney.glb": ("LeftFoot", "RightFoot"),
    "quaternius/animals_pack/Alpaca.glb": ANIMAL,
    "quaternius/animals_pack/Bull.glb": ANIMAL,
    "quaternius/animals_pack/Cow.glb": ANIMAL,
    "quaternius/animals_pack/Deer.glb": ANIMAL,
    "quaternius/animals_pack/Donkey.glb": ANIMAL,
    "quaternius/animals_pack/Fox.glb": ANIMAL,
    "quaternius/animals_pack/Husky.glb": ANIMAL,
    "quaternius/animals_pack/ShibaInu.glb": ANIMAL,
    "quaternius/animals_pack/Wolf.glb": ANIMAL,
    "quaternius/dinosaurs_pack/Apatosaurus.glb": FOUR,
    "quaternius/dinosaurs_pack/Parasaurolophus.glb": TWO,
    "quaternius/dinosaurs_pack/Stegosaurus.glb": FOUR,
    "quaternius/dinosaurs_pack/Trex.glb": TWO,
    "quaternius/dinosaurs_pack/Triceratops.glb": FOUR,
    "quaternius/easy_enemies_pack/Frog.glb": FOUR,
    "quaternius/easy_enemies_pack/Rat.glb": FOUR,
    "quaternius/mech_pack/George.glb": ("FootBack.L", "FootBack.R"),
    "quaternius/modular_men/Casual.glb": DOT,
    "quaternius/modular_men/King.glb": DOT,
    "quaternius/modular_women/Witch.glb": DOT,
    "quaternius/single_knight_pack/KnightCharacter.glb": DOT,
    "raylib/greenman.glb": ("leg_L", "leg_R"),
    "raylib/robot.glb": DOT,
    "threejs/RobotExpressive/RobotExpressive.glb": DOT,
}


def without_names(asset: Asset) -> Asset:
    """A copy whose joints are called `bone_17`."""
    nodes = tuple(replace(n, name=f"bone_{i}") for i, n in enumerate(asset.nodes))
    return replace(asset, nodes=nodes)


def feet(character: Character) -> tuple[frozenset[int], frozenset[int]]:
    """Joints that stand on the ground: left ones, right ones."""
    legs = character.anatomy.legs
    return (
        frozenset(limb.tip for limb in legs if limb.side == "left"),
        frozenset(limb.tip for limb in legs if limb.side == "right"),
    )


def is_right(character: Character, names: tuple[str, ...], truth: tuple[str, str]) -> bool:
    """Whether exactly the true feet were found, on their true sides."""
    found = feet(character)
    wanted = tuple(frozenset(names.index(n) for n in side.split()) for side in truth)
    return found == wanted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", type=Path, help="write the table here, as Markdown")
    arguments = parser.parse_args()
    lines = ["| file | with names | without names | what was found without |"]
    lines.append("| --- | --- | --- | --- |")
    right = same = 0
    for path, truth in TRUTH.items():
        asset = read_asset(ASSETS / path)
        names = tuple(n.name for n in asset.nodes)
        named, bare = load_character(asset), load_character(without_names(asset))
        good, agrees = is_right(named, names, truth), is_right(bare, names, truth)
        right += good
        same += agrees
        found = ""
        if not (good and agrees):
            body = named if not good else bare
            sides = [" ".join(sorted(names[j] for j in side)) for side in feet(body)]
            found = f"left: {sides[0] or 'none'}; right: {sides[1] or 'none'}"
            found += f"; faces {body.anatomy.forward.round(2).tolist()}"
        lines.append(
            f"| {path} | {'right' if good else 'wrong'} | {'right' if agrees else 'wrong'} | "
            f"{found} |"
        )
    summary = f"With names {right} of {len(TRUTH)} right; without names {same}."
    print("\n".join([*lines, "", summary]))
    if arguments.report:
        write_report(arguments.report, "\n".join([*lines, "", summary, ""]))


if __name__ == "__main__":
    main()
