"""Which action a motion shows, according to a recogniser, from several views."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import CLASSES, Name
from akd.motion.actions import ACTIONS
from akd.motion.feet import leg_length
from akd.motion.loop import is_loop, repeat
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.scene.compose import render_scene
from akd.scene.follow import View, bounding_boxes, follow
from akd.scene.roles import bone_roles, role_colours
from akd.scene.settings import SceneSettings, SceneStyle, ShadowSettings
from akd.splat.cloud import SplatCloud
from akd.splat.surface import surface_splats

SCENE = SceneSettings(style=SceneStyle.ROLES, shadow=ShadowSettings(cells=48))
"""What recognisers were trained to see: the scene of the tiny prior."""
VIEWS = tuple(
    View(azimuth=math.radians(side * azimuth), elevation=math.radians(12.0), zoom=0.98)
    for side in (1, -1)
    for azimuth in (60.0, 90.0, 120.0)
)
"""Left and right, from ahead, abeam and behind."""
_SPLATS = 2500
_MOST_WINDOWS = 3


@dataclass(frozen=True)
class ActionScore:
    """What a recogniser says of a motion, mean over views."""

    asked: str | None
    """The action that was asked for; None where it is none that the recogniser knows."""
    probability: float | None
    """How likely the motion is what was asked for, from 0 to 1."""
    said: str
    """The likeliest action."""
    probabilities: dict[str, float]
    """Of every class."""


def film_for(
    recogniser: Recogniser, character: Character, motion: Motion, *, action: str | None = None
) -> Float[Tensor, "K T S S 3"]:
    """Videos of a motion as a recogniser wants them: every view of up to three windows of time.

    A loop that is shorter than a window is repeated, as players show it and as recognisers were
    trained. Any other short motion, and an `action` that has an end, such as a jump, is held at its
    end.
    """
    mesh = character.mesh
    if mesh is None:
        raise ValueError(f"{character.asset.path.name}: there is no mesh to look at")
    settings = recogniser.settings
    rate = settings.rate(leg_length(character, character.control_rig))
    span = (settings.frames - 1) / rate
    spare = max(0.0, motion.duration - span)
    known = None if action is None else ACTIONS.get(action)
    if 0 < motion.duration < span and not (known is not None and known.one_off):
        rig = character.control_rig
        if is_loop(rig, motion, height=character.height):
            motion = repeat(rig, motion, math.ceil(span / motion.duration))
    windows = min(_MOST_WINDOWS, 1 + round(spare / (0.5 * span)))
    cloud = surface_splats(mesh, _SPLATS)
    colours = role_colours(bone_roles(character))
    videos = []
    for start in torch.linspace(0.0, spare, windows).tolist():
        times = float(motion.times[0]) + start + torch.arange(settings.frames) / rate
        transforms = mesh.skin.bone_transforms(motion.sample(times).world())
        videos.append(film_views(recogniser, character, cloud, transforms, colours))
    return torch.cat(videos)


@torch.no_grad()
def film_views(
    recogniser: Recogniser,
    character: Character,
    cloud: SplatCloud,
    transforms: Float[Tensor, "T B 4 4"],
    bone_colours: Float[Tensor, "B 3"],
) -> Float[Tensor, "K T S S 3"]:
    """Videos of moving Gaussians from every view, as a recogniser wants them."""
    size = recogniser.settings.size
    low, high = bounding_boxes(cloud, transforms)
    cameras = [
        follow(low, high, view, forward=character.forward, width=size, height=size)
        for view in VIEWS
    ]
    return torch.stack(
        [
            render_scene(
                cloud, transforms, camera, settings=SCENE, body_height=character.height,
                bone_colours=bone_colours,
            )
            for camera in cameras
        ]
    )  # fmt: skip


def score_action(
    recogniser: Recogniser, character: Character, motion: Motion, asked: str | None
) -> ActionScore:
    """What the recogniser says. `asked` is the label of an action, or None where it is not known;
    it counts as not known where the recogniser has no class for it."""
    videos = film_for(recogniser, character, motion, action=asked)
    return score_videos(recogniser, videos, asked)


def score_by_each(
    recognisers: Mapping[Name, Recogniser], character: Character, motion: Motion, asked: str | None
) -> dict[Name, ActionScore]:
    """What each recogniser says; those that look at the same frames share the videos."""
    films: dict[tuple[int, int, float], Tensor] = {}
    scores: dict[Name, ActionScore] = {}
    for name, recogniser in recognisers.items():
        looks_at = recogniser.settings.looks_at
        if looks_at not in films:
            films[looks_at] = film_for(recogniser, character, motion, action=asked)
        scores[name] = score_videos(recogniser, films[looks_at], asked)
    return scores


def score_videos(
    recogniser: Recogniser, videos: Float[Tensor, "K T S S 3"], asked: str | None
) -> ActionScore:
    """The same for videos of one motion that were made already."""
    if asked is not None and asked not in CLASSES:
        raise ValueError(f"asked must be one of {', '.join(CLASSES)}; got {asked!r}")
    found = recogniser(videos).mean(0).tolist()
    probabilities = dict(zip(recogniser.classes, found, strict=True))
    said = max(probabilities, key=probabilities.__getitem__)
    asked = asked if asked in probabilities else None
    return ActionScore(asked, None if asked is None else probabilities[asked], said, probabilities)
