"""The folder that `akd animate` writes to belongs to one run."""

import json
import shutil

import pytest

from akd.cli import main
from tests.commands.animating import DONE, refused, words
from tests.commands.small_prior import write_weights

pytestmark = pytest.mark.slow


def test_another_run_in_the_folder_is_refused_and_says_why(capsys, fox, weights, uninterrupted):
    message = refused(capsys, words(fox, weights, uninterrupted, prompt="a fox trotting"))
    assert message.startswith(f'{uninterrupted}: holds another run (prompt "a fox walking", now')
    assert message.endswith("choose another folder, or start over with --overwrite")
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
        f"{tmp_path}: holds motion.glb, which no run wrote: choose another folder, or "
        f"pass --overwrite"
    )
    assert (tmp_path / "motion.glb").read_bytes() == b"mine"


def test_overwrite_begins_anew(capsys, fox, weights, uninterrupted, tmp_path):
    out = tmp_path / "copy"
    shutil.copytree(uninterrupted, out)
    (out / "notes.txt").write_text("mine")
    assert main(words(fox, weights, out, "--overwrite", "--seed", "3")) in DONE
    assert (out / "motion.glb").read_bytes() != (uninterrupted / "motion.glb").read_bytes()
    assert (out / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_one_line(capsys, fox, weights, tmp_path):
    (tmp_path / "file").write_text("")
    message = refused(capsys, words(fox, weights, tmp_path / "file" / "out"))
    assert message.endswith(": Not a directory")


def test_resume_needs_a_run_and_its_file(capsys, fox, weights, uninterrupted, tmp_path):
    assert refused(capsys, ["resume", str(tmp_path)]) == f"{tmp_path}: holds no run to resume"
    out = tmp_path / "copy"
    shutil.copytree(uninterrupted, out)
    about = json.loads((out / "run/run.json").read_text())
    about["options"]["file"] = "/nowhere/fox.glb"
    (out / "run/run.json").write_text(json.dumps(about))
    message = refused(capsys, ["resume", str(out)])
    assert message == "/nowhere/fox.glb: there is no such file; give it with --file"
    (out / "run/run.json").write_text("{")
    assert "run.json: cannot be read" in refused(capsys, ["resume", str(out)])
