"""The benchmark of the pose space: its plan, its rows, and that a stopped run goes on."""

import pytest
import torch

from akd.posespace.dataset import save_poses
from akd.posespace.network import PoseNetwork
from benchmarks.posespace import BASELINES, Row, Setup, by_model, claim, plan, run
from benchmarks.posespace_baselines import random_features
from benchmarks.posespace_measures import SECTIONS, Bench, Sizes, baselines
from benchmarks.posespace_poses import Measured
from benchmarks.rows import append_row, read_rows
from tests.posespace.conftest import SMALL

SIZES = Sizes(count=8, pairs=3, problems=1, inverted=4)


class Counting(PoseNetwork):
    """Counts the poses that it sees."""

    seen = 0

    def _last_layer(self, state, t, given):
        self.seen += len(state)
        return super()._last_layer(state, t, given)


@pytest.fixture(scope="module")
def bench(poses) -> Bench:
    return Bench(Measured.of(poses, torch.arange(SIZES.count)), poses, SIZES, random_features)


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_the_plan_states_the_evaluations(bench, section):
    torch.manual_seed(0)
    network = Counting(SMALL).eval().requires_grad_(False)
    found = SECTIONS[section].measure(network, bench)
    assert found
    planned = SECTIONS[section].evaluations(SIZES)
    # Limbs whose mirror image is alike are not swapped, and steps of a small network are inverted
    # in fewer rounds than usual.
    least = 0.45 if section in ("interpolation", "inversion") else 0.8
    assert least * planned <= network.seen <= planned


def test_rows_do_not_depend_on_those_before(bench):
    torch.manual_seed(0)
    network = PoseNetwork(SMALL).eval().requires_grad_(False)
    assert SECTIONS["AUC"].measure(network, bench) == SECTIONS["AUC"].measure(network, bench)


def test_the_claim_compares_models_and_baselines(bench):
    def row(model, found, section="samples"):
        return {"model": model, "source": "zoo", "section": section, "found": found}

    network = PoseNetwork(SMALL).eval().requires_grad_(False)
    found = SECTIONS["samples"].measure(network, bench)
    ratios = claim(
        by_model([
            row("true", found), row("harvest", found),
            row(BASELINES, baselines(bench), BASELINES),
        ])
    )  # fmt: skip
    assert ratios["zoo, harvest"] == pytest.approx(
        {"Frechet": 1.0, "autoencoder": 1.0, "diversity": 1.0}
    )
    assert ratios["zoo, within limits"]["Frechet"] > 0.0


def test_a_stopped_run_goes_on(poses, tmp_path, capsys):
    file = tmp_path / "poses.safetensors"
    save_poses(poses, file)
    setup = Setup(file, file, "cpu", 1, SIZES)
    rows = [Row(BASELINES, "zoo"), Row("IK", "zoo", "true", file)]
    append_row(
        tmp_path / "rows.jsonl",
        {"key": rows[0].key(setup), "model": BASELINES, "source": "zoo", "section": BASELINES,
         "seconds": 1.0, "found": {"true": {"Frechet": 1.0}}},
    )  # fmt: skip
    with (tmp_path / "rows.jsonl").open("a") as cut:
        cut.write('{"key": "')
    assert [row["section"] for row in run(rows[:1], setup, tmp_path, processes=1)] == [BASELINES]
    assert "1 rows, 1 of them done before" in capsys.readouterr().out
    evaluations = SECTIONS["IK"].evaluations(SIZES)
    assert f"{evaluations} network evaluations" in plan(rows, rows[1:], SIZES)
    append_row(tmp_path / "rows.jsonl", {"key": "another"})
    assert [row["key"] for row in read_rows(tmp_path / "rows.jsonl")] == [
        rows[0].key(setup), "another"
    ]  # fmt: skip
