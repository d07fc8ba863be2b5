"""The page of `akd batch`: every job with its preview and metrics, to be sorted and filtered."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from akd.base.files import write_text
from akd.engine.folder import JobFolder
from akd.engine.job import Job
from akd.report.page import badge, data_uri, header, page, verdict

_MOST_PREVIEW = 256 << 10
"""Bytes of a preview that the page carries; larger ones are linked."""
_COLUMNS = ("job", "state", "score", "seconds", "preview")


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
    top = "".join(f'<th scope="col" data-sort>{name}</th>' for name in _COLUMNS)
    body = (
        f"{header('Batch', above='akd batch', facts={'jobs': str(len(jobs)), **counts})}\n"
        '<p><input class="field" type="search" data-filter placeholder="filter" '
        'aria-label="filter by words"></p>\n'
        f'<div class="wide"><table class="batch"><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    return page("akd batch", body, scripts=("batch.js",))


def _row(folder: JobFolder, out: Path) -> tuple[str, str]:
    """State of a job, and its row."""
    job, values = folder.job, folder.outcome()
    shown, score, preview = badge("waiting", good=True), None, ""
    seconds = folder.last_attempt().get("seconds")
    state, name = "waiting", escape(job.label)
    if values is not None:
        state, score = "done", values.get("score")
        where = quote(folder.result.relative_to(out).as_posix())
        report = "report.html" if (folder.result / "report.html").is_file() else ""
        name = f'<a href="{where}/{report}">{name}</a>'
        mark, rest = verdict(str(values.get("verdict", "done")))
        shown = f"{mark} {escape(rest)}"
        preview = _preview(folder.result / "preview.png", where)
    elif (error := folder.failure()) is not None:
        state = "failed"
        log = quote(folder.log.relative_to(out).as_posix())
        shown = f'{badge("failed", good=False)} {escape(str(error))} <a href="{log}">log</a>'
    cells = (name, shown, _number(score, 2), _number(seconds, 0), preview)
    return state, f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _number(value: object, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, int | float) else ""


def _preview(path: Path, where: str) -> str:
    if not path.is_file():
        return ""
    source = data_uri(path) if path.stat().st_size <= _MOST_PREVIEW else f"{where}/{path.name}"
    return f'<img src="{source}" alt="frames of the clip" height="72" loading="lazy">'
