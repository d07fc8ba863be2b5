"""Commands that make things: clouds, grounded clips, and what is kept in the cache."""

import json

import pytest

from akd.asset.read import read_asset
from akd.cli import main

pytestmark = pytest.mark.slow

FOX = "khronos/Fox/glTF-Binary/Fox.glb"


def refused(capsys, *arguments: str) -> str:
    assert main(list(arguments)) == 2
    return capsys.readouterr().err.strip()


def test_splat_writes_a_cloud_that_can_be_read(capsys, shared_assets, tmp_path):
    out = tmp_path / "fox.ply"
    arguments = ["splat", str(shared_assets / FOX), "-o", str(out), "--quick", "--splats", "500"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{out}: 500 Gaussians\n"
    cloud = read_asset(out).splats
    assert cloud is not None
    assert len(cloud.means) == 500


def test_a_fit_is_kept_and_taken_from_the_cache(capsys, shared_assets, tmp_path, monkeypatch):
    monkeypatch.setenv("AKD_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "fox.ply"
    arguments = ["splat", str(shared_assets / FOX), "-o", str(out), "--splats", "300"]
    assert main([*arguments, "--iterations", "2"]) == 0
    first = out.read_bytes()
    capsys.readouterr()
    assert main(["cache"]) == 0
    assert "1 files" in capsys.readouterr().out
    assert main([*arguments, "--iterations", "2"]) == 0
    assert out.read_bytes() == first
    assert main(["cache", "--clear"]) == 0
    assert not list((tmp_path / "cache").iterdir())


def test_ground_writes_clip_forces_and_body(capsys, shared_assets, tmp_path):
    arguments = ["ground", str(shared_assets / FOX), "--clip", "Walk", "-o", str(tmp_path)]
    assert main([*arguments, "--iterations", "3", "--samples", "2"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert any(line.startswith("tracking error") for line in said)
    assert f"{tmp_path / 'report.html'}: videos, forces and numbers; open in a browser" in said
    assert said[-1].startswith("use 'Walk (grounded)': score ")
    clip = "clip 'Walk (grounded)'; open it in Blender or any glTF viewer"
    assert f"{tmp_path / 'motion.glb'}: {clip}" in said
    written = {p.name for p in tmp_path.iterdir()}
    assert {"motion.glb", "physics.npz", "physics.json", "body.xml", "samples.npz"} <= written
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 2
    clips = [c.name for c in read_asset(tmp_path / "motion.glb").clips]
    assert clips == ["Survey", "Walk", "Run", "Walk (grounded)"]
    assert json.loads((tmp_path / "physics.json").read_text())["iterations"] == 3


def test_ground_exits_with_3_where_physics_makes_it_worse(
    capsys, shared_assets, tmp_path, monkeypatch
):
    monkeypatch.setattr("akd.api.grounding.lowered", lambda before, after: "feet slide")
    arguments = ["ground", str(shared_assets / FOX), "--clip", "Walk", "-o", str(tmp_path)]
    assert main([*arguments, "--iterations", "1"]) == 3
    said = capsys.readouterr()
    last = said.err.splitlines()[-1]
    assert last == "akd: 'Walk (grounded)': failed: feet slide; use the clip as it was"
    # The clip as it was is in the file, beside the grounded one.
    assert {"Walk", "Walk (grounded)"} <= {
        c.name for c in read_asset(tmp_path / "motion.glb").clips
    }


def test_ground_refuses_a_body_that_lies(capsys, shared_assets, tmp_path):
    file = str(shared_assets / "makehuman" / "bvh" / "walk1.bvh")
    arguments = ["ground", file, "-o", str(tmp_path), "--iterations", "2"]
    message = refused(capsys, *arguments, "--up", "y")
    assert "no leg stands on the ground in the neutral pose, but left arm hand" in message
    assert message.endswith("or another axis points up (--up)")


def test_ground_finds_the_up_axis_of_a_bvh(capsys, shared_assets, tmp_path):
    file = str(shared_assets / "makehuman" / "bvh" / "walk1.bvh")
    assert main(["ground", file, "-o", str(tmp_path), "--iterations", "2"]) in (0, 3)
    said = capsys.readouterr().out
    assert "walk1.bvh: its legs hang along -z, so z is up" in said
    assert f"{tmp_path / 'report.html'}: forces and numbers; open in a browser" in said
    assert (tmp_path / "motion.bvh").exists()


def test_ground_asks_which_clip(capsys, shared_assets, tmp_path):
    message = refused(capsys, "ground", str(shared_assets / FOX), "-o", str(tmp_path))
    assert message.endswith("has several clips, choose one with --clip: 'Survey', 'Walk', 'Run'")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--splats", "0", "akd: --splats must be from 1 to 5000000, got 0"),
        ("--degree", "4", "akd: --degree must be from 0 to 3, got 4"),
    ],
)
def test_splat_refuses_what_makes_no_sense(capsys, tmp_path, option, value, message):
    assert (
        refused(capsys, "splat", "x.glb", "-o", str(tmp_path / "x.ply"), option, value) == message
    )
