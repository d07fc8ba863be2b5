"""`Measures`: metrics of one character's motions, each computed once, with recognisers' scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch

from akd.metrics.action import ActionScore, score_films
from akd.metrics.films import Films
from akd.metrics.motion import measure
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import Name
from akd.motion.motion import Motion
from akd.rig.character import Character


@dataclass(frozen=True)
class Measures:
    """What is measured of the motions of one character that should show one action.

    A motion is measured and filmed once, however often it is asked about: by identity, so that it
    must not be changed. Threads may ask at the same time.
    """

    character: Character
    action: str | None
    """One of `ACTION_LABELS`, or None where it is not known."""
    device: torch.device | str = "cpu"
    """Where motions are filmed for recognisers."""
    _found: dict[int, tuple[Motion, MotionMetrics]] = field(default_factory=dict)

    @cached_property
    def films(self) -> Films:
        """What recognisers are shown."""
        return Films(self.character, self.action, self.device)

    def of(self, motion: Motion) -> MotionMetrics:
        """Metrics of a motion, without recognisers: see `measure`."""
        if id(motion) not in self._found:
            rig = self.character.control_rig
            found = measure(self.character, rig, motion, asked=self.action)
            self._found[id(motion)] = motion, found
        return self._found[id(motion)][1]

    def score(self, recogniser: Recogniser, motion: Motion) -> ActionScore:
        """What a recogniser says of a motion."""
        return score_films({"only": recogniser}, self.films, motion)["only"]

    def with_recognisers(
        self, motion: Motion, recognisers: Mapping[Name, Recogniser]
    ) -> MotionMetrics:
        """Metrics, with what recognisers B and C see in the motion, where they are given."""
        found = self.of(motion)
        if self.character.mesh is None:
            return found
        scores = score_films(recognisers, self.films, motion)
        return replace(found, action=scores.get("b"), action_c=scores.get("c"))


def measure_with_recognisers(
    character: Character,
    motion: Motion,
    recognisers: Mapping[Name, Recogniser],
    action: str | None,
) -> MotionMetrics:
    """`Measures.with_recognisers` of a single motion."""
    return Measures(character, action).with_recognisers(motion, recognisers)
