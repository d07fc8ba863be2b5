"""`MotionMetrics`: its one-line verdict, its score, and the conditions that a demo must meet."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from akd.metrics.action import ActionScore
from akd.metrics.limits import (
    ALTERNATION,
    CONTACT,
    DEPTH,
    FOOT_TRAVEL,
    SKATE,
    SLIP,
    SWING,
    TRAVEL,
    lean_limit,
)
from akd.metrics.reference import natural_parts, reference_of
from akd.motion.actions import ACTIONS, Medium

_STILL_FEET = 0.12
"""Feet that swing less than this, in leg lengths, do not step."""
_STILL_BODY = 0.25
"""A body that goes less far than this, in leg lengths, stays where it is."""


@dataclass(frozen=True)
class MotionMetrics:
    """Measures of one motion on one character."""

    duration: float
    """Seconds."""
    travel: float
    """Distance of the root over the ground, in leg lengths."""
    speed: float
    """Metres a second over the ground."""
    foot_travel: float
    """How far the feet swing to and fro relative to the body along its way, mean over feet, in leg
    lengths."""
    contact: tuple[float, ...]
    """Fraction of the time that each foot touches the ground."""
    skate: tuple[float, ...]
    """Mean horizontal speed of each foot's points near the ground, as a fraction of the body's."""
    penetration: float
    """Depth of the lowest point of the body under the ground at worst, in body heights."""
    float_: float
    """Height of the lowest foot above the ground, mean over time, in body heights."""
    alternation: tuple[float, ...]
    """Correlation of left and right foot position along the body's way in its frame, a leg pair
    each: -1 for a walk, 1 for hopping."""
    tilt: float
    """Largest lean of the root away from upright, degrees."""
    roughness: float
    """Mean acceleration of the driven joints, in g: a body of any size walks at about one half."""
    loop_gap: float
    """Distance between last and first pose up to displacement, in body heights."""
    limb_stretch: float
    """Largest change of the distance between a driven joint and its parent, in body heights."""
    shape_change: float
    """Mean change of the lengths of the surface's edges against the neutral pose, as a fraction."""
    seam: float = 0.0
    """Jump of a joint from the last frame to the first, over the 90th percentile of its own steps;
    worst joint. About 1 for a loop."""
    swing: float = 0.0
    """How far the part of the body that moves most goes to and fro relative to the root, in leg
    lengths: the tip of a wing or of a tail."""
    slip: float = 0.0
    """Mean sideways speed of the bones of an undulating body, as a fraction of the body's speed; 0
    for other bodies."""
    pace: float = 0.0
    """Speed for the size: over the square root of gravity times leg length."""
    asked: str | None = None
    """Action that was asked for, one of `ACTION_LABELS`; None where that is not known."""
    action: ActionScore | None = None
    """What recogniser B sees in it, where it was asked."""
    action_c: ActionScore | None = None
    """What recogniser C sees in it, which learnt from artists' clips and motion capture alone."""

    @property
    def verdict(self) -> str:
        """A one-line summary of the metrics."""
        return verdict(self)

    @property
    def score(self) -> float:
        """From 0 to 1: how sound it is as a motion over the ground on feet."""
        return score(self)

    @property
    def must_alternate(self) -> bool:
        """Whether left and right legs alternate in the requested action; True if none is known."""
        return self.asked is None or ACTIONS[self.asked].alternates_on(len(self.contact))

    @property
    def medium(self) -> Medium:
        """Ground, air or water: what carries the body in the requested action."""
        return "ground" if self.asked is None else ACTIONS[self.asked].medium

    @property
    def on_feet(self) -> bool:
        """Whether feet should carry the body: not in the air, in water or where it has none."""
        if self.asked is None or ACTIONS[self.asked].needs_feet:
            return True
        return self.medium == "ground" and bool(self.contact)

    @property
    def must_travel(self) -> bool:
        """Whether the requested action travels over the ground."""
        return self.asked is None or ACTIONS[self.asked].froude > 0.0

    @property
    def goes_down(self) -> bool:
        """Whether the trunk may go down and tilt, as in sitting or lying down."""
        return self.asked is not None and ACTIONS[self.asked].goes_down

    @property
    def must_swing(self) -> bool:
        """Whether a part of the body should swing: in all actions but standing and gliding."""
        return self.asked not in ("stand", "glide")

    @property
    def must_repeat(self) -> bool:
        """Whether the motion should loop, as gaits do; one of an unknown action need not."""
        return self.asked is not None and ACTIONS[self.asked].is_cyclic

    @property
    def lean_limit(self) -> float:
        """Lean at which it fails, degrees: by the action that was asked for and the legs."""
        return lean_limit(self.asked, len(self.contact))

    @property
    def fails(self) -> list[str]:
        """The checks that it fails: see `demo_conditions`."""
        return demo_conditions(self)

    def to_json(self) -> dict[str, object]:
        """As JSON values, with the verdict, the score and the conditions of a demo that fail."""
        return {
            **asdict(self),
            "verdict": self.verdict,
            "score": self.score,
            "fails": self.fails,
        }


def verdict(metrics: MotionMetrics) -> str:
    """A one-line summary of the metrics. Faults come first, the worst ones before the others."""
    m = metrics
    steps, goes = m.foot_travel >= _STILL_FEET, m.travel >= _STILL_BODY
    if not m.on_feet:
        return _verdict_off_feet(m)
    if not m.contact:
        return (
            f"no feet were found: it goes {m.travel:.1f} leg lengths, and only that can be judged"
        )
    if not steps and not goes:
        return "motionless: neither the body nor the feet go anywhere"
    if not steps:
        return f"gliding: it goes {m.travel:.1f} leg lengths, and its feet do not step"
    if max(m.contact) < 0.1:
        return "paddling in the air: its feet swing, and none touches the ground"
    if m.penetration > 5 * DEPTH:
        return f"sinking: {m.penetration:.0%} of the body's height is under the ground"
    if m.tilt > 60.0:
        return f"falling over: its root leans by {m.tilt:.0f} degrees"
    if not goes:
        return f"on the spot: its feet step, and it goes only {m.travel:.1f} leg lengths"
    if max(m.skate) > 0.6:
        return f"sliding: feet on the ground move at {max(m.skate):.0%} of the body's speed"
    return (
        f"moves: it goes {m.travel:.1f} leg lengths; each foot is on the ground for at least "
        f"{min(m.contact):.0%} of the time and slides there at no more than {max(m.skate):.0%} of "
        f"the body's speed"
    )


def _verdict_off_feet(m: MotionMetrics) -> str:
    """The verdict on a motion that flies, swims or slithers."""
    moves, goes = m.swing >= _STILL_FEET, m.travel >= _STILL_BODY
    if not goes:
        return "moves in its place" if moves else "motionless: no part of the body goes anywhere"
    if not moves:
        return f"gliding: it goes {m.travel:.1f} leg lengths, and its body does not move"
    if m.slip > 0.6:
        return f"sliding: its body moves sideways at {m.slip:.0%} of its speed"
    return (
        f"moves: it goes {m.travel:.1f} leg lengths, and parts of its body swing by up to "
        f"{m.swing:.1f}"
    )


def score(metrics: MotionMetrics) -> float:
    """From 0 to 1: how much a motion is like true clips of its action and number of legs.

    The product of two: the worst of travel, steps, contact, skate and depth;
    and the cube root of the product of the parts for roughness, tilt, seam, skate, swing of the
    feet and speed for the size, each 1 at the median of true clips or better
    (`akd.metrics.reference`).
    """
    return min(sound_parts(metrics).values()) * math.prod(true_parts(metrics).values()) ** (1 / 3)


def true_parts(metrics: MotionMetrics) -> dict[str, float]:
    """Parts of the score that compare with true clips, by name."""
    m = metrics
    if not m.contact or not m.on_feet:
        return {}
    values = {"roughness": m.roughness, "tilt": m.tilt, "skate": max(m.skate)}
    if m.must_repeat:
        values["seam"] = m.seam
    if m.must_travel:
        values |= {"foot_travel": m.foot_travel, "pace": m.pace}
    return natural_parts(values, reference_of(m.asked, len(m.contact)))


def sound_parts(metrics: MotionMetrics) -> dict[str, float]:
    """Parts of the score that hold for any motion of its kind, by name."""
    m = metrics
    values = {} if m.medium == "water" else {"depth": 1 - (m.penetration - DEPTH) / (9.0 * DEPTH)}
    if not m.on_feet:
        if m.must_travel:
            values |= {"travel": m.travel / TRAVEL, "slip": 1.0 / (1.0 + (m.slip / SLIP) ** 4)}
        if m.must_swing:
            values["swing"] = m.swing / SWING
    elif not m.contact:
        return {"feet": 0.0}
    elif m.must_travel:
        values |= {
            "steps": m.foot_travel / FOOT_TRAVEL,
            "travel": m.travel / _STILL_BODY,
            "contact": max(m.contact) / CONTACT,
            "skate": 1.0 / (1.0 + (max(m.skate) / (3.0 * SKATE)) ** 2),
        }
    return {name: max(0.0, min(1.0, value)) for name, value in values.items()}


def demo_conditions(metrics: MotionMetrics) -> list[str]:
    """The checks that a motion fails, as sentences; empty if it passes all.

    - Left and right feet alternate in the body's frame, unless the legs of the requested action do
      not, as in a gallop or a jump.
    - Every foot is in contact for at least 30 % of the time, and slides at no more than 20 % of the
      body's speed.
    - The body travels at least one leg length, the feet swing by at least a quarter of one.
    - The root tilts by less than 20 degrees, or, in an action that is no gait, by less than true
      clips of it do (`lean_limit`).
    - Nothing is deeper below the ground than 1 % of the body's height.

    Actions that stay in place need only pass the last two, actions that go down (sit, lie down)
    only the last. What flies, swims or slithers has no feet to check: it travels one leg length, a
    part of it swings by a fifth of one, and an undulating body slips sideways at no more than 30 %
    of its speed. Tilt is not checked in the air and in water, depth not in water.
    """
    m = metrics
    if not m.on_feet:
        return _failed_off_feet(m)
    failed = []
    if not m.contact:
        failed.append("no feet were found")
    if not m.must_travel:
        return failed + _leaning(m)
    if m.must_alternate and m.alternation and max(m.alternation) > ALTERNATION:
        failed.append(
            f"left and right legs do not alternate: their correlation is "
            f"{max(m.alternation):.2f}, must be at most {ALTERNATION:g}"
        )
    if m.contact and min(m.contact) < CONTACT:
        failed.append(
            f"a foot touches the ground for {min(m.contact):.0%} of the time, must be at least "
            f"{CONTACT:.0%}"
        )
    if m.skate and max(m.skate) > SKATE:
        failed.append(
            f"a foot that touches moves at {max(m.skate):.0%} of the body's speed, must be at most "
            f"{SKATE:.0%}"
        )
    if m.travel < TRAVEL:
        failed.append(f"it travels {m.travel:.2f} leg lengths, must be at least {TRAVEL:g}")
    if m.foot_travel < FOOT_TRAVEL:
        failed.append(
            f"feet travel {m.foot_travel:.2f} leg lengths, must be at least {FOOT_TRAVEL:g}"
        )
    return failed + _leaning(m)


def _failed_off_feet(m: MotionMetrics) -> list[str]:
    """Failed checks of a motion that flies, swims or slithers."""
    failed = []
    if m.must_travel and m.travel < TRAVEL:
        failed.append(f"it travels {m.travel:.2f} leg lengths, must be at least {TRAVEL:g}")
    if m.must_swing and m.swing < SWING:
        failed.append(
            f"no part of it swings further than {m.swing:.2f} leg lengths, must be at least "
            f"{SWING:g}"
        )
    if m.must_travel and m.slip > SLIP:
        failed.append(f"it goes sideways at {m.slip:.0%} of its speed, must be at most {SLIP:.0%}")
    return failed + _leaning(m)


def _leaning(m: MotionMetrics) -> list[str]:
    """Failed checks that apply to every motion: tilt and depth."""
    failed = []
    if m.medium == "ground" and not m.goes_down and not m.tilt < m.lean_limit:
        failed.append(f"the root leans by {m.tilt:.0f} degrees, must be below {m.lean_limit:.0f}")
    if m.medium != "water" and m.penetration > DEPTH:
        failed.append(
            f"it sinks by {m.penetration:.1%} of the body's height, must be at most {DEPTH:.0%}"
        )
    return failed
