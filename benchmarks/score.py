"""Does the score rank a spoiled clip below the true one? 60 pairs of the measuring side.

    python -m benchmarks.score FOLDER_OF_ASSETS

Every recogniser that is found is asked as well, for the rank correlation with the score. Writes
`docs/benchmarks/score.md`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
import torch
from scipy.stats import rankdata

from akd.math import quaternion
from akd.metrics.action import score_films
from akd.metrics.films import Films
from akd.metrics.motion import measure
from akd.metrics.motion_metrics import true_parts
from akd.metrics.recognise.recogniser import Recogniser, find_recogniser
from akd.metrics.recognise.settings import RECOGNISERS, Name
from akd.motion.actions import ACTIONS
from akd.motion.feet import leg_length
from akd.motion.loop import repeat
from akd.motion.motion import Motion
from akd.motion.root_motion import displaced, travel_path
from akd.rig.character import Character
from akd.rig.control import ControlRig
from benchmarks.measured import write_report
from benchmarks.score_clips import stands_on_feet, true_clips

REPORT = Path(__file__).parents[1] / "docs/benchmarks/score.md"
PAIRS = 60
RECOGNISED = "recognised"
"""Pairs of whose true clip a recogniser gives half or more to the action."""
WITHIN = "within action"
"""All pairs, with clips ranked among those of their own action: a recogniser is not blamed for
knowing some actions better than others."""
_NOISE, _LEAN, _SEAM = 4.0, 15.0, 30.0
"""Degrees."""
_SLIDE, _SPEED = 1.5, 2.5
"""Factors."""


@dataclass(frozen=True)
class Pair:
    """A true clip and the same spoiled."""

    spoiled_by: str
    file: str
    action: str
    scores: tuple[float, float]
    """Of the true one and of the spoiled one."""
    said: dict[Name, tuple[float, float]]
    """Probability of the action, by recogniser."""


def main(assets: Path) -> None:
    """Spoil every clip in one way, in turn, and count."""
    recognisers: dict[Name, Recogniser] = {}
    for who in RECOGNISERS:
        if (recogniser := find_recogniser(who)) is not None:
            recognisers[who] = recogniser
    pairs: list[Pair] = []
    for name, action, character, motion in true_clips(assets, training=False):
        kind = list(SPOILS)[len(pairs) % len(SPOILS)]
        generator = torch.Generator().manual_seed(len(pairs))
        rig = character.control_rig
        frames = motion.resample(30.0)
        true = measure(character, rig, frames, asked=action)
        if not stands_on_feet(true):
            continue
        fast = true.pace > math.sqrt(ACTIONS[action].froude)
        spoiled = SPOILS[kind](rig, frames, generator, fast=fast)
        worse = measure(character, rig, spoiled, asked=action)
        before, after = (
            _probabilities(recognisers, character, shown, action) for shown in (frames, spoiled)
        )
        said: dict[Name, tuple[float, float]] = {
            who: (before[who], after[who]) for who in recognisers
        }
        pairs.append(Pair(kind, name, action, (true.score, worse.score), said))
        lowest = min(true_parts(true).items(), key=lambda part: part[1])
        print(pairs[-1], lowest, flush=True)
        if len(pairs) == PAIRS:
            break
    write_report(REPORT, _page(pairs))


def _probabilities(
    recognisers: dict[Name, Recogniser], character: Character, motion: Motion, action: str
) -> dict[Name, float]:
    """How likely each recogniser finds the action; not a number where it has no class for it.

    A gait is repeated until it fills what the recognisers look at.
    """
    rig = character.control_rig
    leg = leg_length(character, rig)
    looked = [one.settings for one in recognisers.values()]
    seconds = max((one.frames - 1) / one.rate(leg) for one in looked)
    shown = repeat(rig, motion, math.ceil(seconds / motion.duration))
    scores = score_films(recognisers, Films(character, action), shown)
    found: dict[Name, float] = {}
    for name, score in scores.items():
        found[name] = math.nan if score.probability is None else score.probability
    return found


def _page(pairs: list[Pair]) -> str:
    """Counts by kind, correlation with recognisers, then every pair."""
    lines = ["| spoiled by | pairs | ranked lower | median true | median spoiled |",
             "| --- | --- | --- | --- | --- |"]  # fmt: skip
    for kind in (*SPOILS, "all"):
        mine = [pair.scores for pair in pairs if kind in (pair.spoiled_by, "all")]
        if not mine:
            continue
        right = sum(worse < true for true, worse in mine)
        middles = [median(column) for column in zip(*mine, strict=True)]
        lines.append(
            f"| {kind} | {len(mine)} | {right} ({right / len(mine):.0%}) | {middles[0]:.2f} "
            f"| {middles[1]:.2f} |"
        )
    names = tuple(pairs[0].said)
    lines += [
        "",
        "Spearman's rank correlation of the score with a recogniser's probability of the action, "
        "and the pairs of which the recogniser, too, prefers the true clip:",
        "",
        "| recogniser | of | all clips | true | spoiled | pairs |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            _correlations(name, pairs, of)
            for name in names
            for of in ("all", WITHIN, "walk", RECOGNISED)
        ),
        "",
        "| file | action | spoiled by | score | " + " | ".join(n.upper() for n in names) + " |",
        "| --- | --- | --- | --- |" + " --- |" * len(names),
    ]
    for pair in pairs:
        columns = (pair.scores, *(pair.said[name] for name in names))
        cells = " | ".join(f"{true:.2f} > {worse:.2f}" for true, worse in columns)
        lines.append(f"| {pair.file} | {pair.action} | {pair.spoiled_by} | {cells} |")
    return "\n".join(lines) + "\n"


def _correlations(name: Name, pairs: list[Pair], of: str) -> str:
    """A recogniser's row: over all pairs that it has a class for, those of an action, or those
    whose true clip it recognises."""
    known = [
        p for p in pairs if of in (p.action, "all", WITHIN) and not math.isnan(p.said[name][0])
    ]
    if of == RECOGNISED:
        known = [p for p in pairs if p.said[name][0] >= 0.5]
    true = [(p.scores[0], p.said[name][0]) for p in known]
    spoiled = [(p.scores[1], p.said[name][1]) for p in known]
    groups = [p.action for p in known] if of == WITHIN else [""] * len(known)
    found = (
        correlation(true + spoiled, groups * 2),
        correlation(true, groups),
        correlation(spoiled, groups),
    )
    cells = " | ".join(f"{value:.2f}" for value in found)
    agree = sum(p.said[name][1] < p.said[name][0] for p in known)
    return f"| {name.upper()} | {of} | {cells} | {agree} of {len(known)} |"


def correlation(clips: list[tuple[float, float]], groups: list[str]) -> float:
    """Spearman's, of scores and probabilities ranked inside each group: ranks run from -1/2 to 1/2
    in every group, and are pooled. One group gives the plain coefficient."""
    values, ranks = np.array(clips), np.zeros((len(clips), 2))
    for group in sorted(set(groups)):
        mine = np.array(groups) == group
        count = int(mine.sum())
        ranks[mine] = (rankdata(values[mine], axis=0) - 0.5 * (count + 1)) / count
    return float(np.corrcoef(ranks.T)[0, 1])


def _turned(motion: Motion, degrees: torch.Tensor) -> Motion:
    """Every joint's rotation followed by a small one: degrees [T, J, 3] about its own axes."""
    angles = torch.deg2rad(degrees)
    half = 0.5 * angles
    small = torch.cat((torch.ones_like(half[..., :1]), half), dim=-1)
    turned = quaternion.multiply(motion.pose.rotation, quaternion.normalize(small))
    return replace(motion, pose=replace(motion.pose, rotation=turned))


def _noise(rig: ControlRig, motion: Motion, generator: torch.Generator, *, fast: bool) -> Motion:
    degrees = torch.zeros(*motion.pose.translation.shape)
    shape = (len(motion), len(rig.joints), 3)
    degrees[:, list(rig.joints)] = _NOISE * torch.randn(shape, generator=generator)
    return _turned(motion, degrees)


def _lean(rig: ControlRig, motion: Motion, generator: torch.Generator, *, fast: bool) -> Motion:
    pose = rig.from_pose(motion.pose)
    lean = pose.root_rotation.new_tensor((0.0, 0.0, torch.deg2rad(torch.tensor(_LEAN))))
    return replace(motion, pose=rig.to_pose(replace(pose, root_rotation=pose.root_rotation + lean)))


def _skate(rig: ControlRig, motion: Motion, generator: torch.Generator, *, fast: bool) -> Motion:
    path = travel_path(rig, motion)
    return displaced(rig, motion, (_SLIDE - 1.0) * (path - path[:1]))


def _speed(rig: ControlRig, motion: Motion, generator: torch.Generator, *, fast: bool) -> Motion:
    """Away from the action's natural speed: faster where the clip is fast for it already."""
    return replace(motion, times=motion.times * (1.0 / _SPEED if fast else _SPEED))


def _seam(rig: ControlRig, motion: Motion, generator: torch.Generator, *, fast: bool) -> Motion:
    """Joints drift over the clip, so that its end does not meet its beginning."""
    degrees = torch.zeros(*motion.pose.translation.shape)
    drift = torch.randn((1, len(rig.joints), 3), generator=generator)
    ramp = torch.linspace(0.0, 1.0, len(motion))[:, None, None]
    degrees[:, list(rig.joints)] = _SEAM * ramp * drift / drift.norm(dim=-1, keepdim=True)
    return _turned(motion, degrees)


SPOILS: dict[str, Callable[..., Motion]] = {
    "noise": _noise, "lean": _lean, "skate": _skate, "speed": _speed, "seam": _seam,
}  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
