"""Ways of walking that are not gaits of their own: backwards, stealthily, on a lame leg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akd.zoo.gait.carriage import Carriage
    from akd.zoo.gait.footfalls import Gait
    from akd.zoo.gait.strides import StepStyle


@dataclass(frozen=True)
class Variant:
    """How a walk is changed."""

    speed: float
    """Over the walking speed; negative goes backwards."""
    duty: float = 0.0
    """Added to the duty factor."""
    crouch: float = 0.0
    """Further lowering of the body, over hip height."""
    lift: float = 1.0
    """Factor on the height of the feet."""
    peel: float = 1.0
    """Factor on how far a foot pitches as it leaves and meets the ground."""
    arms: float = 1.0
    """Factor on the swing of the arms."""
    elbow: float = 0.0
    lean: float = 0.0
    neck: float = 0.0
    tail: float = 0.0
    """Added to the carriage, degrees."""
    sway: float = 1.0
    lame: float = 0.0
    """Share of its stance that one leg is spared."""

    def gait(self, gait: Gait) -> Gait:
        """The walk's footfalls: a lame leg's stance is shorter, and the other side comes early."""
        duty = min(gait.duty + self.duty, 0.85)
        if not self.lame:
            return replace(gait, duty=duty)
        leg = "right_fore" if "right_fore" in gait.touchdown else "right_leg"
        touchdown = dict(gait.touchdown)
        touchdown[leg] = (touchdown[leg] + 0.25 * self.lame) % 1.0
        short = {leg: (1.0 - self.lame) * duty}
        return replace(
            gait, duty=duty, touchdown=MappingProxyType(touchdown), short=MappingProxyType(short)
        )

    def step(self, step: StepStyle) -> StepStyle:
        """The walk's way of carrying a foot."""
        p = self.peel
        return replace(
            step, lift=self.lift * step.lift, peel=p * step.peel, heel=p * step.heel,
            heel_off=p * step.heel_off,
        )  # fmt: skip

    def carriage(self, c: Carriage) -> Carriage:
        """The walk's carriage."""
        return replace(
            c, lean=c.lean + self.lean, neck=c.neck + self.neck, tail=c.tail + self.tail,
            arm_swing=self.arms * c.arm_swing, elbow=c.elbow + self.elbow, sway=self.sway * c.sway,
            pelvis_roll=self.sway * c.pelvis_roll, limp=10.0 * self.lame,
        )  # fmt: skip


_BACK = Variant(-0.4, duty=0.04, peel=0.15, lift=0.8, arms=0.5)
_LAME = Variant(0.62, lame=0.34, sway=1.6, neck=6.0, arms=0.7)
_ANIMAL = {
    "back_up": _BACK,
    "sneak": Variant(0.5, duty=0.06, crouch=0.14, lift=1.1, neck=22.0, tail=-10.0),
    "limp": _LAME,
    "crawl": Variant(0.32, duty=0.08, crouch=0.28, lift=0.7, neck=12.0, tail=-14.0),
}
VARIANTS: Mapping[str, Mapping[str, Variant]] = {
    "quadruped": _ANIMAL,
    "theropod": {**_ANIMAL, "back_up": replace(_BACK, peel=0.6)},
    "humanoid": {
        "back_up": _BACK,
        "sneak": Variant(
            0.48, duty=0.06, crouch=0.15, lift=3.2, arms=0.7, elbow=58.0, lean=22.0, peel=0.6
        ),
        "march": Variant(0.95, lift=6.5, arms=1.9, elbow=6.0, lean=-3.0, peel=0.7, sway=0.6),
        "limp": _LAME,
    },
}
"""By body plan and action."""


def variant_of(plan: str, action: str) -> Variant | None:
    """How an action changes the walk; None where it does not."""
    return VARIANTS.get(plan, {}).get(action)
