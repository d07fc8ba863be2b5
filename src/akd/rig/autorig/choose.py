"""Which plan a body has and which way it faces: the embedding with the best score, and how far it
is to be trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass

from akd.rig.autorig.embedding import Embedding, embed
from akd.rig.autorig.fitted import Fitted
from akd.rig.autorig.frame import BodyFrame
from akd.rig.autorig.landmarks import Landmarks
from akd.rig.autorig.plans import PLANS

GENERIC = "generic"
_NO_PLAN = 3.6
"""A body whose best score is worse than this has none of the plans."""
_DOUBTFUL, _STEEP = 2.6, 0.4
"""A score that is trusted by a half, and how quickly trust falls there."""
_ASYMMETRIC = 0.01
"""A body that mirrors itself this badly, in its own sizes, is posed unevenly or has no plane."""
_CLEAR_VOTE = 1.0
"""Toes and ends that point forwards this clearly need no second opinion."""
_ALIKE = 0.4
"""Two ways of facing, or two plans, whose scores are nearer than this look alike."""


@dataclass(frozen=True)
class Choice:
    """A plan in a body that faces +z."""

    name: str
    fitted: Fitted
    is_turned: bool
    """Whether the body was turned round from how its landmarks had it."""
    confidence: float
    """From 0 to 1."""
    reasons: tuple[str, ...]
    """What speaks against it, and what to check."""


def choose(frame: BodyFrame, marks: Landmarks, vote: float, *, template: str) -> Choice:
    """The best plan for a body whose landmarks face +z by `vote`; `template` is `auto`, a plan or
    `generic`. Raises `ValueError` where the plan asked for cannot be embedded at all."""
    wanted = list(PLANS) if template == "auto" else [t for t in (template,) if t in PLANS]
    ways = (
        [(marks, False)] if abs(vote) >= _CLEAR_VOTE else [(marks, False), (marks.turned(), True)]
    )
    options: list[tuple[float, str, bool, Fitted]] = []
    for body, is_turned in ways:
        for name in wanted:
            embedding = embed(PLANS[name], body)
            if embedding is not None:
                score = embedding.score + (abs(vote) if is_turned else 0.0)
                options.append((score, name, is_turned, Fitted(body, embedding)))
    options.sort(key=lambda o: o[0])
    if template in PLANS and not options:
        raise ValueError(f"no place was found for the feet and the head of a {template}")
    if not options or (template == "auto" and options[0][0] > _NO_PLAN):
        confidence, reasons = _trust_in_shape(frame, options)
        return Choice(GENERIC, Fitted(marks, None), False, confidence, reasons)
    score, name, is_turned, fitted = options[0]
    confidence, reasons = _trust(frame, vote, options)
    return Choice(name, fitted, is_turned, confidence, reasons)


def _trust(
    frame: BodyFrame, vote: float, options: list[tuple[float, str, bool, Fitted]]
) -> tuple[float, tuple[str, ...]]:
    """How sure the best option is, and why not."""
    score, name, is_turned, fitted = options[0]
    assert fitted.embedding is not None
    confidence = 1.0 / (1.0 + math.exp((fitted.embedding.score - _DOUBTFUL) / _STEEP))
    reasons = []
    if confidence < 0.9:
        reasons.append(
            f"a {name} does not fit well ({fitted.embedding.worst}): check the legs and the ends "
            f"of the body, or give another --template"
        )
    if frame.asymmetry > _ASYMMETRIC:
        confidence *= (_ASYMMETRIC / frame.asymmetry) ** 1.5
        reasons.append(
            f"the body is not symmetric (mirrored points miss it by {100 * frame.asymmetry:.1f} % "
            f"of its size): check left and right"
        )
    backwards = [o[0] for o in options if o[1] == name and o[2] != is_turned]
    if abs(vote) < _ALIKE and (not backwards or backwards[0] - score < _ALIKE):
        confidence *= 0.6
        reasons.append("front and back look alike: check which way it faces")
    others = [o for o in options if o[1] != name]
    if others and others[0][0] - score < _ALIKE:
        confidence *= 0.7
        reasons.append(f"a {others[0][1]} fits almost as well as a {name}: see --template")
    return confidence, tuple(reasons)


def _trust_in_shape(
    frame: BodyFrame, options: list[tuple[float, str, bool, Fitted]]
) -> tuple[float, tuple[str, ...]]:
    """Of a body without a plan: little, but the more the less any plan fitted."""
    reason = "no body plan fits"
    nearest: Embedding | None = options[0][3].embedding if options else None
    if nearest is not None:
        reason += f" (of a {nearest.plan.name}, {nearest.worst})"
    reasons = (
        f"{reason}: joints only follow the shape and have no roles: check them all, or give "
        f"--template",
    )
    return (0.3 if frame.asymmetry <= _ASYMMETRIC else 0.18), reasons
