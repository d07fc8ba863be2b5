"""`write_report`: one self-contained page that shows a result and how it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from akd.base.files import write_text
from akd.metrics.judge import MotionMetrics
from akd.report import page as pages
from akd.report.metric_rows import metric_rows


@dataclass(frozen=True)
class Report:
    """What a report says."""

    title: str
    facts: Mapping[str, str]
    """Under the title: asset, prior, seed."""
    metrics: Mapping[str, MotionMetrics]
    """By the name of the motion: start, distilled, grounded. The last one is the result."""
    videos: Mapping[str, Path] = field(default_factory=dict)
    """By the name of the motion. They become part of the page."""
    fps: float = 24.0
    """Of the videos."""
    images: Mapping[str, Path] = field(default_factory=dict)
    """By caption, such as frames side by side."""
    feet: Sequence[str] = ()
    """Names of the feet, in the order in which metrics have them."""
    charts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """SVG text by the heading it goes under."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As JSON values."""
    summary: str = ""
    """What came of it, in plain words."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What each file beside the page is, by its name."""
    scene: str = ""
    """HTML of `scene3d`."""
    notes: Sequence[str] = ()
    """What a person should know of, such as a search that ran away."""


def report_page(report: Report) -> str:
    """The page as text."""
    parts = [pages.header(report.title, above="akd animate", facts=report.facts)]
    if report.summary:
        parts.append(f"<p>{escape(report.summary)}</p>")
    parts.append(pages.links(report.files))
    parts.append(pages.notes(report.notes))
    if report.videos:
        parts.append(pages.films(_films(report), fps=report.fps, charts=True))
    parts.append(report.scene)
    parts += [pages.wide_image(path, caption) for caption, path in report.images.items()]
    parts.append("<h2>Metrics</h2>")
    parts.append(pages.table(list(report.metrics), metric_rows(report.metrics), wanted=True))
    if report.feet:
        parts.append(f'<p class="about">Feet in this order: {escape(", ".join(report.feet))}.</p>')
    parts.append(
        '<p class="about">Wanted is what a walk should have that is to be shown; gallops and '
        "jumps do not alternate left and right. True clips: the median of artists' and zoo clips "
        "of this action on as many legs.</p>"
    )
    parts += [pages.section(heading, charts) for heading, charts in report.charts.items()]
    text = escape(json.dumps(report.settings, indent=2, default=str))
    parts.append("<h2>Settings</h2>")
    parts.append(f"<details><summary>all of them</summary><pre>{text}</pre></details>")
    scripts = pages.film_scripts(report.scene)
    return pages.page(report.title, "\n".join(filter(None, parts)), scripts=scripts)


def _films(report: Report) -> list[pages.Film]:
    """The videos, each with its verdict."""
    shown = []
    for name, path in report.videos.items():
        badge, rest = pages.verdict(report.metrics[name].verdict)
        shown.append(pages.Film(path, name, rest, badge))
    return shown


def write_report(path: Path, report: Report) -> None:
    """Write the page."""
    write_text(path, report_page(report))
