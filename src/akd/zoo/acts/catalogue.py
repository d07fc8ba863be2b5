"""Which pose sheets a body has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from akd.zoo.acts.act import Act
from akd.zoo.acts.animals import (
    ATTACK,
    BUCK,
    GET_UP,
    GRAZING,
    HEAD_ACTS,
    HEADBUTT,
    LIE,
    ROLL,
    SIT,
)  # fmt: skip
from akd.zoo.acts.others import CLAW_ATTACK, FISH_ACTS, FLY, GLIDE, SERPENT_ACTS, SPIDER_ATTACK
from akd.zoo.acts.people import HUMANOID_ACTS
from akd.zoo.species.parameters import (
    Arthropod,
    Fish,
    Humanoid,
    Parameters,
    Quadruped,
    Serpent,
    Theropod,
)
from akd.zoo.species.parts import Wing


@cache
def acts_of(parameters: Parameters) -> Mapping[str, Act]:
    """Pose sheets by name."""
    match parameters:
        case Humanoid():
            acts = HUMANOID_ACTS
        case Quadruped():
            acts = (*_quadruped(parameters), *_winged(parameters.wing))
        case Theropod():
            acts = (*HEAD_ACTS, *GRAZING, ATTACK, HEADBUTT, *_winged(parameters.wing))
        case Arthropod():
            acts = (CLAW_ATTACK if parameters.claw > 0.0 else SPIDER_ATTACK,)
        case Serpent():
            acts = SERPENT_ACTS
        case Fish():
            acts = FISH_ACTS
    return {act.name: act for act in acts if act.name not in parameters.unable}


def _winged(wing: Wing | None) -> tuple[Act, ...]:
    return () if wing is None else (FLY, GLIDE)


def _quadruped(p: Quadruped) -> tuple[Act, ...]:
    """Paws sit and bite, hooves kick and butt."""
    shared = (*HEAD_ACTS, *GRAZING, LIE, GET_UP, ROLL)
    if p.hind_foot.kind == "hoof":
        return (*shared, BUCK, HEADBUTT)
    return (*shared, ATTACK, SIT)
