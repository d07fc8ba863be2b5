"""Runs that come from somebody else are checked before they are judged."""

import json
from pathlib import Path

import pytest

from akd.distill.run_folder import RunFolder
from akd.report.entries import _short_titles, read_run
from tests.commands.small_prior import write_fox


@pytest.fixture
def folder(tmp_path):
    write_fox(tmp_path / "motion.glb")
    (tmp_path / "metrics.json").write_text(json.dumps({"prompt": "a \x1b[31mfox\n walking"}))
    return tmp_path


def test_the_prompt_cannot_control_a_terminal(folder):
    run = read_run(folder)
    assert run.prompt.isprintable()
    assert "fox" in run.prompt


@pytest.mark.parametrize(
    "options", [{"height": "tall"}, {"height": [1.0]}, {"up": "w"}, {"up": 1}, {"roles": 3}]
)
def test_options_of_another_kind_are_one_line(folder, options):
    run = RunFolder(folder, options=options)
    run.start({})
    run.close()
    with pytest.raises(ValueError, match="must state a height, an up axis and a file of roles"):
        read_run(folder)


def test_a_run_keeps_the_height_that_its_asset_was_read_with(folder):
    """The asset's name can decide it, and the result is called motion.glb."""
    assert read_run(folder).character.height != pytest.approx(0.4, abs=0.05)
    (folder / "metrics.json").write_text(json.dumps({"prompt": "walk", "height": 0.4}))
    assert read_run(folder).character.height == pytest.approx(0.4)
    (folder / "metrics.json").write_text(json.dumps({"prompt": "walk", "height": "tall"}))
    with pytest.raises(ValueError, match="must state a height"):
        read_run(folder)


def test_a_preview_is_named_where_there_is_no_result_yet(tmp_path):
    write_fox(tmp_path / "preview.glb")
    with pytest.raises(ValueError, match=r"only a preview: .*preview\.glb; `akd resume"):
        read_run(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", "{}", "[" * 100_000])
def test_broken_metrics_are_one_line(folder, text):
    (folder / "metrics.json").write_text(text)
    with pytest.raises(ValueError, match="holds no result of `akd animate`"):
        read_run(folder)


def test_titles_are_as_short_as_tells_paths_apart():
    ours, theirs, wolf = Path("/out/ours/fox"), Path("/out/theirs/fox"), Path("/assets/wolf.glb")
    titles = _short_titles({ours, theirs, wolf})
    assert titles == {ours: "ours/fox", theirs: "theirs/fox", wolf: "wolf.glb"}
    assert _short_titles({ours}) == {ours: "fox"}
