"""Which action a motion shows, according to a recogniser, from several views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from jaxtyping import Float
from torch import Tensor

from akd.metrics.films import Films
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import CLASSES
from akd.motion.motion import Motion

N = TypeVar("N", bound=str)


@dataclass(frozen=True)
class ActionScore:
    """What a recogniser says of a motion, mean over views."""

    asked: str | None
    """The action that was asked for; None where it is none that the recogniser knows."""
    probability: float | None
    """How likely the motion is what was asked for, from 0 to 1."""
    said: str
    """The likeliest action."""
    probabilities: dict[str, float]
    """Of every class."""


def score_films(
    recognisers: Mapping[N, Recogniser], films: Films, motion: Motion
) -> dict[N, ActionScore]:
    """What each recogniser says. `films.action` is the label of what was asked for, or None where
    it is not known, as it is to a recogniser without a class for it."""
    return {
        name: score_videos(recogniser, films.of(recogniser, motion), films.action)
        for name, recogniser in recognisers.items()
    }


def score_videos(
    recogniser: Recogniser, videos: Float[Tensor, "K T S S 3"], asked: str | None
) -> ActionScore:
    """The same for videos of one motion that were made already."""
    if asked is not None and asked not in CLASSES:
        raise ValueError(f"asked must be one of {', '.join(CLASSES)}; got {asked!r}")
    found = recogniser(videos).mean(0).tolist()
    probabilities = dict(zip(recogniser.classes, found, strict=True))
    said = max(probabilities, key=probabilities.__getitem__)
    asked = asked if asked in probabilities else None
    return ActionScore(asked, None if asked is None else probabilities[asked], said, probabilities)
