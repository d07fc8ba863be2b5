"""Runs that come from somebody else are checked before they are judged."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from akd.distill.run_folder import RunFolder
from akd.export.creature import write_creature
from akd.report.entries import _short_titles, load_entries, read_run
from akd.zoo.gait.clips import make_clip
from tests.commands.small_prior import write_fox
from tests.zoo.menagerie import creature


@pytest.fixture
def folder(tmp_path):
    write_fox(tmp_path / "motion.glb")
    (tmp_path / "metrics.json").write_text(json.dumps({"prompt": "a \x1b[31mfox\n walking"}))
    return tmp_path


@pytest.mark.slow
def test_the_prompt_cannot_control_a_terminal(folder):
    run = read_run(folder)
    assert run.prompt.isprintable()
    assert "fox" in run.prompt


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stated", "order"),
    [
        (["grounded", "motion"], ["grounded", "motion"]),
        (["motion", "grounded"], ["motion", "grounded"]),
        (None, ["motion", "grounded"]),
        (["grounded", "else"], ["motion", "grounded"]),
        ([{}, 1], ["motion", "grounded"]),
    ],
)
def test_clips_of_a_run_are_told_apart_by_the_order_that_it_states(tmp_path, stated, order):
    fox = creature("fox")
    clips = [make_clip(fox, action, frames=4) for action in ("stand", "walk", "trot")]
    write_creature(fox, clips, tmp_path / "motion.glb")
    about = {"prompt": "a fox", "motion": {}, "grounded": {}, "best": "grounded", "clips": stated}
    (tmp_path / "metrics.json").write_text(json.dumps(about))
    run = read_run(tmp_path)
    assert {kind: clip.name for kind, clip in run.clips.items()} == dict(
        zip(order, ("walk", "trot"), strict=True)
    )


def test_a_preview_is_named_where_there_is_no_result_yet(tmp_path):
    write_fox(tmp_path / "preview.glb")
    with pytest.raises(ValueError, match=r"only a preview: .*preview\.glb; `akd resume"):
        read_run(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["{", "[]", "{}", "[" * 100_000])
def test_broken_metrics_are_one_line(folder, text):
    (folder / "metrics.json").write_text(text)
    with pytest.raises(ValueError, match="holds no result of `akd animate`"):
        read_run(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "titles"),
    [
        (("Arm|Arm|Walk", "Arm|Run"), ("fox.glb:Walk", "fox.glb:Run")),
        (("a|Walk", "b|Walk"), ("fox.glb:a|Walk", "fox.glb:b|Walk")),
    ],
)
def test_clips_have_short_titles_too(tmp_path, names, titles):
    fox = creature("fox")
    clips = [replace(make_clip(fox, "walk", frames=4), name=name) for name in names]
    write_creature(fox, clips, tmp_path / "fox.glb")
    found = load_entries([str(tmp_path / "fox.glb")])
    assert tuple(entry.name for entry in found) == titles
    assert tuple(entry.prompt for entry in found) == names


def test_titles_are_as_short_as_tells_paths_apart():
    ours, theirs, wolf = Path("/out/ours/fox"), Path("/out/theirs/fox"), Path("/assets/wolf.glb")
    titles = _short_titles({ours, theirs, wolf})
    assert titles == {ours: "ours/fox", theirs: "theirs/fox", wolf: "wolf.glb"}
    assert _short_titles({ours}) == {ours: "fox"}
