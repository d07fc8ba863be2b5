"""`Act`: an action as a pose sheet. Columns are key poses, rows are parts of the body.

Rows hold degrees for rotations and hip heights for shifts, so that one sheet serves bodies of every
size. Between the keys they ease in and out (monotone cubics with level ends). What repeats faster
than the keys (a wag, a shiver, a chew) is a `Swing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.interpolate import PchipInterpolator

from akd.zoo.mesh.shapes import Array

Row = tuple[float, ...]
Rows = Mapping[str, Row]
AXES = ("pitch", "yaw", "roll")


@dataclass(frozen=True)
class Swing:
    """An oscillation on top of the keys."""

    amplitude: float
    """Degrees; hip heights for a row of the body."""
    beats: int = 1
    """Whole oscillations in the action."""
    lag: float = 0.0
    """Delay from each joint of a chain to the next, in oscillations."""
    shift: float = 0.0
    """Delay of the first joint, in oscillations."""
    fade: Row = ()
    """Strength at the act's keys; constant if left out."""


@dataclass(frozen=True)
class Reach:
    """Scales an act until a joint's flesh comes down to a height."""

    joint: str
    height: float = 0.0
    """Above the ground, hip heights."""
    most: float = 2.2
    """Greatest factor on the rows."""


@dataclass(frozen=True)
class Act:
    """An action that stays in its place."""

    name: str
    seconds: float
    """Duration for a hip height of 0.7 m."""
    at: Row
    """Phases of the key poses, from 0 to 1."""
    turns: Rows = field(default_factory=dict)
    """Degrees by `PART.AXIS`, such as `neck.pitch` or `left_arm_upper.roll`. A chain (`spine`,
    `neck`, `tail`) shares its angle among its joints. A part without a side that comes in pairs
    (`arm_upper`) moves in mirror image. Pitch is nose down, yaw and roll are to the left (on the
    right side of a pair to the right). Parts that a body lacks are passed over."""
    body: Rows = field(default_factory=dict)
    """`drop`, `hind` and `fore` (lowering of the trunk and of either end), `surge` (forward) and
    `sway` (to the left) in hip heights; `turn` and `roll` of the whole body in degrees; `tuck`, 1
    where the feet are off the ground and follow the trunk."""
    feet: Rows = field(default_factory=dict)
    """`LEG.up`, `.ahead` and `.side` in hip heights, `.pitch` and `.fold` in degrees, where LEG is
    such as `left_fore`; `hind` alone means both. A foot whose `up` is 0 is on the ground."""
    swings: Mapping[str, Swing] = field(default_factory=dict)
    """By row of `turns` or, with the prefix `body.`, of `body`."""
    loop: bool = False
    """Whether it repeats without a pause; else it begins and ends at rest."""
    holds: bool = False
    """Whether it ends in another pose than it began with, and stays there."""
    reach: Reach | None = None
    backwards: bool = False
    """Whether it is played from its end to its beginning."""
    sided: bool = False
    """Whether its mirror image is another performance of the same action."""

    def __post_init__(self) -> None:
        for name, row in (*self.turns.items(), *self.body.items(), *self.feet.items()):
            if len(row) != len(self.at):
                raise ValueError(f"act {self.name}: {name} must have {len(self.at)} keys: {row}")
            if self.loop and row[0] != row[-1]:
                raise ValueError(f"act {self.name}: {name} must end as it begins, to loop: {row}")

    def row(self, values: Row, phase: Array) -> Array:
        """A row's values at phases; periodic for a loop, held at its ends otherwise."""
        at, y = np.asarray(self.at), np.asarray(values, float)
        if self.loop:
            at = np.concatenate((at[:-1] - 1.0, at, at[1:] + 1.0))
            return PchipInterpolator(at, np.concatenate((y[:-1], y, y[1:])))(phase % 1.0)
        # A key beyond either end makes the curve level there.
        at, y = np.r_[-0.2, at, 1.2], np.r_[y[0], y, y[-1]]
        return PchipInterpolator(at, y)(np.clip(phase, 0.0, 1.0))

    def swing(self, swing: Swing, phase: Array, joint: int = 0) -> Array:
        """A swing's values at phases, for the given joint of a chain."""
        late = swing.shift + swing.lag * joint
        strength = self.row(swing.fade, phase) if swing.fade else 1.0
        return strength * swing.amplitude * np.sin(2 * np.pi * (swing.beats * phase - late))

    def names(self) -> Iterable[str]:
        """Every row that turns a part, keyed or swinging."""
        swinging = (name for name in self.swings if not name.startswith("body."))
        return dict.fromkeys((*self.turns, *swinging))

    def angle(self, name: str, phase: Array, joint: int = 0) -> Array:
        """Degrees of one row of `turns`, its swing included."""
        value = self.row(self.turns[name], phase) if name in self.turns else np.zeros_like(phase)
        if name in self.swings:
            value = value + self.swing(self.swings[name], phase, joint)
        return value

    def shift(self, name: str, phase: Array) -> Array:
        """One row of `body`, its swing included."""
        value = self.row(self.body[name], phase) if name in self.body else np.zeros_like(phase)
        if f"body.{name}" in self.swings:
            value = value + self.swing(self.swings[f"body.{name}"], phase)
        return value

    def foot(self, leg: str, name: str, phase: Array) -> Array:
        """One row of `feet` for a leg such as `left_fore`, by its own name or its pair's."""
        pair = leg.split("_", 1)[1]
        for key in (f"{leg}.{name}", f"{pair}.{name}"):
            if key in self.feet:
                return self.row(self.feet[key], phase)
        return np.zeros_like(phase)

    def scaled(self, factor: float) -> Act:
        """Larger or smaller in everything but its feet."""

        def times(rows: Rows) -> Rows:
            fixed = ("turn", "roll", "tuck")
            return {k: v if k in fixed else tuple(factor * x for x in v) for k, v in rows.items()}

        swings = {k: replace(s, amplitude=factor * s.amplitude) for k, s in self.swings.items()}
        return replace(self, turns=times(self.turns), body=times(self.body), swings=swings)

    def mirrored(self) -> Act:
        """Left and right exchanged."""

        def swap(name: str) -> str:
            side, _, rest = name.partition("_")
            other = {"left": "right", "right": "left"}.get(side)
            return name if other is None else f"{other}_{rest}"

        def sign(name: str) -> float:
            part, _, axis = name.partition(".")
            sided = part.startswith(("left_", "right_"))
            return -1.0 if not sided and axis in ("yaw", "roll") else 1.0

        def flip(rows: Rows, wrong: tuple[str, ...] = ()) -> Rows:
            return {
                swap(k): tuple((-1.0 if k in wrong else sign(k)) * x for x in v)
                for k, v in rows.items()
            }

        swings = {
            swap(k): replace(s, amplitude=(-1.0 if k == "body.sway" else sign(k)) * s.amplitude)
            for k, s in self.swings.items()
        }
        return replace(
            self, turns=flip(self.turns), body=flip(self.body, ("sway", "turn", "roll")),
            feet={swap(k): v for k, v in self.feet.items()}, swings=swings,
        )  # fmt: skip
