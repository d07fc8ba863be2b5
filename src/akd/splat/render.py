"""Images of a `SplatCloud`: `render` of a cloud at rest, `render_skinned` of one that moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from akd.rig.skin import skin_points
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud
from akd.splat.harmonics import shade
from akd.splat.raster_call import RasterCall
from akd.splat.rasterize import rasterize

Rasterizer = Literal["warp", "gsplat", "reference"]


@dataclass(frozen=True)
class Rendering:
    """Splats as seen by a camera, over nothing."""

    colour: Float[Tensor, "T H W 3"]
    """Colour of the splats over black, sRGB."""
    transmittance: Float[Tensor, "T H W"]
    """The part of the background that shows through the splats, 0..1."""

    def over(self, background: Float[Tensor, "*#T #H #W 3"] | Float[Tensor, "3"]) -> Tensor:
        """Frames [T, H, W, 3] with a background behind the splats."""
        return self.colour + self.transmittance[..., None] * background


def ground_planes(camera: Camera, height: float) -> Float[Tensor, "T 4"]:
    """The world's plane y = height in each camera's frame, positive above it."""
    pose = camera.camera_from_world
    normal = pose[:, :3, 1]
    offset = -(normal * pose[:, :3, 3]).sum(-1, keepdim=True) - height
    return torch.cat((normal, offset), dim=-1)


def seen_colours(
    cloud: SplatCloud, world_from_mesh: Float[Tensor, "T B 4 4"], camera: Camera
) -> Float[Tensor, "C N 3"]:
    """Colours of the Gaussians: one layer, or one per frame where they depend on the view.

    The harmonics are held in the world's axes, as the paper holds them, and the view direction
    takes no gradient.
    """
    if cloud.degree == 0:
        return cloud.flat_colours()[None]
    layers = []
    eyes = camera.eye.detach()
    for t in range(max(world_from_mesh.shape[0], len(camera))):
        with torch.no_grad():
            bones = world_from_mesh[min(t, world_from_mesh.shape[0] - 1)]
            points = skin_points(bones, cloud.means, cloud.bones, cloud.weights)
            view = points - eyes[min(t, len(camera) - 1)]
            view = view / view.norm(dim=-1, keepdim=True).clamp_min(1e-12)
        layers.append(shade(cloud.sh, view))
    return torch.stack(layers)


def render_skinned(
    cloud: SplatCloud,
    world_from_mesh: Float[Tensor, "T B 4 4"],
    camera: Camera,
    *,
    colours: Float[Tensor, "C N 3"] | None = None,
    ground: float | None = None,
    rasterizer: Rasterizer = "warp",
    threads: int | None = None,
    check: bool = True,
) -> Rendering:
    """T images of a cloud carried by bones; gradients go to the bones, the cloud and the camera.

    `world_from_mesh` are the bones' transforms (metres). Either it or the camera may have a single
    frame, which then serves all. `colours` (sRGB) replace the cloud's own, one layer or one a
    frame. Gaussians whose centre lies below y = `ground` are switched off. `check` refuses values
    that no image can be made of; on a GPU it waits for the device.
    """
    frames = max(world_from_mesh.shape[0], len(camera))
    if world_from_mesh.shape[0] not in (1, frames) or len(camera) not in (1, frames):
        raise ValueError(
            f"bones and camera must agree on the number of frames, or have one: bones "
            f"{world_from_mesh.shape[0]}, camera {len(camera)}"
        )
    if check:
        cloud.check()
        camera.check()
        if not bool(torch.isfinite(world_from_mesh).all()):
            raise ValueError("world_from_mesh must be finite, got NaN or infinity")
        if len(cloud) and int(cloud.bones.max()) >= world_from_mesh.shape[1]:
            raise ValueError(
                f"the cloud names bone {int(cloud.bones.max())}, but there are "
                f"{world_from_mesh.shape[1]} transforms per frame"
            )
    if colours is None:
        colours = seen_colours(cloud, world_from_mesh, camera)
    pose = camera.camera_from_world[:, None, :3]
    camera_from_mesh = (pose @ world_from_mesh).expand(frames, -1, 3, 4)
    intrinsics = torch.cat((camera.focal, camera.centre), dim=-1).expand(frames, 4)
    grounds = None
    if ground is not None:
        grounds = ground_planes(camera, ground).detach().expand(frames, 4)
    call = RasterCall(
        camera_from_mesh, cloud.means, colours, cloud.factors(), cloud.opacities, cloud.bones,
        cloud.weights, intrinsics, camera.width, camera.height, grounds=grounds,
        antialias=cloud.antialias,
    )  # fmt: skip
    match rasterizer:
        case "warp":
            pair = rasterize(call, threads=threads)
        case "gsplat":
            from akd.splat.raster_gsplat import rasterize_gsplat

            pair = rasterize_gsplat(call)
        case "reference":
            from akd.splat.reference import rasterize_reference

            pair = rasterize_reference(call)
    return Rendering(*pair)


def render(
    cloud: SplatCloud,
    camera: Camera,
    *,
    colours: Float[Tensor, "C N 3"] | None = None,
    rasterizer: Rasterizer = "warp",
    check: bool = True,
) -> Rendering:
    """Images of a cloud as it lies in its own space, one a camera."""
    rest = torch.eye(4, dtype=cloud.means.dtype, device=cloud.means.device)
    still = SplatCloud(
        cloud.means, cloud.scales, cloud.rotations, cloud.opacities, cloud.sh,
        cloud.bones.new_zeros(len(cloud), 1), cloud.weights.new_ones(len(cloud), 1), cloud.normals,
        cloud.antialias,
    )  # fmt: skip
    return render_skinned(
        still, rest[None, None], camera, colours=colours, rasterizer=rasterizer, check=check,
    )  # fmt: skip
