"""Known frames: distance of distilled motions to given poses, and acceleration at joins.

    python -m benchmarks.known_frames [--seeds 3] [--device cuda] [--cases 4] [--only between,row]

Between: a creature of the measuring side is asked for an action of which the first and the last
pose are given; the distance of the result's joints to both, in % of body height (aim: at most 3).
The same action without the poses is the control. Row: three actions in one prompt; the largest
acceleration within 0.1 s of each join, over the 95th percentile inside the two parts around it
(aim: at most 1). Writes docs/benchmarks/known_frames.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import torch

import akd
from akd.api.animation import Animation
from akd.api.clips import find_motion
from akd.base.splits import zoo_seed_trains
from akd.export.creature import write_creature
from akd.motion.direction import Direction
from akd.motion.feet import leg_length
from akd.motion.joining import acceleration
from akd.motion.motion import Motion
from akd.presets import TINY, with_values
from akd.prior.protocol import VideoPrior, for_body
from akd.rig.character import Character
from akd.rig.control import ControlRig
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.measured import write_report

REPORT = Path(__file__).parents[1] / "docs/benchmarks/known_frames.md"
BETWEEN = (
    ("fox", 0, "lie_down", "a fox lies down"),
    ("man", 4, "sit_down", "a man sits down"),
    ("horse", 1, "jump", "a horse jumps"),
    ("trex", 6, "attack", "a trex bites"),
    ("woman", 5, "punch", "a woman punches"),
    ("tiger", 2, "shake", "a tiger shakes"),
)
ROWS = (
    ("fox", 0, "a fox walks, then jumps, then lies down"),
    ("man", 4, "a man walks, then runs, then stands"),
    ("horse", 1, "a horse trots, then gallops, then stands"),
    ("woman", 5, "a woman waves, then dances, then sits down"),
)
AIM_POSE, AIM_JOIN = 3.0, 1.0
_AROUND = 0.1
"""Seconds about a join."""


@dataclass(frozen=True)
class Options:
    """How much is run."""

    seeds: int
    cases: int
    settings: tuple[str, ...]
    physics: bool
    device: str

    def animate(self, character: Character, prompt: str, prior: VideoPrior, seed: int,
                direction: Direction | None = None) -> Animation:  # fmt: skip
        """`akd.animate` with the preset for the tiny prior."""
        return akd.animate(
            character, prompt, prior=prior, preset=with_values(TINY, self.settings), seed=seed,
            physics=self.physics, direction=direction, device=self.device,
        )  # fmt: skip


def main() -> None:
    """Run both parts and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cases", type=int, default=len(BETWEEN))
    parser.add_argument("--only", default="between,row")
    parser.add_argument("--set", nargs="*", default=[], help="settings, as of akd animate")
    parser.add_argument("--no-physics", action="store_true")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--report", type=Path, default=REPORT)
    given = parser.parse_args()
    options = Options(
        given.seeds, given.cases, tuple(given.set), not given.no_physics, given.device
    )
    prior = akd.prior("tiny", device=given.device)
    with TemporaryDirectory() as folder:
        parts = [
            make(prior, options, Path(folder))
            for name, make in (("between", between), ("row", in_a_row))
            if name in given.only.split(",")
        ]
    write_report(given.report, "\n".join(parts))


def between(prior: VideoPrior, options: Options, folder: Path) -> str:
    """First and last pose given."""
    rows, worst = [], 0.0
    for species, seed, action, prompt in BETWEEN[: options.cases]:
        path = write_actor(species, seed, folder, action)
        character = akd.load(path)
        true = find_motion(character)
        own = for_body(prior, leg_length(character, character.control_rig))
        last = (own.frames - 1) / own.fps
        poses = Direction(keyframes=(f"0={path}@0", f"{last:.3f}={path}@{true.duration:.3f}"))
        for number in range(options.seeds):
            met = options.animate(character, prompt, prior, number, poses)
            free = options.animate(character, prompt, prior, number)
            found = [
                100.0 * apart(character, clip, true, end)
                for clip in (met.final, free.final)
                for end in (0, -1)
            ]
            worst = max(worst, *found[:2])
            rows.append(_row(prompt, number, [f"{value:.1f}" for value in found]))
    head = ("prompt", "seed", "first", "last", "first, not given", "last, not given")
    return _part(
        "First and last pose given",
        "Mean distance of the driven joints to the pose, % of body height, in the body's heading. "
        f"Largest: {worst:.1f} (aim {AIM_POSE:g}).",
        head,
        rows,
    )


def in_a_row(prior: VideoPrior, options: Options, folder: Path) -> str:
    """Three actions in one prompt."""
    rows, ratios = [], []
    for species, seed, prompt in ROWS[: options.cases]:
        character = akd.load(write_actor(species, seed, folder))
        for number in range(options.seeds):
            found = join_ratios(character, options.animate(character, prompt, prior, number))
            ratios += found
            rows.append(_row(prompt, number, [f"{value:.2f}" for value in found]))
    smooth = sum(ratio <= AIM_JOIN for ratio in ratios)
    return _part(
        "Three actions in a row",
        "Largest acceleration within 0.1 s of a join over the 95th percentile inside the parts "
        f"around it: mean {fmean(ratios):.2f}, at most {AIM_JOIN:g} in {smooth} of {len(ratios)}.",
        ("prompt", "seed", "first join", "second join"),
        rows,
    )


def _row(prompt: str, seed: int, values: Sequence[str]) -> str:
    row = f"| {prompt} | {seed} | {' | '.join(values)} |"
    print(row, flush=True)
    return row


def _part(title: str, about: str, head: Sequence[str], rows: Sequence[str]) -> str:
    names, rule = " | ".join(head), " | ".join("---" for _ in head)
    return "\n".join([f"## {title}", "", about, "", f"| {names} |", f"| {rule} |", *rows, ""])


def write_actor(species: str, seed: int, folder: Path, action: str = "stand") -> Path:
    """A creature of the measuring side in a file, with a true motion."""
    assert not zoo_seed_trains(seed)
    creature = build_creature(species, seed=seed)
    path = folder / f"{species}-{action}.glb"
    write_creature(creature, [make_clip(creature, action, cycles=1)], path)
    return path


def apart(character: Character, motion: Motion, true: Motion, frame: int) -> float:
    """Mean distance of the driven joints in one frame of each, in body heights, with the root of
    both over one place and with one heading."""
    rig = character.control_rig
    one, other = (places(rig, clip.sample(clip.times[[frame]]))[0] for clip in (motion, true))
    return float((one - other).norm(dim=-1).mean()) / character.height


def places(rig: ControlRig, motion: Motion) -> torch.Tensor:
    """[T, 1 + D, 3]: root and driven joints in metres, in the body's heading, over the origin."""
    pose = rig.from_pose(motion.pose)
    level = pose.translation.new_tensor((0.0, 1.0, 0.0))
    tilt = pose.root_rotation * pose.root_rotation.new_tensor((0.0, 1.0, 1.0))
    still = type(pose)(pose.translation * level, tilt, pose.angles)
    return rig.world(still)[:, [rig.root, *rig.joints], :3, 3]


def join_ratios(character: Character, made: Animation) -> list[float]:
    """Peak of acceleration at each join over the usual one around it."""
    rig, motion = character.control_rig, made.motion
    note = next(text for text in made.notes if text.startswith("actions begin at"))
    starts = [float(s) for s in note.removeprefix("actions begin at 0, ")[:-2].split(", ")]
    found, times = acceleration(rig, rig.from_pose(motion.pose)), motion.times[1:-1]
    ends = [0.0, *starts, motion.duration]
    ratios = []
    for k, start in enumerate(starts, start=1):
        inside = [
            found[(times > a + _AROUND) & (times < b - _AROUND)]
            for a, b in ((ends[k - 1], ends[k]), (ends[k], ends[k + 1]))
        ]
        usual = max(float(part.quantile(0.95)) for part in inside if len(part))
        ratios.append(float(found[(times - start).abs() <= _AROUND].max()) / usual)
    return ratios


if __name__ == "__main__":
    main()
