"""The 48 cases of `benchmarks/distill.py`: who is asked to do what, and the true clips."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

import akd
from akd.base.splits import asset_trains, zoo_seed_trains
from akd.export.creature import write_creature
from akd.motion.actions import action_label
from akd.motion.clip import motion_from_clip
from akd.motion.contact import implied_velocity
from akd.motion.feet import track_feet
from akd.motion.loop import repeat
from akd.motion.motion import Motion
from akd.motion.root_motion import displaced
from akd.rig.character import Character
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import perform

CLIP_SECONDS = 3.0
CLIP_FPS = 30.0


@dataclass(frozen=True)
class Actor:
    """A character of the measuring side."""

    name: str
    noun: str
    """What prompts call it."""
    actions: tuple[tuple[str, str], tuple[str, str]]
    """What it is asked to do: the word in the prompt, and its true clip in a real file."""
    seed: int | None = None
    """Of a zoo creature whose species is the noun; None for a file."""
    path: str = ""
    """Of a file, in the folder of real assets."""
    height: float | None = None
    """Metres, where the file's own units are not to be believed."""


WALK_TROT = (("walking", "Walk"), ("trotting", ""))
WALK_GALLOP = (("walking", "Walk"), ("galloping", "Gallop"))
WALK_RUN = (("walking", "Walking"), ("running", "Running"))

ACTORS: tuple[Actor, ...] = (
    Actor("zoo fox 0", "fox", WALK_TROT, seed=0),
    Actor("zoo horse 1", "horse", WALK_GALLOP, seed=1),
    Actor("zoo tiger 2", "tiger", WALK_TROT, seed=2),
    Actor("zoo deer 3", "deer", WALK_GALLOP, seed=3),
    Actor("zoo man 4", "man", WALK_RUN, seed=4),
    Actor("zoo woman 5", "woman", WALK_RUN, seed=5),
    Actor("zoo trex 6", "trex", WALK_RUN, seed=6),
    Actor("zoo ostrich 7", "ostrich", WALK_RUN, seed=7),
    Actor(
        "Khronos Fox", "fox", (("walking", "Walk"), ("galloping", "Run")),
        path="khronos/Fox/glTF-Binary/Fox.glb",
    ),
    Actor(
        "quaternius Wolf", "wolf", WALK_GALLOP,
        path="quaternius/animals_pack/Wolf.glb", height=0.9,
    ),
    Actor(
        "quaternius Knight", "knight", (("walking", "Walking"), ("running", "Run")),
        path="quaternius/single_knight_pack/KnightCharacter.glb", height=1.8,
    ),
    Actor(
        "three.js Robot", "robot", WALK_RUN,
        path="threejs/RobotExpressive/RobotExpressive.glb", height=1.8,
    ),
)  # fmt: skip
"""Chosen once. Seed 0 of the fox is the demo's; the other seeds were counted up."""

NEW_ACTORS: tuple[Actor, ...] = (
    Actor("zoo woman 11", "woman", (("dancing", ""), ("punching", "")), seed=11),
    Actor("zoo child 12", "child", (("waving", ""), ("kicking", "")), seed=12),
    Actor("zoo fox 13", "fox", (("jumping", ""), ("sitting down", "")), seed=13),
    Actor("zoo tiger 14", "tiger", (("turning left", ""), ("eating", "")), seed=14),
    Actor("zoo ostrich 15", "ostrich", (("turning right", ""), ("running", "")), seed=15),
    Actor(
        "cyberpunk character", "person", (("waving", "Wave"), ("kicking", "Kick_Left")),
        path="quaternius/cyberpunkgamekit/character.glb", height=1.8,
    ),
    Actor(
        "quaternius Monk", "monk", (("attacking", "Attack"), ("running", "Run")),
        path="quaternius/rpg_characters/monk.glb", height=1.8,
    ),
    Actor(
        "quaternius Wizard", "wizard", (("punching", "Punch"), ("rolling", "Roll")),
        path="quaternius/rpg_characters/wizard.glb", height=1.8,
    ),
    Actor(
        "quaternius Mech", "robot", (("dancing", "Dance"), ("jumping", "Jump")),
        path="quaternius/ultimate_space_kit/Mech-D5wW2jDO42.glb", height=1.8,
    ),
    Actor(
        "quaternius German Shepherd", "dog", (("eating", "Eating"), ("attacking", "Attack")),
        path="quaternius/zombieapocalypsekit/characters_german_shepherd.glb", height=0.8,
    ),
    Actor(
        "mesh2motion Spider", "spider", (("walking", "Walk"), ("attacking", "Attack")),
        path="mesh2motion/animations/spider-animations.glb", height=0.3,
    ),
    Actor(
        "quaternius Snake", "snake", (("slithering", "Snake_Walk"), ("attacking", "Snake_Attack")),
        path="quaternius/easy_enemies_pack/Snake.glb", height=0.3,
    ),
)  # fmt: skip
"""Chosen before anything was trained for them, by name and list of clips alone."""


@dataclass(frozen=True)
class Case:
    """One character and one sentence."""

    actor: Actor
    prompt: str
    clip: str
    """Name of the true clip in a real file."""

    @property
    def name(self) -> str:
        """Such as `zoo fox 0, walk`."""
        return f"{self.actor.name}, {self.action}"

    @property
    def action(self) -> str:
        """What recognisers call it; the word of the prompt where they have no class for it."""
        return action_label(self.prompt) or self.prompt.removeprefix(f"a {self.actor.noun} ")


def _cases(actors: tuple[Actor, ...]) -> tuple[Case, ...]:
    return tuple(
        Case(actor, f"a {actor.noun} {word}", clip)
        for actor in actors
        for word, clip in actor.actions
    )


FIRST_CASES, NEW_CASES = _cases(ACTORS), _cases(NEW_ACTORS)
CASES: tuple[Case, ...] = (*FIRST_CASES, *NEW_CASES)
PAPER_CASES = _cases(tuple(
    replace(actor, actions=WALK_RUN)
    for actor in ACTORS if actor.name in ("zoo tiger 2", "zoo ostrich 7")
))  # fmt: skip
"""Animals and gaits of the paper's ablation."""
ABLATED: tuple[str, ...] = (
    "zoo fox 0, walk", "zoo horse 1, gallop", "zoo man 4, walk", "zoo trex 6, run",
    "quaternius Wolf, walk", "quaternius Knight, run",
)  # fmt: skip
"""Cases of the ablation: both plans, both sources, slow and fast."""
PEOPLE: tuple[str, ...] = (
    "zoo man 4, walk", "zoo woman 5, run", "zoo child 12, kick",
    "quaternius Knight, run", "three.js Robot, walk", "cyberpunk character, wave",
)  # fmt: skip
"""Cases of the pose model as a loss: people of both sources, gaits and other actions."""


def find_case(name: str) -> Case:
    """A case by its name."""
    return next(case for case in (*CASES, *PAPER_CASES) if case.name == name)


@contextmanager
def played(case: Case, assets: Path | None) -> Iterator[tuple[Character, Motion | None]]:
    """The character of a case, and the true motion where one of that action exists.

    A creature of the zoo is read from a file without any clip, as a user's would be.
    """
    actor = case.actor
    if actor.seed is None:
        if assets is None:
            raise ValueError(f"{case.name}: needs --assets, the folder of real files")
        if asset_trains(actor.path):
            raise ValueError(f"{actor.path}: is for training, and must not measure")
        character = akd.load(assets / actor.path, height=actor.height)
        yield character, _clip_of_file(character, case)
        return
    if zoo_seed_trains(actor.seed):
        raise ValueError(f"seed {actor.seed}: is for training, and must not measure")
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{actor.noun}.glb"
        creature = build_creature(actor.noun, seed=actor.seed)
        write_creature(creature, [], path)
        character = akd.load(path)
        true = None
        if case.action in creature.actions:
            frames = round(CLIP_SECONDS * CLIP_FPS) + 1
            motion = perform(creature, case.action, fps=CLIP_FPS, frames=frames).motion
            write_creature(creature, [motion], path)
            other = akd.load(path)
            found = motion_from_clip(other, other.asset.clips[0])
            true = replace(found, skeleton=character.skeleton)
        yield character, true


def _clip_of_file(character: Character, case: Case) -> Motion | None:
    """The file's own clip, over and over for some seconds, travelling as its stance feet imply and
    standing on the ground: artists mostly animate on the spot."""
    rig = character.control_rig
    clips = {clip.name.rsplit("|", 1)[-1]: clip for clip in character.asset.clips}
    if case.clip not in clips:
        return None
    once = motion_from_clip(character, clips[case.clip])
    seconds = torch.arange(round(CLIP_SECONDS * CLIP_FPS) + 1) / CLIP_FPS
    looped = repeat(rig, once, math.ceil(CLIP_SECONDS / once.duration))
    looped = looped.sample(looped.times[0] + seconds)
    frames = once.resample(CLIP_FPS)
    velocity = implied_velocity(
        [foot.sole for foot in track_feet(character, rig, frames)],
        frames.world()[:, rig.root, :3, 3], forward=character.forward, fps=CLIP_FPS,
        body_height=character.height,
    )  # fmt: skip
    shift = torch.zeros(len(seconds), 3)
    if velocity is not None:
        shift = seconds[:, None] * velocity
    moved = displaced(rig, looped, shift.to(looped.pose.translation))
    assert character.mesh is not None
    lowest = float(character.mesh.pose(moved.world())[..., 1].amin())
    return displaced(rig, moved, torch.tensor((0.0, -lowest, 0.0)).expand(len(moved), 3))
