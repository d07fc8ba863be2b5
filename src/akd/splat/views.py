"""Images of a mesh by ray casting: the targets of a splat fit.

No lights: a surface shows its own colour, as the cloud does. Rays find their triangle in Warp's
bounding-volume hierarchy; colours come from filtered textures; pixels are averaged over several
rays in linear light, then encoded for display.
"""

# pyright: reportCallIssue=false, reportArgumentType=false, reportUntypedFunctionDecorator=false
# pyright: reportOperatorIssue=false, reportMissingParameterType=false
# pyright: reportIndexIssue=false, reportAttributeAccessIssue=false

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import torch
import warp as wp
from jaxtyping import Float
from torch import Tensor

from akd.base.warp_runtime import as_warp
from akd.math.srgb import to_srgb
from akd.rig.mesh import SkinnedMesh
from akd.rig.skinning.transfer import find_nearest
from akd.splat.camera import Camera
from akd.splat.kernel_types import no_type_check
from akd.splat.paint import Paint
from akd.splat.raster_cpu import available_threads
from akd.splat.surface import SurfacePoints

wp.set_module_options({"enable_backward": False})

MOST_HOLES = 4
"""A ray passes through at most this many cut-out parts of textures."""


@wp.kernel
@no_type_check
def cast_rays(
    mesh: wp.uint64,
    origins: wp.array(dtype=wp.vec3),
    directions: wp.array(dtype=wp.vec3),
    starts: wp.array(dtype=float),
    first: int,
    faces: wp.array(dtype=wp.int32),
    corners: wp.array(dtype=wp.vec2),
    distances: wp.array(dtype=float),
):
    """The first triangle each ray meets beyond its start, or -1."""
    i = first + wp.tid()
    start = starts[i]
    faces[i] = -1
    if start >= 0.0:
        origin = origins[i] + start * directions[i]
        hit = wp.mesh_query_ray(mesh, origin, directions[i], 1.0e6)
        if hit.result:
            faces[i] = hit.face
            corners[i] = wp.vec2(hit.u, hit.v)
            distances[i] = start + hit.t


class MeshViews:
    """A mesh that can be looked at from anywhere."""

    def __init__(self, mesh: SkinnedMesh, paint: Paint | None = None) -> None:
        self.mesh = mesh
        self.paint = paint or Paint.of_vertices(mesh)
        self._bvh = wp.Mesh(
            points=wp.from_torch(mesh.vertices.float().contiguous(), dtype=wp.vec3),
            indices=wp.from_torch(mesh.faces.flatten().to(torch.int32).contiguous()),
        )

    def nearest(self, points: Float[Tensor, "M 3"]) -> SurfacePoints:
        """The points of the surface nearest to given ones (bind space, metres)."""
        faces = torch.zeros(len(points), dtype=torch.int32)
        corners = torch.zeros(len(points), 2)
        given = points.detach().float().contiguous()
        wp.launch(
            find_nearest, dim=len(points), device="cpu", record_tape=False,
            inputs=[
                self._bvh.id, as_warp(given, wp.vec3), as_warp(faces, wp.int32),
                as_warp(corners, wp.vec2),
            ],
        )  # fmt: skip
        u, v = corners.unbind(-1)
        return SurfacePoints(faces.long(), torch.stack((u, v, 1.0 - u - v), dim=-1))

    def render(
        self, camera: Camera, *, samples: int = 3
    ) -> tuple[Float[Tensor, "T H W 3"], Float[Tensor, "T H W"]]:
        """Colour (sRGB, over black) and coverage 0..1, from `samples` x `samples` rays a pixel."""
        pairs = [self._one(camera[t : t + 1], samples) for t in range(len(camera))]
        return torch.stack([p[0] for p in pairs]), torch.stack([p[1] for p in pairs])

    def _one(self, camera: Camera, samples: int) -> tuple[Tensor, Tensor]:
        fine = camera.scaled(samples)
        rays = fine.rays()[0].flatten(0, 1).contiguous()
        rgba = rays.new_zeros(len(rays), 4)
        starts = torch.zeros(len(rays))
        origins = camera.eye.expand(len(rays), 3).contiguous()
        # A pixel covers this many metres at a distance of one.
        pixel = 1.0 / float(camera.focal[0, 0])
        for _ in range(MOST_HOLES):
            faces, corners, distances = self._cast(origins, rays, starts)
            hit = (faces >= 0).nonzero().squeeze(-1)
            if len(hit) == 0:
                break
            u, v = corners[hit].unbind(-1)
            barycentric = torch.stack((u, v, 1.0 - u - v), dim=-1)
            seen = self.paint.at(self.mesh, faces[hit].long(), barycentric, pixel * distances[hit])
            solid = seen[:, 3] > 0.5
            rgba[hit[solid]] = seen[solid]
            through = hit[~solid]
            starts = torch.full_like(starts, -1.0)
            starts[through] = distances[through] * (1.0 + 1e-5) + 1e-6
        height, width = camera.height, camera.width
        grid = rgba.view(height, samples, width, samples, 4).mean((1, 3))
        coverage = grid[..., 3]
        linear = grid[..., :3] / coverage.clamp_min(1e-6)[..., None]
        return to_srgb(linear) * coverage[..., None], coverage

    def _cast(self, origins: Tensor, rays: Tensor, starts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        count = len(rays)
        faces = torch.empty(count, dtype=torch.int32)
        corners, distances = torch.zeros(count, 2), torch.zeros(count)
        arrays = [
            as_warp(origins, wp.vec3), as_warp(rays, wp.vec3), as_warp(starts, wp.float32),
        ]  # fmt: skip
        results = [
            as_warp(faces, wp.int32), as_warp(corners, wp.vec2), as_warp(distances, wp.float32),
        ]  # fmt: skip
        threads = available_threads()

        def work(k: int) -> None:
            first, end = count * k // threads, count * (k + 1) // threads
            wp.launch(
                cast_rays, dim=end - first, inputs=[self._bvh.id, *arrays, first, *results],
                device="cpu", record_tape=False,
            )  # fmt: skip

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
        return faces, corners, distances
