"""The page of `akd batch`: every job with its preview and metrics, to be sorted and filtered."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from akd.base.files import write_text
from akd.engine.folder import JobFolder
from akd.engine.job import Job
from akd.report.page import badge, checks_badge, data_uri, header, page, verdict

_MOST_PREVIEW = 256 << 10
"""Bytes of a preview that the page carries; larger ones are linked."""
_LARGEST_NUMBER = 1e15
"""In a cell: outcomes can be edited, and larger integers are no floats."""
_METRICS = {
    "score": ("from 0 to 1", 2),
    "travel": ("leg lengths", 1),
    "skate": ("of the worst foot, in fractions of the body's speed", 2),
    "penetration": ("body heights", 4),
}
"""Values of an outcome that have a column: what they are, and decimals."""


def write_batch_page(path: Path, out: Path, jobs: Sequence[Job]) -> None:
    """Write the page about the jobs of a folder, as they stand."""
    write_text(path, batch_page(out, jobs))


def batch_page(out: Path, jobs: Sequence[Job]) -> str:
    """The page as text. Links lead to the folders beside it."""
    rows, states = [], []
    for job in jobs:
        state, row = _row(JobFolder(out, job), out)
        states.append(state)
        rows.append(row)
    counts = {state: str(states.count(state)) for state in ("done", "failed", "waiting")}
    about = {"job": "", "state": "", **{name: what for name, (what, _) in _METRICS.items()}}
    about["seconds"] = "of the last attempt"
    top = "".join(
        f'<th scope="col" title="{escape(what, quote=True)}">{name}</th>'
        for name, what in about.items()
    )
    body = (
        f"{header('Batch', above='akd batch', facts={'jobs': str(len(jobs)), **counts})}\n"
        '<p><input class="field" type="search" data-filter placeholder="filter" '
        'aria-label="filter by words"> <output data-shown></output></p>\n'
        '<div class="wide"><table class="batch">'
        f"<thead><tr>{top}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    return page("akd batch", body, scripts=("batch.js",))


def _row(folder: JobFolder, out: Path) -> tuple[str, str]:
    """State of a job, and its row."""
    job, values = folder.job, folder.outcome()
    shown, preview = "waiting", ""
    seconds = folder.last_attempt().get("seconds")
    state, name = "waiting", escape(job.label)
    if values is not None:
        state = "done"
        where = quote(folder.result.relative_to(out).as_posix())
        report = "report.html" if (folder.result / "report.html").is_file() else ""
        name = f'<a href="{where}/{report}">{name}</a>'
        mark, rest = verdict(str(values.get("verdict", "done")))
        fails = values.get("fails")
        if isinstance(fails, list) and fails:
            checks = [str(check) for check in fails]
            mark, rest = checks_badge(checks), "; ".join(checks)
        shown = f"{mark} {escape(rest)}"
        preview = _preview(folder.result / "preview.png", where)
    elif (error := folder.failure()) is not None:
        state = "failed"
        log = quote(folder.log.relative_to(out).as_posix())
        shown = f'{badge("failed", good=False)} {escape(str(error))} <a href="{log}">log</a>'
    numbers = {name: _number((values or {}).get(name), _METRICS[name][1]) for name in _METRICS}
    numbers["seconds"] = _number(seconds, 0)
    # Narrow pages have no columns: the number's name stands before it.
    cells = "".join(f'<td data-name="{what}">{number}</td>' for what, number in numbers.items())
    return state, f"<tr><td>{name}{preview}</td><td>{shown}</td>{cells}</tr>"


def _number(value: object, digits: int) -> str:
    shown = isinstance(value, int | float) and abs(value) < _LARGEST_NUMBER
    return f"{value:.{digits}f}" if shown else ""


def _preview(path: Path, where: str) -> str:
    if not path.is_file():
        return ""
    source = data_uri(path) if path.stat().st_size <= _MOST_PREVIEW else f"{where}/{path.name}"
    return f'<img src="{source}" alt="frames of the clip" loading="lazy">'
