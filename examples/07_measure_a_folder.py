"""Measure every clip of every glTF file in a folder, and write a table.

    python examples/07_measure_a_folder.py --folder characters/ --out measures.csv

Without `--folder`, two creatures of the zoo are measured.
"""

import csv
from pathlib import Path

import tyro

import akd
from akd.export.creature import write_creature
from akd.zoo import build_creature, make_clip


def main(folder: Path | None = None, out: Path = Path("out/measure/measures.csv")) -> list[dict]:
    """One row per clip."""
    if folder is None:
        folder = out.parent
        for species in ("fox", "man"):
            creature = build_creature(species)
            write_creature(creature, [make_clip(creature, "walk")], folder / f"{species}.glb")
    rows = []
    for path in sorted(folder.rglob("*.gl[bt]*")):
        character = akd.load(path)
        for clip in character.asset.clips:
            metrics = akd.measure(character, clip.name)
            seen = {"file": path.name, "clip": clip.name, "verdict": metrics.verdict}
            numbers = {"score": metrics.score, "travel": metrics.travel, "tilt": metrics.tilt}
            rows.append({**seen, **{name: f"{value:.3f}" for name, value in numbers.items()}})
            print(*rows[-1].values(), sep="\t")
    with out.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return rows


if __name__ == "__main__":
    tyro.cli(main)
