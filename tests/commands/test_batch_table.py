"""The live table of a batch, in a terminal and elsewhere."""

import pytest
from rich.text import Text

from akd.commands.batch_table import BatchTable
from akd.commands.errors import ResultFailed
from akd.engine.job import Job
from akd.engine.run import Event
from tests.engine.dummies import fail

JOBS = [Job(fail, {"k": k}, f"job {k} [bold]\x1b[31m") for k in range(4)]


def follow(table: BatchTable) -> None:
    """One job that is done, one that is retried and given up, one that runs."""
    with table:
        table.show(Event(JOBS[0], "earlier"))
        for job in JOBS[1:]:
            table.show(Event(job, "started", 1))
        table.show(Event(JOBS[1], "done", 1, values={"score": 0.123456}))
        table.show(Event(JOBS[2], "retried", 1, error="no\x1bluck"))
        table.show(Event(JOBS[2], "started", 2))
        table.show(Event(JOBS[2], "failed", 2, error="no luck"))


def test_a_terminal_shows_what_runs_and_what_failed(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    follow(table := BatchTable(tmp_path, len(JOBS)))
    said = capsys.readouterr().err
    assert "[bold]\x1b" not in said  # what a label holds does not steer the terminal
    last = Text.from_ansi(said).plain.rpartition(" of 4, ")[2]
    assert last.startswith("1 running")
    shown = [line.split() for line in last.splitlines()]
    assert ["job", "attempt", "time"] in shown
    assert any(line[:2] == ["job", "3"] and line[-3] == "1" for line in shown)
    assert not any(line[:2] == ["job", "1"] for line in shown)
    assert any(line[:3] == ["retried", "job", "2"] for line in shown)
    assert any(line[:3] == ["failed", "job", "2"] for line in shown)
    assert "log.txt" in last
    with pytest.raises(ResultFailed, match="1 of 4 jobs failed"):
        table.check()


def test_elsewhere_a_line_says_what_ended(tmp_path, capsys):
    follow(table := BatchTable(tmp_path, len(JOBS)))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("  ")[:2] for line in lines] == [
        ["2/4", "done"], ["2/4", "retried"], ["3/4", "failed"]
    ]  # fmt: skip
    assert "score 0.12" in lines[0]
    assert all("\x1b" not in line and "[bold]" in line for line in lines)
    assert table.summary() == "1 done, 1 earlier, 1 failed, 1 retried of 4"
    assert table.stopped().startswith("stopped; 1 done, 1 earlier, 1 failed, 1 retried of 4; ")


def test_a_batch_that_is_stopped_at_once_has_done_nothing(tmp_path):
    said = BatchTable(tmp_path, 5).stopped()
    assert said == "stopped; 0 done of 5; the same command does what is left"


def test_long_values_are_cut_and_lists_counted(tmp_path, capsys):
    table = BatchTable(tmp_path, 1)
    verdict = "moves: it goes 2.1 leg lengths; each foot is on the ground for 19% of the time"
    table.show(Event(JOBS[1], "done", 1, values={"verdict": verdict, "fails": ["a", "b"]}))
    said = capsys.readouterr().err
    assert "verdict moves: it goes 2.1 leg lengths; each foot is on the groun..., fails 2" in said
