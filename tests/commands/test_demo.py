"""`akd demo`: the whole job on the built-in fox."""

import pytest

from akd.asset.read import read_asset
from akd.cli import main
from tests.commands.animating import refused
from tests.commands.small_prior import QUICK

pytestmark = pytest.mark.slow


def test_the_demo_is_the_whole_job_on_the_built_in_fox(capsys, weights, tmp_path):
    given = ["demo", "-o", str(tmp_path), "--weights", str(weights), "--no-grounded"]
    given += ["--device", "cpu", "--iterations", "2", *QUICK]
    ended = {0: "done in ", 3: "failed after "}[main(given)]  # two iterations from random weights
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"{tmp_path / 'fox.glb'}: a fox of 5,000 vertices, without any motion"
    assert said[-1].startswith(ended)
    assert not read_asset(tmp_path / "fox.glb").clips
    assert [c.name for c in read_asset(tmp_path / "motion.glb").clips] == ["a fox walking"]
    assert main(given) == 0
    assert "is finished already" in capsys.readouterr().out


def test_the_demo_writes_over_nobodys_fox(capsys, weights, tmp_path):
    (tmp_path / "fox.glb").write_bytes(b"mine")
    message = refused(capsys, ["demo", "-o", str(tmp_path), "--weights", str(weights)])
    assert "fox.glb: exists and was not written by a demo" in message
    assert (tmp_path / "fox.glb").read_bytes() == b"mine"
