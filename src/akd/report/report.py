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
    """Under the title: character, video model, seed."""
    metrics: Mapping[str, MotionMetrics]
    """By the name of the motion: start, distilled, grounded."""
    best: str
    """The motion to use."""
    clip: str
    """Its name in the file."""
    frames: str
    """Its frame range and rate, in words."""
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
    files: Mapping[str, str] = field(default_factory=dict)
    """What each file beside the page is, by its name."""
    scene: str = ""
    """HTML of `scene3d`."""
    notes: Sequence[str] = ()
    """What a person should know of, such as a search that ran away."""


def report_page(report: Report) -> str:
    """The page as text."""
    parts = [pages.header(report.title, above="akd animate", facts=report.facts)]
    best = report.metrics[report.best]
    parts.append(
        pages.outcome(
            f"Use the clip “{report.clip}”", [report.frames, *_summary(best)],
            score=best.score, fails=best.fails, advice="Another seed may do better.",
        )
    )  # fmt: skip
    parts.append(pages.notes(report.notes))
    parts.append(pages.links(report.files))
    if report.videos:
        parts.append(pages.films(_films(report), fps=report.fps, charts=True))
    parts.append(report.scene)
    parts += [pages.wide_image(path, caption) for caption, path in report.images.items()]
    parts.append("<h2>Metrics</h2>")
    parts.append(pages.table(list(report.metrics), metric_rows(report.metrics), wanted=True))
    if report.feet:
        parts.append(f'<p class="about">Feet in this order: {escape(", ".join(report.feet))}.</p>')
    parts.append(
        '<p class="about">Wanted are the limits of the checks; ✓ and ✗ say whether a clip keeps '
        "them. Gallops and jumps need not alternate left and right. True clips: the median of "
        "artists' and zoo clips of this action on as many legs.</p>"
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
        metrics = report.metrics[name]
        said = metrics.verdict.removeprefix("moves: ")
        shown.append(pages.Film(path, name, said, pages.checks_badge(metrics.fails)))
    return shown


def _summary(metrics: MotionMetrics) -> list[str]:
    """What was measured of the clip to use, in sentences."""
    said = metrics.verdict.removeprefix("moves: ")
    told = [f"{said[:1].upper()}{said[1:]}."]
    seen = {"B": metrics.action, "C": metrics.action_c}
    actions = [
        f"{name} sees “{action.said}”"
        + ("" if action.said == action.asked else f" and not “{action.asked}”")
        for name, action in seen.items()
        if action is not None and action.asked is not None and action.said is not None
    ]
    if actions:
        told.append(f"Action recognisers, which took no part: {', '.join(actions)}.")
    return told


def write_report(path: Path, report: Report) -> None:
    """Write the page."""
    write_text(path, report_page(report))
