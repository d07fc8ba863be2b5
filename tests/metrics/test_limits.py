"""How far a root may lean: a constant for gaits, true clips for other actions."""

import pytest

from akd.metrics.limits import TILT, lean_limit
from akd.metrics.reference import kind_of, reference_row
from akd.motion.actions import ACTION_LABELS


def test_gaits_and_unknown_actions_have_the_constant():
    gaits = [name for name in ACTION_LABELS if kind_of(name) == "gait"]
    assert {"walk", "run", "gallop", "limp", "turn_left", "scuttle"} <= set(gaits)
    for name in (*gaits, None):
        for legs in (0, 2, 4, 8):
            assert lean_limit(name, legs) == TILT
    # True runs on two legs lean further at times: that does not move the limit of a gait.
    row = reference_row("run", 2)
    assert row is not None
    assert row["tilt"][1] > TILT


def test_true_clips_of_the_very_action_widen_the_limit():
    jump = reference_row("jump", 2)
    assert jump is not None
    assert lean_limit("jump", 2) == jump["tilt"][1] > 26.0
    # True jumps on four legs lean less than walks may: the constant stays.
    assert lean_limit("jump", 4) == TILT
    assert lean_limit("kick", 2) > lean_limit("punch", 2) > TILT
    assert lean_limit("cheer", 2) == TILT


@pytest.mark.parametrize("legs", [3, 6, 8])
def test_actions_of_too_few_true_clips_have_the_constant(legs):
    assert lean_limit("kick", legs) == TILT


def test_no_limit_is_stricter_than_that_of_a_gait():
    assert min(lean_limit(name, legs) for name in ACTION_LABELS for legs in (2, 4)) == TILT
