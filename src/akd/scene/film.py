"""`film`: a cloud carried by bones, seen by a camera that follows it, as a video."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.scene.compose import render_scene
from akd.scene.follow import THREE_QUARTER, View, bounding_boxes, follow
from akd.scene.settings import SceneSettings
from akd.scene.video import Video
from akd.splat.cloud import SplatCloud
from akd.splat.renderer import Renderer


def film(
    cloud: SplatCloud,
    world_from_mesh: Float[Tensor, "T B 4 4"],
    *,
    fps: float,
    forward: Float[Tensor, "3"],
    body_height: float,
    size: tuple[int, int] = (640, 360),
    view: View = THREE_QUARTER,
    settings: SceneSettings | None = None,
    together: int = 8,
    renderer: Renderer | None = None,
) -> Video:
    """Frames of `size` (width, height) pixels. No gradient; `together` frames at a time."""
    width, height = size
    low, high = bounding_boxes(cloud, world_from_mesh)
    camera = follow(low, high, view, forward=forward, width=width, height=height)
    frames = []
    with torch.no_grad():
        for start in range(0, len(world_from_mesh), together):
            some = slice(start, start + together)
            frames.append(
                render_scene(
                    cloud,
                    world_from_mesh[some],
                    camera[some],
                    settings=settings,
                    body_height=body_height,
                    renderer=renderer,
                )
            )
    return Video(torch.cat(frames), fps)
