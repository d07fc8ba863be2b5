"""Heights that akd assumes for rigged real assets whose names say what they are.

A height counts as right within a factor of 1.5 of the animal's. The truth is `TRUE_HEIGHTS`, not
the table in `akd.rig.size`.

    python -m benchmarks.heights [--half development] [--report docs/benchmarks/heights.md]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from akd.asset.read import read_asset
from akd.base.splits import roles_family_develops
from akd.rig.character import Character, load_character
from akd.rig.roles.names import words
from akd.rig.roles.role import LimbKind
from akd.rig.up_axis import find_up_axis
from benchmarks.measured import write_report
from benchmarks.roles import ASSETS, read_labels

TRUE_HEIGHTS: dict[str, float] = {
    "alpaca": 1.5, "anglerfish": 0.3, "apatosaurus": 6.0, "astronaut": 1.75, "bat": 0.07,
    "bee": 0.01, "betta": 0.05, "bison": 1.8, "bull": 1.6, "bunny": 0.3, "captain": 1.75,
    "cat": 0.35, "caterpillar": 0.01, "chick": 0.1, "chicken": 0.4, "cow": 1.5, "crab": 0.08,
    "deer": 1.5, "dog": 0.65, "dolphin": 0.5, "donkey": 1.4, "eagle": 0.8, "elephant": 3.2,
    "female": 1.65, "flatfish": 0.3, "fox": 0.5, "frog": 0.08, "giraffe": 5.0, "horse": 1.8,
    "husky": 0.75, "king": 1.75, "knight": 1.75, "koi": 0.15, "lion": 1.2, "lionfish": 0.25,
    "male": 1.75, "man": 1.75, "manta": 0.4, "monk": 1.75, "monkey": 0.5, "ninja": 1.75,
    "panda": 1.2, "parasaurolophus": 4.0, "parrot": 0.33, "penguin": 0.8, "pig": 0.8,
    "pigeon": 0.3, "piranha": 0.12, "puffer": 0.12, "pug": 0.35, "raccoon": 0.35,
    "ranger": 1.75, "rat": 0.1, "rogue": 1.75, "shark": 1.1, "sheep": 0.95, "shepherd": 0.8,
    "shiba": 0.5, "snake": 0.1, "spermwhale": 3.5, "spider": 0.05, "squid": 0.3,
    "stegosaurus": 4.0, "sunfish": 2.5, "swordfish": 0.7, "trex": 4.0, "triceratops": 3.0,
    "tuna": 0.6, "wasp": 0.01, "whale": 3.0, "witch": 1.65, "wizard": 1.75, "wolf": 0.9,
}  # fmt: skip
"""Metres from the ground to the top of the head of an adult that stands as rigs are bound; of fish
and whales, from the lowest to the highest fin."""
TRUE_WINGSPANS = {
    "bat": 0.25, "bee": 0.02, "eagle": 2.1, "parrot": 0.6, "pigeon": 0.65, "wasp": 0.03,
}  # fmt: skip
"""Metres; instead of the height where wings are spread: birds in flight are flat."""
_SPREAD = 2.0
"""A body with wings that is broader than this many heights spreads them."""
_WITHIN = 1.5


def named_animal(path: str) -> str | None:
    """The animal or person that a file's name mentions last."""
    return next((w for w in reversed(words(Path(path).stem)) if w in TRUE_HEIGHTS), None)


def size_error(character: Character, animal: str) -> float:
    """The character's height over the animal's, or its wingspan where it spreads its wings."""
    mesh = character.body_mesh
    if mesh is not None and any(x.kind is LimbKind.WING for x in character.anatomy.limbs):
        breadth = float(np.ptp(mesh.vertices.numpy() @ character.anatomy.left))
        if breadth > _SPREAD * character.height:
            return breadth / TRUE_WINGSPANS[animal]
    return character.height / TRUE_HEIGHTS[animal]


def main() -> None:
    """Measure one half or both."""
    parser = argparse.ArgumentParser(description="Assumed heights of real assets.")
    parser.add_argument("--half", choices=("development", "measuring"), help="only this half")
    parser.add_argument("--report", type=Path, help="write the tables here, as Markdown")
    arguments = parser.parse_args()
    factors: dict[str, dict[str, float]] = {"development": {}, "measuring": {}}
    own: dict[str, list[bool]] = {"development": [], "measuring": []}
    for label in read_labels():
        half = "development" if roles_family_develops(label.family) else "measuring"
        animal = named_animal(label.path)
        if animal is None or label.path.endswith(".bvh") or arguments.half not in (None, half):
            continue
        asset = read_asset(ASSETS / label.path)
        character = load_character(asset, up=find_up_axis(asset))
        factors[half][label.path] = factor = size_error(character, animal)
        in_file_units = factor / character.units.metres_per_unit
        own[half].append(1 / _WITHIN <= in_file_units <= _WITHIN)
    lines = ["| half | files | assumed within 1.5 | in file units within 1.5 |", "|" + " --- |" * 4]
    wrong = ["| file | assumed by true height |", "| --- | --- |"]
    for half, found in factors.items():
        if not found:
            continue
        right = [1 / _WITHIN <= factor <= _WITHIN for factor in found.values()]
        shares = [f"{100 * sum(x) / len(found):.1f} %" for x in (right, own[half])]
        lines.append(f"| {half} | {len(found)} | {shares[0]} | {shares[1]} |")
        if half == "development":
            wrong += [
                f"| {path} | {factor:.2f} |"
                for (path, factor), ok in zip(found.items(), right, strict=True)
                if not ok
            ]
    lines += ["", "Off by more than a factor of 1.5 in the development half:", "", *wrong, ""]
    print("\n".join(lines))
    if arguments.report:
        write_report(arguments.report, "\n".join(lines))


if __name__ == "__main__":
    main()
