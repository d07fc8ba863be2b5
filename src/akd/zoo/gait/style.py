"""`Style`: how one performance of an action differs from another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from akd.zoo.gait.carriage import Carriage


@dataclass(frozen=True)
class Style:
    """A manner of performing an action. The default is the natural one."""

    speed: float = 1.0
    """Speed over the natural speed, 0.6 to 1.5."""
    lift: float = 1.0
    """How high feet are lifted, relative to natural."""
    sway: float = 1.0
    """How much hips, shoulders and spine take part."""
    crouch: float = 0.0
    """How far the body is lowered, over hip height, 0 to 0.12."""
    neck: float = 0.0
    """How far the head is carried lower, degrees."""
    tail: float = 0.0
    """How far the tail is carried higher, degrees."""
    tightness: float = 1.0
    """How tight turns are, relative to natural."""
    height: float = 1.0
    """How high and far jumps go, relative to natural."""
    start: float = 0.0
    """Phase of the stride at the first frame, 0..1."""
    vigour: float = 1.0
    """How large gestures are, relative to natural."""
    emphasis: float = 0.0
    """-1 dwells on the first half of a gesture, 1 on the second."""
    mirrored: bool = False
    """Whether gestures of one side are done with the other."""

    def __post_init__(self) -> None:
        bounds = {
            "speed": (0.5, 1.6),
            "lift": (0.3, 2.0),
            "sway": (0.0, 2.0),
            "crouch": (0.0, 0.15),
            "neck": (-30.0, 30.0),
            "tail": (-40.0, 40.0),
            "tightness": (0.5, 1.5),
            "height": (0.5, 1.4),
            "start": (0.0, 1.0),
            "vigour": (0.5, 1.4),
            "emphasis": (-1.0, 1.0),
        }
        for name, (low, high) in bounds.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"style.{name} must lie in {low}..{high}, got {value}")

    @classmethod
    def random(cls, seed: int) -> Style:
        """A plausible manner for a seed; seed 0 is the natural one."""
        if seed == 0:
            return cls()
        rng = np.random.default_rng((seed, 20011))

        def spread(deviation: float) -> float:
            return float(np.exp(deviation * np.clip(rng.standard_normal(), -2.0, 2.0)))

        return cls(
            speed=spread(0.09),
            lift=spread(0.15),
            sway=spread(0.25),
            crouch=float(np.clip(0.05 * rng.standard_normal(), 0.0, 0.12)),
            neck=float(6.0 * np.clip(rng.standard_normal(), -2.0, 2.0)),
            tail=float(8.0 * np.clip(rng.standard_normal(), -2.0, 2.0)),
            tightness=spread(0.12),
            height=spread(0.10),
            start=float(rng.random()),
            vigour=spread(0.10),
            emphasis=float(rng.uniform(-1.0, 1.0)),
            mirrored=bool(rng.random() < 0.5),
        )

    def applied(self, carriage: Carriage) -> Carriage:
        """The carriage in this manner."""
        c, s = carriage, self.sway
        return replace(
            c,
            pelvis_roll=s * c.pelvis_roll,
            pelvis_yaw=s * c.pelvis_yaw,
            chest_roll=s * c.chest_roll,
            chest_yaw=s * c.chest_yaw,
            flexion=s**0.5 * c.flexion,
            sway=s * c.sway,
            nod=s * c.nod,
            arm_swing=s * c.arm_swing,
            neck=c.neck + self.neck,
            tail=c.tail + self.tail,
        )
