"""The top of a run's report: which clip to use, and whether it passes its checks."""

import re
from dataclasses import replace

import pytest

from akd.api.evaluating import Evaluation
from akd.api.loading import load
from akd.export.character import clip_names, write_motions
from akd.export.creature import write_creature
from akd.metrics.motion_metrics import MotionMetrics
from akd.motion.clip import motion_from_clip
from akd.motion.grid import on_grid, without_loop_frame
from akd.report.page import links, notes
from akd.report.report import outcome_of
from akd.report.results import frame_range
from akd.zoo.gait.clips import make_clip
from benchmarks.zoo_character import as_character
from tests.zoo.menagerie import creature

WALK = MotionMetrics(
    duration=1.0, travel=2.0, speed=1.0, foot_travel=0.8, contact=(0.6, 0.6), skate=(0.05, 0.05),
    penetration=0.0, float_=0.0, alternation=(-0.9,), tilt=3.0, roughness=0.4, loop_gap=0.0,
    limb_stretch=0.0, shape_change=0.01, pace=0.4, asked="walk",
)  # fmt: skip


def head_of(best: MotionMetrics) -> str:
    return outcome_of(
        best, clip="a <b>fox (grounded)", frames="1.00 s: frames 0 to 30 at 30 per second."
    )


def test_the_page_names_the_clip_to_use_and_its_frames():
    head = head_of(WALK)
    assert "Use the clip “a &lt;b&gt;fox (grounded)” <" in head
    assert "frames 0 to 30 at 30 per second" in head
    assert "passes all checks" in head
    assert "Failed checks" not in head


def test_names_of_files_and_notes_are_escaped():
    assert '<a href="a%20b.glb">a b.glb</a>clips &amp; more' in links({"a b.glb": "clips & more"})
    assert "a &lt;note&gt;" in notes(["a <note>"])


def test_a_clip_that_moves_and_slides_is_not_called_good():
    slides = replace(WALK, skate=(0.05, 0.4))
    assert slides.verdict.startswith("moves: ")
    head = head_of(slides)
    assert "fails 1 check<" in head
    assert "passes all checks" not in head
    assert re.search(r"<li>a foot that touches moves at 40% of the body&#x27;s speed", head)


def test_the_table_counts_failed_checks():
    slides = replace(WALK, skate=(0.05, 0.4))
    _, good, bad = Evaluation((), {"good": WALK, "bad": slides}).table().splitlines()
    assert good.rstrip().endswith(" moves")
    assert bad.rstrip().endswith(" moves, fails 1")


def test_frames_are_those_of_the_file():
    fox = creature("fox")
    walk = make_clip(fox, "walk", cycles=1)
    character = as_character(fox)
    rig, height = character.control_rig, character.height
    keyed = on_grid(walk, 30.0)
    last = len(keyed) - 1
    said = frame_range(rig, keyed, height=height, fps=30.0)
    assert said == (
        f"{last / 30:.2f} s: frames 0 to {last} at 30 per second; it loops, and frame {last} "
        f"repeats frame 0."
    )
    omitted = without_loop_frame(rig, keyed, height=height)
    assert f"frames 0 to {last - 1} at" in frame_range(rig, omitted, height=height, fps=30.0)
    assert "repeats" not in frame_range(rig, omitted, height=height, fps=30.0)


@pytest.mark.slow
def test_names_are_those_that_the_file_gets(tmp_path):
    animal = creature("fox")
    write_creature(animal, [make_clip(animal, "walk", cycles=1)], tmp_path / "fox.glb")
    fox = load(tmp_path / "fox.glb")
    (clip,) = fox.asset.clips
    motion = motion_from_clip(fox, clip)
    motions = [motion, replace(motion, name="w" * 70), motion]
    names = clip_names(fox, motions)
    assert names == [f"{clip.name} 2", "w" * 60, f"{clip.name} 3"]
    write_motions(fox, motions, tmp_path / "out.glb")
    made = load(tmp_path / "out.glb")
    assert [c.name for c in made.asset.clips] == [clip.name, *names]
