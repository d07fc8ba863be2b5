"""`akd animate`: what it writes."""

import json
import re

import pytest

from akd.asset.read import read_asset
from akd.cli import main
from akd.distill.run_folder import RunFolder
from akd.export.creature import write_creature
from akd.scene.video import Video
from akd.zoo import build_creature
from tests.commands.animating import DONE, words
from tests.prior.large.tiny_pipelines import build

pytestmark = pytest.mark.slow


def test_everything_is_written_and_nothing_else(finished, fox):
    assert {p.name for p in finished.iterdir()} == {
        "motion.glb", "video.mp4", "grounded.mp4", "metrics.json", "report.html", "run",
        "view.npz",
    }  # fmt: skip
    assert {p.name for p in (finished / "run").iterdir()} == {
        "run.json", "log.jsonl", "lock", "videos.safetensors", "starts.safetensors",
        "distil.safetensors", "distil.before.safetensors", "preview.png",
    }  # fmt: skip
    made, before = read_asset(finished / "motion.glb"), read_asset(fox)
    # Blender shows the first clip of a file: it is the one to use.
    about = json.loads((finished / "metrics.json").read_text())
    names = {"motion": "a fox walking", "grounded": "a fox walking (grounded)"}
    assert about["clips"][0] == about["best"]
    assert [c.name for c in made.clips] == [names[kind] for kind in about["clips"]]
    assert set(about["clips"]) == set(names)
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
        "score distillation gradient, RMS",
        "torque: left hind",
        "vertical ground force",
        "feet on the ground: grounded",
        "contact of each foot",
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


def test_a_bare_mesh_is_rigged_and_says_how_sure_it_is(capsys, shared_assets, weights, tmp_path):
    cow = next((shared_assets / "unrigged/spot").glob("*.obj"))
    out = tmp_path / "out"
    assert main(words(cow, weights, out, prompt="a cow walking")) in DONE
    said = capsys.readouterr().err
    assert re.search(
        rf"{cow.name}: has no skeleton; rigged as a \w+ with \d+ joints, confidence [01]",
        said,
    )
    made = read_asset(out / "motion.glb")
    assert [c.name for c in made.clips] == ["a cow walking"]
    assert len(made.skins) == 1


def test_a_result_without_feet_that_fails_exits_with_3(capsys, weights, tmp_path):
    shark = build_creature("shark", vertices=600)
    write_creature(shark, [], tmp_path / "shark.glb")
    out = tmp_path / "out"
    given = ["animate", str(tmp_path / "shark.glb"), "a shark swimming", "-o", str(out)]
    given += ["--weights", str(weights), "--no-grounded", "--device", "cpu", "--iterations", "0"]
    code = main([*given, "--set", "splats=200", "warm_start.samples=0"])  # it stays rigid
    said = capsys.readouterr()
    found = json.loads((out / "metrics.json").read_text())["motion"]
    assert not found["contact"]
    assert found["fails"]
    assert code == 3
    assert said.out.splitlines()[-1].startswith("use 'a shark swimming': score ")
    assert said.err.splitlines()[-1].startswith(
        f"akd: 'a shark swimming' fails: {found['fails'][0]}"
    )


def test_a_large_prior_by_its_folder_takes_any_prompt(capsys, fox, tmp_path):
    pytest.importorskip("diffusers")
    build("cogvideox-5b", tmp_path).save_pretrained(tmp_path / "pipeline")
    out = tmp_path / "out"
    given = ["animate", str(fox), "a fox dancing", "-o", str(out), "--no-grounded"]
    given += ["--prior", str(tmp_path / "pipeline"), "--device", "cpu", "--iterations", "1"]
    assert main([*given, "--set", "splats=100"]) in DONE
    about = RunFolder(out).read()
    assert about is not None
    assert about["job"]["asked"] != about["job"]["prompt"] == "a fox dancing"
    assert about["job"]["settings"]["warm_start"]["samples"] == 0  # the preset `fast`
    assert [c.name for c in read_asset(out / "motion.glb").clips] == ["a fox dancing"]
