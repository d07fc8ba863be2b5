"""Pose sheets of snakes, fish, spiders and crabs, and of flight."""

from __future__ import annotations

from akd.zoo.acts.act import Act, Swing

# A resting snake lies in curves: a wave along its chain that does not travel.
_COILED = {
    "spine.yaw": Swing(260, beats=0, lag=0.17, shift=0.10),
    "tail.yaw": Swing(230, beats=0, lag=0.18, shift=0.62),
}
SERPENT_ACTS = (
    Act(
        "stand", 3.6, (0, 0.5, 1),
        {"neck.pitch": (0, -8, 0), "head.pitch": (0, 6, 0)},
        swings=_COILED | {"head.yaw": Swing(14), "neck.yaw": Swing(10, shift=0.1)},
        loop=True,
    ),
    Act(
        "look_around", 4.0, (0, 0.15, 0.35, 0.5, 0.65, 0.85, 1),
        {
            "spine.pitch": (0, -62, -66, -62, -66, -62, 0),
            "neck.pitch": (0, 30, 30, 28, 30, 30, 0),
            "head.pitch": (0, 32, 34, 30, 34, 32, 0), "neck.yaw": (0, 34, 34, 0, -34, -34, 0),
            "head.yaw": (0, 30, 26, 0, -30, -26, 0),
        },
        swings=_COILED, sided=True,
    ),
    Act(
        "attack", 1.5, (0, 0.34, 0.48, 0.58, 0.78, 1),
        {
            "spine.pitch": (0, -76, -30, -24, -40, 0), "neck.pitch": (0, 46, 2, 4, 20, 0),
            "head.pitch": (0, 26, 16, 20, 16, 0),
        },
        {"surge": (0, -1.0, 2.6, 2.4, 0.4, 0)},
        swings={
            "spine.yaw": Swing(260, beats=0, lag=0.17, shift=0.10, fade=(1, 1.2, 0.3, 0.3, 0.8, 1)),
            "tail.yaw": Swing(230, beats=0, lag=0.18, shift=0.62),
        },
    ),
)  # fmt: skip
FISH_ACTS = (
    Act(
        "stand", 2.4, (0, 0.5, 1),
        body={"drop": (-0.10, -0.14, -0.10)},
        swings={
            "tail.yaw": Swing(34, beats=2, lag=0.10), "spine.yaw": Swing(5, beats=2, shift=0.6),
            "fin_upper.roll": Swing(24, beats=3), "fin_lower.roll": Swing(12, beats=3, lag=0.1),
        },
        loop=True,
    ),
)  # fmt: skip
SPIDER_ATTACK = Act(
    "attack", 1.3, (0, 0.28, 0.40, 0.52, 0.72, 1),
    {"pelvis.pitch": (0, -26, -30, 8, -4, 0), "tail.pitch": (0, 10, 12, -6, 0, 0)},
    {"surge": (0, -0.35, -0.25, 0.75, 0.3, 0), "drop": (0, 0.05, 0.0, 0.22, 0.1, 0)},
    {
        "leg1.up": (0, 1.3, 1.7, 0.05, 0.3, 0), "leg1.ahead": (0, 0.2, 0.5, 0.9, 0.4, 0),
        "leg2.up": (0, 0.8, 1.0, 0.0, 0.2, 0), "leg2.ahead": (0, 0.1, 0.3, 0.4, 0.2, 0),
    },
)  # fmt: skip
CLAW_ATTACK = Act(
    "attack", 1.3, (0, 0.28, 0.42, 0.54, 0.74, 1),
    {
        "pelvis.pitch": (0, -18, 4, 4, -4, 0), "arm_upper.yaw": (0, 34, -22, -24, 0, 0),
        "arm_upper.pitch": (0, -46, -8, -6, -16, 0), "arm_lower.yaw": (0, 16, -16, -18, 0, 0),
        "arm_hand.roll": (0, 20, -10, -10, 0, 0),
    },
    {"surge": (0, -0.2, 0.4, 0.4, 0.1, 0), "drop": (0, -0.05, 0.1, 0.1, 0.04, 0)},
)  # fmt: skip
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
