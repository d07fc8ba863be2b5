"""Creatures of the zoo as `Actor`s: their own actions, and recorded clips put on their bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from akd.motion.actions import ACTIONS
from akd.motion.feet import leg_length
from akd.motion.library import LibraryClip
from akd.motion.retargeting.body_parts import part_bones
from akd.prior.tiny.actor import CLIP_FRAMES, Actor, clip_rate, continue_loop, hold_ends
from akd.prior.tiny.bone_tree import BoneTree
from akd.prior.tiny.recorded import recorded_bones
from akd.prior.tiny.settings import PoolSettings
from akd.prior.tiny.vocabulary import NONE
from akd.rig.character import bound_character
from akd.scene.roles import bone_roles, role_colours
from akd.splat.surface import surface_splats
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from akd.zoo.gait.style import Style


def manner_of(rng: np.random.Generator, action: str) -> tuple[str, Style]:
    """A random manner: its word, and the style that makes it so."""
    natural = Style.random(int(rng.integers(1, 2**31)))
    values = {k: getattr(natural, k) for k in natural.__dataclass_fields__}
    # Between the manners that have a word there is a gap, so that the words mean something.
    values["speed"] = float(np.clip(values["speed"], 0.87, 1.15))
    values["crouch"] = min(values["crouch"], 0.03)
    choices = ["slowly", "quickly", "crouching", "prancing", "swaying"]
    if action == "jump":
        choices = ["high"]
    elif action == "stand":
        choices = ["crouching"]
    elif not ACTIONS[action].is_cyclic:
        choices = ["slowly", "quickly"]
    if rng.random() < 0.5:
        return NONE, Style(**values)
    manner = str(rng.choice(choices))
    match manner:
        case "slowly":
            values["speed"] = float(rng.uniform(0.62, 0.78))
        case "quickly":
            values["speed"] = float(rng.uniform(1.25, 1.45))
        case "crouching":
            values["crouch"] = float(rng.uniform(0.08, 0.13))
        case "prancing":
            values["lift"] = float(rng.uniform(1.5, 1.9))
        case "swaying":
            values["sway"] = float(rng.uniform(1.5, 1.9))
        case "high":
            values["height"] = float(rng.uniform(1.2, 1.38))
    return manner, Style(**values)


def build_actor(
    species: str, seed: int, settings: PoolSettings, recorded: Sequence[LibraryClip] = ()
) -> Actor:
    """Build a creature, its splats and its clips, some of them `recorded`: some seconds."""
    creature = build_creature(species, seed=seed, vertices=settings.vertices)
    character = bound_character(species, creature.skeleton, creature.mesh)
    skin, rig = creature.mesh.skin, character.control_rig
    root = int((skin.bone_joints == creature.skeleton.names.index("root")).nonzero()[0])
    cloud = surface_splats(
        creature.mesh, settings.splats, generator=torch.Generator().manual_seed(seed)
    )
    # Six bones a splat is the most that a blend of three corners needs here; four are enough.
    cloud = cloud.with_influences(4)
    rate = clip_rate(settings.frame_time, leg_length(character, rig))
    rng = np.random.default_rng((seed, 31))
    actions, manners, clips = [], [], []
    for action in creature.actions:
        for _ in range(settings.styles if ACTIONS[action].is_cyclic else 1):
            manner, style = manner_of(rng, action)
            cycles = 2 if ACTIONS[action].is_cyclic else 1
            motion = make_clip(creature, action, fps=rate, cycles=cycles, style=style)
            bones = skin.bone_transforms(motion.world())
            if ACTIONS[action].one_off:
                bones = hold_ends(bones, frames=CLIP_FRAMES)
            else:
                bones = continue_loop(bones, root, frames=CLIP_FRAMES)
            actions.append(ACTIONS[action].label)
            manners.append(ACTIONS[action].manner or manner)
            clips.append(bones)
    own = len(actions)
    more, bones = recorded_bones(
        recorded, character, root, rate=rate, most=settings.recorded_clips, rng=rng
    )
    return Actor(
        species, seed, creature.plan, creature.height, root, cloud,
        role_colours(bone_roles(character)), skin.bone_transforms(rig.neutral_world),
        BoneTree.of(rig, skin), part_bones(rig, skin.bone_joints), rig.root_pivot,
        (*actions, *more), (*manners, *(NONE for _ in more)),
        (*(False for _ in range(own)), *(True for _ in more)), torch.stack([*clips, *bones]),
    )  # fmt: skip


def cast_list(count: int, *, first_seed: int) -> list[tuple[str, int]]:
    """Species and seeds of `count` creatures, taking the species in turn.

    People are fewer kinds than animals, so each kind of theirs comes up three times as often.
    """
    from akd.zoo.species.catalogue import SPECIES, Humanoid

    turns = [
        name
        for name, parameters in SPECIES.items()
        for _ in range(3 if isinstance(parameters, Humanoid) else 1)
    ]
    # A fixed shuffle: the first few creatures are already a mixture.
    order = np.random.default_rng(7).permutation(len(turns))
    return [(turns[order[i % len(turns)]], first_seed + i) for i in range(count)]
