"""The recognisers where their weights are there: A chooses among samples, B only reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akd.distill.warm_start import Judge
    from akd.metrics.recognise.recogniser import Recogniser
    from akd.metrics.recognise.settings import Name
    from akd.prior.protocol import VideoPrior


def find_recogniser(name: Name, weights: Path | None) -> Recogniser | None:
    """A recogniser from the folder of weights, else from the package; None where there is none."""
    from akd.metrics.recognise.recogniser import has_recogniser, load_recogniser

    for folder in (weights, None):
        if has_recogniser(name, folder):
            return load_recogniser(name, folder)
    return None


def judge_of(recogniser: Recogniser | None, prior: VideoPrior, action: str | None) -> Judge | None:
    """Says of videos how much they look like the action. None where that cannot be judged: no such
    recogniser, an action that it does not know, or videos of another size than it was trained on.
    """
    if recogniser is None or action is None:
        return None
    wanted = recogniser.settings
    size = (prior.frames, prior.height, prior.width)
    if prior.name != "tiny" or size != (wanted.frames, wanted.size, wanted.size):
        return None
    from akd.metrics.recognise.settings import CLASSES

    place = CLASSES.index(action)
    return lambda videos: recogniser(videos.cpu())[:, place]
