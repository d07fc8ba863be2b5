"""`akd pose`, with a very small untrained model."""

import re
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from akd.asset.read import read_asset
from akd.cli import main
from akd.commands.pose_data import PoseHarvest
from akd.engine.shell import Shell
from akd.export.creature import write_creature
from akd.fit.regressor.regressor import FILE
from akd.posespace.model import save_model
from akd.posespace.network import PoseNetwork
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from tests.posespace.chains import write_chain, write_points
from tests.posespace.conftest import SMALL


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pose")
    creature = build_creature("fox", vertices=600)
    write_creature(creature, [make_clip(creature, "walk", cycles=1)], folder / "fox.glb")
    torch.manual_seed(0)
    save_model(PoseNetwork(SMALL), folder / "model.safetensors", training={})
    return folder / "fox.glb", folder / "model.safetensors"


def run(*arguments):
    return main(["pose", *(str(a) for a in arguments)])


@pytest.mark.slow
def test_sample_writes_a_clip_for_each_pose(files, tmp_path, capsys):
    fox, model = files
    assert run("sample", fox, "--weights", model, "--count", 2, "-o", tmp_path) == 0
    names = [clip.name for clip in read_asset(tmp_path / "poses.glb").clips]
    assert names[-2:] == ["sample 1", "sample 2"]
    assert (tmp_path / "poses.png").is_file()
    assert "poses are implausible; the worst: pose " in capsys.readouterr().out


def test_score_names_the_worst_joints(files, capsys):
    fox, model = files
    assert run("score", fox, "--weights", model, "--fps", 4) == 0
    head, *lines, last = capsys.readouterr().out.splitlines()
    assert "below 0: plausible" in head
    scores = {line.split()[0]: float(line.split()[2]) for line in lines}
    assert len(scores) == len(lines) >= 2
    assert all(line.count(",") == 2 for line in lines)
    wrong = sum(score > 0.0 for score in scores.values())
    assert last.startswith(f"{wrong} of {len(lines)} poses are implausible; the worst: ")
    assert scores[last.split()[-2]] == max(scores.values())


@pytest.mark.slow
def test_project_says_how_many_poses_are_implausible(files, tmp_path, capsys):
    fox, model = files
    assert run("project", fox, "--weights", model, "-o", tmp_path) == 0
    said = capsys.readouterr().out.splitlines()[0]
    before, count, after = map(int, re.findall(r"\d+", said))
    assert max(before, after) <= count
    clip = read_asset(tmp_path / "poses.glb").clips[-1]
    assert clip.name == "projected"
    assert max(len(track.times) for track in clip.tracks) == count


@pytest.mark.slow
@pytest.mark.parametrize("stand", ["--stand", "--no-stand"])
def test_ik_states_the_residual(files, stand, tmp_path, capsys):
    fox, model = files
    handle = "left fore foot=0.05,0.1,0.25"
    assert run("ik", fox, "--handle", handle, stand, "--weights", model, "-o", tmp_path) == 0
    said = capsys.readouterr().out
    assert re.search(r"left fore foot: from \S+,\S+,\S+ to 0.05,0.1,0.25\n", said)
    assert "% of height" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ik", "--handle", "lef fore foot=0,0,0"), "did you mean 'left fore foot'?"),
        (("ik", "--handle", "head=0,nan,0"), "must be three finite numbers"),
        (("ik", "--handle", "head=0,0"), "must be JOINT=x,y,z, got 'head=0,0'"),
        (("ik",), "handles must name at least one joint, got none"),
        (("score", "--clip", "Fly"), "there is no clip 'Fly': it has 'walk'"),
        (("sample", "--count", "0"), "--count must be from 1 to 10000, got 0"),
        (("project", "--level", "2"), "--level must be between 0 and 1, got 2"),
        (("interpolate", "walk@0", "walk@inf"), "must be CLIP@SECONDS, got 'walk@inf'"),
        (
            ("keyframes", "walk@0", "walk@0.1", "--count", "99", "--size", "4096", "2048"),
            "keyframes of 4096 x 2048 pixels must be at most 3, got 99",
        ),
    ],
)
def test_wrong_arguments_are_refused(files, arguments, message, capsys, tmp_path):
    fox, model = files
    name, *options = arguments
    assert run(name, fox, *options, "--weights", model) == 2
    assert message in capsys.readouterr().err


def test_a_missing_model_is_named(files, tmp_path, capsys):
    fox, _ = files
    assert run("score", fox, "--weights", tmp_path / "none.safetensors") == 2
    assert "`akd pose train` makes one" in capsys.readouterr().err
    assert run("collect", "-o", tmp_path / "poses.safetensors") == 2
    assert "no poses were found" in capsys.readouterr().err


@pytest.mark.slow
def test_a_handle_out_of_reach_is_approached(files, tmp_path, capsys):
    fox, model = files
    handle = "left fore foot=0,50,0"
    assert run("ik", fox, "--handle", handle, "--weights", model, "-o", tmp_path) == 0
    far = float(capsys.readouterr().out.split("handles within ")[1].split(" m")[0])
    assert 40.0 < far < 50.0


@pytest.mark.slow
@pytest.mark.parametrize("joints", [2, 300])
def test_chains_of_any_length_are_scored(files, joints, tmp_path, capsys):
    _, model = files
    chain = write_chain(tmp_path / "chain.bvh", joints)
    assert run("score", chain, "--weights", model) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4  # two poses


def test_a_body_without_joints_is_refused(files, tmp_path, capsys):
    _, model = files
    chain = write_chain(tmp_path / "chain.bvh", 1)
    assert run("sample", chain, "--weights", model) == 2
    assert "has no joints to pose" in capsys.readouterr().err


def test_numbers_that_are_not_finite_give_finite_scores(files, tmp_path, capsys):
    _, model = files
    chain = write_chain(tmp_path / "chain.bvh", 5, value="nan")
    assert run("score", chain, "--weights", model) == 0
    assert "nan" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_mesh_without_faces_can_be_posed(files, tmp_path):
    _, model = files
    points = write_points(tmp_path / "points.glb")
    assert run("sample", points, "--count", 2, "--weights", model, "-o", tmp_path / "out") == 0
    assert len(read_asset(tmp_path / "out" / "poses.glb").clips) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--zoo", "0"), "there are no bodies: give --zoo or --assets"),
        (("--zoo", "1", "--address", "auto"), "--address is for --engine ray, got --engine local"),
        (("--zoo", "1", "--only", "x"), "--only x: no job with these options has this id"),
        (("--zoo", "1", "--videos", "0"), "--videos and --iterations must be at least 1"),
        (("--assets", "none"), "--assets none: is not a folder"),
        (("--zoo", "1", "--weights", "none"), "--weights none: is not a folder"),
        (("--zoo", "1", "--weights", "."), "holds no weights of the tiny prior"),
        (("--zoo", "1", "--together", "0"), "--together must be from 1 to 64, got 0"),
        (("--zoo", "1", "--regressor", "none"), "none: there is no such file"),
        (("--zoo", "1", "--regressor", "cut"), "cut: is damaged"),
    ],
)
def test_wrong_harvests_are_refused(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bundled = resources.files("akd.fit.regressor") / "weights" / FILE
    (tmp_path / "cut").write_bytes(bundled.read_bytes()[:5000])
    assert run("harvest", *arguments) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["cut"]


def test_ids_of_a_harvest_are_those_of_machines_with_gpus():
    """Its commands may be written where there are none."""
    command = PoseHarvest(zoo=1, together=16)
    with_gpus, without = (SimpleNamespace(has_gpus=lambda: True), Shell(command._command))
    assert command._resources(with_gpus).cpus == command._resources(without).cpus == 1


@pytest.mark.slow
def test_keyframes_are_images_of_mesh_and_skeleton(files, tmp_path):
    fox, model = files
    poses = ("walk@0", "walk@0.3")
    options = ("--weights", model, "--count", 3, "--size", 96, 64, "-o", tmp_path)
    assert run("keyframes", fox, *poses, *options) == 0
    for kind in ("mesh", "skeleton"):
        images = []
        for number in (1, 2, 3):
            with Image.open(tmp_path / f"{kind}_{number:02}.png") as image:
                images.append(np.asarray(image, dtype=float))
        assert [image.shape for image in images] == [(64, 96, 3)] * 3
        first, last = images[0], images[2]
        assert np.abs(first - last).max() > 30.0
    assert len(read_asset(tmp_path / "poses.glb").clips) == 2


@pytest.mark.slow
def test_keyframes_become_a_video_of_the_tiny_prior(files, weights, tmp_path, monkeypatch):
    fox, model = files
    monkeypatch.setattr("akd.prior.choose.check_prior", lambda *_, **__: weights)
    options = ("--weights", model, "--count", 2, "--steps", 2, "--device", "cpu", "-o", tmp_path)
    asked = ("--prior", "tiny", "--prompt", "a fox walking")
    assert run("keyframes", fox, "walk@0", "walk@0.3", *asked, *options) == 0
    assert [path.name for path in sorted(tmp_path.glob("*.mp4"))] == ["video_01.mp4"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("walk@0",), "poses must be at least two, got 1"),
        (("walk@0", "walk@9"), "the clip is"),
        (("walk@0", "walk@0.1", "--prior", "tiny"), "--prior and --prompt must be given together"),
        (("walk@0", "walk@0.1", "--size", 4, 4), "--size must be 16 to 4096 pixels"),
        (("walk@0", "walk@0.1", "--prior", "cogvideox-2b", "--prompt", "a"), "cogvideox-2b"),
    ],
)
def test_keyframes_that_cannot_be_made(files, tmp_path, capsys, arguments, message):
    fox, model = files
    assert run("keyframes", fox, *arguments, "--weights", model, "-o", tmp_path / "out") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
