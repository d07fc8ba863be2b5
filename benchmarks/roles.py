"""Feet, sides and kinds of limbs of every rigged real asset, as made and as a worse exporter would.

The truth is `roles_labels.toml`. Rigs are split by family (`akd.base.splits`): settings are chosen
on the development half, and only totals of the measuring half are looked at.

    python -m benchmarks.roles [--half development] [--report docs/benchmarks/roles.md]
        [--files animal_bee.glb ...] [--images docs/images/roles_mistakes.jpg]
"""

from __future__ import annotations

import argparse
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from akd.asset.read import read_asset
from akd.base.splits import roles_family_develops
from akd.report.role_image import role_image
from akd.rig.character import Character, load_character
from akd.rig.up_axis import find_up_axis
from benchmarks.measured import write_report
from benchmarks.roles_variants import flattened, without_helpers, without_names

ASSETS = Path(__file__).resolve().parents[2] / "shared" / "assets"
LABELS = Path(__file__).with_name("roles_labels.toml")
VARIANTS = {
    "as made": lambda asset: asset,
    "no names": without_names,
    "half the helpers": without_helpers,
    "flat tree": flattened,
}
LEGS = ("leg", "fore", "mid", "hind")
LIMBS = (*LEGS, "arm", "wing", "fin")


@dataclass(frozen=True)
class Label:
    """What the joints of one file are."""

    path: str
    family: str
    pairs: dict[str, list[list[str]]]
    """For each kind of limb, joints [left, right]: feet of legs, any joint of other limbs."""
    head: str | None
    tail: str | None


def read_labels() -> list[Label]:
    """One label for every file."""
    rigs: list[dict[str, Any]] = tomllib.loads(LABELS.read_text("utf-8"))["rig"]
    return [
        Label(
            path,
            rig["family"],
            {kind: rig[kind] for kind in LIMBS if kind in rig},
            rig.get("head"),
            rig.get("tail"),
        )
        for rig in rigs
        for path in rig["files"]
    ]


def mistakes(character: Character, names: tuple[str, ...], label: Label) -> list[str]:
    """What differs from the label: feet and sides, kinds of limbs, head, tail."""
    anatomy = character.anatomy
    found: list[str] = []
    wanted = Counter((k, s) for k, p in label.pairs.items() for _ in p for s in ("left", "right"))
    kinds = Counter((limb.kind.value, limb.side.value) for limb in anatomy.limbs)
    if kinds != wanted:
        more, less = kinds - wanted, wanted - kinds
        words = [f"no {side} {kind}" for kind, side in less]
        found += words + [f"a {side} {kind} too many" for kind, side in more]
    for kind, pairs in label.pairs.items():
        for pair in pairs:
            for side, name in zip(("left", "right"), pair, strict=True):
                joint = names.index(name)
                limbs = [x for x in anatomy.limbs if (x.kind, x.side) == (kind, side)]
                if kind in LEGS and not any(x.tip == joint for x in limbs):
                    tips = " ".join(names[x.tip] for x in limbs) or "nothing"
                    found.append(f"{side} {kind} stands on {tips}, not {name}")
                elif kind not in LEGS and not any(joint in x.joints for x in limbs):
                    found.append(f"{name} is not in a {side} {kind}")
    if label.head is not None and names.index(label.head) not in anatomy.trunk[-3:]:
        found.append("head")
    if label.tail is not None and names.index(label.tail) not in anatomy.tail:
        found.append("tail")
    return found


def is_right(found: list[str]) -> bool:
    """Feet, sides and kinds of limbs are right; head and tail are counted apart."""
    return not set(found) - {"head", "tail"}


def _sheet(images: list[tuple[str, Image.Image]]) -> Image.Image:
    """Images with their titles, four in a row."""
    width, height, line = 400, 228, 16
    rows = -(-len(images) // 4)
    sheet = Image.new("RGB", (4 * width, rows * (height + line)), "white")
    draw = ImageDraw.Draw(sheet)
    for k, (title, image) in enumerate(images):
        at = (k % 4 * width, k // 4 * (height + line))
        draw.text((at[0] + 4, at[1] + 3), title, fill="black")
        sheet.paste(image.convert("RGB").resize((width, height)), (at[0], at[1] + line))
    return sheet


def main() -> None:
    """Measure one half or both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("development", "measuring"), help="only this half")
    parser.add_argument("--report", type=Path, help="write the tables here, as Markdown")
    parser.add_argument("--files", nargs="+", help="only files whose path ends so")
    parser.add_argument("--images", type=Path, help="write the mistakes of the first half, as read")
    arguments = parser.parse_args()
    images: list[tuple[str, Image.Image]] = []
    results: dict[str, dict[str, list[list[str]]]] = {}
    failures = []
    for label in read_labels():
        half = "development" if roles_family_develops(label.family) else "measuring"
        if arguments.half not in (None, half):
            continue
        if arguments.files and not label.path.endswith(tuple(arguments.files)):
            continue
        asset = read_asset(ASSETS / label.path)
        names, up = tuple(n.name for n in asset.nodes), find_up_axis(asset)
        for variant, change in VARIANTS.items():
            character = load_character(change(asset), up=up)
            found = mistakes(character, names, label)
            results.setdefault(half, {}).setdefault(variant, []).append(found)
            if half == "development" and not is_right(found):
                failures.append(f"| {label.path} | {variant} | {'; '.join(found)} |")
                if arguments.images and character.mesh is not None:
                    title = f"{Path(label.path).stem}, {variant}"
                    images.append((title, role_image(character)))
    lines = ["| half | variant | files | feet, sides and limbs | head | tail |", "|" + " --- |" * 6]
    for half, by_variant in results.items():
        for variant, all_found in by_variant.items():
            count = len(all_found)
            shares = [sum(map(is_right, all_found)) / count]
            shares += [1 - sum(part in f for f in all_found) / count for part in ("head", "tail")]
            cells = " | ".join(f"{100 * share:.1f} %" for share in shares)
            lines.append(f"| {half} | {variant} | {count} | {cells} |")
    lines += ["", "Mistakes in the development half:", ""]
    lines += ["| file | variant | what is wrong |", "| --- | --- | --- |", *failures, ""]
    print("\n".join(lines))
    if arguments.images:
        _sheet(images).save(arguments.images, quality=80)
    if arguments.report:
        write_report(arguments.report, "\n".join(lines))


if __name__ == "__main__":
    main()
