"""Pose sheets of people."""

from __future__ import annotations

from akd.zoo.acts.act import Act, Reach, Swing

GESTURES = (
    Act(
        "wave", 2.4, (0, 0.18, 0.82, 1),
        {
            "right_arm_upper.roll": (0, 118, 118, 0),
            "right_arm_upper.pitch": (0, -12, -12, 0),
            "right_arm_lower.roll": (0, 48, 48, 0),
            "head.roll": (0, 5, 5, 0),
            "spine.roll": (0, -4, -4, 0),
        },
        {"sway": (0, 0.02, 0.02, 0)},
        swings={"right_arm_lower.roll": Swing(30, beats=5, fade=(0, 1, 1, 0)),
                "right_arm_hand.roll": Swing(14, beats=5, shift=0.1, fade=(0, 1, 1, 0))},
        sided=True,
    ),
    Act(
        "cheer", 1.3, (0, 0.25, 0.5, 0.75, 1),
        {
            "arm_upper.roll": (142, 160, 142, 160, 142),
            "arm_upper.pitch": (-10, -4, -10, -4, -10),
            "arm_lower.roll": (18, 6, 18, 6, 18),
            "spine.pitch": (2, -8, 2, -8, 2),
            "head.pitch": (-4, -14, -4, -14, -4),
        },
        {"drop": (0.10, 0.0, 0.10, 0.0, 0.10)},
        {"leg.pitch": (0, 24, 0, 24, 0)},
        swings={"spine.yaw": Swing(8), "body.sway": Swing(0.03)},
        loop=True,
    ),
    Act(
        "look_around", 4.0, (0, 0.12, 0.35, 0.50, 0.62, 0.85, 1),
        {
            "head.yaw": (0, 42, 40, 4, -44, -40, 0), "neck.yaw": (0, 16, 16, 0, -16, -16, 0),
            "spine.yaw": (0, 16, 16, 0, -18, -18, 0), "head.pitch": (0, -4, 6, 2, -5, 4, 0),
        },
        {"sway": (0, -0.03, -0.03, 0, 0.03, 0.03, 0)},
        loop=True, sided=True,
    ),
    Act(
        "punch", 1.1, (0, 0.22, 0.36, 0.44, 0.60, 1),
        {
            "left_arm_upper.pitch": (0, -42, -34, -34, -40, 0),
            "left_arm_lower.pitch": (0, -112, -118, -118, -112, 0),
            "right_arm_upper.pitch": (0, -8, -88, -90, -40, 0),
            "right_arm_upper.roll": (0, 14, 0, 0, 6, 0),
            "right_arm_upper.yaw": (0, 0, -8, -8, 0, 0),
            "right_arm_lower.pitch": (0, -122, -6, -2, -105, 0),
            "spine.yaw": (0, -30, 36, 38, 6, 0),
            "pelvis.yaw": (0, -12, 16, 16, 4, 0),
            "spine.pitch": (0, 4, 10, 10, 5, 0),
            "head.yaw": (0, 34, -40, -42, -6, 0),
        },
        {"drop": (0, 0.07, 0.06, 0.06, 0.05, 0), "surge": (0, -0.06, 0.13, 0.14, 0.03, 0)},
        {
            "left_leg.up": (0, 0.05, 0, 0, 0.04, 0), "left_leg.ahead": (0, 0.1, 0.22, 0.22, 0.1, 0),
            "right_leg.pitch": (0, 0, 28, 28, 8, 0),
        },
        sided=True,
    ),
    Act(
        "kick", 1.3, (0, 0.26, 0.42, 0.50, 0.68, 0.85, 1),
        {
            "spine.pitch": (0, 8, -8, -10, 2, 2, 0),
            "pelvis.pitch": (0, 4, -10, -12, 0, 0, 0),
            "left_arm_upper.pitch": (0, 25, -45, -45, -8, 0, 0),
            "right_arm_upper.pitch": (0, -40, 35, 35, 5, 0, 0),
            "arm_upper.roll": (0, 20, 30, 30, 10, 4, 0),
            "arm_lower.pitch": (0, -45, -40, -40, -25, -10, 0),
            "spine.yaw": (0, -14, 20, 20, 2, 0, 0),
            "head.pitch": (0, 0, 14, 16, 0, 0, 0),
        },
        {"sway": (0, 0.09, 0.10, 0.10, 0.08, 0.03, 0),
         "drop": (0, 0.03, 0.02, 0.02, 0.03, 0.02, 0)},
        {
            "right_leg.up": (0, 0.22, 0.70, 0.80, 0.24, 0, 0),
            "right_leg.ahead": (0, -0.36, 0.62, 0.74, 0.10, 0, 0),
            "right_leg.pitch": (0, 62, -20, -30, 10, 0, 0),
        },
        sided=True,
    ),
    Act(
        "throw", 1.5, (0, 0.34, 0.50, 0.58, 0.72, 1),
        {
            "right_arm_upper.roll": (0, 96, 108, 60, 18, 0),
            "right_arm_upper.pitch": (0, 24, -50, -82, -40, 0),
            "right_arm_lower.pitch": (0, -92, -70, -8, -20, 0),
            "left_arm_upper.pitch": (0, -62, -20, 22, 12, 0),
            "left_arm_lower.pitch": (0, -20, -40, -40, -20, 0),
            "spine.yaw": (0, -38, 16, 36, 18, 0),
            "spine.pitch": (0, -12, 6, 24, 14, 0),
            "pelvis.yaw": (0, -16, 8, 14, 8, 0),
            "head.yaw": (0, 42, -12, -34, -16, 0),
        },
        {"surge": (0, -0.14, 0.10, 0.18, 0.10, 0), "drop": (0, 0.05, 0.06, 0.09, 0.07, 0)},
        {
            "left_leg.up": (0, 0.16, 0.02, 0, 0.05, 0),
            "left_leg.ahead": (0, 0.10, 0.30, 0.30, 0.15, 0),
            "right_leg.pitch": (0, 0, 24, 40, 16, 0),
        },
        sided=True,
    ),
    Act(
        "pick_up", 2.2, (0, 0.34, 0.50, 0.78, 1),
        {
            "spine.pitch": (0, 40, 40, 6, 0),
            "pelvis.pitch": (0, 34, 34, 4, 0),
            "head.pitch": (0, 8, 8, 10, 0),
            "right_arm_upper.pitch": (0, -78, -78, -34, 0),
            "right_arm_lower.pitch": (0, -6, -8, -78, 0),
            "left_arm_upper.pitch": (0, -20, -20, -4, 0),
            "left_arm_lower.pitch": (0, -60, -60, -20, 0),
        },
        {"drop": (0, 0.36, 0.36, 0.03, 0), "surge": (0, -0.10, -0.10, 0, 0)},
        {"right_leg.pitch": (0, 30, 30, 0, 0)},
        reach=Reach("right_arm_hand", 0.03, most=1.5), sided=True,
    ),
    Act(
        "eat", 3.2, (0, 0.16, 0.40, 0.56, 0.80, 1),
        {
            "right_arm_upper.pitch": (-12, -46, -46, -14, -46, -12),
            "right_arm_upper.yaw": (8, 30, 30, 8, 30, 8),
            "right_arm_lower.pitch": (-70, -134, -134, -72, -134, -70),
            "left_arm_lower.pitch": (-72, -74, -74, -72, -74, -72),
            "left_arm_upper.pitch": (-8, -8, -8, -8, -8, -8),
            "head.pitch": (6, 12, 4, 6, 12, 6),
        },
        swings={"head.pitch": Swing(2.5, beats=7)}, loop=True, sided=True,
    ),
    Act(
        "drink", 3.0, (0, 0.20, 0.34, 0.72, 0.86, 1),
        {
            "right_arm_upper.pitch": (0, -52, -66, -70, -46, 0),
            "right_arm_upper.yaw": (0, 28, 30, 30, 24, 0),
            "right_arm_lower.pitch": (0, -128, -134, -136, -110, 0),
            "head.pitch": (0, 4, -22, -30, 0, 0),
            "spine.pitch": (0, 2, -6, -8, 0, 0),
        },
        sided=True,
    ),
    Act(
        "roar", 2.2, (0, 0.22, 0.36, 0.72, 0.86, 1),
        {
            "spine.pitch": (0, 22, -14, -12, -2, 0), "head.pitch": (0, 14, -24, -22, -4, 0),
            "arm_upper.roll": (0, 6, 52, 48, 16, 0), "arm_upper.pitch": (0, -20, 26, 24, 4, 0),
            "arm_lower.pitch": (0, -70, -52, -52, -20, 0),
        },
        {"drop": (0, 0.11, 0.05, 0.05, 0.02, 0)},
        swings={"spine.yaw": Swing(3, beats=9, fade=(0, 0, 1, 1, 0, 0)),
                "arm_lower.pitch": Swing(4, beats=9, fade=(0, 0, 1, 1, 0, 0))},
    ),
    Act(
        "headbutt", 1.2, (0, 0.32, 0.46, 0.54, 0.74, 1),
        {
            "spine.pitch": (0, -16, 34, 36, 10, 0), "head.pitch": (0, -18, 26, 28, 6, 0),
            "arm_upper.pitch": (0, -30, 30, 32, 8, 0), "pelvis.pitch": (0, -4, 10, 10, 2, 0),
            "arm_lower.pitch": (0, -70, -30, -30, -15, 0),
        },
        {"surge": (0, -0.10, 0.14, 0.14, 0.03, 0), "drop": (0, 0.04, 0.05, 0.05, 0.03, 0)},
        {"leg.pitch": (0, 0, 16, 16, 4, 0)},
    ),
    Act(
        "shake", 1.4, (0, 0.2, 0.75, 1),
        {"spine.pitch": (0, 10, 8, 0), "head.pitch": (0, 12, 8, 0),
         "arm_lower.pitch": (0, -40, -30, 0), "arm_upper.roll": (0, 14, 10, 0)},
        {"drop": (0, 0.05, 0.04, 0)},
        swings={"head.yaw": Swing(32, beats=6, fade=(0, 1, 0.7, 0)),
                "spine.yaw": Swing(18, beats=6, shift=0.25, fade=(0, 1, 1, 0)),
                "arm_upper.roll": Swing(10, beats=6, shift=0.4, fade=(0, 1, 1, 0)),
                "pelvis.yaw": Swing(7, beats=6, shift=0.5, fade=(0, 1, 1, 0))},
    ),
)  # fmt: skip

SIT = Act(
    "sit_down", 2.2, (0, 0.30, 0.62, 0.82, 1),
    {
        "pelvis.pitch": (0, 26, 6, -10, -12),
        "spine.pitch": (0, 24, 30, 24, 22),
        "head.pitch": (0, -12, -12, -6, -4),
        "arm_upper.pitch": (0, -44, -30, -34, -36),
        "arm_upper.roll": (0, 8, 14, 10, 10),
        "arm_lower.pitch": (0, -20, -30, -36, -36),
    },
    {"drop": (0, 0.34, 0.80, 0.96, 0.98), "surge": (0, -0.12, -0.42, -0.52, -0.52)},
    holds=True,
)  # fmt: skip
LIE = Act(
    "lie_down", 3.4, (0, 0.24, 0.48, 0.62, 0.86, 1),
    {
        "pelvis.pitch": (0, 26, 4, -12, -78, -86),
        "spine.pitch": (0, 24, 30, 24, 4, -2),
        "head.pitch": (0, -12, -12, -4, 6, 4),
        "arm_upper.pitch": (0, -44, -20, 14, 10, 4),
        "arm_upper.roll": (0, 8, 16, 22, 26, 24),
        "arm_lower.pitch": (0, -20, -30, -30, -16, -10),
    },
    {"drop": (0, 0.34, 0.80, 0.96, 0.98, 1.0), "surge": (0, -0.12, -0.42, -0.52, -0.62, -0.66)},
    holds=True,
)  # fmt: skip
GET_UP = Act("get_up", 2.8, LIE.at, LIE.turns, LIE.body, LIE.feet, holds=True, backwards=True)

DANCES = (
    Act(
        "dance", 2.0, (0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1),
        {
            "spine.roll": (0, 7, 9, 4, 0, -7, -9, -4, 0),
            "pelvis.roll": (0, -5, -6, -3, 0, 5, 6, 3, 0),
            "left_arm_upper.pitch": (-40, -20, -14, -30, -44, -62, -66, -54, -40),
            "right_arm_upper.pitch": (-40, -62, -66, -54, -44, -20, -14, -30, -40),
            "arm_lower.pitch": (-85, -70, -92, -72, -85, -70, -92, -72, -85),
            "arm_upper.roll": (20, 30, 34, 28, 20, 30, 34, 28, 20),
            "head.yaw": (0, 10, 14, 8, 0, -10, -14, -8, 0),
        },
        {"sway": (0, 0.10, 0.14, 0.08, 0, -0.10, -0.14, -0.08, 0),
         "drop": (0.03, 0.09, 0.03, 0.09, 0.03, 0.09, 0.03, 0.09, 0.03)},
        {
            "left_leg.up": (0, 0.10, 0, 0.10, 0, 0, 0, 0, 0),
            "left_leg.side": (0, 0.12, 0.22, 0.11, 0, 0, 0, 0, 0),
            "right_leg.up": (0, 0, 0, 0, 0, 0.10, 0, 0.10, 0),
            "right_leg.side": (0, 0, 0, 0, 0, 0.12, 0.22, 0.11, 0),
        },
        swings={"spine.yaw": Swing(12), "head.pitch": Swing(6, beats=4)}, loop=True, sided=True,
    ),
    Act(
        "jig", 1.2, (0, 0.25, 0.5, 0.75, 1),
        {
            "arm_upper.roll": (34, 34, 34, 34, 34), "arm_upper.pitch": (18, 18, 18, 18, 18),
            "arm_lower.pitch": (-100, -100, -100, -100, -100),
            "spine.roll": (0, -5, 0, 5, 0), "head.roll": (0, 6, 0, -6, 0),
        },
        {"drop": (0.05, 0.0, 0.05, 0.0, 0.05), "sway": (0, -0.06, 0, 0.06, 0)},
        {
            "left_leg.up": (0, 0.34, 0, 0, 0), "left_leg.ahead": (0, 0.30, 0, 0, 0),
            "left_leg.pitch": (0, 30, 0, 18, 0),
            "right_leg.up": (0, 0, 0, 0.34, 0), "right_leg.ahead": (0, 0, 0, 0.30, 0),
            "right_leg.pitch": (0, 18, 0, 30, 0),
        },
        loop=True,
    ),
    Act(
        "twist", 1.5, (0, 0.25, 0.5, 0.75, 1),
        {
            "arm_upper.pitch": (-30, -30, -30, -30, -30), "arm_upper.roll": (26, 26, 26, 26, 26),
            "arm_lower.pitch": (-88, -88, -88, -88, -88),
        },
        {"drop": (0.10, 0.16, 0.20, 0.16, 0.10)},
        {"leg.pitch": (14, 18, 22, 18, 14)},
        swings={"pelvis.yaw": Swing(26, beats=2), "spine.yaw": Swing(52, beats=2, shift=0.5),
                "head.yaw": Swing(18, beats=2), "spine.roll": Swing(7),
                "body.sway": Swing(0.05)},
        loop=True,
    ),
)  # fmt: skip
HUMANOID_ACTS = (*GESTURES, SIT, LIE, GET_UP, *DANCES)
