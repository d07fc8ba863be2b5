"""What may steer the search: recogniser A and the metrics choose among samples and finalists.

Recogniser B has no part in it: it only reports.
"""

from __future__ import annotations

from akd.fit.warm_start import Judge
from akd.metrics.action import score_action
from akd.metrics.motion import measure
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import CLASSES
from akd.motion.motion import Motion
from akd.prior.protocol import VideoPrior
from akd.subject import Subject

_FAILURE = 0.1
"""What a condition that fails takes from a motion's merit."""


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
    place = CLASSES.index(action)
    return lambda videos: recogniser(videos.cpu())[:, place]


def merit(
    subject: Subject, motion: Motion, recogniser: Recogniser | None, action: str | None
) -> float:
    """How good a motion is among others of the same request: at most 2.

    The soundness of its numbers, from 0 to 1, less a tenth for each condition of a demo that fails,
    and how likely it is the action, seen from several sides, where that can be said.
    """
    found = measure(subject.character, subject.rig, motion, asked=action)
    sound = found.score - _FAILURE * len(found.fails)
    if recogniser is None or action is None:
        return sound
    return sound + (score_action(recogniser, subject.character, motion, action).probability or 0.0)
