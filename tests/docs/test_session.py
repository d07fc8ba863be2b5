"""The recorded terminal session, and the script that records it."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / "docs" / "make_session.py"))
PAGE = (ROOT / "docs" / "session.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
JOB = """
from akd.commands.terminal import Terminal
with Terminal() as terminal:
    terminal.begin("physics")
    for iteration in range(31):
        terminal.step(iteration, 30, {"loss": 123456.789})
        terminal._bar.refresh()
print("done")
"""


def test_lines_of_the_session_fit_80_columns():
    lines = "".join(BLOCKS).splitlines()
    assert len(lines) > 30
    assert not [line for line in lines if len(line) > 80]


def test_an_animation_is_recorded_in_full():
    [block] = [block for block in BLOCKS if block.startswith("$ akd animate")]
    lines = block.splitlines()
    progress = [found for line in lines if (found := SCRIPT["PROGRESS"].match(line))]
    phases = [found["phase"].strip() for found in progress]
    assert phases == ["fit to videos", "distil", "physics"]
    assert all("left" in found.string for found in progress)
    assert "motion.glb: clips 'a fox walking (grounded)', 'a fox walking'" in block
    assert any(re.match(r"use '.+': score \d\.\d\d", line) for line in lines)


def test_progress_is_shown_whole_in_a_terminal(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(JOB)
    text, status = SCRIPT["record"](f"{sys.executable} {script}; (exit 3)", tmp_path)
    progress, phase, done = text.splitlines()
    assert status == 3
    assert SCRIPT["PROGRESS"].match(progress)["phase"].strip() == "physics"
    assert re.match(r"physics +\d+ s$", phase)
    assert done == "done"


def test_commands_see_the_status_of_the_one_before(tmp_path):
    page = "Text.\n\n```\n$ (exit 2)\nold\n$ echo $? \\\n> and\nold\n```\n\nMore.\n"
    wanted = "Text.\n\n```\n$ (exit 2)\n$ echo $? \\\n> and\n2 and\n```\n\nMore.\n"
    assert SCRIPT["recorded"](page, tmp_path) == wanted


def test_long_lines_wrap_and_erased_lines_are_gone():
    screen = SCRIPT["Screen"]()
    screen.feed("x" * 90 + "\r\n" + "gone" + "\r\x1b[2K" + "\x1b[1mkept\x1b[0m\r\n")
    assert screen.text() == "x" * 80 + "\n" + "x" * 10 + "\nkept"


def test_a_progress_line_that_is_cut_off_is_an_error():
    screen = SCRIPT["Screen"]()
    with pytest.raises(ValueError, match="does not fit 80 columns"):
        screen.feed("⠇ physics         ━━━━━━━━━━━╺━━━━━━━━     17/3…\r\x1b[2K")
