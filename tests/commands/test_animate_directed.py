"""`akd animate` with several actions in a row, and with direction."""

import json
import os
from pathlib import Path

import pytest

from akd.asset.read import read_asset
from akd.cli import main
from akd.commands.animate import Animate
from tests.commands.animating import DONE, refused, words


@pytest.mark.slow
def test_actions_in_a_row_become_one_clip(fox, weights, tmp_path):
    prompt = "a fox walks, then jumps"
    more = ("--duration", "1.5", "--iterations", "1")
    assert main(words(fox, weights, tmp_path, *more, prompt=prompt)) in DONE
    clips = [clip for clip in read_asset(tmp_path / "motion.glb").clips if clip.name == prompt]
    assert len(clips) == 1
    assert clips[0].end == pytest.approx(1.5, abs=0.05)
    job = json.loads((tmp_path / "run" / "run.json").read_text())["job"]
    assert job["parts"] == ["a fox walks", "a fox jumps"]
    assert job["direction"]["duration"] == 1.5


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--duration", "0"), "--duration must be from 0.1"),
        (("--speed", "-1"), "--speed must be above 0"),
        (("--path", "1,2 3"), "--path must be points"),
        (("--path", "1e300,1e300"), "--path must stay within 12000 metres"),
        (("--path", "1,1", "--turn", "9"), "--turn and path exclude each other"),
        (("--keep", "head"), "--keep must be CLIP:JOINT,JOINT"),
        (("--keyframe", "now=walk@1"), "--keyframe must be SECONDS=POSE"),
        (("--keyframe", "inf=walk@1"), "--keyframe must be SECONDS=POSE"),
        (("--keyframe", "0.2=@1"), "--keyframe must be SECONDS=POSE"),
        (("--keyframe", "0.2=walk@nan"), "--keyframe must end in @SECONDS"),
    ],
)
def test_a_wrong_direction_is_said_before_any_work(fox, weights, tmp_path, capsys, more, said):
    assert said in refused(capsys, words(fox, weights, tmp_path, *more))


def test_files_are_known_from_any_working_directory(fox, weights, tmp_path, monkeypatch):
    monkeypatch.chdir(fox.parent)
    command = Animate(
        Path(fox.name), tmp_path, "a fox walking", prior=os.path.relpath(weights),
        keyframe=(f"0.25={fox.name}@0.5", f"1={fox.name}", "0.75=walk@1"),
    )  # fmt: skip
    values = command.options()
    assert values["file"] == str(fox)
    assert values["prior"] == str(weights)
    assert values["keyframe"] == [f"0.25={fox}@0.5", f"1.0={fox}@0.0", "0.75=walk@1"]
