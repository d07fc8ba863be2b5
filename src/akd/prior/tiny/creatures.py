"""`Actor`: a creature of the zoo made ready to be filmed, and the workers that make many.

An actor is small enough to keep hundreds of: its splats, its bones' transforms in every clip, and
what is said of them. Actors are cached as safetensors, one file each.
"""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.files import write_tensors
from akd.motion.actions import ACTION_LABELS, ACTIONS
from akd.prior.tiny.settings import PoolSettings
from akd.prior.tiny.vocabulary import NONE
from akd.rig.skin import skin_points
from akd.splat.cloud import SplatCloud
from akd.zoo.creature import Creature
from akd.zoo.gait.style import Style

CLIP_FPS = 24.0
"""Clips are kept at twice the rate of the videos, so that a video can start between its frames."""
CLIP_FRAMES = 64
"""Frames that a clip is cut or, being a loop, continued to."""
FORMAT = "akd-actor-2"


@dataclass(frozen=True)
class Actor:
    """Splats, and clips as transforms of the bones: world, metres, Y up, at first facing +Z."""

    species: str
    seed: int
    plan: str
    """`quadruped`, `humanoid` or `theropod`."""
    height: float
    """Of the body, metres."""
    root: int
    """The bone that carries the travel."""
    cloud: SplatCloud
    bone_colours: Float[Tensor, "B 3"]
    """Of the bones' roles."""
    neutral: Float[Tensor, "B 4 4"]
    """The neutral pose."""
    actions: tuple[str, ...]
    """What is done in each clip."""
    manners: tuple[str, ...]
    """How, in one word or `<none>`."""
    clips: Float[Tensor, "C T B 4 4"]

    def to(self, device: torch.device | str) -> Actor:
        """Move to a device."""
        return Actor(
            self.species, self.seed, self.plan, self.height, self.root, self.cloud.to(device),
            self.bone_colours.to(device), self.neutral.to(device), self.actions, self.manners,
            self.clips.to(device),
        )  # fmt: skip


def manner_of(rng: np.random.Generator, action: str) -> tuple[str, Style]:
    """A random manner: its word, and the style that makes it so."""
    natural = Style.random(int(rng.integers(1, 2**31)))
    values = {k: getattr(natural, k) for k in natural.__dataclass_fields__}
    # Between the manners that have a word there is a gap, so that the words mean something.
    values["speed"] = float(np.clip(values["speed"], 0.87, 1.15))
    values["crouch"] = min(values["crouch"], 0.03)
    choices = ["slowly", "quickly", "crouching", "prancing", "swaying"]
    if ACTIONS[action].one_off:
        choices = ["high"]
    elif not ACTIONS[action].is_cyclic:
        choices = ["crouching"]
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


def continue_loop(
    bones: Float[Tensor, "T B 4 4"], root: int, *, first: int, frames: int
) -> Float[Tensor, "frames B 4 4"]:
    """`frames` frames from `first` on of a clip that loops: its last frame is its first moved on.

    `first` may be negative or beyond the clip's end.
    """
    period = len(bones) - 1
    onward = bones[-1, root] @ torch.linalg.inv(bones[0, root])
    wanted = torch.arange(first, first + frames)
    rounds = torch.div(wanted, period, rounding_mode="floor")
    result = bones[wanted - rounds * period]
    for number in rounds.unique().tolist():
        moved = torch.linalg.matrix_power(onward, number)
        result[rounds == number] = moved @ result[rounds == number]
    return result


def highest_frame(cloud: SplatCloud, bones: Float[Tensor, "T B 4 4"]) -> int:
    """The frame in which the body is highest above the ground."""
    few = slice(None, None, max(1, len(cloud) // 100))
    points = skin_points(bones, cloud.means[few], cloud.bones[few], cloud.weights[few])
    return int(points[..., 1].mean(1).argmax())


def bone_colours_of(creature: Creature) -> Float[Tensor, "B 3"]:
    """Colours by the roles that the rig room finds, as it would in any user's file."""
    from scipy.sparse import csr_matrix

    from akd.rig.roles.anatomy import find_anatomy
    from akd.rig.roles.body import Evidence
    from akd.scene.roles import role_colours

    skin, joints = creature.mesh.skin, len(creature.skeleton)
    vertices, width = skin.bones.shape
    rows = np.repeat(np.arange(vertices), width)
    columns = skin.bone_joints[skin.bones].numpy().ravel()
    weights = csr_matrix(
        (skin.weights.double().numpy().ravel(), (rows, columns)), shape=(vertices, joints)
    )
    rest = creature.skeleton.forward(creature.skeleton.rest)
    evidence = Evidence(
        creature.skeleton, rest[:, :3, 3].double().numpy(), np.ones(joints, dtype=bool),
        creature.mesh.vertices.double().numpy(), weights,
    )  # fmt: skip
    return role_colours(find_anatomy(evidence).roles)[skin.bone_joints]


def build_actor(species: str, seed: int, settings: PoolSettings) -> Actor:
    """Build a creature, its splats and its clips: a few seconds."""
    from akd.splat.surface import surface_splats
    from akd.zoo.creature import build_creature
    from akd.zoo.gait.clips import make_clip

    creature = build_creature(species, seed=seed, vertices=settings.vertices)
    skin = creature.mesh.skin
    root = int((skin.bone_joints == creature.skeleton.names.index("root")).nonzero()[0])
    neutral = skin.bone_transforms(creature.skeleton.forward(creature.skeleton.rest))
    cloud = surface_splats(
        creature.mesh, settings.splats, generator=torch.Generator().manual_seed(seed)
    )
    # Six bones a splat is the most that a blend of three corners needs here; four are enough.
    cloud = cloud.with_influences(4)
    rng = np.random.default_rng((seed, 31))
    actions, manners, clips = [], [], []
    for action in creature.actions:
        if action not in ACTION_LABELS:
            continue  # the zoo performs more than the shipped prior has words for
        for _ in range(settings.styles):
            manner, style = manner_of(rng, action)
            cycles = 2 if ACTIONS[action].is_cyclic else 1
            motion = make_clip(creature, action, fps=CLIP_FPS, cycles=cycles, style=style)
            bones = skin.bone_transforms(motion.world())
            actions.append(action)
            manners.append(manner)
            # A jump may last longer than the clips that are kept: the leap is put in the middle.
            leaps = ACTIONS[action].one_off
            first = highest_frame(cloud, bones) - CLIP_FRAMES // 2 if leaps else 0
            clips.append(continue_loop(bones, root, first=first, frames=CLIP_FRAMES))
    return Actor(
        species, seed, creature.plan, creature.height, root, cloud, bone_colours_of(creature),
        neutral, tuple(actions), tuple(manners), torch.stack(clips),
    )  # fmt: skip


def save_actor(actor: Actor, path: Path) -> None:
    """Write an actor."""
    cloud = actor.cloud
    assert cloud.normals is not None
    tensors = {
        "means": cloud.means, "scales": cloud.scales, "rotations": cloud.rotations,
        "opacities": cloud.opacities, "sh": cloud.sh, "bones": cloud.bones.to(torch.int16),
        "weights": cloud.weights, "normals": cloud.normals, "bone_colours": actor.bone_colours,
        "neutral": actor.neutral, "clips": actor.clips[..., :3, :],
    }  # fmt: skip
    about = {
        "format": FORMAT, "species": actor.species, "seed": actor.seed, "plan": actor.plan,
        "height": actor.height, "root": actor.root, "actions": actor.actions,
        "manners": actor.manners,
    }  # fmt: skip
    write_tensors(path, tensors, about={"about": json.dumps(about)})


def load_actor(path: Path) -> Actor:
    """Read what `save_actor` wrote."""
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        about = json.loads((file.metadata() or {}).get("about", "{}"))
        if about.get("format") != FORMAT:
            raise ValueError(f"{path}: must be of format {FORMAT}, got {about.get('format')}")
        get = file.get_tensor
        cloud = SplatCloud(
            get("means"), get("scales"), get("rotations"), get("opacities"), get("sh"),
            get("bones").long(), get("weights"), get("normals"),
        )  # fmt: skip
        top = get("clips")
        bottom = top.new_tensor((0.0, 0.0, 0.0, 1.0)).expand(*top.shape[:-2], 1, 4)
        return Actor(
            about["species"], about["seed"], about["plan"], about["height"], about["root"], cloud,
            get("bone_colours"), get("neutral"), tuple(about["actions"]), tuple(about["manners"]),
            torch.cat((top, bottom), dim=-2),
        )  # fmt: skip


def cast_list(count: int, *, first_seed: int) -> list[tuple[str, int]]:
    """Species and seeds of `count` creatures, taking the species in turn.

    People are fewer kinds than animals, so each kind of theirs comes up twice as often.
    """
    from akd.zoo.species.catalogue import SPECIES, Humanoid

    turns = [
        name
        for name, parameters in SPECIES.items()
        for _ in range(2 if isinstance(parameters, Humanoid) else 1)
    ]
    # A fixed shuffle: the first few creatures are already a mixture.
    order = np.random.default_rng(7).permutation(len(turns))
    return [(turns[order[i % len(turns)]], first_seed + i) for i in range(count)]


def _work(species: str, seed: int, settings: PoolSettings, folder: str) -> str:
    path = actor_path(Path(folder), species, seed, settings)
    if not path.exists():
        save_actor(build_actor(species, seed, settings), path)
    return str(path)


def actor_path(folder: Path, species: str, seed: int, settings: PoolSettings) -> Path:
    """Where an actor is cached: whatever changes it is in the name."""
    size = f"{settings.vertices}-{settings.splats}-{settings.styles}"
    return folder / f"{species}-{seed}-{size}.safetensors"


def build_actors(
    cast: Sequence[tuple[str, int]],
    settings: PoolSettings,
    folder: Path,
    *,
    workers: int,
) -> Generator[Actor | None, None, None]:
    """Actors in the order in which they are ready, those of the cache first.

    Built side by side in processes of their own. Yields None whenever the next one is not ready,
    so that whoever asks can do something else in the meantime. A creature that cannot be built is
    named on the terminal and left out.
    """
    import multiprocessing

    folder.mkdir(parents=True, exist_ok=True)
    missing = []
    for species, seed in cast:
        path = actor_path(folder, species, seed, settings)
        if path.exists():
            yield load_actor(path)
        else:
            missing.append((species, seed))
    if workers < 1:
        for species, seed in missing:
            yield load_actor(Path(_work(species, seed, settings, str(folder))))
        return
    if not missing:
        return
    # Started afresh: a fork of a process that holds a CUDA context cannot use it or end cleanly.
    context = multiprocessing.get_context("spawn")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # read when the workers load their libraries
    ready: queue.SimpleQueue[Future[str]] = queue.SimpleQueue()
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)
    try:
        waiting = {
            pool.submit(_work, species, seed, settings, str(folder)): (species, seed)
            for species, seed in missing
        }
        for future in waiting:
            future.add_done_callback(ready.put)
        while waiting:
            try:
                future = ready.get_nowait()
            except queue.Empty:
                yield None
                continue
            species, seed = waiting.pop(future)
            error = future.exception()
            if error is not None:
                print(f"left out: {species} {seed}: {type(error).__name__}: {error}", flush=True)
                continue
            yield load_actor(Path(future.result()))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _start_worker() -> None:
    """A worker computes on one core and leaves the GPU alone."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    torch.set_num_threads(1)
