"""`Stage`: a character in front of a camera, as a video prior expects to see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import interpolate

from akd.math.resident import constant, resident
from akd.motion.feet import Sole, SolePoints, find_soles
from akd.motion.undulation import midline_bones
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig
from akd.rig.control_kernel import ControlKinematics
from akd.rig.limits import BodyPlan
from akd.scene.compose import render_body, render_scene
from akd.scene.coverage import LARGEST, SMALLEST, find_coverage_exponent
from akd.scene.follow import SIDE, SMOOTH, View, bounding_boxes, box_middles, look_from, smooth_path
from akd.scene.ground import paint_ground
from akd.scene.roles import bone_roles, role_colours
from akd.scene.settings import SceneSettings, SceneStyle, ShadowSettings
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud
from akd.splat.paint import Paint
from akd.splat.renderer import Renderer, SplatRenderer
from akd.splat.surface import surface_splats

_ROOM = 1.06
"""The frame has room for a sphere so much larger than the one around the neutral pose: limbs that
swing need it. It must not depend on the pose, or a stride makes the body look smaller."""
_GROUND_POINTS = 400

Turns = Sequence[float] | Float[Tensor, "K"]
"""How far the camera is moved round the character, radians: one per video."""


@dataclass(frozen=True)
class Stage:
    """Everything that stays the same while a motion is searched for."""

    character: Character
    cloud: SplatCloud
    body_cloud: SplatCloud
    """The same without props: ground and cameras go by the body, not by a crossbow at its side."""
    scene: SceneSettings
    bone_colours: Float[Tensor, "B 3"]
    driver_index: Tensor
    """Driver of each bone: index into the control rig's deltas."""
    neutral: Float[Tensor, "B 4 4"]
    """world_from_mesh of the bones in the neutral pose, standing on the ground."""
    lift: float
    """Metres by which the neutral pose was raised to stand there."""
    soles: tuple[Sole, ...]
    """Feet, one for each leg."""
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
        body = character.body_mesh or mesh
        has_props = body is not mesh
        body_cloud = surface_splats(body, splats) if has_props else cloud
        low, _ = bounding_boxes(body_cloud, neutral[None])
        lift = -float(low[0, 1])
        raised = torch.eye(4)
        raised[1, 3] = lift
        scene = SceneSettings(style=style, shadow=ShadowSettings(cells=48))
        return cls(
            character,
            shown := cloud.to(device),
            body_cloud.to(device) if has_props else shown,
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

    @cached_property
    def undulates(self) -> bool:
        """Whether the body moves by undulation: it has neither legs, arms nor wings."""
        return BodyPlan.of(self.rig.roles).undulates

    def transforms(self, controls: ControlPose) -> Float[Tensor, "*b T B 4 4"]:
        """world_from_mesh of the bones for coordinates of the control rig."""
        return self._kinematics.transforms(controls)

    @cached_property
    def _kinematics(self) -> ControlKinematics:
        return ControlKinematics.of(
            self.rig, self.driver_index, self.neutral, self.cloud.means.device
        )

    @cached_property
    def sole_points(self) -> SolePoints | None:
        """All soles as one array on the stage's device; None without feet."""
        return SolePoints.of(self.soles, self.cloud.means.device) if self.soles else None

    @cached_property
    def midline_bones(self) -> tuple[Int[Tensor, "S"], Float[Tensor, "S 2 4"]]:
        """The bones of an undulating body's midline: the mesh's bone that carries each, and its two
        ends, mesh space, homogeneous."""
        rig, mesh = self.rig, self.character.mesh
        assert mesh is not None
        places = {joint: bone for bone, joint in enumerate(mesh.skin.bone_joints.tolist())}
        shift = self.neutral.new_tensor((0.0, self.lift, 0.0))
        bones, points = [], []
        for start, end in midline_bones(rig):
            bone = places.get(rig.root if start < 0 else rig.joints[start])
            if bone is not None:
                first = rig.root_pivot if start < 0 else rig.pivots[start]
                ends = torch.stack((first, rig.pivots[end])) + shift
                inverse = torch.linalg.inv(self.neutral[bone].cpu())
                bones.append(bone)
                points.append(torch.cat((ends, torch.ones(2, 1)), 1) @ inverse.T)
        device = self.cloud.means.device
        return (
            torch.tensor(bones, dtype=torch.long, device=device),
            torch.stack(points).to(device) if points else torch.zeros(0, 2, 4, device=device),
        )

    @cached_property
    def ground_points(self) -> SplatCloud:
        """Some of the body, evenly taken, for its depth below the ground."""
        body = self.body_cloud
        step = max(1, len(body) // _GROUND_POINTS)
        return body[torch.arange(0, len(body), step, device=body.means.device)]

    def show(
        self,
        transforms: Float[Tensor, "*k T B 4 4"],
        *,
        turns: Turns = (0.0,),
        half_size: bool = False,
    ) -> Float[Tensor, "*k T H W 3"]:
        """Videos of the moving body: one, or a batch of them in one rendering.

        The camera follows the smoothed centre of the body's bounding box, as that of the videos
        that the tiny prior is trained on: a root that moves does not move in the image, and a body
        that leans moves its feet in it. The gradient accounts for both.

        Args:
            transforms: world_from_mesh of the bones.
            turns: How far the camera is moved round the character, radians: one per video.
            half_size: Render at half resolution and enlarge.
        """
        bones, centres = self._followed(transforms)
        camera = self._cameras(centres, turns, part=2 if half_size else 1)
        video = self._render(bones.flatten(0, 1), camera, clips=len(bones))
        if half_size:
            video = _enlarged(video, *self.size)
        return video.view(*transforms.shape[:-3], *video.shape[1:])

    def show_body(
        self,
        transforms: Float[Tensor, "K T B 4 4"],
        *,
        frames: Int[Tensor, "F"] | None = None,
    ) -> Float[Tensor, "K F H W 3"]:
        """Videos as `show` makes them, but in front of a still ground without shadow.

        For comparisons by hue, to which a grey ground and its shadow add nothing but work.

        Args:
            transforms: world_from_mesh of the bones.
            frames: Which frames are rendered; all if left out.
        """
        bones, centres = self._followed(transforms)
        if frames is not None:
            bones, centres = bones[:, frames], centres[:, frames]
        body = render_body(
            self.cloud, bones.flatten(0, 1), self._cameras(centres), settings=self.scene,
            bone_colours=self.bone_colours, renderer=self.renderer, clips=len(bones),
            check=self._checks,
        )  # fmt: skip
        return body.over(self._backdrop).unflatten(0, bones.shape[:2])

    def resized(self, width: int, height: int) -> Stage:
        """The same with frames of another size, pixels."""
        return replace(self, size=(width, height))

    def _followed(
        self, transforms: Float[Tensor, "*k T B 4 4"]
    ) -> tuple[Float[Tensor, "K T B 4 4"], Float[Tensor, "K T 3"]]:
        """The bones on the stage's device, and where the cameras look."""
        device = self.cloud.means.device
        bones = transforms.reshape(-1, *transforms.shape[-4:]).to(device)
        middles = box_middles(self.body_cloud, bones.flatten(0, 1)).view(*bones.shape[:2], 3)
        return bones, smooth_path(middles, SMOOTH)

    @torch.no_grad()
    def reference_images(self, turns: Turns = (0.0,)) -> Float[Tensor, "K H W 3"]:
        """The neutral pose, one image for each turn of the camera: see `show`."""
        device = self.cloud.means.device
        middles = resident(self._neutral_middle, device).expand(len(turns), 1, 3)
        return self._render(resident(self.neutral, device)[None], self._cameras(middles, turns))

    @cached_property
    def neutral_box(self) -> tuple[Float[Tensor, "1 3"], Float[Tensor, "1 3"]]:
        """Lowest and highest corner of the neutral body, metres, on the CPU."""
        low, high = bounding_boxes(self.body_cloud, self.neutral[None].to(self.cloud.means))
        return low.cpu(), high.cpu()

    @cached_property
    def _exponents(self) -> dict[int, float]:
        return {}

    def coverage_exponent(self, scale: float) -> float:
        """The power of the splats' coverage that covers what the surface does: see `narrowed`.

        Args:
            scale: Pixels for each metre at the body.
        """
        mesh = self.character.mesh
        assert mesh is not None
        extent = float((mesh.vertices.amax(0) - mesh.vertices.amin(0)).norm())
        pixels = max(SMALLEST, min(LARGEST, 4 * round(0.25 * scale * extent)))
        if pixels not in self._exponents:
            self._exponents[pixels] = find_coverage_exponent(
                mesh, self.cloud, self.character.forward, self.renderer, pixels=pixels
            )
        return self._exponents[pixels]

    @property
    def neutral_camera(self) -> Camera:
        """One that looks at the neutral pose where it stands."""
        return self._cameras(self._neutral_middle.to(self.cloud.means.device)[None])

    @cached_property
    def _neutral_middle(self) -> Float[Tensor, "1 3"]:
        low, high = self.neutral_box
        return 0.5 * (low + high)

    @cached_property
    @torch.no_grad()
    def _backdrop(self) -> Float[Tensor, "1 H W 3"]:
        """The background of the neutral pose, without its shadow."""
        camera = self.neutral_camera
        if self.scene.ground is None:
            return constant(self.scene.plain_background, camera.focal).expand(1, 1, 1, 3)
        return paint_ground(camera, self.scene.ground, body_height=self.character.height)

    @cached_property
    def _forward(self) -> Float[Tensor, "3"]:
        return self.character.forward.to(self.cloud.means.device)

    @property
    def _checks(self) -> bool:
        """A check waits for a GPU; there, NaN is not drawn, and the loss shows it."""
        return self.cloud.means.device.type == "cpu"

    def _cameras(
        self, centres: Float[Tensor, "K T 3"], turns: Turns = (0.0,), part: int = 1
    ) -> Camera:
        """Cameras that look at `centres`, clip after clip, for images of a `part` of the size."""
        clips, frames, _ = centres.shape
        if not isinstance(turns, Tensor):  # a copy to the device would end a CUDA graph's capture
            turns = constant(tuple(turns), centres.new_empty(0, dtype=torch.float64))
        azimuth = (self.view.azimuth + turns).to(centres)
        width, height = (side // part for side in self.size)
        return look_from(
            azimuth.expand(clips).repeat_interleave(frames), centres.flatten(0, 1),
            self.view, forward=self._forward, width=width, height=height,
            radius=self._radius, check=self._checks,
        )  # fmt: skip

    @cached_property
    def _radius(self) -> float:
        """Of the sphere that has room in the image."""
        low, high = self.neutral_box
        return _ROOM * float((0.5 * (high - low)).norm())

    def _render(self, bones: Tensor, camera: Camera, *, clips: int = 1) -> Tensor:
        return render_scene(
            self.cloud, bones, camera, settings=self.scene, body_height=self.character.height,
            bone_colours=self.bone_colours, renderer=self.renderer, clips=clips, check=self._checks,
        )  # fmt: skip


def _enlarged(video: Float[Tensor, "T h w 3"], width: int, height: int) -> Float[Tensor, "T H W 3"]:
    """Bilinear upsampling."""
    larger = interpolate(video.movedim(-1, 1), (height, width), mode="bilinear")
    return larger.movedim(1, -1)
