"""HTML for the panel: what is shown, and metrics as a table of values and what is normal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from akd.metrics.motion_metrics import MotionMetrics
from akd.report.entries import Outcome
from akd.report.metric_rows import metric_rows

_CELL = "padding:2px 8px 2px 0;text-align:left;vertical-align:top"
_COLOURS = {"good": "#0a7d4f", "bad": "#c0490a"}


def heading(title: str, facts: Sequence[str], outcome: Outcome | None) -> str:
    """The heading: a title, facts about it, and the outcome of the clip."""
    lines = [
        f'<div style="font-size:16px;font-weight:600;overflow-wrap:anywhere">{escape(title)}</div>',
        f'<div style="font-size:12px;opacity:0.75;overflow-wrap:anywhere">'
        f"{escape(' · '.join(fact for fact in facts if fact))}</div>",
    ]
    if outcome is not None:
        lines.append(f'<div style="font-size:12px">{_verdict(outcome)}</div>')
    return f'<div style="padding:4px 8px 8px;line-height:1.4">{"".join(lines)}</div>'


def legend(clips: Sequence[tuple[str, tuple[int, int, int] | None, Outcome | None]]) -> str:
    """The clips that are compared: name, colour of its ghost, and what its run says of it."""
    lines: list[str] = []
    ghosts = any(tint is not None for _, tint, _ in clips)
    for name, tint, outcome in clips:
        colour = "transparent" if tint is None else f"rgb{tint}"
        swatch = (
            f'<span style="display:inline-block;width:10px;height:10px;margin-right:6px;'
            f'background:{colour};border:1px solid #8888"></span>'
        )
        swatch = swatch if ghosts else ""
        said = "" if outcome is None else f": {_verdict(outcome)}"
        lines.append(f'<div style="overflow-wrap:anywhere">{swatch}{escape(name)}{said}</div>')
    return f'<div style="padding:0 8px 8px;font-size:12px;line-height:1.6">{"".join(lines)}</div>'


def _verdict(outcome: Outcome) -> str:
    many = f"{outcome.fails} check{'s' if outcome.fails > 1 else ''}"
    said = f"fails {many}" if outcome.fails else "passes all checks"
    colour = _COLOURS["bad" if outcome.fails else "good"]
    return f'<span style="color:{colour}">score {outcome.score:.2f}, {said}</span>'


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
        f"<table>{''.join(rows)}</table><p>“Normal” is for walks; gallops and jumps need not "
        f"alternate left and right. True clips: the median of artists' and zoo clips of the same "
        f"action and number of legs.</p></div>"
    )
