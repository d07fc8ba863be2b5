"""docs/scale.md shows what its simulation prints."""

from pathlib import Path

import pytest

from akd.engine.queue import ATTEMPTS
from benchmarks.scale_simulation import DEFAULTS, LARGE, TINY, row, simulate

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")


@pytest.mark.parametrize("prior", [TINY, LARGE], ids=["tiny", "large"])
def test_a_row_is_that_of_the_simulation(prior):
    assert row(prior, 1, simulate(prior, 1, DEFAULTS)) in PAGE


def test_assumptions_are_stated():
    for text in (
        f"| {TINY.at_a_time} |", f"| {TINY.seconds} |", f"| {LARGE.seconds:,.0f} |",
        f"| {TINY.start:.0f} s, {LARGE.start:.0f} s |", f"| {DEFAULTS.node_days:.0f} |",
        f"| {DEFAULTS.spread} |", f"| {DEFAULTS.overhead} |", f"| {DEFAULTS.price:.0f} |",
        f"| {DEFAULTS.files} |",
    ):  # fmt: skip
        assert text in PAGE, text
    assert ATTEMPTS == 3
    assert "is tried three times" in PAGE
