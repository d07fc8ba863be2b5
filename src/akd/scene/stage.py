"""`Stage`: a character in front of a camera, as a video prior expects to see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import interpolate

from akd.motion.feet import Sole, find_soles
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig
from akd.rig.control_kernel import ControlKinematics
from akd.scene.compose import render_scene
from akd.scene.follow import SIDE, View, bounding_boxes, follow
from akd.scene.roles import bone_roles, role_colours
from akd.scene.settings import SceneSettings, SceneStyle, ShadowSettings
from akd.splat.cloud import SplatCloud
from akd.splat.paint import Paint
from akd.splat.renderer import Renderer, SplatRenderer
from akd.splat.surface import surface_splats

_ROOM = 1.06
"""The frame has room for a sphere so much larger than the one around the neutral pose: limbs that
swing need it. It must not depend on the pose, or a stride makes the body look smaller."""


@dataclass(frozen=True)
class Stage:
    """Everything that stays the same while a motion is searched for."""

    character: Character
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
    """What stands on the ground, one for each leg."""
    size: tuple[int, int]
    """Width and height of the frames, pixels."""
    view: View
    renderer: Renderer

    @classmethod
    def of(
        cls,
        character: Character,
        *,
        style: SceneStyle,
        size: tuple[int, int],
        splats: int,
        device: torch.device | str = "cpu",
        view: View = SIDE,
        ground: bool = True,
        renderer: Renderer | None = None,
    ) -> Stage:
        """Set the stage.

        Args:
            character: Who performs.
            style: How it is coloured.
            size: Width and height of the frames, pixels.
            splats: Number of Gaussians on its surface.
            device: Where it is rendered.
            view: Where the camera looks from.
            ground: Render the ground and the shadow on it.
            renderer: The Warp rasterizer if left out.

        Raises:
            ValueError: The character has no surface.
        """
        mesh, rig = character.mesh, character.control_rig
        if mesh is None:
            raise ValueError(f"{character.asset.path.name}: there is no mesh to show")
        cloud = surface_splats(mesh, splats, paint=Paint.of(character))
        neutral = mesh.skin.bone_transforms(rig.neutral_world)
        low, _ = bounding_boxes(cloud, neutral[None])
        lift = -float(low[0, 1])
        raised = torch.eye(4)
        raised[1, 3] = lift
        scene = SceneSettings(style=style, shadow=ShadowSettings(cells=48))
        return cls(
            character,
            cloud.to(device),
            scene if ground else replace(scene, ground=None, shadow=None),
            role_colours(bone_roles(character)).to(device),
            rig.driver_index[mesh.skin.bone_joints],
            raised @ neutral,
            lift,
            tuple(find_soles(character, rig)),
            size,
            view,
            renderer or SplatRenderer(),
        )

    @property
    def rig(self) -> ControlRig:
        """The character's control rig."""
        return self.character.control_rig

    def transforms(self, controls: ControlPose) -> Float[Tensor, "*b T B 4 4"]:
        """world_from_mesh of the bones for coordinates of the control rig."""
        return self._kinematics.transforms(controls)

    @cached_property
    def _kinematics(self) -> ControlKinematics:
        return ControlKinematics.of(
            self.rig, self.driver_index, self.neutral, self.cloud.means.device
        )

    def show(
        self,
        transforms: Float[Tensor, "T B 4 4"],
        path: Float[Tensor, "T 3"],
        *,
        turn: float = 0.0,
        half_size: bool = False,
    ) -> tuple[Float[Tensor, "T H W 3"], Float[Tensor, "H W 3"]]:
        """The video, and the neutral pose from the same camera as a reference image.

        `path` is the translation of the root, which the camera follows: a root that moves does not
        move in the image, and the gradient must account for that. So the centre of the body is
        taken to keep its mean distance from the root. `turn` moves the camera round the character,
        radians. With `half_size` the video is rendered at half resolution and enlarged.
        """
        view = replace(self.view, azimuth=self.view.azimuth + turn)
        device = self.cloud.means.device
        neutral = self.neutral.to(transforms)
        low, high = bounding_boxes(
            self.cloud, torch.cat((transforms.detach(), neutral[None])).to(device)
        )
        low, high = low.cpu(), high.cpu()
        way = path.cpu()
        middle = 0.5 * (low[:-1] + high[:-1])
        middle = way + (middle - way.detach()).mean(0)
        half = 0.5 * (high - low)[:-1]
        radius = _ROOM * float((0.5 * (high - low))[-1].norm())
        width, height = self.size
        common = {"forward": self.character.forward, "radius": radius}
        part = 2 if half_size else 1
        moving = follow(
            middle - half, middle + half, view, width=width // part, height=height // part, **common
        ).to(device)
        still = follow(low[-1:], high[-1:], view, width=width, height=height, **common).to(device)
        options = {
            "settings": self.scene,
            "body_height": self.character.height,
            "bone_colours": self.bone_colours,
            "renderer": self.renderer,
        }
        video = render_scene(self.cloud, transforms.to(device), moving, **options)
        if half_size:
            video = _enlarged(video, width, height)
        with torch.no_grad():
            reference = render_scene(self.cloud, neutral[None].to(device), still, **options)[0]
        return video, reference


def _enlarged(video: Float[Tensor, "T h w 3"], width: int, height: int) -> Float[Tensor, "T H W 3"]:
    """Bilinear upsampling."""
    larger = interpolate(video.movedim(-1, 1), (height, width), mode="bilinear")
    return larger.movedim(1, -1)
