"""Options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from akd.commands.errors import input_file, usage_errors

if TYPE_CHECKING:
    from akd.fit.losses import LossTerm
    from akd.rig.character import Character

arg = tyro.conf.arg
Out = Annotated[Path, arg(aliases=["-o"])]
"""Without a text: each command says what it writes."""
Clip = Annotated[
    str | None, arg(help="Which clip, if the file has several: its name, or a unique part of it.")
]
Device = Annotated[str, arg(help="auto, cpu or cuda.")]
Seed = Annotated[int, arg(help="Seed of all randomness.")]
PriorName = Annotated[
    str, arg(help="The video model: tiny, a name from `akd prior list`, or a folder.")
]
PoseModel = Annotated[
    Path | None, arg(help="Pose model from `akd pose train`; the bundled one if left out.")
]
PoseWeights = Annotated[Path | None, arg(help="Pose model of --pose-prior, from `akd pose train`.")]
Height = Annotated[
    float | None, arg(help="Height of the character in metres, overriding the file's units.")
]
Up = Annotated[str, arg(help="The file's axis that points up: x, y or z.")]
Roles = Annotated[
    Path | None,
    arg(help='TOML file that corrects joint roles, one `joint = "left hind foot"` per line.'),
]
Template = Annotated[
    str, arg(help="Body plan for a bare mesh: auto, quadruped, biped, theropod or generic.")
]
Grounded = Annotated[
    bool,
    arg(help="Also track the motion in the physics simulation, so that feet stand on the ground."),
]
Formats = Annotated[
    str,
    arg(
        help="Formats to write, separated by commas: glb, bvh, usd (needs akd[usd]), fbx (needs "
        "Blender). motion.glb is always written."
    ),
]
Keys = Annotated[
    Literal["every", "reduced"],
    arg(
        help="Keys of the GLB: one on every frame, or only those that keep every joint within "
        "0.1 % of the body's height."
    ),
]
LoopFrame = Annotated[
    Literal["repeat", "omit"],
    arg(
        help="The last frame of a loop repeats the first, for players that wrap at the last key, "
        "or is omitted."
    ),
]


def load_file(
    file: Path, *, height: float | None = None, up: str = "auto", roles: Path | None = None
) -> Character:
    """`akd.load`, with errors for the options `--height`, `--up` and `--roles`."""
    from akd.api.loading import load

    if roles is not None:
        input_file(roles)
    with usage_errors(prefix="--"):
        return load(input_file(file), height=height, up=up, roles=roles)


def pose_loss(weight: float, weights: Path | None, *, seed: int = 0) -> list[LossTerm]:
    """The loss terms of `--pose-prior` and `--pose-weights`: one, or none for a weight of 0."""
    if not weight:
        return []
    from akd.posespace.loss import pose_prior

    with usage_errors(FileNotFoundError, ValueError, prefix="--pose-prior: "):
        return [pose_prior(weight, weights, seed=seed)]
