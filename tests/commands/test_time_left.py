"""The time left of a whole job."""

import pytest

from akd.commands.time_left import TimeLeft

JOB = {
    "settings": {
        "iterations": 100,
        "warm_start": {"samples": 4, "finalists": 1, "steps": 10, "trial": 10, "iterations": 20},
    },
    "physics": {"iterations": 50},
}


def started() -> TimeLeft:
    found = TimeLeft()
    found.start(JOB)
    return found


def test_a_first_step_that_compiles_does_not_count():
    left = started()
    before = left.left("distil", 0.0, 100)
    left.begin()
    left.step(60.0)
    assert left.left("distil", 0.0, 99) == before
    for _ in range(3):
        left.step(0.5)
    after = left.left("distil", 61.5, 96)
    without = started().left("nothing of the plan", 0.0, None)
    assert before is not None
    assert without is not None
    # What remains of this phase at its own pace, and the rest of the plan.
    assert after == pytest.approx(0.5 * 96 + without - 0.3 * 100)


def test_phases_that_are_done_correct_the_plan():
    slow, fast = started(), started()
    slow.finish("sample", 100.0)
    fast.finish("sample", 1.0)
    assert slow.left("fit", 0.0, None) > 3 * fast.left("fit", 0.0, None)


def test_nothing_is_said_where_nothing_is_known():
    assert TimeLeft().left("physics", 1.0, None) is None
