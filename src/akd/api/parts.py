"""Several actions in a row as one clip, the direction of a clip, and observers of single parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch import Tensor

from akd.api.animation import Animation
from akd.api.directing import direct_motion
from akd.api.search import measure_each, measures_for
from akd.base.observer import Observer, Observers
from akd.motion.actions import read_sentence
from akd.motion.direction import Direction
from akd.motion.footing.replant import find_footing, replant
from akd.motion.grid import CLIP_FPS
from akd.motion.joining import join


def join_parts(made: Sequence[Animation], prompt: str) -> Animation:
    """Actions in a row as one clip on one root path, feet planted again."""
    first, character = made[0], made[0].character
    request = replace(first.request, prompt=" ".join(prompt.split()), action=None)
    fps = request.fps or CLIP_FPS
    named = [read_sentence(part.request.prompt).gait for part in made]
    joined = join(
        character, [part.final for part in made], fps=fps, name=request.prompt,
        gaits=[gait is not None and gait.is_cyclic for gait in named],
        leads=[part.lead for part in made],
    )  # fmt: skip
    motion = replant(character, joined.motion, find_footing(character, joined.motion, fps=fps))
    starts = ", ".join(f"{seconds:.2f}" for seconds in joined.joins)
    notes = dict.fromkeys(note for part in made for note in part.notes)
    return _measured(replace(
        first, request=request, motion=motion, grounded=None, kept_distilled=None,
        history=[values for part in made for values in part.history],
        notes=(*notes, f"actions begin at 0, {starts} s"), selection_scores=(1.0,),
    ))  # fmt: skip


def follow(made: Animation, direction: Direction) -> Animation:
    """The clip to use, directed. Physics data would not fit it any more and is left out."""
    request = made.request
    motion = direct_motion(made.character, made.final, direction, fps=request.fps or CLIP_FPS)
    motion = replace(motion, name=request.prompt)
    return _measured(replace(made, motion=motion, grounded=None, kept_distilled=None))


def _measured(made: Animation) -> Animation:
    measures = measures_for(made.request)
    found = measure_each(made.request, {"motion": made.motion}, measures)
    return replace(made, metrics={"start": made.metrics["start"], **found})


class PartObserver(Observers):
    """Keeps the checkpoints of one of several actions under names of their own."""

    def __init__(self, observer: Observer, number: int) -> None:
        super().__init__(observer)
        self._number = number

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Keep it under the part's number."""
        super().save(f"{name}-{self._number}", tensors)

    def load(self, name: str) -> dict[str, Tensor] | None:
        """What was kept of this part."""
        return super().load(f"{name}-{self._number}")


class PreviewObserver(Observers):
    """Keeps and loads only the sampled videos: what follows from them is another in a full run.

    Phases that a preview passes through without work are not shown.
    """

    def begin(self, phase: str) -> None:
        """Show the phase, if it takes time."""
        if phase not in ("distil", "select"):
            super().begin(phase)

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Keep the videos."""
        if name == "videos":
            super().save(name, tensors)

    def load(self, name: str) -> dict[str, Tensor] | None:
        """The videos."""
        return super().load(name) if name == "videos" else None
