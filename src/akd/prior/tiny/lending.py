"""Motion lent to artists' characters: clips of other bodies of the same plan.

Most files hold a few clips, and a body that moves in these alone is soon known by heart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from akd.base.splits import zoo_seed_trains
from akd.motion.actions import ACTIONS
from akd.motion.library import LibraryClip
from akd.motion.motion import Motion
from akd.prior.tiny.recorded import label_of
from akd.rig.character import Character, bound_character
from akd.zoo.acts.catalogue import acts_of
from akd.zoo.creature import Creature, build_creature
from akd.zoo.gait.clips import make_clip
from akd.zoo.gait.style import Style
from akd.zoo.species.catalogue import SPECIES, Humanoid, Quadruped, Theropod
from akd.zoo.species.parameters import Fish, Parameters, Serpent

_OF_A_SOURCE = 3
"""Clips of a file or a creature that are offered in a row: reading it takes longer than a clip."""
_VERTICES = 500
"""Of creatures that only lend their motion."""
_FIRST_SEED, _SEEDS = 1000, 4
"""Seeds of these creatures."""
_FPS = 30.0
_CYCLES = 3
"""Of a gait, as long as a video."""
_LEGS: dict[type[Parameters], int] = {
    Humanoid: 2, Theropod: 2, Quadruped: 4, Serpent: 0, Fish: 0,
}  # fmt: skip


def lend_clips(
    mocap: Sequence[LibraryClip],
    artists: Sequence[LibraryClip],
    *,
    count: int,
    evenness: float,
    rng: np.random.Generator,
) -> tuple[LibraryClip, ...]:
    """Clips to try on a body, in the order in which to try them; some are of another plan.

    Motion capture, artists' files and creatures of the zoo take turns.

    Args:
        mocap: Motion capture.
        artists: Artists' clips.
        count: How many are offered.
        evenness: 1 offers all actions of a source alike often, 0 as often as the library has them.
        rng: Chooses.
    """
    common = Counter(label_of(clip) for clip in (*mocap, *artists))
    files: dict[str, list[LibraryClip]] = {}
    for clip in artists:
        files.setdefault(clip.file, []).append(clip)

    def chosen(clips: Sequence[LibraryClip]) -> list[LibraryClip]:
        weights = np.array([max(common[label_of(clip)], 1) ** -evenness for clip in clips])
        size = min(_OF_A_SOURCE, len(clips))
        places = rng.choice(len(clips), size, replace=False, p=weights / weights.sum())
        return [clips[k] for k in places.tolist()]

    names = list(files)
    offered: dict[str, LibraryClip] = {}
    for _ in range(count):  # the zoo alone may not have so many
        if len(offered) >= count:
            break
        some = chosen(zoo_clips(rng))
        if mocap:
            some += chosen(mocap)
        if names:
            some += chosen(files[names[int(rng.integers(len(names)))]])
        offered.update((clip.name, clip) for clip in some)
    return tuple(offered.values())[:count]


def zoo_clips(rng: np.random.Generator) -> list[LibraryClip]:
    """The actions of a random creature of the training side; each body plan is as likely."""
    plans: dict[type, list[str]] = {}
    for name, parameters in SPECIES.items():
        plans.setdefault(type(parameters), []).append(name)
    plan = list(plans.values())[int(rng.integers(len(plans)))]
    species, seed = plan[int(rng.integers(len(plan)))], _FIRST_SEED + int(rng.integers(_SEEDS))
    assert zoo_seed_trains(seed)
    parameters = SPECIES[species]
    return [
        LibraryClip(
            f"{species} {seed}:{action}", ACTIONS[action].label, trains=True,
            load=partial(load_zoo_clip, species, seed, action), legs=_LEGS.get(type(parameters)),
        )
        for action in (*parameters.actions, *acts_of(parameters))
        if action in ACTIONS
    ]  # fmt: skip


def load_zoo_clip(species: str, seed: int, action: str) -> tuple[Character, Motion]:
    """A creature of the zoo and one of its motions."""
    creature, character = _creature(species, seed)
    motion = make_clip(
        creature, action, fps=_FPS, cycles=_CYCLES if ACTIONS[action].is_cyclic else 1,
        style=Style.random(seed),
    )  # fmt: skip
    return character, motion


@lru_cache(maxsize=4)
def _creature(species: str, seed: int) -> tuple[Creature, Character]:
    creature = build_creature(species, seed=seed, vertices=_VERTICES)
    return creature, bound_character(species, creature.skeleton, creature.mesh)
