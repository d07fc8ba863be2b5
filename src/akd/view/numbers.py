"""Metrics as an HTML table for the panel: value, and what is normal."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from akd.metrics.judge import MotionMetrics
from akd.report.metric_rows import metric_rows

_CELL = "padding:2px 8px 2px 0;text-align:left;vertical-align:top"
_COLOURS = {"good": "#0a7d4f", "bad": "#c0490a"}


def metrics_table(metrics: Mapping[str, MotionMetrics]) -> str:
    """A table with a column for each clip, and one for what a walk should have."""

    def line(cells: list[tuple[str, str]], tag: str = "td") -> str:
        made = "".join(
            f'<{tag} style="{_CELL};color:{_COLOURS.get(mark, "inherit")}">{escape(text)}</{tag}>'
            for text, mark in cells
        )
        return f"<tr>{made}</tr>"

    rows = [line([("", ""), *((name, "") for name in metrics), ("normal", "")], "th")]
    for part in metric_rows(metrics).values():
        for row in part:
            marks = [*row.marks, *[""] * (len(row.cells) - len(row.marks))]
            cells = list(zip(row.cells, marks, strict=True))
            rows.append(line([(row.name, ""), *cells, (row.wanted, "")]))
    verdicts = "".join(
        f"<p><b>{escape(name)}</b>: {escape(found.verdict)}</p>" for name, found in metrics.items()
    )
    return (
        f'<div style="font-size:12px;padding:4px 8px;overflow-x:auto">{verdicts}'
        f"<table>{''.join(rows)}</table><p>Normal is what a walk should have; gallops and jumps do "
        f"not alternate left and right. True clips: the median of artists' and zoo clips of this "
        f"action on as many legs.</p></div>"
    )
