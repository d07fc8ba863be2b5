"""Curves of a clip in the panel, with a line where the timeline is."""

from __future__ import annotations

import time
from collections.abc import Callable

import viser

from akd.report.motion_charts import angle_charts, feet_chart, root_charts
from akd.view.content import Subject

_SECONDS = 0.1
"""Between two updates of the line."""


class Curves:
    """One chart at a time: feet, root or the joints of a limb."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._choice = gui.add_dropdown(
            "Show", ["feet", "root", "joint angles"], initial_value="feet"
        )
        self._charts: list[str] = []
        self._html = gui.add_html("")
        self._next = 0.0
        self._make: Callable[[str], list[str]] = lambda _: []
        self._seconds = 0.0
        self._choice.on_update(lambda _: self._open())

    def open(self, subject: Subject, clip: str) -> None:
        """Draw the curves of a clip when they are next shown."""
        character, motion = subject.character, subject.frames(clip).motion
        rig = character.control_rig

        def make(choice: str) -> list[str]:
            if len(motion) < 2:
                return []
            if choice == "feet":
                chart = feet_chart(character, rig, motion, title="feet on the ground")
                return [] if chart is None else [chart]
            if choice == "root":
                return root_charts(rig, motion, height=character.height)
            return angle_charts(rig, motion)

        self._make = make
        self._open()

    def _open(self) -> None:
        self._charts = self._make(self._choice.value)
        self.show(self._seconds, at_once=True)

    def show(self, seconds: float, *, at_once: bool = False) -> None:
        """Move the line, ten times a second at most unless it must be seen at once."""
        self._seconds = seconds
        now = time.monotonic()
        if now < self._next and not at_once:
            return
        self._next = now + _SECONDS
        shown = "".join(with_line(chart, seconds) for chart in self._charts)
        self._html.content = f'<div style="padding:4px 8px">{shown or "no curves"}</div>'


def with_line(svg: str, seconds: float) -> str:
    """A chart over time with a line at a time."""
    first, last, left, right, top, bottom = (
        float(v) for v in svg.partition('data-axis="')[2].partition('"')[0].split()
    )
    share = (min(max(seconds, first), last) - first) / max(last - first, 1e-9)
    at = left + (right - left) * share
    line = (
        f'<line class="now" x1="{at:.1f}" x2="{at:.1f}" y1="{top:g}" y2="{bottom:g}" '
        f'stroke="#222" stroke-width="1.5"/>'
    )
    return svg.removesuffix("</svg>") + line + "</svg>"
