"""Walks from a sentence on bodies of odd proportions: a chibi with weapons, block figures, a mech.

    python benchmarks/odd_walks.py [--device cuda] [--seeds 3] [--quick] [--out out/odd_walks]
        [--report docs/benchmarks/odd_walks.md]

Each body is asked to walk once for each seed, as `akd animate` does it; `--quick` makes previews
without distillation and physics. Six frames of every clip go to OUT.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import akd
from akd.metrics.judge import MotionMetrics
from akd.scene.film import film_motion
from benchmarks.measured import write_report

ASSETS = Path(__file__).resolve().parents[2] / "shared" / "assets"
LEAST_CONTACT = 0.3


@dataclass(frozen=True)
class Walker:
    """A file, and what prompts call its body."""

    path: str
    noun: str


WALKERS = (
    Walker("kaykit/Rogue_Hooded.glb", "rogue"),
    Walker("kenney/blocky-characters/character_a.glb", "person"),
    Walker("quaternius/cubeworldkit/character_male_1.glb", "man"),
    Walker("quaternius/ultimate_space_kit/Mech.glb", "robot"),
)
"""Legs of a fifth to a third of the height, of one joint or of pieces that do not touch."""


def cells(metrics: MotionMetrics) -> list[str]:
    """Of a row: feet that touch least, float, worst skate, penetration, conditions that fail."""
    return [
        f"{min(metrics.contact, default=0.0):.2f}",
        f"{100 * metrics.float_:.2f}",
        f"{max(metrics.skate, default=0.0):.2f}",
        f"{100 * metrics.penetration:.2f}",
        "; ".join(metrics.fails) or "none",
    ]


def main() -> None:
    """Animate every body with every seed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seeds", type=int, default=3, help="from 0 on")
    parser.add_argument("--only", default="", help="only files whose path holds this")
    parser.add_argument("--quick", action="store_true", help="previews: fitted, not distilled")
    parser.add_argument("--out", type=Path, default=Path("out/odd_walks"))
    parser.add_argument("--report", type=Path, help="write the table here, as Markdown")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    lines = [
        "| body | seed | clip | contact | float, % | skate | penetration, % | conditions failed |",
        "|" + " --- |" * 8,
    ]
    print("\n".join(lines), flush=True)
    met = count = 0
    for walker in (w for w in WALKERS if options.only in w.path):
        character = akd.load(ASSETS / walker.path)
        name = Path(walker.path).stem
        for seed in range(options.seeds):
            clip = akd.animate(
                character, f"a {walker.noun} walking", seed=seed, device=options.device,
                quick=options.quick,
            )  # fmt: skip
            film_motion(character, clip.final).write_strip(options.out / f"{name}_{seed}.png")
            metrics = clip.metrics[clip.best]
            row = " | ".join(cells(metrics))
            lines.append(f"| {name} | {seed} | {clip.best} | {row} |")
            print(lines[-1], flush=True)
            count += 1
            met += min(metrics.contact, default=0.0) >= LEAST_CONTACT and not metrics.fails
    lines += ["", f"All conditions and contact of {LEAST_CONTACT} are met by {met} of {count}.", ""]
    print("\n".join(lines[-3:]))
    if options.report:
        write_report(options.report, "\n".join(lines))


if __name__ == "__main__":
    main()
