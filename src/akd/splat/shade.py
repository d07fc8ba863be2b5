"""Colours of moving splats shaded by how they face the camera and how far away they are."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportUntypedFunctionDecorator=false
# pyright: reportMissingParameterType=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import torch
import warp as wp
from jaxtyping import Float
from torch import Tensor

from akd.base.warp_runtime import as_warp, torch_stream
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud
from akd.splat.kernel_types import (
    blend_transforms,
    linear_part,
    mat34,
    no_type_check,
    seen_from_camera,
)

wp.set_module_options({"enable_backward": False})


@wp.kernel
@no_type_check
def shade_splats(
    transforms: wp.array2d(dtype=mat34),
    bones: wp.array2d(dtype=wp.int32),
    weights: wp.array2d(dtype=float),
    means: wp.array(dtype=wp.vec3),
    normals: wp.array(dtype=wp.vec3),
    colours: wp.array(dtype=wp.vec3),
    middles: wp.array(dtype=float),
    half_depths: wp.array(dtype=float),
    light: wp.vec3,
    ambient: float,
    depth_strength: float,
    shaded: wp.array2d(dtype=wp.vec3),
):
    """Colour times a light that falls off with the angle, and dimmer the farther away."""
    t, n = wp.tid()
    phi = blend_transforms(transforms, t, n, bones, weights)
    facing = linear_part(phi) * normals[n]
    length = wp.length(facing)
    lit = float(0.5)  # noqa: UP018
    if length > 1.0e-12:
        # Half-Lambert: no side is black, and opposite sides always differ.
        lit = 0.5 + 0.5 * wp.dot(facing, light) / length
    away = wp.clamp((seen_from_camera(phi, means[n])[2] - middles[t]) / half_depths[t], -1.0, 1.0)
    factor = (ambient + (1.0 - ambient) * lit) * (1.0 - depth_strength * (0.5 + 0.5 * away))
    shaded[t, n] = factor * colours[n]


def shade_by_view(
    cloud: SplatCloud,
    world_from_mesh: Float[Tensor, "T B 4 4"],
    camera: Camera,
    colours: Float[Tensor, "N 3"],
    *,
    middle: Float[Tensor, "M 3"],
    radius: float | Float[Tensor, "R"],
    ambient: float = 0.45,
    depth_strength: float = 0.35,
) -> Float[Tensor, "F N 3"]:
    """One layer of colours per frame F, for `render_skinned(colours=...)`. No gradient passes.

    The light shines from above the camera. Depth is told between `radius` metres before and behind
    `middle` (world), where colours lose `depth_strength` of their brightness; there is one of each,
    or one per frame.
    """
    frames = max(len(world_from_mesh), len(camera))
    with torch.no_grad():
        pose = camera.camera_from_world[:, :3]
        transforms = (pose[:, None] @ world_from_mesh).expand(frames, -1, 3, 4).float()
        middles = ((pose[:, :, :3] @ middle[..., None]).squeeze(-1) + pose[..., 3])[:, 2]
        reach = torch.as_tensor(radius, device=middles.device).clamp_min(1e-6)
        if cloud.normals is not None:
            normals = cloud.normals
        else:
            # A flat Gaussian faces along its thinnest axis.
            thin = cloud.scales.argmin(-1)
            normals = cloud.factors()[torch.arange(len(cloud), device=thin.device), :, thin]
        shaded = torch.empty(frames, len(cloud), 3, device=cloud.means.device)
        if len(cloud) == 0:
            return shaded
        device = wp.device_from_torch(cloud.means.device)
        # y points down in the camera's frame: up and towards the viewer.
        light = wp.normalize(wp.vec3(-0.25, -0.8, -0.55))
        # Warp's views own nothing: a tensor that is made here must live until the launch, or the
        # next one may take its place in memory.
        held = [
            (transforms.contiguous(), mat34),
            (cloud.bones.to(torch.int32).contiguous(), wp.int32),
            (cloud.weights.float().contiguous(), wp.float32),
            (cloud.means.detach().float().contiguous(), wp.vec3),
            (normals.float().contiguous(), wp.vec3),
            (colours.detach().float().contiguous(), wp.vec3),
            (middles.expand(frames).float().contiguous(), wp.float32),
            (reach.expand(frames).float().contiguous(), wp.float32),
        ]
        given = [as_warp(tensor, kind) for tensor, kind in held]
        keep = [light, ambient, depth_strength, as_warp(shaded, wp.vec3)]
        with torch_stream(cloud.means.device):
            wp.launch(
                shade_splats, dim=(frames, len(cloud)), inputs=[*given, *keep], device=device,
                record_tape=False,
            )  # fmt: skip
    return shaded
