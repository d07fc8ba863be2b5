"""`Stage`: a character in front of a camera, as a video prior wants to see it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import interpolate

from akd.metrics.feet import Sole, find_soles
from akd.prior.protocol import VideoPrior
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig
from akd.scene.compose import render_scene
from akd.scene.follow import SIDE, View, bounding_boxes, follow
from akd.scene.roles import bone_roles, role_colours
from akd.scene.settings import SceneSettings, ShadowSettings
from akd.splat.cloud import SplatCloud
from akd.splat.paint import Paint
from akd.splat.surface import surface_splats

_ROOM = 1.06
"""The image has room for a sphere so much larger than the one around the neutral pose: limbs that
swing need it. It must not depend on the pose, or a stride makes the body look smaller."""


@dataclass(frozen=True)
class Stage:
    """Everything that stays the same while a motion is searched for."""

    character: Character
    rig: ControlRig
    cloud: SplatCloud
    scene: SceneSettings
    bone_colours: Float[Tensor, "B 3"]
    driver_index: Tensor
    """What moves each bone: index into the control rig's deltas."""
    neutral: Float[Tensor, "B 4 4"]
    """world_from_mesh of the bones in the neutral pose, standing on the ground."""
    lift: float
    """Metres by which the neutral pose was raised to stand there."""
    soles: tuple[Sole, ...]
    """What stands on the ground, a sole a leg."""
    size: tuple[int, int]
    """Width and height of the images."""
    view: View

    @classmethod
    def of(
        cls,
        character: Character,
        rig: ControlRig,
        prior: VideoPrior,
        *,
        splats: int,
        view: View = SIDE,
    ) -> Stage:
        """Set the stage. Raises `ValueError` for a character without a surface."""
        mesh = character.mesh
        if mesh is None:
            raise ValueError(f"{character.asset.path.name}: there is no mesh to show")
        cloud = surface_splats(mesh, splats, paint=Paint.of(character))
        neutral = mesh.skin.bone_transforms(rig.neutral_world)
        low, _ = bounding_boxes(cloud, neutral[None])
        lift = -float(low[0, 1])
        raised = torch.eye(4)
        raised[1, 3] = lift
        return cls(
            character,
            rig,
            cloud.to(prior.device),
            SceneSettings(style=prior.style, shadow=ShadowSettings(cells=48)),
            role_colours(bone_roles(character)).to(prior.device),
            rig.driver_index[mesh.skin.bone_joints],
            raised @ neutral,
            lift,
            tuple(find_soles(character, rig)),
            (prior.width, prior.height),
            view,
        )

    def bones(self, controls: ControlPose) -> Float[Tensor, "T B 4 4"]:
        """world_from_mesh of the bones for coordinates of the control rig."""
        deltas = self.rig.deltas(controls)
        lifted = self.neutral.to(deltas)
        return deltas.index_select(-3, self.driver_index.to(deltas.device)) @ lifted

    def show(
        self,
        bones: Float[Tensor, "T B 4 4"],
        path: Float[Tensor, "T 3"],
        *,
        turn: float = 0.0,
        coarse: bool = False,
    ) -> tuple[Float[Tensor, "T H W 3"], Float[Tensor, "H W 3"]]:
        """The video, and the reference image from the same camera.

        `path` is the translation of the root, which the camera follows: a root that moves does not
        move in the image, and the gradient must know. So that it does, the middle of the body is
        taken to keep its mean distance from the root. `turn` moves the camera round the character,
        radians. A `coarse` video is rendered half as wide and high and enlarged again.
        """
        view = replace(self.view, azimuth=self.view.azimuth + turn)
        device = self.cloud.means.device
        neutral = self.neutral.to(bones)
        low, high = bounding_boxes(
            self.cloud, torch.cat((bones.detach(), neutral[None])).to(device)
        )
        low, high = low.cpu(), high.cpu()
        way = path.cpu()
        middle = 0.5 * (low[:-1] + high[:-1])
        middle = way + (middle - way.detach()).mean(0)
        half = 0.5 * (high - low)[:-1]
        radius = _ROOM * float((0.5 * (high - low))[-1].norm())
        width, height = self.size
        common = {"forward": self.character.forward, "radius": radius}
        part = 2 if coarse else 1
        moving = follow(
            middle - half, middle + half, view, width=width // part, height=height // part, **common
        ).to(device)
        still = follow(low[-1:], high[-1:], view, width=width, height=height, **common).to(device)
        options = {
            "settings": self.scene,
            "body_height": self.character.height,
            "bone_colours": self.bone_colours,
        }
        video = render_scene(self.cloud, bones.to(device), moving, **options)
        if coarse:
            video = _enlarged(video, width, height)
        with torch.no_grad():
            image = render_scene(self.cloud, neutral[None].to(device), still, **options)[0]
        return video, image


def _enlarged(video: Float[Tensor, "T h w 3"], width: int, height: int) -> Float[Tensor, "T H W 3"]:
    """The same images with more pixels, and nothing more to be seen in them."""
    larger = interpolate(video.movedim(-1, 1), (height, width), mode="bilinear")
    return larger.movedim(1, -1)
