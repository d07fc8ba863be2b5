"""One process at a time holds a folder; a lock that is a link is not followed."""

import fcntl
from pathlib import Path

import pytest

from akd.base.lock import hold_lock
from akd.cli import main


def test_a_second_holder_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with (
        hold_lock(folder),
        pytest.raises(BlockingIOError, match="another process writes to it"),
        hold_lock(folder),
    ):
        pass
    assert not folder.exists()  # nothing was written to it
    folder.mkdir()
    with hold_lock(folder):
        (folder / "result").touch()
    assert [path.name for path in folder.iterdir()] == ["result"]


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_anew(tmp_path: Path, monkeypatch) -> None:
    """By the process that held it, between this one's opening and locking it."""
    flock, held = fcntl.flock, []

    def late(lock: int, how: int) -> None:
        if not held:
            (tmp_path / "lock").unlink()
        held.append(lock)
        flock(lock, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with hold_lock(tmp_path):
        assert len(held) == 2
        with pytest.raises(BlockingIOError), hold_lock(tmp_path):
            pass


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError), hold_lock(tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["pose", "train", "POSES"],
        ["prior", "train", "--smoke"],
        ["prior", "train-recogniser", "a", "--smoke"],
        ["prior", "train-regressor", "--smoke"],
    ],
)
def test_a_second_training_in_a_folder_is_one_line(tmp_path: Path, capsys, words) -> None:
    poses = tmp_path / "poses.safetensors"
    poses.touch()
    given = [str(poses) if word == "POSES" else word for word in words]
    with hold_lock(tmp_path / "out"):
        assert main([*given, "-o", str(tmp_path / "out")]) == 2
    assert "out: another process writes to it" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
