"""Pose sheets of animals: what they do with head and neck, and how they sit, lie and fight."""

from __future__ import annotations

from akd.zoo.acts.act import Act, Reach, Swing

HEAD_ACTS = (
    Act(
        "look_around", 4.0, (0, 0.12, 0.35, 0.50, 0.62, 0.85, 1),
        {
            "neck.yaw": (0, 42, 42, 0, -45, -45, 0),
            "head.yaw": (0, 32, 28, 5, -34, -30, 0),
            "neck.pitch": (0, -12, -8, -6, -12, -8, 0),
            "head.roll": (0, -6, 4, 0, 6, -4, 0),
            "spine.yaw": (0, 5, 5, 0, -5, -5, 0),
        },
        {"sway": (0, -0.03, -0.03, 0, 0.03, 0.03, 0)},
        swings={"tail.yaw": Swing(12, beats=3, lag=0.08), "ear.roll": Swing(9, beats=4)},
        loop=True, sided=True,
    ),
    Act(
        "roar", 2.2, (0, 0.22, 0.36, 0.72, 0.86, 1),
        {
            "neck.pitch": (0, 14, -30, -26, -6, 0),
            "head.pitch": (0, 8, -22, -20, -4, 0),
            "jaw.pitch": (0, 2, 28, 26, 6, 0),
            "spine.pitch": (0, 3, -8, -7, -2, 0),
            "tail.pitch": (0, -8, 16, 14, 2, 0),
        },
        {"fore": (0, 0.06, -0.05, -0.04, 0.02, 0), "surge": (0, -0.07, 0.08, 0.07, 0, 0)},
        swings={"head.yaw": Swing(5, beats=9, fade=(0, 0, 1, 1, 0, 0)),
                "jaw.pitch": Swing(3, beats=9, fade=(0, 0, 1, 1, 0, 0))},
    ),
    Act(
        "shake", 1.5, (0, 0.18, 0.75, 1),
        {"neck.pitch": (0, 10, 8, 0), "head.pitch": (0, 6, 4, 0)},
        {"drop": (0, 0.05, 0.04, 0)},
        swings={
            "head.roll": Swing(34, beats=6, fade=(0, 1, 0.4, 0)),
            "neck.roll": Swing(26, beats=6, shift=0.10, fade=(0, 1, 0.6, 0)),
            "spine.roll": Swing(22, beats=6, shift=0.25, fade=(0, 1, 1, 0)),
            "pelvis.roll": Swing(7, beats=6, shift=0.40, fade=(0, 0.8, 1, 0)),
            "tail.yaw": Swing(60, beats=6, lag=0.06, shift=0.5, fade=(0, 0.5, 1, 0)),
            "ear.roll": Swing(28, beats=6, shift=0.1, fade=(0, 1, 0.6, 0)),
        },
    ),
)  # fmt: skip

_DOWN = (0, 0.14, 0.86, 1)
GRAZING = (
    Act(
        "eat", 4.5, _DOWN,
        {"neck.pitch": (0, 62, 62, 0), "head.pitch": (0, -20, -20, 0),
         "spine.pitch": (0, 5, 5, 0)},
        {"fore": (0, 0.19, 0.19, 0), "hind": (0, 0.04, 0.04, 0)},
        swings={
            "head.pitch": Swing(4, beats=9, fade=(0, 1, 1, 0)),
            "jaw.pitch": Swing(6, beats=9, fade=(0, 1, 1, 0)),
            "neck.yaw": Swing(9, beats=2, fade=(0, 1, 1, 0)),
            "tail.yaw": Swing(18, beats=3, lag=0.08), "ear.roll": Swing(8, beats=5),
        },
        reach=Reach("head", 0.02, most=1.6), sided=True,
    ),
    Act(
        "drink", 4.5, _DOWN,
        {"neck.pitch": (0, 60, 60, 0), "head.pitch": (0, -26, -26, 0),
         "spine.pitch": (0, 6, 6, 0)},
        {"fore": (0, 0.22, 0.22, 0), "hind": (0, 0.03, 0.03, 0), "surge": (0, 0.03, 0.03, 0)},
        swings={"head.pitch": Swing(2.0, beats=12, fade=(0, 1, 1, 0)),
                "jaw.pitch": Swing(4, beats=12, fade=(0, 1, 1, 0)),
                "tail.yaw": Swing(7, beats=2, lag=0.08)},
        reach=Reach("head", 0.02, most=1.6),
    ),
)  # fmt: skip
ATTACK = Act(
    "attack", 1.4, (0, 0.26, 0.34, 0.44, 0.58, 0.76, 1),
    {
        "neck.pitch": (0, -22, 9.2, 30, 24, 4, 0),
        "head.pitch": (0, 6, -6, -14, -4, 0, 0),
        "jaw.pitch": (0, 14, 21.2, 26, 2, 2, 0),
        "head.roll": (0, 0, 7.2, 12, 16, 4, 0),
        "spine.pitch": (0, 6, -0.6, -5, -2, 2, 0),
        "tail.pitch": (0, -6, 8.4, 18, 8, 0, 0),
        "ear.pitch": (0, -25, -28, -30, -25, -8, 0),
    },
    {"surge": (0, -0.20, 0.14, 0.36, 0.30, 0.05, 0), "drop": (0, 0.15, 0.09, 0.05, 0.10, 0.05, 0)},
    {"fore.up": (0, 0, 0.14, 0, 0, 0.10, 0), "fore.ahead": (0, 0.0, 0.2, 0.34, 0.34, 0.17, 0)},
    swings={"head.yaw": Swing(14, beats=6, fade=(0, 0, 0, 0, 1, 0.2, 0))},
    sided=True,
)  # fmt: skip
HEADBUTT = Act(
    "headbutt", 1.3, (0, 0.30, 0.44, 0.55, 0.75, 1),
    {
        "neck.pitch": (0, 36, 26, 12, 4, 0),
        "head.pitch": (0, 34, 30, 8, 0, 0),
        "spine.pitch": (0, 6, -3, -4, 0, 0),
        "tail.pitch": (0, -6, 14, 8, 0, 0),
    },
    {"surge": (0, -0.20, 0.26, 0.20, 0.03, 0), "fore": (0, 0.14, 0.05, 0, 0.03, 0),
     "hind": (0, 0.06, 0.02, 0.02, 0.02, 0)},
)  # fmt: skip

_SETTLING = (0, 0.35, 0.75, 1)
SIT = Act(
    "sit_down", 1.9, _SETTLING,
    {
        "spine.pitch": (0, 3, 8, 7),
        "neck.pitch": (0, 16, 26, 24),
        "head.pitch": (0, 2, 7, 6),
        "tail.pitch": (0, 16, 52, 55),
        "tail.yaw": (0, 0, 14, 22),
    },
    {"hind": (0, 0.24, 0.62, 0.66), "fore": (0, -0.01, -0.03, -0.03),
     "surge": (0, -0.03, -0.02, 0.0)},
    {"hind.ahead": (0, 0, 0, 0)},
    holds=True,
)  # fmt: skip
LIE = Act(
    "lie_down", 2.8, (0, 0.20, 0.45, 0.75, 1),
    {
        "spine.pitch": (0, -2, -2, 1, 0),
        "neck.pitch": (0, 10, 6, 4, 2),
        "tail.pitch": (0, 8, 6, 18, 22),
        "tail.yaw": (0, 0, 6, 16, 22),
    },
    {"fore": (0, 0.20, 0.52, 0.72, 0.86), "hind": (0, 0.06, 0.18, 0.62, 0.86),
     "surge": (0, -0.06, -0.12, -0.06, 0)},
    {
        "left_fore.up": (0, 0.09, 0, 0, 0), "left_fore.ahead": (0, 0.16, 0.38, 0.38, 0.38),
        "right_fore.up": (0, 0, 0.09, 0, 0), "right_fore.ahead": (0, 0, 0.18, 0.38, 0.38),
    },
    holds=True, sided=True,
)  # fmt: skip
GET_UP = Act(
    "get_up", 2.2, LIE.at, LIE.turns, LIE.body, LIE.feet, holds=True, sided=True, backwards=True
)
ROLL = Act(
    "roll", 4.2, (0, 0.16, 0.30, 0.42, 0.60, 0.72, 0.84, 1),
    {
        "spine.yaw": (0, 8, 10, -12, 12, 8, 0, 0),
        "neck.pitch": (0, 8, -14, -20, -20, -10, 6, 0),
        "neck.yaw": (0, 12, 20, -16, 18, 10, 0, 0),
        "tail.yaw": (0, 10, 20, -20, 20, 10, 0, 0),
    },
    {
        "drop": (0, 0.66, 0.80, 0.80, 0.80, 0.80, 0.66, 0),
        "roll": (0, 0, 80, 165, 165, 80, 0, 0),
        "tuck": (0, 0.15, 1, 1, 1, 1, 0.15, 0),
    },
    swings={"pelvis.yaw": Swing(7, beats=9, fade=(0, 0, 0, 1, 1, 0, 0, 0)),
            "spine.yaw": Swing(14, beats=9, shift=0.5, fade=(0, 0, 0, 1, 1, 0, 0, 0))},
    sided=True,
)  # fmt: skip
BUCK = Act(
    "kick", 1.4, (0, 0.28, 0.40, 0.50, 0.64, 0.78, 1),
    {
        "pelvis.pitch": (0, 4, 20, 22, 8, 0, 0),
        "spine.pitch": (0, 2, -6, -6, -2, 0, 0),
        "neck.pitch": (0, 10, 24, 18, 6, 2, 0),
        "head.pitch": (0, 4, 8, 4, 0, 0, 0),
        "tail.pitch": (0, 0, 20, 26, 10, 2, 0),
    },
    {"drop": (0, 0.06, -0.02, -0.02, 0.05, 0.05, 0), "surge": (0, 0.03, 0.08, 0.08, 0.05, 0.02, 0)},
    {
        "hind.up": (0, 0, 0.34, 0.62, 0.20, 0, 0),
        "hind.ahead": (0, 0, -0.05, -0.62, -0.14, 0, 0),
        "hind.pitch": (0, 0, 50, 88, 30, 0, 0),
    },
)  # fmt: skip
