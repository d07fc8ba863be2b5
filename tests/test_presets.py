"""Presets: what the paper gives, and single settings changed by name."""

from dataclasses import replace

import pytest

from akd.distill.settings import DistillSettings
from akd.motion.settings import Cycle, Spline
from akd.presets import PAPER, PRESETS, find_preset, with_values


def test_the_tiny_preset_is_the_default():
    assert find_preset("tiny") == DistillSettings()


def test_the_paper_preset_holds_what_the_supplement_gives():
    score, losses = PAPER.score, PAPER.losses
    assert (score.t_min, score.t_max, score.t_max_final) == (0.02, 0.98, 0.5)
    assert score.guidance == 100.0
    assert PAPER.iterations == 10_000
    assert isinstance(PAPER.parametrization, Spline)
    assert PAPER.parametrization.knots == 0
    assert not PAPER.parametrization.bounded
    assert PAPER.warm_start.samples == 0
    assert (losses.rest, losses.support, losses.skate) == (0.0, 0.0, 0.0)
    assert losses.score == 1.0
    # The weights keep their proportion, and their size against a sum over CogVideoX's latents.
    assert losses.ground / losses.smooth == pytest.approx(1e7 / 2e5)
    latents = 13 * 16 * 60 * 90
    assert losses.smooth * latents * 100 == pytest.approx(2e5)


def test_fast_is_far_shorter_than_paper_and_needs_no_more_unknowns():
    assert PRESETS["fast"].iterations <= PAPER.iterations / 10
    # The paper has one value per frame; the shortest videos, the tiny prior's, have 24 frames.
    assert 0 < PRESETS["fast"].parametrization.knots < 24


def test_fast_weighs_the_score_by_the_variance_of_its_latents():
    """Those of large priors have variance one, the tiny prior's images in -1..1 about a tenth."""
    fast, tiny = PRESETS["fast"].losses, PRESETS["tiny"].losses
    assert fast.score == pytest.approx(0.1 * tiny.score)
    assert replace(fast, score=tiny.score) == tiny
    assert isinstance(PRESETS["fast"].parametrization, Cycle)


def test_single_settings_are_changed_by_name_and_kind():
    made = with_values(
        PRESETS["tiny"],
        ["score.guidance=7", "warm_start.samples=0", "parametrization.symmetric=false",
         "iterations=9", "speed=1.5"],
    )  # fmt: skip
    assert made.score.guidance == 7.0
    assert made.warm_start.samples == 0
    assert made.parametrization.symmetric is False
    assert made.iterations == 9
    assert made.speed == 1.5
    assert with_values(made, ["speed=none"]).speed is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("score", "--set takes name=value"),
        ("score=3", "--set score: must name one setting"),
        ("score.guidance.more=3", "--set score.guidance.more: must name one setting"),
        ("scores.guidance=3", "--set scores.guidance: there is no such setting; there are iter"),
        ("iterations=many", "--set iterations: must be int, got 'many'"),
        ("parametrization.symmetric=7", "--set parametrization.symmetric: must be bool, got '7'"),
        ("speed=fast", "--set speed: must be float or none, got 'fast'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(text, message):
    with pytest.raises(ValueError, match="--set") as error:
        with_values(PRESETS["tiny"], [text])
    assert str(error.value).startswith(message)


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match="preset must be one of tiny, paper, fast; got 'huge'"):
        find_preset("huge")
