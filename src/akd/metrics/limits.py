"""Limits of the checks that a motion must pass.

All are constants but the lean of actions other than gaits: who kicks leans further than who walks.
"""

from __future__ import annotations

from akd.metrics.reference import kind_of, reference_row

ALTERNATION, CONTACT, SKATE, TILT, DEPTH = -0.5, 0.3, 0.2, 20.0, 0.01
TRAVEL, FOOT_TRAVEL = 1.0, 0.25
SWING, SLIP = 0.2, 0.3
"""Of a motion that may be shown; `demo_conditions` says what each of them bounds."""


def lean_limit(action: str | None, legs: int) -> float:
    """Degrees of the root's lean at which a motion fails.

    `TILT` for gaits, and where too few true clips of this very action on as many legs are known.
    For other actions the 90th percentile over these clips where that is more.

    Args:
        action: One of `ACTION_LABELS` that is asked for; None where that is not known.
        legs: Number of legs of the body.
    """
    row = None if action is None else reference_row(action, legs)
    if row is None or kind_of(action) == "gait":
        return TILT
    return max(TILT, row["tilt"][1])
