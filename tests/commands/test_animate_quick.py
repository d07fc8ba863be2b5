"""`akd animate --quick`: a preview, from which the full run goes on."""

import pytest

from akd.asset.read import read_asset
from akd.cli import main
from akd.distill.run_folder import RunFolder
from tests.commands.animating import DONE, refused, same_result, words

pytestmark = pytest.mark.slow


def test_a_preview_is_named_so_and_the_full_run_goes_on(fox, weights, uninterrupted, tmp_path):
    assert main(words(fox, weights, tmp_path, "--quick")) == 0
    assert {p.name for p in tmp_path.iterdir()} == {"preview.glb", "run"}
    (clip,) = read_asset(tmp_path / "preview.glb").clips
    assert clip.name == "a fox walking (preview)"
    folder = RunFolder(tmp_path)
    assert folder.kept() == "sampled videos"
    kept = folder.load("videos")
    assert kept is not None
    assert len(kept["videos"]) == 1
    assert main(["resume", str(tmp_path)]) in DONE
    same_result(tmp_path, uninterrupted)


def test_without_samples_there_is_no_preview(fox, weights, tmp_path, capsys):
    more = ("--quick", "--set", "warm_start.samples=0")
    said = refused(capsys, words(fox, weights, tmp_path, *more))
    assert "needs a preset that samples videos" in said
