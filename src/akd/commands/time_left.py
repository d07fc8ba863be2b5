"""`TimeLeft`: seconds until a whole job is done, from its plan and how fast it has gone so far."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Mapping
from typing import Any

_FIXED = {"load": 3.0, "stage": 3.0, "select": 6.0, "measure": 8.0, "film": 12.0}
_SAMPLE, _FIT, _DISTIL, _PHYSICS = 0.36, 0.12, 0.44, 0.05
"""Seconds that an iteration of one candidate takes on two cores with the tiny prior. Only their
ratios matter for long: every phase that is done corrects them."""
_TRUST = 10.0
"""Seconds of work after which the plan's own speed counts half."""
_RECENT = 30
_FEWEST = 3
"""Iterations after which a phase is timed by itself. The first, which may compile, never counts."""


class TimeLeft:
    """Estimates the time left; None where there is nothing to go by."""

    def __init__(self) -> None:
        self._plan: dict[str, float] = {}
        self._planned = self._took = 0.0
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._steps = 0

    def start(self, job: Mapping[str, Any], *, quick: bool = False) -> None:
        """Plan the phases of an `animate` job, or of its `quick` preview."""
        settings, physics = job["settings"], job["physics"]
        warm = settings["warm_start"]
        plan = dict(_FIXED)
        if quick:  # as in `Request.quick`; a preview is not filmed
            settings, physics = {**settings, "iterations": 0}, None
            warm = {**warm, "samples": 1}
            del plan["film"]
        finalists = max(1, min(warm["samples"], warm["finalists"]))
        if warm["samples"]:
            plan["sample"] = _SAMPLE * warm["samples"] * warm["steps"]
            fits = warm["samples"] * warm["trial"] + finalists * warm["iterations"]
            plan["fit"] = _FIT * fits
        plan["distil"] = _DISTIL * finalists * settings["iterations"]
        if physics is not None:
            plan["physics"] = _PHYSICS * finalists * physics["iterations"]
        self._plan = plan

    def begin(self) -> None:
        """Another phase begins."""
        self._recent.clear()
        self._steps = 0

    def step(self, seconds: float) -> None:
        """An iteration of the phase took so long."""
        self._steps += 1
        if self._steps > 1:
            self._recent.append(seconds)

    def finish(self, phase: str, seconds: float) -> None:
        """A phase is done."""
        if phase in self._plan:
            self._planned += self._plan.pop(phase)
            self._took += seconds

    def left(self, phase: str, elapsed: float, remaining: int | None) -> float | None:
        """Seconds until the job is done.

        Args:
            phase: The phase that runs.
            elapsed: Seconds since it began.
            remaining: Its iterations that are not done; None where it counts none.
        """
        slowness = (self._took + _TRUST) / (self._planned + _TRUST)
        later = slowness * sum(cost for name, cost in self._plan.items() if name != phase)
        if remaining is not None and len(self._recent) >= _FEWEST:
            return statistics.median(self._recent) * remaining + later
        if phase not in self._plan:
            return later or None
        here = self._plan[phase]
        if elapsed > slowness * here:  # longer than planned: so will be what comes
            now = (self._took + elapsed + _TRUST) / (self._planned + here + _TRUST)
            return later * now / slowness
        return slowness * here - elapsed + later
