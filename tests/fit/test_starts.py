"""Which starts of a fit continue: legs that pass each other take longer to look right."""

import pytest

from akd.fit.candidate import Candidate
from akd.fit.limb_starts import GAIT, SIDED
from akd.fit.video_fit import better_half
from akd.motion.parametrization import MotionStart
from akd.motion.settings import Spline
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage


@pytest.fixture(scope="module")
def stage(fox):
    return Stage.of(fox, style=SceneStyle.ROLES, size=(48, 48), splats=200, ground=False)


def kept(stage: Stage, away: dict[str, float]) -> list[str]:
    """The names of the starts that continue, the best first."""
    curves = Spline(knots=4).begin(MotionStart(stage.rig, 4, 12.0, 0.3), stage)
    starts = [Candidate(curves, (), name) for name in away]
    return [start.name for start in better_half(starts, list(away.values()))]


def test_the_best_start_with_sides_of_a_gait_continues_beside_the_best_without(stage):
    away = {"a": 0.8, "b": 0.9, "c": 1.0, "d" + GAIT: 1.1, "a" + SIDED: 1.3, "b" + SIDED: 1.2}
    assert kept(stage, away) == ["a", "b", "b" + SIDED]
    assert kept(stage, {"a": 0.8, "b": 0.9, "b" + SIDED: 1.2}) == ["a", "b" + SIDED]
    assert kept(stage, {"a": 0.8, "b" + SIDED: 1.2}) == ["a", "b" + SIDED]
    assert kept(stage, {"a": 1.3, "b": 1.2, "a" + SIDED: 0.8, "b" + SIDED: 0.9}) == [
        "a" + SIDED,
        "b",
    ]


def test_starts_that_are_all_of_one_kind_are_halved(stage):
    assert kept(stage, {"a": 0.9, "b": 0.8, "c": 1.0, "d": 1.1}) == ["b", "a"]
    assert kept(stage, {"a": 0.9, "b": 0.8}) == ["b"]
    assert kept(stage, {"a": 0.9}) == ["a"]
