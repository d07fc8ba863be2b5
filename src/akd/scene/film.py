"""`film`: a cloud carried by bones, seen by a camera that follows it, as a video.

`film_motion` does the same for a character and a motion.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.skin import skin_points
from akd.scene.compose import render_scene
from akd.scene.follow import THREE_QUARTER, View, bounding_boxes, follow
from akd.scene.settings import SceneSettings
from akd.scene.video import Video, to_bytes
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud
from akd.splat.paint import Paint
from akd.splat.surface import surface_splats

_FILM = SceneSettings(relief=0.5)
"""More relief than video models are shown: people see the form of an untextured body by it."""
_FILLS = 0.88
"""Share of the image's width or height that the character fills at zoom 1."""
_POINTS = 300
"""Of the cloud, by which the camera's distance is chosen."""
_TOGETHER = 8
"""Frames that are rendered at a time."""
_MOST_BYTES = 2 << 30
"""Of a film, at three bytes a pixel: 129 s of 640 x 360 pixels at 24 frames a second."""


def film(
    cloud: SplatCloud,
    world_from_mesh: Float[Tensor, "T B 4 4"],
    *,
    fps: float,
    forward: Float[Tensor, "3"],
    body_height: float,
    size: tuple[int, int] = (640, 360),
    view: View = THREE_QUARTER,
    turn: float = 0.0,
    settings: SceneSettings | None = None,
) -> Video:
    """Frames of `size` (width, height) pixels in bytes, without gradients.

    `turn` is how far the camera goes round the character over the video, radians.
    """
    width, height = size
    low, high = bounding_boxes(cloud, world_from_mesh)
    zoom, few = view.zoom, slice(None, None, max(1, len(cloud) // _POINTS))
    points = skin_points(world_from_mesh, cloud.means[few], cloud.bones[few], cloud.weights[few])

    def camera_at(zoom: float) -> Camera:
        close = replace(view, zoom=zoom)
        return follow(low, high, close, forward=forward, width=width, height=height, turn=turn)

    camera = camera_at(zoom)
    for _ in range(2):  # the nearer, the larger the perspective
        zoom *= view.zoom * _FILLS / _extent(camera, points)
        camera = camera_at(zoom)
    frames = []
    with torch.no_grad():
        for start in range(0, len(world_from_mesh), _TOGETHER):
            some = slice(start, start + _TOGETHER)
            frames.append(to_bytes(render_scene(
                cloud, world_from_mesh[some], camera[some], settings=settings or _FILM,
                body_height=body_height,
            )).cpu())  # fmt: skip
    return Video(torch.cat(frames), fps)


def _extent(camera: Camera, points: Float[Tensor, "T N 3"]) -> float:
    """How much of the image's half width or height points reach, at most."""
    view = camera.camera_from_world.to(points)
    seen = points @ view[:, :3, :3].mT + view[:, None, :3, 3]
    offset = camera.focal.to(points)[:, None] * seen[..., :2] / seen[..., 2:].abs().clamp_min(1e-6)
    half = offset.new_tensor((0.5 * camera.width, 0.5 * camera.height))
    return float((offset.abs() / half).max())


def film_motion(
    character: Character,
    motion: Motion,
    *,
    fps: float = 24.0,
    size: tuple[int, int] = (640, 360),
    view: View = THREE_QUARTER,
    turn: float = 0.0,
    splats: int = 20_000,
    settings: SceneSettings | None = None,
    device: torch.device | str = "cpu",
) -> Video:
    """A video of a motion in the character's own colours, rendered on a device. See `film` for the
    other options.

    A motion so long that the video would take more than 2 GiB has fewer frames a second.
    """
    mesh = character.mesh
    if mesh is None:
        raise ValueError(f"{character.asset.path.name}: there is no mesh to show")
    most = max(1, _MOST_BYTES // (3 * size[0] * size[1]))
    if motion.duration * fps > most - 1:
        fps = (most - 1) / motion.duration
    frames = motion.resample(fps)
    cloud = surface_splats(mesh, splats, paint=Paint.of(character)).to(device)
    return film(
        cloud, mesh.skin.bone_transforms(frames.world()).to(device), fps=fps,
        forward=character.forward, body_height=character.height, size=size, view=view, turn=turn,
        settings=settings,
    )  # fmt: skip
