"""Pose sheets of flight."""

from __future__ import annotations

from akd.zoo.acts.act import Act, Swing

STROKE = 34.0
"""Amplitude of the wing beat at the shoulder, degrees."""
_CRUISE = (0.0, 0.5, 1.0)
FLY = Act(
    "fly", 1.0, _CRUISE,
    {"wing_upper.roll": (4, 4, 4)},
    {"tuck": (1, 1, 1)},
    swings={
        # The hand lags behind the arm and folds on the way up; the leading edge dips on the way
        # down (Tobalske 2007).
        "wing_upper.roll": Swing(STROKE, shift=-0.25),
        "wing_lower.roll": Swing(14, shift=-0.13),
        "wing_hand.roll": Swing(22, shift=-0.05),
        "wing_upper.pitch": Swing(9),
        "wing_lower.yaw": Swing(13, shift=-0.5), "wing_hand.yaw": Swing(-20, shift=-0.5),
        "tail.pitch": Swing(5, shift=0.2, lag=0.05),
        "neck.pitch": Swing(-3, shift=0.2),
        "body.drop": Swing(0.12, shift=0.20),
    },
    loop=True,
)  # fmt: skip
GLIDE = Act(
    "glide", 3.0, _CRUISE,
    {"wing_upper.roll": (9, 7, 9), "wing_lower.roll": (0, 0, 0), "wing_hand.roll": (5, 7, 5)},
    {"tuck": (1, 1, 1)},
    swings={
        "pelvis.roll": Swing(7), "head.roll": Swing(-5), "head.yaw": Swing(9, shift=0.1),
        "wing_upper.roll": Swing(2, beats=2), "wing_hand.roll": Swing(2.5, beats=2, shift=0.1),
        "tail.yaw": Swing(8, shift=0.1), "body.sway": Swing(0.15),
    },
    loop=True,
)  # fmt: skip
