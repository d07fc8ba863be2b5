"""`akd animate --formats`, `--in-place` and `--roles`: written, recorded, refused in one line."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from akd.asset.read import read_asset
from akd.cli import main
from akd.distill.run_folder import RunFolder
from akd.motion.clip import motion_from_clip
from akd.motion.root_motion import travel_path
from akd.report.entries import read_run
from akd.rig.character import load_character
from akd.rig.control_build import build_control_rig
from tests.commands.animating import DONE, refused, words

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def roles(tmp_path_factory, fox):
    """A file that takes the tail for something that hangs there."""
    character = load_character(read_asset(fox))
    named = dict(zip(map(str, character.anatomy.roles), character.skeleton.names, strict=True))
    path = tmp_path_factory.mktemp("roles") / "roles.toml"
    path.write_text(f'"{named["tail 1"]}" = "helper"\n')
    return path


@pytest.fixture(scope="module")
def made(fox, weights, roles, tmp_path_factory):
    """A run in other formats, in place, with roles put right."""
    pytest.importorskip("pxr")
    out = tmp_path_factory.mktemp("outputs")
    more = ("--formats", "usd,bvh", "--in-place", "--roles", str(roles))
    assert main(words(fox, weights, out, *more)) in DONE
    return out


def test_every_format_has_its_file(made):
    names = {p.name for p in made.iterdir()}
    assert names == {
        "motion.glb", "motion.bvh", "motion.usda", "video.mp4", "metrics.json", "report.html",
        "run", "view.npz",
    }  # fmt: skip


def test_the_docs_list_every_file_and_every_metric(made):
    listed = set(re.findall(r"`([^`]+)`", (ROOT / "docs" / "files.md").read_text("utf-8")))
    files = {str(p.relative_to(made)) for p in made.rglob("*") if p.is_file()}
    formats = {"motion.bvh", "motion.usda"}
    assert {name.removeprefix("run/") for name in files - formats} <= {
        name.removeprefix("run/") for name in listed
    }
    found = json.loads((made / "metrics.json").read_text())
    assert {*found, *found["motion"]} <= listed
    assert {*np.load(made / "view.npz")} <= listed


def test_a_clip_in_place_stays_where_metrics_and_bvh_say(made, uninterrupted):
    gone = {}
    for name, folder in (("in place", made), ("as found", uninterrupted)):
        character = load_character(read_asset(folder / "motion.glb"))
        (clip,) = character.asset.clips
        path = travel_path(build_control_rig(character), motion_from_clip(character, clip))
        gone[name] = float((path[-1] - path[0]).norm())
    assert gone["in place"] < 0.02 * gone["as found"]
    travel = [json.loads((f / "metrics.json").read_text())["motion"]["travel"]
              for f in (made, uninterrupted)]  # fmt: skip
    assert travel[0] > 0.5 * travel[1]  # of the motion as it was found
    file = read_asset(made / "motion.bvh")
    assert len(file.clips) == 1


def test_the_usd_has_one_clip_on_the_skeleton(made):
    from pxr import Usd, UsdSkel

    stage = Usd.Stage.Open(str(made / "motion.usda"))
    (clip,) = [p for p in stage.Traverse() if p.IsA(UsdSkel.Animation)]
    assert clip.GetName() == "a_fox_walking"
    (own,) = read_asset(made / "motion.glb").clips
    assert stage.GetEndTimeCode() / stage.GetTimeCodesPerSecond() == pytest.approx(own.end, 1e-3)


def test_all_of_it_is_kept_for_resume(made, uninterrupted, tmp_path, capsys):
    about = RunFolder(made).read()
    assert about is not None
    job, before = about["job"], (RunFolder(uninterrupted).read() or {})["job"]
    assert (about["options"]["formats"], about["options"]["in_place"]) == ("usd,bvh", True)
    assert job["roles"] != before["roles"]
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    files = ("motion.glb", "motion.bvh", "motion.usda")
    for name in files:
        (copy / name).unlink()
    assert main(["resume", str(copy)]) in DONE
    for name in files:
        assert (copy / name).read_bytes() == (made / name).read_bytes(), name


def test_roles_decide_what_is_driven(made, uninterrupted):
    counts = []
    for folder in (made, uninterrupted):
        (found,) = re.findall(
            r"<dt>driven joints</dt><dd>(\d+)</dd>", (folder / "report.html").read_text()
        )
        counts.append(int(found))
    assert counts[0] == counts[1] - 1


def test_other_roles_are_another_run_and_other_formats_are_not(capsys, fox, weights, made, roles):
    assert main(words(fox, weights, made, "--in-place", "--roles", str(roles))) in DONE
    said = capsys.readouterr()
    assert "is finished already" in said.out
    assert "stopped" not in said.err
    message = refused(capsys, words(fox, weights, made, "--in-place"))
    assert message.startswith(f"{made}: holds another run (another roles)")


@pytest.mark.parametrize("name", ["motion", "a fox walking", "walk"])
def test_a_clip_of_a_run_is_exported_by_its_kind_or_its_name(made, tmp_path, name):
    assert main(["export", str(made), "--clip", name, "-o", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["motion.bvh"]


def test_a_clip_that_a_run_has_not_is_refused(capsys, made):
    (clip,) = read_run(made).clips.values()
    message = refused(capsys, ["export", str(made), "--clip", "gallop"])
    assert message == f"{made / 'motion.glb'}: there is no clip 'gallop': it has {clip.name!r}"


def test_overwriting_removes_files_of_formats_that_are_no_longer_asked_for(
    fox, weights, made, tmp_path
):
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    assert main(words(fox, weights, copy, "--overwrite")) in DONE
    assert not (copy / "motion.bvh").exists()
    assert not (copy / "motion.usda").exists()


def test_formats_that_cannot_be_written_are_said_first(capsys, monkeypatch, fox, weights, tmp_path):
    out = tmp_path / "out"
    message = refused(capsys, words(fox, weights, out, "--formats", "glb,mov"))
    assert message == (
        "--formats takes formats out of glb, bvh, usd, fbx, separated by commas; got 'glb,mov'"
    )
    monkeypatch.setattr("akd.export.formats.has_blender", lambda: False)
    message = refused(capsys, words(fox, weights, out, "--formats", "fbx"))
    assert message == (
        "--formats fbx is written by Blender: put `blender` on the PATH (blender.org) or its path "
        "into AKD_BLENDER, or open the .glb in it and choose File > Export > FBX"
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    message = refused(capsys, words(fox, weights, out, "--formats", "usd"))
    assert message == "--formats usd needs akd[usd]: pip install 'akd[usd]'"
    assert not out.exists()


def test_roles_of_a_joint_that_is_not_there(capsys, fox, weights, tmp_path):
    roles = tmp_path / "roles.toml"
    roles.write_text('wing = "left wing upper"\n')
    message = refused(capsys, words(fox, weights, tmp_path / "out", "--roles", str(roles)))
    assert message == "fox.glb: there is no joint called 'wing'"
    message = refused(capsys, words(fox, weights, tmp_path / "out", "--roles", "nowhere.toml"))
    assert message == "nowhere.toml: there is no such file"
    assert not (tmp_path / "out").exists()
