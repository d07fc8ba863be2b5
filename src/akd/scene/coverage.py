"""Coverage of a body's splats, brought to that of its surface.

Splats are wider than the surface that they stand for: they overlap, and none is thinner than a
pixel. In small images of few splats a silhouette is a quarter larger than it should be, thin limbs
most of all, and what is fitted to a mask then stands further away and folds its limbs. Raising the
coverage to a power narrows it again and leaves its gradient where it is.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from akd.rig.mesh import SkinnedMesh
from akd.scene.follow import View, follow
from akd.splat.cloud import SplatCloud
from akd.splat.renderer import Renderer

VIEWS = (View(0.5 * math.pi, 0.2), View(0.7, 0.2))
"""Directions from which areas are compared."""
SMALLEST, LARGEST = 16, 192
"""Images in which they are, pixels on a side: a larger body is drawn truly enough."""
MOST = 8.0
"""The highest exponent: with a higher one, thin limbs of few splats vanish."""
_FAINT = 1e-4


@torch.no_grad()
def find_coverage_exponent(
    mesh: SkinnedMesh,
    cloud: SplatCloud,
    forward: Float[Tensor, "3"],
    renderer: Renderer,
    *,
    pixels: int,
) -> float:
    """The power of the coverage at which splats cover as much of an image as their mesh does.

    Args:
        mesh: The surface, in its bind pose.
        cloud: Splats on it.
        forward: The way the character faces.
        renderer: Draws the splats.
        pixels: Side of an image that a sphere around the body fills.
    """
    from akd.splat.views import MeshViews

    device = cloud.means.device
    low, high = mesh.vertices.amin(0, keepdim=True), mesh.vertices.amax(0, keepdim=True)
    still = torch.eye(4, device=device).expand(1, len(mesh.skin.bone_joints), 4, 4)
    rays, drawn, wanted = MeshViews(mesh), [], 0.0
    for view in VIEWS:
        camera = follow(
            low.float(), high.float(), view, forward=forward.float(), width=pixels, height=pixels
        )
        wanted += float(rays.render(camera, samples=3)[1].sum())
        seen = renderer.render(cloud, still, camera.to(device), check=False)
        drawn.append((1.0 - seen.transmittance).clamp_min(0.0))
    coverage = torch.cat(drawn)
    small, large = 1.0, MOST
    for _ in range(12):
        middle = 0.5 * (small + large)
        if float(coverage.pow(middle).sum()) > wanted:
            small = middle
        else:
            large = middle
    return small


def narrowed(
    colour: Float[Tensor, "*f c"], transmittance: Float[Tensor, "*f"], exponent: float
) -> tuple[Float[Tensor, "*f c"], Float[Tensor, "*f"]]:
    """Premultiplied colours and transmittance with the coverage raised to a power."""
    if exponent == 1.0:
        return colour, transmittance
    coverage = (1.0 - transmittance).clamp_min(_FAINT)
    return colour * coverage.pow(exponent - 1.0)[..., None], 1.0 - coverage.pow(exponent)
