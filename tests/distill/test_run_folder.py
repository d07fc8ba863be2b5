"""A run folder survives damage, refuses links and other processes, and trusts nothing in it."""

import json
import os
from pathlib import Path

import pytest
import torch

from akd.base.files import DamagedFile
from akd.distill.run_folder import RunError, RunFinished, RunFolder

JOB = {"prompt": "a fox walking", "seed": 0}


def started(out: Path, **options) -> RunFolder:
    folder = RunFolder(out, results=["motion.glb"], **options)
    folder.start(JOB)
    return folder


def values(number: float) -> dict[str, torch.Tensor]:
    return {"x": torch.full((3, 2), number), "step": torch.tensor(number), "none": torch.zeros(0)}


def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path: Path) -> None:
    folder = started(tmp_path)
    for number in (1.0, 2.0, 3.0):
        folder.save("distil-1", values(number))
    path = folder.checkpoint("distil-1")
    sound = path.read_bytes()
    generator = torch.Generator().manual_seed(0)
    for _ in range(60):
        at = int(torch.randint(len(sound) * 8, (), generator=generator))
        broken = bytearray(sound)
        broken[at // 8] ^= 1 << (at % 8)
        path.write_bytes(bytes(broken))
        kept = folder.load("distil-1")
        assert kept is not None
        # Padding of the header carries nothing.
        assert float(kept["step"]) in (2.0, 3.0)
        assert float(kept["step"]) == 2.0 or torch.equal(kept["x"], torch.full((3, 2), 3.0))
    for length in (0, 7, 100, len(sound) - 1):
        path.write_bytes(sound[:length])
        kept = folder.load("distil-1")
        assert kept is not None
        assert float(kept["step"]) == 2.0
    assert '"damaged"' in (folder.path / "log.jsonl").read_text()


def test_without_a_sound_checkpoint_the_phase_starts_again(tmp_path: Path) -> None:
    folder = started(tmp_path)
    folder.save("videos", values(1.0))
    folder.checkpoint("videos").write_bytes(b"")
    assert folder.load("videos") is None
    assert folder.load("starts") is None


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    first = started(tmp_path)
    with pytest.raises(RunError, match="another process writes to it"):
        started(tmp_path)
    with pytest.raises(RunError, match="another process writes to it"):
        started(tmp_path, overwrite=True)
    del first
    started(tmp_path)


def test_a_finished_run_that_lost_a_result_is_continued(tmp_path: Path) -> None:
    folder, result = started(tmp_path), tmp_path / "motion.glb"
    result.write_bytes(b"a clip")
    folder.finish()
    folder.close()
    with pytest.raises(RunFinished):
        started(tmp_path)
    result.write_bytes(b"")  # as a failed copy leaves it
    started(tmp_path).close()
    result.unlink()
    result.symlink_to(tmp_path / "gone.glb")
    started(tmp_path).close()
    result.unlink()
    result.mkdir()
    started(tmp_path).close()


@pytest.mark.parametrize("name", ["log.jsonl", "run.json", "lock", "distil-1.safetensors"])
def test_links_in_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    out = tmp_path / "out"
    del_me = started(out)
    del del_me
    (out / "run" / name).unlink(missing_ok=True)
    (out / "run" / name).symlink_to(elsewhere)
    with pytest.raises(RunError, match="must not be a link"):
        started(out)
    assert elsewhere.read_text() == "mine"


@pytest.mark.parametrize("name", ["run.json", "log.jsonl", "distil.safetensors"])
def test_pipes_in_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    del_me = started(tmp_path)
    del del_me
    (tmp_path / "run" / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / "run" / name)
    with pytest.raises((RunError, DamagedFile), match=f"{name}: must be a regular file"):
        started(tmp_path)


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="must not be a link"):
        started(tmp_path)
    assert os.listdir(tmp_path / "elsewhere") == []


@pytest.mark.parametrize(
    "change",
    [
        {"job": 3}, {"options": []}, {"results": "motion.glb"}, {"results": ["../mine"]},
        {"results": ["/etc/passwd"]}, {"results": [3]}, {"done": "yes"}, {"format": "akd-run-1"},
        {"job": None}, {"results": [".."]},
    ],
)  # fmt: skip
def test_a_broken_run_file_is_one_line(tmp_path: Path, change: dict) -> None:
    folder = started(tmp_path / "out")
    (tmp_path / "mine").write_text("mine")
    about = folder.read() or {}
    (folder.path / "run.json").write_text(json.dumps({**about, **change}))
    del folder
    for overwrite in (False, True):
        with pytest.raises(RunError) as caught:
            started(tmp_path / "out", overwrite=overwrite)
        assert "\n" not in str(caught.value)
    assert (tmp_path / "mine").exists()


def test_a_deeply_nested_run_file_is_one_line(tmp_path: Path) -> None:
    folder = started(tmp_path)
    (folder.path / "run.json").write_text("[" * 100_000)
    with pytest.raises(RunError, match=r"run\.json: cannot be read"):
        folder.read()
