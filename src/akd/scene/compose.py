"""`render_scene`: splats over the ground, as the frames of a video."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math.resident import constant
from akd.rig.skin import skin_points
from akd.scene.follow import bounding_boxes
from akd.scene.ground import hit_ground, paint_ground
from akd.scene.roles import splat_role_colours
from akd.scene.settings import SceneSettings, SceneStyle
from akd.scene.shadow import cast_shadow
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud
from akd.splat.render import Rendering
from akd.splat.renderer import Renderer, SplatRenderer
from akd.splat.shade import shade_by_view


def render_scene(
    cloud: SplatCloud,
    world_from_mesh: Float[Tensor, "T B 4 4"],
    camera: Camera,
    *,
    settings: SceneSettings | None = None,
    body_height: float = 1.0,
    bone_colours: Float[Tensor, "B 3"] | None = None,
    renderer: Renderer | None = None,
    check: bool = True,
    clips: int = 1,
) -> Float[Tensor, "F H W 3"]:
    """Frames, sRGB 0..1, of a cloud carried by bones (world, metres; the ground is y = 0).

    There are as many as the bones or the camera have; either may have one that serves all.

    Gradients go to the bones, the cloud and the camera's pose through the splats, and through the
    shadow where its settings say so. `bone_colours` are for the style `roles`: see `role_colours`.
    `clips` is the number of videos of one length that the frames belong to, one after the other:
    depth is shaded by the largest body of each.
    """
    settings = settings or SceneSettings()
    splats = render_body(
        cloud, world_from_mesh, camera, settings=settings, bone_colours=bone_colours,
        renderer=renderer, check=check, clips=clips,
    )  # fmt: skip
    if settings.ground is None:
        return splats.over(constant(settings.plain_background, camera.focal))
    hits = hit_ground(camera)
    shade = None
    if settings.shadow is not None and len(cloud):
        few = _few(cloud, settings.shadow.most_splats)
        bones = world_from_mesh if settings.shadow.differentiable else world_from_mesh.detach()
        centres = skin_points(bones, few.means, few.bones, few.weights)
        frames = len(splats.transmittance)
        shade = cast_shadow(
            hits.points.expand(frames, -1, -1, -1), centres.expand(frames, -1, -1),
            settings.shadow, body_height=body_height,
        )  # fmt: skip
    ground = paint_ground(camera, settings.ground, body_height=body_height, shade=shade, hits=hits)
    return splats.over(ground)


def render_body(
    cloud: SplatCloud,
    world_from_mesh: Float[Tensor, "T B 4 4"],
    camera: Camera,
    *,
    settings: SceneSettings,
    bone_colours: Float[Tensor, "B 3"] | None = None,
    renderer: Renderer | None = None,
    check: bool = True,
    clips: int = 1,
) -> Rendering:
    """The splats alone, in the style's colours, over nothing: see `render_scene`."""
    few = _few(cloud, settings.shadow.most_splats if settings.shadow else 4000)
    colours = _colours(cloud, few, world_from_mesh, camera, settings, bone_colours, clips)
    hide = settings.ground is not None and settings.hide_below_ground
    return (renderer or SplatRenderer()).render(
        cloud, world_from_mesh, camera, colours=colours,
        ground=0.0 if hide else None, check=check,
    )  # fmt: skip


def _colours(
    cloud: SplatCloud,
    few: SplatCloud,
    world_from_mesh: Tensor,
    camera: Camera,
    settings: SceneSettings,
    bone_colours: Tensor | None,
    clips: int,
) -> Tensor | None:
    """The splats' colours in the scene's style; None where they stay as they are."""
    if settings.style is SceneStyle.TEXTURED:
        if settings.relief <= 0.0 or cloud.degree > 0 or len(cloud) == 0:
            return None
        nowhere = camera.eye.new_zeros(1, 3)
        return shade_by_view(
            cloud, world_from_mesh, camera, cloud.flat_colours(),
            middle=nowhere, radius=1.0, ambient=1.0 - settings.relief, depth_strength=0.0,
        )  # fmt: skip
    if bone_colours is None:
        raise ValueError("the style 'roles' needs bone_colours: one colour per bone")
    if len(cloud) == 0:
        return None
    low, high = bounding_boxes(few, world_from_mesh)
    sizes = 0.5 * (high - low).norm(dim=-1)
    radius = sizes.view(clips, -1).amax(1).repeat_interleave(len(sizes) // clips)
    return shade_by_view(
        cloud, world_from_mesh, camera, splat_role_colours(cloud, bone_colours),
        middle=0.5 * (low + high), radius=radius,
    )  # fmt: skip


def _few(cloud: SplatCloud, most: int) -> SplatCloud:
    """At most `most` of the splats, evenly spaced: enough for a shadow and a box."""
    step = -(-len(cloud) // most)
    if step <= 1:
        return cloud
    return cloud[torch.arange(0, len(cloud), step, device=cloud.means.device)]
