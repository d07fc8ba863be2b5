"""`akd animate` and `akd resume`: what they write, how they go on, and what they refuse."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from small_prior import QUICK, write_fox, write_weights

from akd.asset.read import read_asset
from akd.cli import main
from akd.distill import disk, warm_start
from akd.distill.checkpoint import Checkpoint
from akd.distill.run_folder import RunFolder
from akd.export.gltf.build import build_document
from akd.export.gltf.write import write_glb
from akd.math import transform
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin
from akd.scene.video import Video


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def fox(tmp_path_factory):
    return write_fox(tmp_path_factory.mktemp("fox") / "fox.glb")


def words(fox, weights, out, *more: str, prompt: str = "a fox walking") -> list[str]:
    given = ["animate", str(fox), prompt, "-o", str(out), "--weights", str(weights)]
    return [*given, "--no-grounded", "--device", "cpu", "--iterations", "6", *QUICK, *more]


def refused(capsys, arguments: list[str]) -> str:
    assert main(arguments) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("akd: ")]
    lines = [line for line in said if not line.startswith("akd: note:")]
    assert len(lines) == 1, said
    return lines[0].removeprefix("akd: ")


@pytest.fixture(scope="module")
def finished(fox, weights, tmp_path_factory):
    """One whole run, with physics for two iterations."""
    out = tmp_path_factory.mktemp("finished")
    given = [w for w in words(fox, weights, out) if w != "--no-grounded"]
    assert main([*given, "--physics-iterations", "2"]) == 0
    return out


@pytest.fixture(scope="module")
def uninterrupted(fox, weights, tmp_path_factory):
    out = tmp_path_factory.mktemp("uninterrupted")
    assert main(words(fox, weights, out)) == 0
    return out


def test_everything_is_written_and_nothing_else(finished, fox):
    assert {p.name for p in finished.iterdir()} == {
        "motion.glb", "video.mp4", "grounded.mp4", "metrics.json", "report.html", "run"
    }  # fmt: skip
    assert {p.name for p in (finished / "run").iterdir()} == {
        "run.json", "log.jsonl", "videos.safetensors", "start.safetensors", "state.safetensors",
        "preview.png",
    }  # fmt: skip
    made, before = read_asset(finished / "motion.glb"), read_asset(fox)
    assert [c.name for c in made.clips] == ["a fox walking", "a fox walking (grounded)"]
    assert [n.name for n in made.nodes] == [n.name for n in before.nodes]
    # The prior's video lasts 3/8 s; the cycle of a fox's walk is longer and is written whole.
    assert 3 / 8 < made.clips[0].end < 1.0


def test_the_video_shows_the_clip(finished):
    video = Video.read(finished / "video.mp4")
    assert video.frames.shape[1:] == (360, 640, 3)
    (clip, _) = read_asset(finished / "motion.glb").clips
    assert len(video) == int(24.0 * clip.end + 1e-6) + 1


def test_metrics_hold_start_motion_and_grounded_with_verdicts(finished):
    metrics = json.loads((finished / "metrics.json").read_text())
    assert metrics["prompt"] == "a fox walking"
    for name in ("start", "motion", "grounded"):
        assert set(metrics[name]) >= {"travel", "skate", "verdict", "score", "fails"}
    assert metrics["start"]["verdict"].startswith("gliding")
    assert metrics["physics"]["iterations"] == 2


def test_the_report_stands_on_its_own(finished):
    text = (finished / "report.html").read_text()
    assert text.count("data:video/mp4;base64,") == 2
    assert text.count("data:image/png;base64,") == 2
    assert text.count("<svg") > 10
    for said in (
        "flexion: left fore",
        "loss: score",
        "largest joint torque",
        "ground bears",
        "feet on the ground: grounded.mp4",
        "each foot on the ground",
        "checkpoint_every",
    ):
        assert said in text, said
    links = text.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in links
    assert "https://" not in links


def test_the_log_and_settings_are_kept(finished):
    about = RunFolder(finished).read()
    assert about is not None
    assert about["done"] is True
    assert about["job"]["settings"]["iterations"] == 6
    assert about["job"]["settings"]["warm_start"]["samples"] == 2
    events = [json.loads(line) for line in (finished / "run/log.jsonl").read_text().splitlines()]
    assert [e["event"] for e in events] == ["begins", "done"]


def test_the_same_command_again_says_that_it_is_done(capsys, fox, weights, uninterrupted):
    before = (uninterrupted / "motion.glb").stat().st_mtime_ns
    assert main(words(fox, weights, uninterrupted)) == 0
    assert "was finished already; --overwrite makes it anew" in capsys.readouterr().out
    assert (uninterrupted / "motion.glb").stat().st_mtime_ns == before


def test_a_result_that_is_missing_is_made_again_alike(fox, weights, uninterrupted, tmp_path):
    out = tmp_path / "copy"
    shutil.copytree(uninterrupted, out)
    (out / "motion.glb").unlink()
    assert main(["resume", str(out)]) == 0
    assert (out / "motion.glb").read_bytes() == (uninterrupted / "motion.glb").read_bytes()


def same_result(a: Path, b: Path) -> None:
    for name in ("motion.glb", "video.mp4", "metrics.json"):
        assert (a / name).read_bytes() == (b / name).read_bytes(), name


def stop_after(monkeypatch, writes: int, error: BaseException) -> None:
    """The given error at the given file that is brought to the disk."""
    sync, calls = os.fsync, []

    def stopping(file):
        calls.append(file)
        if len(calls) == writes:
            raise error
        sync(file)

    monkeypatch.setattr(disk.os, "fsync", stopping)


@pytest.mark.parametrize("writes", [2, 3, 4, 5, 6])
def test_a_run_stopped_at_any_stage_goes_on_bit_for_bit(
    capsys, monkeypatch, fox, weights, uninterrupted, tmp_path, writes
):
    """run.json comes first, then the videos, the fit, and the iterations two by two."""
    stop_after(monkeypatch, writes, KeyboardInterrupt())
    assert main(words(fox, weights, tmp_path)) == 130
    said = capsys.readouterr().err
    assert f"akd: stopped; the state is kept, `akd resume {tmp_path}` goes on from there" in said
    assert not (tmp_path / "motion.glb").exists()
    monkeypatch.undo()
    assert main(["resume", str(tmp_path)]) == 0
    same_result(tmp_path, uninterrupted)


@pytest.mark.parametrize("step", [2, 6])
def test_a_run_stopped_within_the_fit_goes_on_bit_for_bit(
    monkeypatch, fox, weights, uninterrupted, tmp_path, step
):
    """Two videos are fitted for two steps each, then the better one for three."""
    compare, calls = warm_start.photometric_loss, []

    def stopping(*given):
        calls.append(given)
        if len(calls) == step:
            raise KeyboardInterrupt
        return compare(*given)

    monkeypatch.setattr(warm_start, "photometric_loss", stopping)
    assert main(words(fox, weights, tmp_path)) == 130
    assert (tmp_path / "run/videos.safetensors").exists()
    assert not (tmp_path / "run/start.safetensors").exists()
    monkeypatch.undo()
    assert main(["resume", str(tmp_path)]) == 0
    same_result(tmp_path, uninterrupted)


def test_a_full_disk_is_one_line_and_loses_nothing(
    capsys, monkeypatch, fox, weights, uninterrupted, tmp_path
):
    stop_after(monkeypatch, 6, OSError(errno.ENOSPC, "No space left on device"))
    message = refused(capsys, words(fox, weights, tmp_path))
    assert message == f"{tmp_path}: No space left on device; what was done so far is kept"
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert Checkpoint.load(
        tmp_path / "run/state.safetensors", belongs_to={"run": RunFolder(tmp_path).digest()}
    ).iteration == 2  # fmt: skip
    monkeypatch.undo()
    assert main(words(fox, weights, tmp_path)) == 0
    same_result(tmp_path, uninterrupted)


AKD = (sys.executable, "-m", "akd")
MANY = ("--iterations", "90", "--set", *QUICK[1:], "checkpoint_every=7")


@pytest.fixture(scope="module")
def alone():
    """The environment of a process of its own."""
    source = Path(__file__).resolve().parents[2] / "src"
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(source)}


@pytest.fixture(scope="module")
def whole_process(fox, weights, alone, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    subprocess.run([*AKD, *words(fox, weights, out, *MANY)], env=alone, check=True)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_real_process_that_is_stopped_loses_little(
    fox, weights, alone, whole_process, tmp_path, number
):
    """At most the checkpoint interval with kill -9, nothing with Ctrl-C; then bit for bit."""
    process = subprocess.Popen(
        [*AKD, *words(fox, weights, tmp_path, *MANY)], env=alone, stderr=subprocess.PIPE, text=True
    )

    def reached() -> int:
        state = tmp_path / "run/state.safetensors"
        if not state.exists():
            return -1
        belongs = {"run": RunFolder(tmp_path).digest()}
        return Checkpoint.load(state, belongs_to=belongs).iteration

    deadline = time.monotonic() + 300
    while reached() < 14 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    at = reached()
    assert 14 <= at < 90
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert f"akd: stopped; the state is kept, `akd resume {tmp_path}` goes on" in said
    else:
        assert process.returncode == -signal.SIGKILL
        assert at % 7 == 0
    assert not (tmp_path / "motion.glb").exists()
    subprocess.run([*AKD, "resume", str(tmp_path)], env=alone, check=True)
    same_result(tmp_path, whole_process)


def test_another_run_in_the_folder_is_refused_and_says_why(capsys, fox, weights, uninterrupted):
    message = refused(capsys, words(fox, weights, uninterrupted, prompt="a fox trotting"))
    assert message.startswith(f'{uninterrupted}: holds another run (prompt "a fox walking", now')
    assert message.endswith("choose another folder, or start anew with --overwrite")
    message = refused(capsys, words(fox, weights, uninterrupted, "--seed", "7"))
    assert f"{uninterrupted}: holds another run (seed 0, now 7)" in message
    message = refused(capsys, words(fox, weights, uninterrupted, "--iterations", "9"))
    assert "(settings.iterations 6, now 9)" in message


def test_another_asset_or_prior_under_the_same_name_is_refused(
    capsys, fox, weights, uninterrupted, tmp_path
):
    other = write_weights(tmp_path / "weights")
    part = next(other.glob("tiny-*.safetensors"))
    data = bytearray(part.read_bytes())
    data[-1] ^= 1
    part.write_bytes(bytes(data))
    message = refused(capsys, words(fox, other, uninterrupted))
    assert "holds another run (another prior)" in message
    changed = tmp_path / "fox.glb"
    changed.write_bytes(fox.read_bytes() + b"\0\0\0\0")
    message = refused(capsys, ["resume", str(uninterrupted), "--file", str(changed)])
    assert "holds another run (another asset)" in message


def test_files_that_no_run_left_are_not_written_over(capsys, fox, weights, tmp_path):
    (tmp_path / "motion.glb").write_bytes(b"mine")
    message = refused(capsys, words(fox, weights, tmp_path))
    assert message == (
        f"{tmp_path}: holds motion.glb, which no run left there: choose another folder, or write "
        f"over it with --overwrite"
    )
    assert (tmp_path / "motion.glb").read_bytes() == b"mine"


def test_overwrite_begins_anew(capsys, fox, weights, uninterrupted, tmp_path):
    out = tmp_path / "copy"
    shutil.copytree(uninterrupted, out)
    (out / "notes.txt").write_text("mine")
    assert main(words(fox, weights, out, "--overwrite", "--seed", "3")) == 0
    assert (out / "motion.glb").read_bytes() != (uninterrupted / "motion.glb").read_bytes()
    assert (out / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_one_line(capsys, fox, weights, tmp_path):
    (tmp_path / "file").write_text("")
    message = refused(capsys, words(fox, weights, tmp_path / "file" / "out"))
    assert message.endswith(": Not a directory")


def test_resume_needs_a_run_and_its_file(capsys, fox, weights, uninterrupted, tmp_path):
    assert refused(capsys, ["resume", str(tmp_path)]) == f"{tmp_path}: holds no run to go on with"
    out = tmp_path / "copy"
    shutil.copytree(uninterrupted, out)
    about = json.loads((out / "run/run.json").read_text())
    about["options"]["file"] = "/nowhere/fox.glb"
    (out / "run/run.json").write_text(json.dumps(about))
    message = refused(capsys, ["resume", str(out)])
    assert message == "/nowhere/fox.glb: there is no such file; give it with --file"
    (out / "run/run.json").write_text("{")
    assert "run.json: cannot be read" in refused(capsys, ["resume", str(out)])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--preset", "huge"), "preset must be one of tiny, paper, fast; got 'huge'"),
        (("--prior", "sora"), "sora"),
        (("--iterations", "-1"), "--iterations must be from 0 to 1000000, got -1"),
        (("--fps", "0"), "--fps must be from 1 to 240, got 0"),
        (("--seed", "-1"), "--seed must be from 0 to 2^63 - 1, got -1"),
        (("--up", "w"), "--up must be x, y or z, got 'w'"),
        (("--device", "tpu"), "device must be auto, cpu or cuda, got 'tpu'"),
        (("--set", "speed"), "--set takes name=value, such as score.guidance=50; got 'speed'"),
        (("--set", "score.volume=3"), "--set score.volume: there is no such setting"),
        (("--set", "score.guidance=high"), "--set score.guidance: must be float, got 'high'"),
        (("--physics-iterations", "0"), "--physics-iterations must be from 1 to 100000, got 0"),
    ],
)
def test_options_that_make_no_sense(capsys, fox, weights, tmp_path, more, message):
    assert message in refused(capsys, words(fox, weights, tmp_path / "out", *more))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("  ", "the prompt is empty: say what the character does"),
        ("walk " * 2000, "the prompt must be at most 1000 letters, got 10000"),
        ("a fox flying", "the tiny prior knows no such action"),
    ],
)
def test_prompts_that_cannot_be_followed(capsys, fox, weights, tmp_path, prompt, message):
    assert message in refused(capsys, words(fox, weights, tmp_path / "out", prompt=prompt))


def test_weights_that_are_not_there(capsys, fox, tmp_path):
    message = refused(capsys, words(fox, tmp_path, tmp_path / "out"))
    assert message.startswith(f"{tmp_path}: holds no weights of the tiny prior")


def chain(path: Path, joints: int, *, skinned: bool = True) -> Path:
    """A chain of boxes, one a joint, standing upright."""
    count = max(joints, 1)
    boxes, faces, bones = [], [], []
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (0, 1) for z in (-1, 1)], dtype=float)
    box = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
           (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
    for joint in range(count):
        boxes.append(corners * (0.05, 1.0 / count, 0.05) + (0, joint / count, 0))
        faces += [tuple(8 * joint + i for i in face) for face in box]
        bones += [joint] * 8
    vertices = torch.tensor(np.concatenate(boxes), dtype=torch.float32)
    rest = Pose.identity(count)
    offset = rest.translation.clone()
    offset[1:, 1] = 1.0 / count
    skeleton = Skeleton(
        tuple(f"bone{i}" for i in range(count)), (-1, *range(count - 1)),
        Pose(offset, rest.rotation, rest.scale),
    )  # fmt: skip
    skin = Skin(
        torch.arange(count), transform.inverse(skeleton.forward(skeleton.rest)),
        torch.tensor(bones)[:, None], torch.ones(len(bones), 1),
    )  # fmt: skip
    mesh = SkinnedMesh(vertices, torch.tensor(faces), skin, torch.full_like(vertices, 0.5))
    write_glb(build_document(mesh, skeleton, name="chain"), path)
    return path


def test_one_joint_is_not_enough(capsys, weights, tmp_path):
    post = chain(tmp_path / "post.glb", 1)
    assert refused(capsys, words(post, weights, tmp_path / "out")) == (
        "post.glb: must have at least 2 joints that move its mesh, got 1; `akd rig` makes a "
        "skeleton"
    )


def test_three_hundred_joints_without_feet_are_nothing_for_the_tiny_prior(
    capsys, weights, tmp_path
):
    snake = chain(tmp_path / "snake.glb", 300)
    message = refused(capsys, words(snake, weights, tmp_path / "out"))
    assert message == (
        "snake.glb: the tiny prior knows bodies with two or four legs, this one has 0; other "
        "bodies need a large prior (`akd prior list`)"
    )


def test_a_body_on_its_side_is_told_how_to_stand_up(capsys, fox, weights, tmp_path):
    message = refused(capsys, words(fox, weights, tmp_path / "out", "--up", "z"))
    assert message == (
        "fox.glb: lies on its side: with z up no foot is on the ground, with y up it stands on 4 "
        "legs; give --up y"
    )


def test_a_file_without_a_mesh_is_refused(capsys, weights, tmp_path):
    bvh = tmp_path / "bones.bvh"
    bvh.write_text(
        "HIERARCHY\nROOT hip\n{\nOFFSET 0 1 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
        "End Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n"
    )
    message = refused(capsys, words(bvh, weights, tmp_path / "out"))
    assert message == "bones.bvh: has no mesh to show to a video model"


def test_a_bare_mesh_is_rigged_and_says_how_sure_it_is(capsys, shared_assets, weights, tmp_path):
    cow = next((shared_assets / "unrigged/spot").glob("*.obj"))
    out = tmp_path / "out"
    assert main(words(cow, weights, out, prompt="a cow walking")) == 0
    said = capsys.readouterr().err
    assert re.search(
        rf"{cow.name}: has no skeleton; rigged as a \w+ with \d+ joints, confidence [01]",
        said,
    )
    assert (out / "run/rigged.glb").exists()
    made = read_asset(out / "motion.glb")
    assert [c.name for c in made.clips] == ["a cow walking"]
    assert len(made.skins) == 1


def test_a_large_prior_by_its_folder_takes_any_prompt(capsys, fox, tmp_path):
    pytest.importorskip("diffusers")
    large = str(Path(__file__).resolve().parents[1] / "prior/large")
    sys.path.insert(0, large)
    try:
        from tiny_pipelines import build  # pyright: ignore[reportMissingImports]
    finally:
        sys.path.remove(large)
    build("cogvideox-5b", tmp_path).save_pretrained(tmp_path / "pipeline")
    out = tmp_path / "out"
    given = ["animate", str(fox), "a fox dancing", "-o", str(out), "--no-grounded"]
    given += ["--prior", str(tmp_path / "pipeline"), "--device", "cpu", "--iterations", "1"]
    assert main([*given, "--set", "splats=100"]) == 0
    about = RunFolder(out).read()
    assert about is not None
    assert about["job"]["asked"] != about["job"]["prompt"] == "a fox dancing"
    assert about["job"]["settings"]["warm_start"]["samples"] == 0  # the preset `fast`
    assert [c.name for c in read_asset(out / "motion.glb").clips] == ["a fox dancing"]


def test_the_demo_is_the_whole_job_on_the_built_in_fox(capsys, weights, tmp_path):
    given = ["demo", "-o", str(tmp_path), "--weights", str(weights), "--no-grounded"]
    given += ["--device", "cpu", "--iterations", "2", *QUICK]
    assert main(given) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"{tmp_path / 'fox.glb'}: a fox of 5,000 vertices, without any motion"
    assert said[-1].startswith("done in ")
    assert not read_asset(tmp_path / "fox.glb").clips
    assert [c.name for c in read_asset(tmp_path / "motion.glb").clips] == ["a fox walking"]
    assert main(given) == 0
    assert "was finished already" in capsys.readouterr().out


def test_the_demo_writes_over_nobodys_fox(capsys, weights, tmp_path):
    (tmp_path / "fox.glb").write_bytes(b"mine")
    message = refused(capsys, ["demo", "-o", str(tmp_path), "--weights", str(weights)])
    assert "fox.glb: is there already, and no demo left it there" in message
    assert (tmp_path / "fox.glb").read_bytes() == b"mine"
