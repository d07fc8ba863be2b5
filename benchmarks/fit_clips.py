"""Clips with known motion for `benchmarks/fit.py`, and ways to spoil their videos.

Characters come from the zoo, at seeds of one side of the split. Nothing here needs av or pillow.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
import torch.nn.functional as nn
from jaxtyping import Float
from torch import Tensor

from akd.asset.read import read_asset
from akd.base.splits import zoo_seed_trains
from akd.export.creature import write_creature
from akd.fit.video_fit import show_fit
from akd.motion.clip import motion_from_clip
from akd.rig.character import Character, load_character
from akd.scene.coverage import narrowed
from akd.scene.follow import FRONT, View, bounding_boxes, follow
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.splat.camera import Camera
from akd.zoo import Style, build_creature, make_clip
from benchmarks.fit_tables import BIPEDS

SPECIES = (
    "fox", "man", "horse", "trex", "cat", "woman", "elephant", "ostrich", "dog", "child", "deer",
    "raptor",
)  # fmt: skip
SECOND = {"elephant": "amble", "giraffe": "gallop"}
"""The other action beside a walk; `trot` of other quadrupeds, `run` of other bipeds."""
FPS = 24.0
VERTICES = 2000
FILM_SPLATS = 20_000
BACKGROUND = (0.78, 0.84, 0.9)
SPOILS = (
    "compression", "motion blur", "noise", "wrong scale", "cropped feet", "changing light",
    "static clutter", "other proportions",
)  # fmt: skip


@dataclass(frozen=True)
class ClipSpec:
    """What is filmed, from where."""

    number: int
    species: str
    seed: int
    action: str
    style: SceneStyle
    travels: bool
    """Past a camera that stands still; otherwise on the spot."""
    azimuth: float
    """Degrees."""
    elevation: float
    field_of_view: float


@dataclass(frozen=True)
class Clip:
    """A filmed motion and the truth about it."""

    spec: ClipSpec
    character: Character
    world: Float[Tensor, "T J 4 4"]
    """world_from_joint, metres."""
    frames: Float[Tensor, "T H W 3"]
    masks: Float[Tensor, "T H W"]
    camera: Camera


def specs(count: int, *, training: bool = False) -> list[ClipSpec]:
    """Two clips of each character: a walk past the camera, a faster gait on the spot.

    Textured and role-coloured characters take turns.
    """
    draw = torch.Generator().manual_seed(7 + training)
    found = []
    for number in range(count):
        species = SPECIES[(number // 2) % len(SPECIES)]
        seed = 1000 + number // 2 if training else number // 2
        assert zoo_seed_trains(seed) == training
        fast = SECOND.get(species, "run" if species in BIPEDS else "trot")
        walks = number % 2 == 0
        u, v, w, side = torch.rand(4, generator=draw).tolist()
        azimuth = (60.0 + 60.0 * u) * (1.0 if side < 0.5 else -1.0)
        style = SceneStyle.TEXTURED if (number + number // 2) % 2 == 0 else SceneStyle.ROLES
        found.append(
            ClipSpec(
                number, species, seed, "walk" if walks else fast, style, walks, azimuth,
                5.0 + 15.0 * v, 25.0 + 20.0 * w,
            )
        )  # fmt: skip
    return found


def make_character(
    spec: ClipSpec, frames: int, *, seed: int | None = None
) -> tuple[Character, Tensor]:
    """The creature as a user's file, and its motion: world_from_joint at every frame."""
    creature = build_creature(
        spec.species, seed=spec.seed if seed is None else seed, vertices=VERTICES
    )
    motion = make_clip(
        creature, spec.action, fps=FPS, frames=frames, style=Style.random(spec.seed + 11)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{spec.species}.glb"
        write_creature(creature, [motion], path)
        character = load_character(read_asset(path))
    clip = motion_from_clip(character, character.asset.clips[0])
    world = clip.sample(torch.arange(frames) / FPS).world()
    if not spec.travels:
        path = world[:, character.control_rig.root, :3, 3].clone()
        path[:, 1] = 0.0
        world = world.clone()
        world[..., :3, 3] -= (path - path[:1])[:, None]
    return character, world


@lru_cache(maxsize=2)
def film(
    spec: ClipSpec,
    *,
    frames: int = 48,
    size: int = 256,
    actor_seed: int | None = None,
    device: str = "cpu",
) -> Clip:
    """Render the clip before a plain background. `actor_seed`: another body plays, and the
    character to be fitted stays who it was."""
    character, world = make_character(spec, frames)
    actor, shown = (character, world)
    if actor_seed is not None:
        actor, shown = make_character(spec, frames, seed=actor_seed)
    seen, masks, camera = render(spec, actor, shown, size=size, device=device)
    return Clip(spec, character, world, seen, masks, camera)


def render(
    spec: ClipSpec,
    actor: Character,
    world: Tensor,
    *,
    size: int,
    view: View | None = None,
    device: str = "cpu",
) -> tuple[Tensor, Tensor, Camera]:
    """Frames, masks and the camera, which stands still; on the CPU."""
    stage = Stage.of(
        actor, style=spec.style, size=(size, size), splats=FILM_SPLATS, ground=False, device=device
    )
    assert actor.mesh is not None
    bones = actor.mesh.skin.bone_transforms(world).to(device)
    low, high = (box for box in bounding_boxes(stage.cloud, bones))
    low, high = low.amin(0, keepdim=True), high.amax(0, keepdim=True)
    view = view or View(
        math.radians(spec.azimuth), math.radians(spec.elevation),
        field_of_view=math.radians(spec.field_of_view),
    )  # fmt: skip
    camera = follow(low.cpu(), high.cpu(), view, forward=actor.forward, width=size, height=size)
    # A camera sees the surface and not the splats, which are wider.
    middle = 0.5 * (low + high)[0].cpu()
    depth = float(camera.camera_from_world[0, 2, :3] @ middle + camera.camera_from_world[0, 2, 3])
    exponent = stage.coverage_exponent(float(camera.focal[0, 0]) / depth)
    seen = narrowed(*show_fit(stage, bones, camera), exponent)
    colour, light = (x.cpu() for x in seen)
    return colour + light[..., None] * torch.tensor(BACKGROUND), 1.0 - light, camera


def front_view(clip: Clip, *, device: str = "cpu") -> tuple[Tensor, Tensor, Camera]:
    """The same motion from the front."""
    size = clip.frames.shape[1]
    return render(clip.spec, clip.character, clip.world, size=size, view=FRONT, device=device)


def spoil(clip: Clip, kind: str) -> tuple[Tensor, Tensor | None]:
    """Spoiled frames, and masks where they must follow; None: to be found."""
    frames, draw = clip.frames, torch.Generator().manual_seed(clip.spec.number)
    count, height, width = frames.shape[:3]
    match kind:
        case "compression":
            return _quantised(frames, 0.25), None
        case "motion blur":
            pad = torch.cat((frames[:1], frames, frames[-1:]))
            return (pad[:-2] + 2.0 * pad[1:-1] + pad[2:]) / 4.0, None
        case "noise":
            return (frames + 0.06 * torch.randn(frames.shape, generator=draw)).clamp(0, 1), None
        case "cropped feet":
            rows = (clip.masks > 0.5).any(2).any(0).nonzero().flatten()
            cut = int(rows[0]) + round(0.8 * float(rows[-1] - rows[0]))
            return frames[:, :cut], clip.masks[:, :cut]
        case "changing light":
            t = torch.arange(count) / count
            gain = 1.0 + 0.35 * torch.sin(2.0 * math.pi * 1.5 * t)
            return (frames * gain[:, None, None, None]).clamp(0, 1), None
        case "static clutter":
            noise = torch.rand(1, 3, 16, 16, generator=draw)
            wall = nn.interpolate(noise, (height, width), mode="bicubic")[0].movedim(0, -1)
            mask = clip.masks[..., None]
            return frames * mask + wall.clamp(0, 1) * (1.0 - mask), None
        case _:
            return frames, None  # the character is another one, not the video


def _quantised(frames: Float[Tensor, "T H W 3"], step: float) -> Float[Tensor, "T H W 3"]:
    """JPEG's loss: cosine coefficients of 8 x 8 blocks rounded, the finer the coarser."""
    n = torch.arange(8, dtype=torch.float32)
    basis = torch.cos(math.pi / 8 * (n[None] + 0.5) * n[:, None]) * math.sqrt(2.0 / 8)
    basis[0] *= math.sqrt(0.5)
    count, height, width = frames.shape[:3]
    blocks = frames.reshape(count, height // 8, 8, width // 8, 8, 3)
    found = torch.einsum("ui,tyixjc,vj->tyuxvc", basis, blocks, basis)
    steps = step * (1.0 + 0.5 * (n[:, None] + n[None]))[None, None, :, None, :, None]
    found = (found / steps).round() * steps
    return torch.einsum("ui,tyuxvc,vj->tyixjc", basis, found, basis).reshape_as(frames).clamp(0, 1)
