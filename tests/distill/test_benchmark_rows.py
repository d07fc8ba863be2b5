"""Rows of `benchmarks/distill.py`, made in two iterations with a prior of random weights."""

import gc
from dataclasses import replace

import pytest

from akd.distill.settings import DistillSettings
from akd.fit.settings import WarmStartSettings
from benchmarks import distill_rows as rows
from benchmarks import distill_tables as tables
from benchmarks.deformation_field import field_settings
from benchmarks.distill_parts import ALONE, CHANGES, all_steps, alone
from tests.commands.small_prior import write_weights

CASE = "zoo fox 0, walk"
QUICK = alone(
    DistillSettings(
        iterations=2, splats=200,
        warm_start=WarmStartSettings(samples=2, steps=2, trial=2, iterations=2, phase_search=False),
    )
)  # fmt: skip


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Makes a row. Recognisers look at 24 frames, so that the prior must have as many."""
    weights = write_weights(tmp_path_factory.mktemp("weights"), frames=24)
    out = tmp_path_factory.mktemp("out")

    def make(part, variant, settings):
        row = rows.work(rows.Job(part, CASE, variant, settings, 0, None, weights), "cpu", None, out)
        assert "error" not in row, row["error"]
        assert (out / "strips" / rows.strip_name(part, CASE, variant, 0)).is_file()
        return row

    return make


@pytest.mark.slow
def test_a_row_of_the_ablation(make):
    variant = "no reference image"
    row = make("ablation", variant, CHANGES[variant].change(QUICK))
    assert {"sample", "fit", "distil", "measure", "film"} <= set(row["stages"])
    assert row["asked"] == "walk"
    assert 0.0 <= row["motion"]["steering"] <= 1.0
    assert row["motion"]["swing"] > 0.0
    text = tables.ablation_table([row, {**row, "variant": ALONE}], "Without", tables.WITHOUT)
    assert f"| {variant} |" in text


@pytest.mark.slow
def test_a_long_row_continues_where_it_was_stopped(make, monkeypatch):
    settings = replace(
        QUICK, iterations=4, checkpoint_every=2, warm_start=WarmStartSettings(samples=0)
    )

    class Stopped(Exception):
        pass

    taken = []

    class Stopping(rows.Clock):
        def step(self, iteration, iterations, values):
            taken.append(iteration)
            if len(taken) == 3:
                raise Stopped

    monkeypatch.setattr(rows, "Clock", Stopping)
    with pytest.raises(AssertionError, match="Stopped"):
        make("paper", ALONE, settings)
    gc.collect()  # the folder's lock
    assert make("paper", ALONE, settings)["motion"]["swing"] >= 0.0
    assert taken == [1, 2, 3, 3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("variant", rows.FIELDS)
def test_a_row_of_a_deformation_field(make, variant):
    row = make("field", variant, QUICK)
    assert ("fit" in row["stages"]) == (variant != rows.FIELDS[0])
    assert 0.0 < row["motion"]["shape"] < 1.0
    assert row["motion"]["swing"] > 0.0
    skeleton = {**row, "part": "cases", "variant": "everything"}
    assert CASE in tables.field_table([row, skeleton])


@pytest.mark.parametrize("fitted", [False, True])
def test_a_field_has_as_many_steps_as_a_skeleton(fitted):
    settings = DistillSettings()
    assert all_steps(field_settings(settings, fitted=fitted)) == all_steps(settings)


def test_variants_are_settings():
    changed = {name: variant.change(DistillSettings()) for name, variant in CHANGES.items()}
    same = {name for name, settings in changed.items() if settings == DistillSettings()}
    assert same == {ALONE, "no reference image"}
