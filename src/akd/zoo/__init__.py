"""Procedural creatures with exact skeletons, skinning weights and gaits.

    creature = build_creature("fox", seed=3)
    walk = make_clip(creature, "walk")

`akd.zoo("fox")` is the same creature as a `Character`, ready to be animated.

Every creature is one closed, coloured, skinned mesh. Its clips travel at natural speeds with
planted feet.
"""

from typing import TYPE_CHECKING

from akd.base.callable_room import make_callable
from akd.zoo.species.catalogue import SPECIES

if TYPE_CHECKING:
    from akd.zoo.creature import Creature, Foot, build_creature
    from akd.zoo.gait.clips import Performance, make_clip, perform
    from akd.zoo.gait.style import Style

__all__ = [
    "SPECIES",
    "Creature",
    "Foot",
    "Performance",
    "Style",
    "build_creature",
    "make_clip",
    "perform",
]

_HOMES = {
    "Creature": "creature",
    "Foot": "creature",
    "build_creature": "creature",
    "Performance": "gait.clips",
    "make_clip": "gait.clips",
    "perform": "gait.clips",
    "Style": "gait.style",
}


def __getattr__(name: str) -> object:
    """Import on first use what needs torch; the list of species does not."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"akd.zoo.{_HOMES[name]}"), name)


make_callable(__name__, "akd.api.creatures", "zoo")
