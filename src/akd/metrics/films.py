"""Videos of motions as recognisers want them: from several sides, in the scene they know."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from akd.metrics.recognise.recogniser import Recogniser
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
class Films:
    """Videos of one character's motions, each made once for recognisers that look at the same."""

    character: Character
    action: str | None = None
    """What it does: see `film_for`."""
    device: torch.device | str = "cpu"
    """Where they are rendered, and stay."""
    _made: dict[tuple[int, tuple[int, int, float]], tuple[Motion, Tensor]] = field(
        default_factory=dict
    )

    def of(self, recogniser: Recogniser, motion: Motion) -> Float[Tensor, "K T S S 3"]:
        """Videos of a motion: see `film_for`."""
        # The motion is kept with them, so that no other one gets its identity.
        key = id(motion), recogniser.settings.looks_at
        if key not in self._made:
            made = film_for(
                recogniser, self.character, motion, action=self.action, cloud=self._cloud
            )
            self._made[key] = motion, made
        return self._made[key][1]

    @cached_property
    def _cloud(self) -> SplatCloud:
        return splats_for(self.character).to(self.device)


def splats_for(character: Character) -> SplatCloud:
    """The Gaussians that recognisers are shown."""
    if character.mesh is None:
        raise ValueError(f"{character.asset.path.name}: there is no mesh to look at")
    return surface_splats(character.mesh, _SPLATS)


def film_for(
    recogniser: Recogniser,
    character: Character,
    motion: Motion,
    *,
    action: str | None = None,
    cloud: SplatCloud | None = None,
) -> Float[Tensor, "K T S S 3"]:
    """Videos of a motion as a recogniser wants them: every view of up to three windows of time.

    A loop that is shorter than a window is repeated, as players show it and as recognisers were
    trained. Any other short motion, and an `action` that has an end, such as a jump, is held at its
    end. They are rendered on the device of `cloud`, by default `splats_for` the character.
    """
    cloud, mesh = cloud or splats_for(character), character.mesh
    assert mesh is not None
    device = cloud.means.device
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
    colours = role_colours(bone_roles(character)).to(device)
    videos = []
    for start in torch.linspace(0.0, spare, windows).tolist():
        times = float(motion.times[0]) + start + torch.arange(settings.frames) / rate
        transforms = mesh.skin.bone_transforms(motion.sample(times).world()).to(device)
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
