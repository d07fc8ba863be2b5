"""Does the score rank a spoiled clip below the true one? 60 pairs of the measuring side.

    python -m benchmarks.score FOLDER_OF_ASSETS

Writes `docs/benchmarks/score.md`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from akd.math import quaternion
from akd.metrics.judge import true_parts
from akd.metrics.motion import measure
from akd.motion.actions import ACTIONS
from akd.motion.motion import Motion
from akd.motion.root_motion import displaced, travel_path
from akd.rig.control import ControlRig
from benchmarks.measured import write_report
from benchmarks.score_clips import true_clips

REPORT = Path(__file__).parents[1] / "docs/benchmarks/score.md"
PAIRS = 60
_SLIDES, _STANDS = 0.8, 0.2
"""Feet of a true clip slide by at most this share of the body's speed, and one stands for this part
of the time: other clips say nothing of travel."""
_NOISE, _LEAN, _SEAM = 4.0, 15.0, 30.0
"""Degrees."""
_SLIDE, _SPEED = 1.5, 2.5
"""Factors."""


def main(assets: Path) -> None:
    """Spoil every clip in one way, in turn, and count."""
    rows, spoils = [], list(SPOILS.items())
    for name, action, character, motion in true_clips(assets, training=False):
        kind, spoil = spoils[len(rows) % len(spoils)]
        generator = torch.Generator().manual_seed(len(rows))
        rig = character.control_rig
        frames = motion.resample(30.0)
        true = measure(character, rig, frames, asked=action)
        if name.endswith(".gltf") or max(true.skate) > _SLIDES or max(true.contact) < _STANDS:
            continue  # a second copy of a file, or feet that do not stand in the clip itself
        fast = true.pace > math.sqrt(ACTIONS[action].froude)
        worse = measure(character, rig, spoil(rig, frames, generator, fast=fast), asked=action)
        rows.append((kind, name, action, true.score, worse.score))
        lowest = min(true_parts(true).items(), key=lambda part: part[1])
        print(*rows[-1], lowest, flush=True)
        write_report(REPORT, _page(rows))
        if len(rows) == PAIRS:
            break


def _page(rows: list[tuple[str, str, str, float, float]]) -> str:
    """Counts by kind, then every pair."""
    lines = ["| spoiled by | pairs | ranked lower | median true | median spoiled |",
             "| --- | --- | --- | --- | --- |"]  # fmt: skip
    for kind in (*SPOILS, "all"):
        mine = [(true, worse) for k, _, _, true, worse in rows if kind in (k, "all")]
        if not mine:
            continue
        right = sum(worse < true for true, worse in mine)
        middles = [float(torch.tensor(column).median()) for column in zip(*mine, strict=True)]
        lines.append(
            f"| {kind} | {len(mine)} | {right} ({right / len(mine):.0%}) | {middles[0]:.2f} "
            f"| {middles[1]:.2f} |"
        )
    lines += [
        "",
        "| file | action | spoiled by | true | spoiled |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {n} | {a} | {k} | {true:.2f} | {worse:.2f} |" for k, n, a, true, worse in rows]
    return "\n".join(lines) + "\n"


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
