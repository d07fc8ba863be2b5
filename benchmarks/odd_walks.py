"""Walks from a sentence on bodies of odd proportions: chibis with weapons, block figures, a mech.

    python -m benchmarks.odd_walks run OUT [--side measuring] [--only Mech] [--seeds 0 1 2]
        [--assets FOLDER] [--device cuda --processes 9] [--set iterations=30]
    python -m benchmarks.odd_walks table OUT [--report docs/benchmarks/odd_walks.md]

Each body is asked to walk once for each seed, as `akd animate` does it. OUT/rows.jsonl gets a row
for each clip as it ends, so that a run that was stopped goes on, and OUT/sheet.png six frames of
each. Files of the measuring side choose no setting.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image, ImageDraw

import akd
from akd.base.splits import asset_trains
from akd.presets import TINY, with_values
from akd.scene.film import film_motion
from benchmarks.measured import write_report
from benchmarks.rows import append_row, read_rows

ASSETS = Path(__file__).resolve().parents[2] / "shared" / "assets"
LEAST_CONTACT = 0.3
_FRAME_HEIGHT = 120

Row = dict[str, Any]


@dataclass(frozen=True)
class Walker:
    """A file, and what prompts call its body."""

    path: str
    noun: str

    @property
    def side(self) -> str:
        """Whether settings may be chosen on it."""
        return "training" if asset_trains(self.path) else "measuring"


WALKERS = (
    Walker("quaternius/single_knight_pack/KnightCharacter.glb", "knight"),
    Walker("kenney/character.glb", "person"),
    Walker("quaternius/ultimate_space_kit/Mech.glb", "robot"),
    Walker("kaykit/Rogue_Hooded.glb", "rogue"),
    Walker("kenney/blocky-characters/character_a.glb", "person"),
    Walker("kenney/mini-characters/character_male_f.glb", "man"),
    Walker("quaternius/cubeworldkit/character_male_1.glb", "man"),
    Walker("quaternius/ultimate_space_kit/Astronaut.glb", "astronaut"),
)
"""Legs of a fifth to a third of the height, of one joint or of pieces that do not touch."""


def walk(walker: Walker, seed: int, options: argparse.Namespace) -> Row:
    """Animate one body, draw its frames, and measure the clip that `akd animate` would keep."""
    torch.set_num_threads(1)
    character = akd.load(options.assets / walker.path)
    clip = akd.animate(
        character, f"a {walker.noun} walking", preset=with_values(TINY, options.set), seed=seed,
        device=options.device,
    )  # fmt: skip
    key = f"{Path(walker.path).stem} {seed}"
    film_motion(character, clip.final).write_strip(options.out / f"{key}.png")
    found = clip.metrics[clip.best]
    return {
        "key": key, "body": Path(walker.path).stem, "side": walker.side, "seed": seed,
        "clip": clip.best, "kept_distilled": clip.kept_distilled,
        "contact": min(found.contact, default=0.0), "float": found.float_,
        "skate": max(found.skate, default=0.0), "penetration": found.penetration,
        "b": found.action and found.action.probability,
        "c": found.action_c and found.action_c.probability, "fails": list(found.fails),
    }  # fmt: skip


def write_sheet(rows: list[Row], out: Path) -> None:
    """All strips in one image, each under what it shows."""
    strips = [Image.open(out / f"{row['key']}.png") for row in rows]
    strips = [s.resize((s.width * _FRAME_HEIGHT // s.height, _FRAME_HEIGHT)) for s in strips]
    sheet = Image.new(
        "RGB", (max(s.width for s in strips), (_FRAME_HEIGHT + 14) * len(strips)), "white"
    )
    draw = ImageDraw.Draw(sheet)
    for place, (row, strip) in enumerate(zip(rows, strips, strict=True)):
        top = (_FRAME_HEIGHT + 14) * place
        draw.text((2, top + 1), f"{row['key']}: {'; '.join(row['fails']) or 'ok'}", fill="black")
        sheet.paste(strip, (0, top + 14))
    sheet.save(out / "sheet.png")


def table(rows: list[Row]) -> str:
    """A row for each clip, and how many meet all conditions."""
    lines = [
        "| body | side | seed | clip | contact | float, % | skate | penetration, % | B | C "
        "| conditions failed |",
        "|" + " --- |" * 11,
    ]
    for r in rows:
        lines.append(
            f"| {r['body']} | {r['side']} | {r['seed']} | {r['clip']} | {r['contact']:.2f} "
            f"| {100 * r['float']:.2f} | {r['skate']:.2f} | {100 * r['penetration']:.2f} "
            f"| {r['b'] or 0.0:.2f} | {r['c'] or 0.0:.2f} | {'; '.join(r['fails']) or 'none'} |"
        )
    for side in dict.fromkeys(r["side"] for r in rows):
        mine = [r for r in rows if r["side"] == side]
        met = sum(r["contact"] >= LEAST_CONTACT and not r["fails"] for r in mine)
        lines += ["", f"On the {side} side {met} of {len(mine)} clips meet all conditions."]
    return "\n".join([*lines, ""])


def main() -> None:
    """Animate bodies, or tabulate what was measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--side", choices=("training", "measuring"), help="only this side")
    parser.add_argument("--only", default="", help="only files whose path holds this")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--assets", type=Path, default=ASSETS)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[], help="settings, as in akd animate")
    parser.add_argument("--report", type=Path, help="write the table here, as Markdown")
    options = parser.parse_args()
    rows_file = options.out / "rows.jsonl"
    if options.what == "run":
        options.out.mkdir(parents=True, exist_ok=True)
        done = {row["key"] for row in read_rows(rows_file)}
        chosen = [
            (w, s)
            for w in WALKERS
            for s in options.seeds
            if options.only in w.path
            and options.side in (None, w.side)
            and f"{Path(w.path).stem} {s}" not in done
        ]
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(options.processes, mp_context=context) as pool:
            jobs = [pool.submit(walk, w, s, options) for w, s in chosen]
            for job in as_completed(jobs):
                if (error := job.exception()) is not None:  # the other bodies go on
                    print(f"failed: {error!r}", file=sys.stderr, flush=True)
                    continue
                append_row(rows_file, job.result())
    order = [Path(w.path).stem for w in WALKERS]
    rows = sorted(read_rows(rows_file), key=lambda r: (order.index(r["body"]), r["seed"]))
    if options.what == "run":
        write_sheet(rows, options.out)
    print(table(rows))
    if options.report:
        write_report(options.report, table(rows))


if __name__ == "__main__":
    main()
