"""The time left of a whole job."""

import pytest

from akd.base.observer import Observer
from akd.commands.time_left import _DISTIL, TimeLeft
from akd.physics.settings import TrackingSettings
from akd.pipeline import animate
from akd.presets import find_preset, with_values
from tests.commands.small_prior import QUICK, write_fox, write_weights

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
    assert after == pytest.approx(0.5 * 96 + without - _DISTIL * 100)


def test_phases_that_are_done_correct_the_plan():
    slow, fast = started(), started()
    slow.finish("sample", 100.0)
    fast.finish("sample", 1.0)
    assert slow.left("fit", 0.0, None) > 3 * fast.left("fit", 0.0, None)


def test_a_phase_that_takes_longer_than_planned_corrects_the_rest_while_it_runs():
    """Sampling tells no steps: on a slow machine its time left must not stand still."""
    left = started()
    planned = 0.36 * 4 * 10
    on_time = left.left("sample", planned, None)
    assert left.left("sample", planned - 1.0, None) == pytest.approx(on_time + 1.0)
    late = [left.left("sample", planned + seconds, None) for seconds in (0.01, 30.0, 60.0)]
    assert late[0] == pytest.approx(on_time, rel=1e-3)
    assert 1.5 * on_time < late[1] < late[2]
    # As it would be if the phase were done.
    left.finish("sample", planned + 60.0)
    assert left.left("nothing of the plan", 0.0, None) == pytest.approx(late[2])


def test_a_preview_is_planned_without_distillation_physics_and_film():
    preview = TimeLeft()
    preview.start(JOB, quick=True)
    for phase in ("load", "stage", "sample", "fit", "distil", "select", "measure"):
        assert preview.left("nothing of the plan", 0.0, None)
        preview.finish(phase, 1.0)
    assert preview.left("nothing of the plan", 0.0, None) is None


def test_nothing_is_said_where_nothing_is_known():
    assert TimeLeft().left("physics", 1.0, None) is None


class Watch(Observer):
    """Takes each phase out of the plan when it is done, as the terminal does."""

    def __init__(self) -> None:
        self.plan, self.phases = TimeLeft(), []

    def start(self, job) -> None:
        self.plan.start(job)

    def begin(self, phase: str) -> None:
        self.phases.append(phase)


@pytest.mark.slow
def test_a_run_of_two_finalists_has_the_phases_that_were_planned(tmp_path):
    """A phase under another name would stay in the plan, and be waited for until the end."""
    watch = Watch()
    settings = with_values(find_preset("tiny"), (*QUICK[1:], "iterations=4"))
    assert settings.warm_start.finalists == 2
    animate(
        write_fox(tmp_path / "fox.glb"), "a fox walking", preset=settings, observer=watch,
        weights=write_weights(tmp_path / "weights"), physics=TrackingSettings(iterations=3),
    )  # fmt: skip
    for phase in watch.phases:
        assert watch.plan.left("film", 1e9, None) > 0
        watch.plan.finish(phase, 1.0)
    assert watch.plan.left("film", 1e9, None) == 0  # which the command does last
