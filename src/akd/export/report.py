"""`write_report`: one page that shows what was made and how, to be opened or mailed as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from akd.export.metric_rows import metric_rows
from akd.export.page import data_uri, page, table, video, write_page
from akd.metrics.motion import MotionMetrics


@dataclass(frozen=True)
class Report:
    """What a report says."""

    title: str
    about: Sequence[str]
    """Lines under the title: asset, prior, seed."""
    metrics: Mapping[str, MotionMetrics]
    """By the name of the motion: start, motion, grounded. The last one is the result."""
    videos: Mapping[str, Path] = field(default_factory=dict)
    """By caption. They become part of the page."""
    pictures: Mapping[str, Path] = field(default_factory=dict)
    """By caption, such as frames side by side."""
    charts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """SVG text by the heading it goes under."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As JSON values."""
    notes: Sequence[str] = ()
    """What a person should know of, such as a search that ran away."""


def report_page(report: Report) -> str:
    """The page as text."""
    parts = [f"<h1>{escape(report.title)}</h1>"]
    parts += [f'<p class="about">{escape(line)}</p>' for line in report.about]
    for name, metrics in list(report.metrics.items())[-1:]:
        parts.append(f'<p class="verdict">{escape(name)}: {escape(metrics.verdict)}</p>')
    if report.notes:
        lines = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
        parts.append(f'<ul class="notes">{lines}</ul>')
    if report.videos:
        shown = "".join(video(path, caption) for caption, path in report.videos.items())
        parts.append(f'<div class="side">{shown}</div>')
    for caption, path in report.pictures.items():
        parts.append(
            f'<figure><img src="{data_uri(path)}" alt="{escape(caption, quote=True)}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
    head, rows = metric_rows(report.metrics)
    parts += ["<h2>Metrics</h2>", table(head, rows)]
    for heading, charts in report.charts.items():
        if charts:
            parts.append(f"<h2>{escape(heading)}</h2>")
            parts.append(f'<div class="charts">{"".join(charts)}</div>')
    text = escape(json.dumps(report.settings, indent=2, default=str))
    parts.append("<h2>Settings</h2>")
    parts.append(f"<details><summary>all of them</summary><pre>{text}</pre></details>")
    return page(report.title, "\n".join(parts))


def write_report(path: Path, report: Report) -> None:
    """Write the page, whole or not at all."""
    write_page(path, report_page(report))
