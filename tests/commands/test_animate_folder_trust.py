"""`akd animate` and `akd resume` on folders that are damaged, special, or somebody else's."""

import json
import os
import shutil
from pathlib import Path

import pytest
import torch

from akd.base.files import read_tensors, write_tensors
from akd.cli import main
from tests.commands.animating import DONE, refused, same_result, stop_after, words


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_an_output_that_is_no_folder_is_refused(capsys, fox, weights, tmp_path, kind):
    out = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(out)
    else:
        out.write_text("mine")
    assert refused(capsys, words(fox, weights, out)).startswith(f"{out}")
    assert out.is_fifo() if kind == "pipe" else out.read_text() == "mine"


@pytest.fixture(scope="module")
def stopped(fox, weights, tmp_path_factory):
    """A run that was stopped in its distillation, with all kinds of checkpoints."""
    out = tmp_path_factory.mktemp("stopped")
    with pytest.MonkeyPatch.context() as patch:
        stop_after(patch, 6, KeyboardInterrupt())
        assert main(words(fox, weights, out)) == 130
    return out


@pytest.fixture
def copy(stopped, tmp_path):
    return Path(shutil.copytree(stopped, tmp_path / "copy"))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "0"}, {"seed": None}, {"seed": 10**30}, {"prompt": 3}, {"file": 3},
        {"file": "/nowhere"}, {"fps": "fast"}, {"fps": []}, {"iterations": 1.5}, {"set": "splats"},
        {"set": [1]}, {"set": ["splats=-5"]}, {"formats": 1}, {"device": "meta"}, {"up": "-y"},
        {"grounded": 1}, {"weights": "/nowhere"}, {"roles": "/dev/zero"}, {"height": True},
        {"preset": "none"}, {"template": 0},
    ],
)  # fmt: skip
def test_options_of_a_folder_are_checked(capsys, copy, change):
    path = copy / "run" / "run.json"
    about = json.loads(path.read_text())
    about["options"] |= change
    path.write_text(json.dumps(about))
    assert main(["resume", str(copy)]) == 2
    printed = capsys.readouterr().err
    assert len([line for line in printed.splitlines() if line.startswith("akd: ")]) == 1, printed
    assert not (copy / "motion.glb").exists()


def _replaced(copy: Path, name: str, change) -> None:
    """Write a checkpoint with another content and the right checksum."""
    path = copy / "run" / f"{name}.safetensors"
    tensors, about = read_tensors(path)
    write_tensors(path, change(tensors), about=about)


@pytest.mark.parametrize("name", ["videos", "starts", "distil"])
@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: {"nothing": torch.zeros(1)},
        lambda tensors: {k: v[..., :1] if v.dim() else v for k, v in tensors.items()},
        lambda tensors: {k: torch.zeros(3, dtype=torch.int16) for k in tensors},
        lambda tensors: {f"x{k}": v for k, v in tensors.items()},
    ],
    ids=["empty", "cut", "zeros", "renamed"],
)
def test_unusable_checkpoints_are_one_line(capsys, copy, name, change):
    _replaced(copy, name, change)
    for later in ("starts", "distil")[("videos", "starts", "distil").index(name) :]:
        for path in (copy / "run").glob(f"{later}.*"):
            path.unlink()
    message = refused(capsys, ["resume", str(copy)])
    assert message.startswith(f"checkpoint {name}: holds values that cannot be used")


@pytest.mark.slow
def test_a_truncated_checkpoint_costs_iterations_and_nothing_else(copy, uninterrupted):
    path = copy / "run" / "distil.safetensors"
    path.write_bytes(path.read_bytes()[:-5])
    assert main(["resume", str(copy)]) in DONE
    same_result(copy, uninterrupted)


@pytest.mark.slow
def test_a_file_deleted_under_a_run_is_made_again(copy, uninterrupted):
    for path in (copy / "run").glob("distil.*"):
        path.unlink()
    assert main(["resume", str(copy)]) in DONE
    same_result(copy, uninterrupted)
