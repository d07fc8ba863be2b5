"""`akd animate` that is stopped goes on to the same result, bit for bit."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from akd.cli import main
from akd.distill.checkpoint import Checkpoint, unpack
from akd.distill.run_folder import RunFolder
from akd.fit import warm_start
from tests.base.clock import set_back
from tests.commands.animating import DONE, refused, same_result, stop_after, words
from tests.commands.small_prior import QUICK

pytestmark = pytest.mark.slow


def reached(out: Path) -> int:
    """The iteration that the first finalist's checkpoint is at; -1 where there is none."""
    found = RunFolder(out).load("distil")
    return -1 if found is None else Checkpoint.from_tensors(unpack(found)[0]).iteration


def test_the_same_command_again_says_that_it_is_done(capsys, fox, weights, uninterrupted):
    before = (uninterrupted / "motion.glb").stat().st_mtime_ns
    assert main(words(fox, weights, uninterrupted)) in DONE
    assert "is finished already; --overwrite starts over" in capsys.readouterr().out
    assert (uninterrupted / "motion.glb").stat().st_mtime_ns == before


def test_a_result_that_is_missing_is_made_again_alike(fox, weights, uninterrupted, tmp_path):
    out = tmp_path / "copy"
    shutil.copytree(uninterrupted, out)
    (out / "motion.glb").unlink()
    assert main(["resume", str(out)]) in DONE
    assert (out / "motion.glb").read_bytes() == (uninterrupted / "motion.glb").read_bytes()


@pytest.mark.parametrize("writes", [2, 3, 4, 5, 6])
def test_a_run_stopped_at_any_stage_goes_on_bit_for_bit(
    capsys, monkeypatch, fox, weights, uninterrupted, tmp_path, writes
):
    """run.json comes first, then the videos, the fits, two finalists' iterations by twos."""
    stop_after(monkeypatch, writes, KeyboardInterrupt())
    assert main(words(fox, weights, tmp_path)) == 130
    said = capsys.readouterr().err
    resume = f"`akd resume {tmp_path}` continues from there"
    nothing = "nothing was saved yet; the same command starts over"
    assert f"akd: stopped; {nothing}" in said if writes == 2 else resume in said
    assert not (tmp_path / "motion.glb").exists()
    monkeypatch.undo()
    assert main(["resume", str(tmp_path)]) in DONE
    same_result(tmp_path, uninterrupted)


@pytest.mark.parametrize("step", [2, 5])
def test_a_run_stopped_within_the_fit_goes_on_bit_for_bit(
    monkeypatch, fox, weights, uninterrupted, tmp_path, step
):
    """Two videos are fitted together for two steps, then the better ones for three."""
    compare, calls = warm_start.photometric_loss, []

    def stopping(*given):
        calls.append(given)
        if len(calls) == step:
            raise KeyboardInterrupt
        return compare(*given)

    monkeypatch.setattr(warm_start, "photometric_loss", stopping)
    assert main(words(fox, weights, tmp_path)) == 130
    assert (tmp_path / "run/videos.safetensors").exists()
    assert not (tmp_path / "run/starts.safetensors").exists()
    monkeypatch.undo()
    assert main(["resume", str(tmp_path)]) in DONE
    same_result(tmp_path, uninterrupted)


def test_a_full_disk_is_one_line_and_loses_nothing(
    capsys, monkeypatch, fox, weights, uninterrupted, tmp_path
):
    stop_after(monkeypatch, 6, OSError(errno.ENOSPC, "No space left on device"))
    message = refused(capsys, words(fox, weights, tmp_path))
    checkpoint = tmp_path / "run/distil.safetensors"
    assert message == f"{checkpoint}: No space left on device; what was done so far is saved"
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert reached(tmp_path) == 2
    monkeypatch.undo()
    assert main(words(fox, weights, tmp_path)) in DONE
    same_result(tmp_path, uninterrupted)


def test_a_folder_deleted_under_a_run_is_written_again(
    capsys, monkeypatch, fox, weights, uninterrupted, tmp_path
):
    out, save = tmp_path / "out", RunFolder.save

    def deleting(self, name, tensors):
        save(self, name, tensors)
        if name == "starts":
            shutil.rmtree(out)

    monkeypatch.setattr(RunFolder, "save", deleting)
    assert main(words(fox, weights, out)) in DONE
    same_result(out, uninterrupted)
    assert main(words(fox, weights, out)) in DONE
    assert "is finished already" in capsys.readouterr().out


def test_a_clock_that_is_set_back_changes_nothing(
    monkeypatch, fox, weights, uninterrupted, tmp_path
):
    """While the run goes on, and between its two parts."""
    set_back(monkeypatch)
    with monkeypatch.context() as stopped:
        stop_after(stopped, 5, KeyboardInterrupt())
        assert main(words(fox, weights, tmp_path)) == 130
    assert main(["resume", str(tmp_path)]) in DONE
    same_result(tmp_path, uninterrupted)
    lines = (tmp_path / "run/log.jsonl").read_text().splitlines()
    times = [json.loads(line)["time"] for line in lines]
    assert times == sorted(times, reverse=True)


AKD = (sys.executable, "-m", "akd")
MANY = ("--iterations", "60", "--set", *QUICK[1:], "checkpoint_every=7")


@pytest.fixture(scope="module")
def alone():
    """The environment of a process of its own."""
    source = Path(__file__).resolve().parents[2] / "src"
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(source)}


@pytest.fixture(scope="module")
def whole_process(fox, weights, alone, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    command = [*AKD, *words(fox, weights, out, *MANY)]
    assert subprocess.call(command, env=alone) in DONE
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

    deadline = time.monotonic() + 300
    while reached(tmp_path) < 14 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    at = reached(tmp_path)
    assert 14 <= at < 60
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "akd: stopped; saved: sampled videos, fitted motions, distillation" in said
    else:
        assert process.returncode == -signal.SIGKILL
        assert at % 7 == 0
    assert not (tmp_path / "motion.glb").exists()
    assert subprocess.call([*AKD, "resume", str(tmp_path)], env=alone) in DONE
    same_result(tmp_path, whole_process)
