"""How fast to start: from leg length and the gait that the words name, never from a true clip.

Animals of every size change gait at the same Froude number v^2 / (g L), so a leg length and a gait
give a speed (Alexander 1989).
"""

from __future__ import annotations

import math
import re

GRAVITY = 9.81
_FROUDE = {
    "stand": 0.0, "idle": 0.0, "wait": 0.0, "still": 0.0,
    "walk": 0.16, "stroll": 0.12, "amble": 0.3, "sneak": 0.05, "turn": 0.12,
    "trot": 0.7, "jog": 0.8, "run": 1.5, "sprint": 3.0,
    "canter": 1.8, "gallop": 2.5, "jump": 0.5, "leap": 0.8, "hop": 0.4,
}  # fmt: skip
_PACE = {"slowly": 0.6, "slow": 0.6, "quickly": 1.4, "fast": 1.4, "briskly": 1.3}
_UNKNOWN = 0.12


def starting_speed(prompt: str, leg_length: float) -> float:
    """Metres a second along forward."""
    words = re.findall(r"[a-z]+", prompt.lower())
    froude = next((f for w in words for stem, f in _FROUDE.items() if w.startswith(stem)), _UNKNOWN)
    pace = next((_PACE[w] for w in words if w in _PACE), 1.0)
    return pace * math.sqrt(froude * GRAVITY * max(leg_length, 0.0))
