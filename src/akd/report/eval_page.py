"""The page of `akd eval`: videos that run in step, and their numbers in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from akd.metrics.motion_metrics import MotionMetrics
from akd.report.metric_rows import metric_rows
from akd.report.page import Film, Row, films, header, page, table, wide_image


def eval_page(
    shown: Sequence[Film],
    metrics: Mapping[str, MotionMetrics],
    *,
    images: Mapping[str, Path],
    more: Mapping[str, Sequence[Row]],
) -> str:
    """The page as text. `metrics` and `images` (strips of frames) by the motion's name; `more` are
    rows of the table, part by part."""
    facts = {"motions": str(len(metrics))}
    parts = [header("Side by side", above="akd eval", facts=facts)]
    if shown:
        parts.append(films(shown))
    for name, path in images.items():
        parts.append(wide_image(path, f"{name}: score {metrics[name].score:.2f}"))
    parts.append("<h2>Metrics</h2>")
    parts.append(table(list(metrics), {**metric_rows(metrics), **more}, wanted=True))
    return page("akd eval", "\n".join(parts), scripts=("films.js",))
