"""`zoo`: a creature of the zoo as a character."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from akd.asset.gltf.reader import asset_from_document
from akd.export.creature import creature_document
from akd.motion.motion import Motion
from akd.rig.character import Character, load_character
from akd.zoo.creature import Creature, build_creature
from akd.zoo.gait.clips import make_clip
from akd.zoo.species.catalogue import SPECIES

_FOLDER = Path("akd.zoo")
"""Of the name of a creature's file, which there is none of."""


def zoo(
    species: str, *, seed: int = 0, vertices: int = 5000, clips: Sequence[str] | None = ()
) -> Character:
    """Build a creature, with its skeleton and skinning weights.

    Args:
        species: Which creature: one of `akd.zoo.SPECIES`.
        seed: 0 is the archetype; any other seed gives another individual of the species.
        vertices: Approximate number of vertices, 500 to 200,000.
        clips: Actions to add as clips, such as `("walk", "trot")`; None for all that it has.

    Returns:
        The character, as if it had been read from a file. `akd.export.creature.write_creature`
        writes one.

    Raises:
        ValueError: There is no such species or action, or an argument is out of range.
    """
    if species not in SPECIES:
        raise ValueError(f"there is no {species!r} in the zoo: {', '.join(SPECIES)}")
    if not 500 <= vertices <= 200_000:
        raise ValueError(f"vertices must be from 500 to 200000, got {vertices}")
    creature = build_creature(species, seed=seed, vertices=vertices)
    wanted = creature.actions if clips is None else clips
    if unknown := [action for action in wanted if action not in creature.actions]:
        raise ValueError(
            f"a {species} has no clip {unknown[0]!r}; it has {', '.join(creature.actions)}"
        )
    return creature_character(creature, [make_clip(creature, action) for action in wanted])


def creature_character(creature: Creature, motions: Sequence[Motion] = ()) -> Character:
    """The creature and its motions as a file of them is read."""
    document = creature_document(creature, motions)
    return load_character(asset_from_document(document, _FOLDER / f"{creature.name}.glb"))
