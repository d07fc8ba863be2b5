"""Videos of actors in the style of the tiny prior: many in one call of the rasterizer.

All videos of a call show one creature, so its splats are carried by frames x bones transforms
once; what would be a call of 16 frames becomes one of several hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from akd.metrics.recognise.settings import GLIDING, PADDLING
from akd.motion.actions import ACTIONS
from akd.prior.tiny.actor import SAMPLES_A_FRAME, Actor, start_of
from akd.prior.tiny.proportions import vary_body
from akd.prior.tiny.settings import BodySettings, CameraSettings, TinySettings
from akd.prior.tiny.vocabulary import Words, creature_word
from akd.scene.compose import render_scene
from akd.scene.follow import (
    SMOOTH,
    View,
    ViewBounds,
    bounding_boxes,
    directions,
    fitting_distance,
    random_view,
    smooth_path,
)
from akd.scene.settings import SceneSettings, SceneStyle, ShadowSettings
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud

SCENE = SceneSettings(style=SceneStyle.ROLES, shadow=ShadowSettings(cells=48))
"""The one scene that the tiny prior knows. Its images are small, and so is the shadow map."""


@dataclass(frozen=True)
class Footage:
    """K videos with their reference images and what they show."""

    videos: UInt8[Tensor, "K T H W 3"]
    reference_images: UInt8[Tensor, "K H W 3"]
    words: tuple[Words, ...]
    """Species, action and manner."""
    labels: tuple[str, ...]
    """The action, or the trick."""
    views: tuple[View, ...]
    bones: Float[Tensor, "K T B 4 4"]
    """world_from_mesh of the bones that are seen: metres, facing +Z."""
    actor: Actor
    """The actor, with the proportions that it is filmed with."""


def view_bounds(cameras: CameraSettings) -> ViewBounds:
    """The same as the scene's room has it."""
    return ViewBounds(cameras.azimuth, cameras.elevation, cameras.zoom)


def cameras_of(
    low: Float[Tensor, "K T 3"],
    high: Float[Tensor, "K T 3"],
    neutral: tuple[Float[Tensor, "3"], Float[Tensor, "3"]],
    views: Sequence[View],
    *,
    forward: Float[Tensor, "3"],
    size: tuple[int, int],
) -> tuple[Camera, Camera]:
    """The cameras of K videos, K x T of them, and the K cameras of their reference images.

    `low` and `high` are the corners of the boxes around the body in the videos, `neutral` those of
    the neutral pose (world, metres). A reference image is taken from the side and distance of its
    video, which have room for both. The same as `akd.scene.follow.follow` for each, in one go.
    """
    frames = low.shape[1]
    # All videos side by side: a path is smoothed along its frames alone.
    middles = (0.5 * (low + high)).transpose(0, 1).flatten(1)
    paths = smooth_path(middles, SMOOTH).unflatten(1, (-1, 3)).transpose(0, 1)
    still = (0.5 * (neutral[0] + neutral[1])).expand(len(views), 1, 3)
    # The neutral pose may be the larger one: spread wings must be within the reference image.
    radius = (0.5 * (high - low)).norm(dim=-1).amax(-1)
    radius = radius.clamp_min(float((0.5 * (neutral[1] - neutral[0])).norm()))
    opening = views[0].field_of_view
    if any(view.field_of_view != opening for view in views):
        raise ValueError("all views of one call must have one field of view")
    azimuth, elevation, zoom = torch.tensor(
        [(view.azimuth, view.elevation, view.zoom) for view in views]
    ).unbind(1)
    distance = fitting_distance(radius, zoom, opening, size)
    offset = distance[:, None] * directions(azimuth, elevation, forward=forward)

    def look(targets: Tensor, each: int) -> Camera:
        eyes = targets + offset[:, None]
        return Camera.look_at(
            eyes.reshape(-1, 3), targets.reshape(len(views) * each, 3),
            width=size[0], height=size[1], field_of_view=opening,
        )  # fmt: skip

    return look(paths, frames), look(still, 1)


def freeze(bones: Float[Tensor, "T B 4 4"], root: int) -> Float[Tensor, "T B 4 4"]:
    """The first frame's pose, carried along by the root: a statue that glides."""
    return bones[:, root, None] @ torch.linalg.inv(bones[:1, root, None]) @ bones[:1]


def lift_off(
    bones: Float[Tensor, "T B 4 4"], root: int, *, height: float, travels: bool
) -> Float[Tensor, "T B 4 4"]:
    """The same motion `height` metres above the ground, with or without the root's travel."""
    shift = torch.eye(4, device=bones.device, dtype=bones.dtype).repeat(len(bones), 1, 1)
    shift[:, 1, 3] = height
    if not travels:
        gone = bones[:, root, :3, 3] - bones[:1, root, :3, 3]
        shift[:, 0, 3], shift[:, 2, 3] = -gone[:, 0], -gone[:, 2]
    return shift[:, None] @ bones


def squash(actor: Actor, up: float) -> Actor:
    """The actor `up` times as tall and as wide as before: what stands on the ground still does."""
    scale = torch.diag(actor.clips.new_tensor((1.0, up, 1.0, 1.0)))
    return replace(
        actor, height=up * actor.height, clips=scale @ actor.clips,
        neutral=scale @ actor.neutral, pivot=scale[:3, :3] @ actor.pivot,
    )  # fmt: skip


def fatten(cloud: SplatCloud, by: float) -> SplatCloud:
    """The surface moved out by this many metres."""
    assert cloud.normals is not None
    return replace(cloud, means=cloud.means + by * cloud.normals)


def _uniform(generator: torch.Generator, low: float, high: float) -> float:
    return low + (high - low) * float(torch.rand((), generator=generator))


def _choose(generator: torch.Generator, count: int) -> int:
    return int(torch.randint(count, (), generator=generator))


def _takes(
    actor: Actor,
    count: int,
    *,
    generator: torch.Generator,
    tiny: TinySettings,
    tricks: bool,
    recorded: float | None,
    clips: Sequence[int] | None,
) -> tuple[list[Float[Tensor, "T B 4 4"]], list[Words], list[str]]:
    """Bones, words and label of each video: see `film_actor`."""
    moving = [i for i, action in enumerate(actor.actions) if ACTIONS[action].froude > 0.0]
    kinds = [[i for i, is_so in enumerate(actor.recorded) if is_so == kind] for kind in (0, 1)]
    bones, words, labels = [], [], []
    for k in range(count):
        label: str = ""
        if tricks and moving and k % 5 == 0:
            label = GLIDING if k % 10 == 0 else PADDLING
        among = list(range(len(actor.actions)))
        if recorded is not None and all(kinds):
            among = kinds[_uniform(generator, 0.0, 1.0) < recorded]
        among = moving if label else among
        clip = among[_choose(generator, len(among))]
        if clips is not None:
            clip = clips[k]
        action = actor.actions[clip]
        start = start_of(action, tiny.frames, _uniform(generator, 0.0, 1.0))
        some = actor.clips[clip, start::SAMPLES_A_FRAME][: tiny.frames]
        if label == GLIDING:
            some = freeze(some, actor.root)
        elif label == PADDLING:
            up = actor.height * _uniform(generator, 0.15, 0.5)
            some = lift_off(
                some, actor.root, height=up, travels=_uniform(generator, 0.0, 1.0) < 0.5
            )
        bones.append(some)
        words.append(Words(creature_word(actor.species), action, actor.manners[clip]))
        labels.append(label or action)
    return bones, words, labels


def film_actor(
    actor: Actor,
    count: int,
    *,
    generator: torch.Generator,
    tiny: TinySettings,
    cameras: CameraSettings,
    tricks: bool = False,
    vary: bool = True,
    bodies: BodySettings | None = None,
    recorded: float | None = None,
    clips: Sequence[int] | None = None,
) -> Footage:
    """`count` videos of an actor: random clips, starts and views, from a CPU `generator`.

    `tricks` mixes in the two wrong motions. `vary` changes the actor's proportions, girth and
    shades a little, so that more bodies are seen than were built; `bodies` says how far its body
    parts and its neutral pose change as well. `recorded` is the share of videos that show recorded
    clips, where the actor has both kinds; all clips alike if left out. `clips` chooses the clips.
    """
    cloud, colours = actor.cloud, actor.bone_colours
    if vary:
        actor = squash(actor, 2.0 ** _uniform(generator, -0.25, 0.25))
        cloud = fatten(cloud, actor.height * _uniform(generator, -0.004, 0.012))
        shades = 1.0 + 0.12 * (2.0 * torch.rand(len(colours), 1, generator=generator) - 1.0)
        colours = (colours * shades.to(colours)).clamp(0.0, 1.0)
    device = actor.clips.device
    bones, words, labels = _takes(
        actor, count, generator=generator, tiny=tiny, tricks=tricks, recorded=recorded, clips=clips
    )
    posed = torch.stack(bones)
    if bodies is not None:
        actor, posed = vary_body(actor, posed, bodies, generator=generator)
    every = torch.cat((posed.flatten(0, 1), actor.neutral[None]))
    low, high = (corner.cpu() for corner in bounding_boxes(cloud, every))
    views = tuple(random_view(generator, view_bounds(cameras)) for _ in range(count))
    # Cameras are computed on the CPU: on a GPU each one would be a synchronisation.
    size = (count, tiny.frames)
    filming, posing = cameras_of(
        low[:-1].unflatten(0, size), high[:-1].unflatten(0, size), (low[-1], high[-1]),
        views, forward=torch.tensor((0.0, 0.0, 1.0)), size=(tiny.width, tiny.height),
    )  # fmt: skip
    frames = render_scene(
        cloud,
        torch.cat((every[:-1], every[-1:].expand(count, -1, -1, -1))),
        Camera.join([filming, posing]).to(device),
        settings=SCENE, body_height=actor.height, bone_colours=colours,
        check=False,
    )  # fmt: skip
    frames = (frames.clamp(0.0, 1.0) * 255.0 + 0.5).to(torch.uint8)
    videos = frames[: count * tiny.frames].unflatten(0, (count, tiny.frames))
    return Footage(
        videos, frames[count * tiny.frames :], tuple(words), tuple(labels), views,
        posed, actor,
    )  # fmt: skip
