"""`akd batch`: jobs of a file, done once, each as `akd animate` alone makes it."""

import json
import socket
import struct
from pathlib import Path
from types import SimpleNamespace

import pytest

from akd.api.clips import find_motion
from akd.api.loading import load
from akd.asset.read import read_asset
from akd.cli import main
from akd.commands.animate import Animate
from akd.commands.batch_file import read_jobs
from akd.commands.batch_task import with_files
from akd.engine.call import Resources
from tests.commands.animating import DONE, words
from tests.commands.small_prior import QUICK, write_retargeting, write_weights

OPTIONS = f"""
[options]
device = "cpu"
grounded = false
iterations = 6
set = {json.dumps(list(QUICK[1:]))}
"""


def write_jobs(path, text, fox, **options):
    lines = [f"{key} = {json.dumps(value)}" for key, value in options.items()]
    asset = json.dumps(str(fox))
    path.write_text("\n".join([OPTIONS, *lines, text.replace("FOX", asset)]))
    return path


def run(*arguments) -> int:
    return main(["batch", *map(str, arguments)])


@pytest.mark.slow
def test_a_batch_is_its_jobs(fox, weights, tmp_path, capfd):
    broken, huge = tmp_path / "broken.glb", tmp_path / "huge.glb"
    broken.write_bytes(b"glTF" + bytes(40))
    with huge.open("wb") as sparse:
        sparse.write(struct.pack("<4sIII4s", b"glTF", 2, 0xFFFFFFFF, 0xFFFFFFF0, b"JSON"))
        sparse.truncate(1 << 40)
    text = """
        [[product]]
        assets = [FOX]
        prompts = ["a fox walking"]
        seeds = [1]
        [[product]]
        assets = ["broken.glb", "huge.glb"]
        prompts = ["a fox walking"]
        [resources]
        cpus = 1
    """
    jobs = write_jobs(tmp_path / "jobs.toml", text, fox, weights=str(weights))
    out = tmp_path / "out"
    assert run(jobs, "-o", out) == 3
    said = capfd.readouterr()
    assert "index.html: 1 done, 2 failed of 3" in said.out
    for name in ("broken", "huge"):
        (line,) = (line for line in said.err.splitlines() if f"failed  {name}: a fox" in line)
        log = Path(line.rpartition("; see ")[2])
        assert f"{name}.glb: " in line
        assert "Refused" in log.read_text()
    folders = sorted(path for path in out.iterdir() if path.name.startswith("fox-"))
    assert len(folders) == 1
    values = json.loads((folders[0] / "outcome.json").read_text())["values"]
    assert values["fails"]  # random weights walk nowhere
    files = {"motion.glb", "video.mp4", "metrics.json", "report.html", "preview.png", "view.npz"}
    assert {path.name for path in folders[0].iterdir()} == {*files, "outcome.json"}
    page = (out / "index.html").read_text()
    assert page.count("data:image/png") == 1
    assert "http" not in page.replace("http://www.w3.org", "")

    kept = {path: path.stat().st_mtime_ns for path in out.glob("fox-*/*")}
    assert run(jobs, "-o", out) == 3
    assert "1 earlier, 2 failed of 3" in capfd.readouterr().out
    assert kept == {path: path.stat().st_mtime_ns for path in out.glob("fox-*/*")}

    assert run(jobs, "-o", tmp_path / "other", "--engine", "shell") == 0
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 3
    command = lines[0].split()
    assert command[:2] == ["akd", "batch"]
    assert main(command[1:]) == 0
    alone = tmp_path / "alone"
    assert main([*words(fox, weights, alone, "--seed", "1")]) in DONE
    (folder,) = (tmp_path / "other").glob("fox-*")
    assert folder.name in {path.name for path in folders}
    for name in ("motion.glb", "video.mp4", "metrics.json", "preview.png", "outcome.json"):
        first = (out / folder.name / name).read_bytes()
        assert (folder / name).read_bytes() == first, name
        if (alone / name).exists():
            assert (alone / name).read_bytes() == first, name


@pytest.mark.slow
def test_jobs_that_share_predictions_are_those_alone_up_to_rounding(fox, weights, tmp_path):
    # One sample: which of several is the best fit may hang on rounding.
    settings = [s.replace("samples=2", "samples=1") for s in QUICK[1:]]
    text = """
        [[product]]
        assets = [FOX]
        prompts = ["a fox walking"]
        seeds = [1, 2]
        [resources]
        cpus = 1
    """
    jobs = write_jobs(tmp_path / "jobs.toml", text, fox, weights=str(weights))
    jobs.write_text(jobs.read_text().replace(json.dumps(list(QUICK[1:])), json.dumps(settings)))
    out = tmp_path / "out"
    assert run(jobs, "-o", out, "--together", "2") == 0
    alone, (folder,) = tmp_path / "alone", out.glob("fox-*-seed-1-*")
    assert main(words(fox, weights, alone, "--seed", "1", "--set", *settings)) in DONE
    turned = [
        find_motion(load(place / "motion.glb"), None).pose.rotation for place in (alone, folder)
    ]
    assert turned[0].shape == turned[1].shape
    assert float((turned[0] - turned[1]).abs().max()) < 0.03


@pytest.mark.parametrize("named", [True, False])
def test_a_ray_cluster_that_is_not_there_is_one_line(fox, tmp_path, capsys, monkeypatch, named):
    pytest.importorskip("ray")
    text = '[[job]]\nasset = FOX\nprompt = "a fox walking"\n'
    jobs = write_jobs(tmp_path / "jobs.toml", text, fox)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"  # closed again: nobody answers there
    options = ["--address", address] if named else []
    if not named:
        monkeypatch.setenv("RAY_ADDRESS", address)
    assert run(jobs, "-o", tmp_path / "out", "--engine", "ray", *options) == 2
    (line,) = capsys.readouterr().err.splitlines()
    start = f"--address {address}" if named else "--engine ray"
    assert line.startswith(f"akd: {start}: no Ray cluster answers ({address}: ")
    assert not (tmp_path / "out").exists()


def test_a_ray_that_does_not_start_is_one_line(fox, tmp_path, capsys, monkeypatch):
    ray = pytest.importorskip("ray")

    def start(**_):
        raise Exception("The current node timed out during startup.")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", start)
    jobs = write_jobs(tmp_path / "jobs.toml", '[[job]]\nasset = FOX\nprompt = "a fox walking"', fox)
    assert run(jobs, "-o", tmp_path / "out", "--engine", "ray") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("akd: --engine ray: no Ray cluster answers (The current node timed out")


@pytest.mark.slow
def test_clips_are_retargeted_to_many_bodies(tmp_path, capfd):
    jobs = write_retargeting(tmp_path)
    out = tmp_path / "out"
    assert run(jobs, "-o", out) == 3
    said = capfd.readouterr()
    assert "index.html: 4 done, 1 failed of 5" in said.out
    assert "failed  man: walk on dog" in said.err
    assert "has 2 legs and dog.glb has 4 legs" in said.err
    for clip in ("walk", "stand"):
        for body in ("child", "woman"):
            (folder,) = out.glob(f"man-{clip}-on-{body}-*")
            names = {path.name for path in folder.iterdir()}
            assert names == {"motion.glb", "metrics.json", "preview.png", "outcome.json"}
            assert [found.name for found in read_asset(folder / "motion.glb").clips] == [clip]
    assert run(jobs, "-o", tmp_path / "other", "--engine", "shell") == 0
    command = capfd.readouterr().out.splitlines()[0].split()
    assert main(command[1:]) == 0
    (folder,) = (tmp_path / "other").glob("man-*")
    for path in folder.iterdir():
        assert path.read_bytes() == (out / folder.name / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[job", "is not valid TOML"),
        ("x = " + "9" * 5000, "is not valid TOML"),
        ("x" + ".x" * 100_000 + " = 1", "is not valid TOML (a key must have at most 100 names"),
        ("", "holds no jobs"),
        ("\ufeff", "holds no jobs"),  # editors on Windows begin files so
        ("[[jobs]]", "'jobs' is unknown; known are job, options, product, resources"),
        ("[[job]]\nasset = FOX", "job 1: prompt is missing"),
        ("[[job]]\nasset = FOX\nprompt = ''", "job 1: prompt must be a string that is not empty"),
        ("[[job]]\nasset = 'no.glb'\nprompt = 'a fox walking'", "no.glb: there is no such file"),
        (
            "[[job]]\nasset = '/dev/zero'\nprompt = 'a fox walking'",
            "job 1: /dev/zero: must be a regular file",
        ),
        ("[[job]]\nasset = FOX\nprompt = 'a fox cooking'", "job 1: "),
        ("[[job]]\nasset = FOX\nprompt = 'a fox walking'\nseed = 1.5", "seed must be of type"),
        ("[[job]]\nasset = FOX\nprompt = 'a fox walking'\nseed = -1", "--seed must be from 0"),
        ("[[job]]\nasset = FOX\nprompt = 'a fox walking'\npreset = 'x'", "job 1: preset"),
        (
            "[[job]]\nasset = FOX\nprompt = 'a fox walking'\nprior = 'sora'",
            "job 1: prior 'sora' is not known: it must be tiny, a folder, or one of cogvideox-2b",
        ),
        (
            "[[job]]\nasset = FOX\nprompt = 'a fox walking'\nweights = 'none'",
            "none: there is no such folder",
        ),
        ("[[job]]\nasset = FOX\nprompt = 'a fox walking'\nout = 'x'", "'out' is unknown"),
        (
            "[[job]]\nasset = FOX\nprompt = 'a fox walking'\nspeed = -1",
            "job 1: --speed must be above",
        ),
        (
            "[[job]]\nasset = FOX\nprompt = 'a fox walking'\nkeyframe = ['x']",
            "job 1: keyframe must be SECONDS=POSE",
        ),
        (
            "[[job]]\nasset = FOX\nprompt = 'a fox walking'\nkeyframe = [1]",
            "job 1: keyframe must be of type",
        ),
        (
            "[[job]]\nasset = FOX\nprompt = 'a fox walking'\nheight = nan",
            "job 1: --height must be in metres, above zero and below 1e6, got nan",
        ),
        (
            "[[job]]\nasset = FOX\nprompt = 'a fox walking'\nup = 'w'",
            "job 1: --up must be auto, x, y or z, got 'w'",
        ),
        (
            "[[job]]\ntask = 'retarget'\nclip = FOX\ntarget = FOX\nheight = 0",
            "job 1: --height must be in metres",
        ),
        ("[[product]]\nassets = [FOX]", "product 1: prompts is missing"),
        ("[[product]]\nassets = [FOX]\nprompts = []", "prompts must be a list with items, got []"),
        ("product = 3", "product must be tables, written [[product]]"),
        ("[[job]]\ntask = 'dance'", "job 1: task must be one of animate, retarget, got 'dance'"),
        ("[[job]]\ntask = 'retarget'\nclip = FOX", "job 1: target is missing"),
        ("[[job]]\ntask = 'retarget'\nclip = FOX\ntarget = 'x'", "x: there is no such file"),
        ("[[job]]\ntask = 'retarget'\nseed = 1", "'seed' is unknown; known are clip, clip_roles"),
        (
            "[[job]]\ntask = 'retarget'\nclip = FOX\ntarget = FOX\nmap = ['a']",
            "job 1: --map must be SOURCE=TARGET",
        ),
        (
            "[options]\nseed = 1\n[[product]]\ntask = 'retarget'\nclips = [FOX]\ntargets = [FOX]",
            "product 1: 'seed' of [options] is not an option of retarget",
        ),
        ("[resources]\ncpus = 0", "cpus must be a whole number from 1 to 1024, got 0"),
        ("[resources]\ngpus = -1", "gpus must be from 0 to 64, got -1"),
    ],
)
def test_wrong_files_are_one_line(text, message, fox, tmp_path, capsys):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(text.replace("FOX", json.dumps(str(fox))))
    assert run(jobs, "-o", tmp_path / "out") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / "out").exists()


def test_a_folder_of_weights_is_a_prior(fox, tmp_path):
    """Its path is relative to the file, and its content is part of the job's id."""
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(
        f"[[product]]\nassets = [{json.dumps(str(fox))}]\nprompts = ['a fox walking']\n"
        f"priors = ['tiny', 'second']"
    )
    write_weights(tmp_path / "second")
    tiny, second = read_jobs(jobs, lambda prior, device: Resources())
    assert second.arguments["options"]["prior"] == str(tmp_path / "second")
    assert "(second, seed 0)" in second.label
    write_weights(tmp_path / "second", frames=6)
    again = read_jobs(jobs, lambda prior, device: Resources())
    assert again[0].id == tiny.id
    assert again[1].id != second.id


def test_files_of_keyframes_belong_to_the_job(fox, tmp_path):
    """Their paths are relative to the file, and their content is part of the job's id."""
    jobs, pose = tmp_path / "jobs.toml", tmp_path / "pose.glb"
    jobs.write_text(
        f"[[job]]\nasset = {json.dumps(str(fox))}\nprompt = 'a fox walking'\n"
        f"keyframe = ['0.2=walk@1', '0.4=pose.glb@0.5', '0.6=pose.glb']"
    )
    found = []
    for content in (b"first", b"second"):
        pose.write_bytes(content)
        found += read_jobs(jobs, lambda prior, device: Resources())
    assert found[0].id != found[1].id
    assert {k: v for k, v in found[0].files.items() if k != "file"} == {
        "keyframe_1": pose, "keyframe_2": pose
    }  # fmt: skip
    there = {name: Path("/node") / path.name for name, path in found[0].files.items()}
    given = with_files(found[0].arguments["options"], there)
    assert given["keyframe"] == [
        "0.2=walk@1", "0.4=/node/pose.glb@0.5", "0.6=/node/pose.glb@0.0"
    ]  # fmt: skip
    assert given["file"] == f"/node/{fox.name}"


def test_wrong_options_are_refused(fox, tmp_path, capsys):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(f"[[job]]\nasset = {json.dumps(str(fox))}\nprompt = 'a fox walking'")
    out = tmp_path / "out"
    assert run(jobs, "-o", out, "--only", "x") == 2
    assert "holds no job with this id" in capsys.readouterr().err
    assert run(jobs, "-o", out, "--address", "auto") == 2
    assert "--address is for --engine ray" in capsys.readouterr().err
    assert run(jobs, "-o", out, "--together", "2", "--engine", "shell") == 2
    assert "--together is for --engine local" in capsys.readouterr().err
    assert run(jobs, "-o", out, "--together", "0") == 2
    assert "--together must be from 1 to 64" in capsys.readouterr().err
    for letter in ("\n", "\udcff"):  # a line for each job, of text
        assert run(jobs, "-o", tmp_path / f"a{letter}b", "--engine", "shell") == 2
        assert "--engine shell needs a path of printable letters" in capsys.readouterr().err
    assert run(tmp_path / "none.toml", "-o", out) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_jobs_that_are_given_twice_count(fox, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("akd.commands.batch_file.MOST_JOBS", 5)
    name = json.dumps(str(fox))
    monkeypatch.setattr(Animate, "checked", None)  # before any is looked at
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(f"[[product]]\nassets = [{name}, {name}]\nprompts = {3 * ['a fox walking']}")
    assert run(jobs, "-o", tmp_path / "out") == 2
    assert "must hold at most 5 jobs" in capsys.readouterr().err


@pytest.mark.slow
def test_a_job_that_was_stopped_while_it_cleaned_up_is_done_again(
    fox, weights, tmp_path, monkeypatch
):
    from akd.commands import batch_task
    from akd.engine.job import Workspace

    place = Workspace(tmp_path / "work", tmp_path, {"file": fox})
    options = {
        "prompt": "a fox walking", "device": "cpu", "grounded": False, "iterations": 6,
        "set": list(QUICK[1:]), "weights": str(weights),
    }  # fmt: skip
    arguments = {"options": options, "threads": 1}

    def stopped(folder):
        (folder / "run.json").unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(batch_task, "shutil", SimpleNamespace(rmtree=stopped))
        with pytest.raises(KeyboardInterrupt):
            batch_task.animate_task(arguments, place)
    before = (place.folder / "motion.glb").read_bytes()
    assert batch_task.animate_task(arguments, place)["best"] == "motion"
    assert (place.folder / "motion.glb").read_bytes() == before
    assert not (place.folder / "run").exists()
