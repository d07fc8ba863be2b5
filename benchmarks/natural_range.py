"""Naturalness: how far a motion is from true clips of the same action and body plan.

Stride, duty factor, limb phases, trunk lean and vertical motion, each in standard deviations of
true clips.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.constants import GRAVITY
from akd.base.files import write_json
from akd.metrics.motion import FPS, feet_in_body
from akd.motion.contact import touches
from akd.motion.feet import leg_length, track_feet
from akd.motion.motion import Motion
from akd.rig.character import Character

_CYCLES = (0.8, 8.0)
"""Shortest and longest cycle that is looked for, in units of sqrt(leg length / g)."""
_FEWEST = 5
"""True clips that a deviation needs."""
_LEAST = {"stride": 0.1, "duty": 0.03, "left_right": 0.03, "fore_hind": 0.03, "lean": 2.0,
          "bounce": 0.01}  # fmt: skip
"""Smallest standard deviation that counts: true clips may agree better than they are measured."""


def naturalness_features(character: Character, motion: Motion) -> dict[str, float]:
    """Features of a motion that do not depend on the size of the body.

    Returns:
        `lean`, mean pitch and roll of the trunk from the neutral pose, degrees; `bounce`, standard
        deviation of the root's height in leg lengths; and with feet `duty`, the share of the time
        that a foot stands. With feet that step also `stride`, travel in a cycle in leg lengths, and
        `left_right` and `fore_hind`, phase differences of legs, 0 to 0.5 of a cycle.
    """
    rig = character.control_rig
    frames = motion.resample(FPS)
    world, leg = frames.world(), max(leg_length(character, rig), 1e-6)
    root = world[:, rig.root, :3, 3]
    turned = rig.from_world(world).root_rotation
    found = {
        "lean": math.degrees(float(turned[:, 1:].abs().amax(-1).mean())),
        "bounce": float(root[:, 1].std(correction=0)) / leg,
    }
    feet = track_feet(character, rig, frames)
    if not feet:
        return found
    standing = [touches(foot.lowest, body_height=character.height) for foot in feet]
    found["duty"] = float(torch.stack(standing).float().mean())
    swings = torch.stack([x[:, 2] for x in feet_in_body(rig, world, feet)])
    unit = math.sqrt(leg / GRAVITY)
    cycle = find_cycle(swings, shortest=_CYCLES[0] * unit * FPS, longest=_CYCLES[1] * unit * FPS)
    if cycle is None:
        return found
    seconds = max(frames.duration, 1e-9)
    gone = float((root[-1] - root[0])[[0, 2]].norm())
    found["stride"] = gone / seconds * cycle / FPS / leg
    phases = _phases(swings, cycle)
    found["left_right"] = fmean(
        _apart(phases[i], phases[i + 1]) for i in range(0, len(phases) - 1, 2)
    )
    if len(phases) >= 4:
        found["fore_hind"] = fmean(_apart(phases[i], phases[i + 2]) for i in range(len(phases) - 2))
    return found


def find_cycle(signals: Float[Tensor, "F T"], *, shortest: float, longest: float) -> float | None:
    """Frames after which signals repeat: the first high peak of their autocorrelation, or None."""
    centred = signals - signals.mean(1, keepdim=True)
    frames = signals.shape[1]
    if frames < 2 * shortest or float(centred.norm()) < 1e-6:
        return None
    last = min(int(longest) + 1, frames - 2)
    lags = range(max(2, int(shortest)), last)
    values = torch.tensor(
        [
            float((centred[:, lag:] * centred[:, :-lag]).sum())
            / float(centred[:, lag:].norm() * centred[:, :-lag].norm() + 1e-12)
            for lag in lags
        ]
    )
    if len(values) < 3:
        return None
    peaks = (values[1:-1] >= values[:-2]) & (values[1:-1] > values[2:]) & (values[1:-1] > 0.5)
    places = peaks.nonzero().flatten() + 1
    good = places[values[places] > 0.9 * values[places].max()] if len(places) else places
    return float(lags[int(good[0])]) if len(good) else None


def _phases(signals: Float[Tensor, "F T"], cycle: float) -> list[float]:
    """Phase of each signal's first harmonic, in cycles."""
    frames = signals.shape[1] - signals.shape[1] % max(1, round(cycle))
    angle = 2.0 * math.pi * torch.arange(frames or signals.shape[1]) / cycle
    some = signals[:, : len(angle)].cpu()
    real, imaginary = some @ angle.cos().to(some), some @ angle.sin().to(some)
    return (torch.atan2(imaginary, real) / (2.0 * math.pi)).tolist()


def _apart(a: float, b: float) -> float:
    """Phase difference, 0 to 0.5."""
    gap = (a - b) % 1.0
    return min(gap, 1.0 - gap)


def body_plan(character: Character) -> str:
    """Plan by which clips are compared: `2 legs`, `4 legs` and so on."""
    return f"{len(character.anatomy.legs)} legs"


@dataclass(frozen=True)
class NaturalRange:
    """Mean and standard deviation of each feature over true clips, by action and body plan."""

    ranges: Mapping[str, Mapping[str, tuple[float, float]]]
    """By `action, plan`, then by feature."""

    @classmethod
    def of(cls, clips: Iterable[tuple[str, str, Mapping[str, float]]]) -> NaturalRange:
        """From action, body plan and features of true clips."""
        values: dict[str, dict[str, list[float]]] = {}
        for action, plan, features in clips:
            group = values.setdefault(f"{action}, {plan}", {})
            for name, value in features.items():
                group.setdefault(name, []).append(value)
        return cls(
            {
                key: {
                    name: (fmean(some), max(stdev(some), _LEAST[name]))
                    for name, some in group.items()
                    if len(some) >= _FEWEST
                }
                for key, group in values.items()
            }
        )

    def deviations(self, action: str, plan: str, features: Mapping[str, float]) -> dict[str, float]:
        """Each feature in standard deviations from the mean; without those that are not known."""
        known = self.ranges.get(f"{action}, {plan}", {})
        return {
            name: (value - known[name][0]) / known[name][1]
            for name, value in features.items()
            if name in known
        }

    def write(self, path: Path) -> None:
        """Write as JSON."""
        write_json(path, {key: dict(group) for key, group in self.ranges.items()})

    @classmethod
    def read(cls, path: Path) -> NaturalRange:
        """Read what `write` wrote."""
        found = json.loads(path.read_text())
        return cls({k: {n: (v[0], v[1]) for n, v in group.items()} for k, group in found.items()})
