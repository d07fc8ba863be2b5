"""docs/scale.md shows what its simulation prints."""

import math
import statistics
from pathlib import Path

import pytest

from akd.engine.queue import ATTEMPTS
from benchmarks.scale_simulation import DEFAULTS, LARGE, TINY, row, simulate

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "scale.md").read_text("utf-8")


@pytest.mark.parametrize("prior", [TINY, LARGE], ids=["tiny", "large"])
def test_a_row_is_that_of_the_simulation(prior):
    assert row(prior, 1, simulate(prior, 1, DEFAULTS)) in PAGE


def test_seconds_of_a_clip_are_those_of_the_cases():
    table = (DOCS / "benchmarks" / "distill.md").read_text("utf-8").partition("## Cases\n")[2]
    rows = [line for line in table.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    seconds = [float(row.split("|")[-2]) for row in rows[2:]]
    assert TINY.seconds == round(statistics.mean(seconds), 1)
    assert DEFAULTS.spread == round(statistics.pstdev(map(math.log, seconds)), 2)
    assert f"mean of the {len(seconds)} cases" in PAGE


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
