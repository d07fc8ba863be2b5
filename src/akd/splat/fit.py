"""`fit_splats`: a cloud fitted to images of a mesh, the paper's way (section 5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.files import bytes_hash, remove_checkpoint
from akd.rig.mesh import SkinnedMesh
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud
from akd.splat.fit_state import FitState, load_cloud, load_state, save_cloud, save_state
from akd.splat.paint import Paint
from akd.splat.render import render
from akd.splat.settings import FitSettings
from akd.splat.surface import (
    SurfacePoints,
    blend_weights,
    choose_evenly,
    even_spacing,
    face_normals,
    scatter_points,
    smooth_normals,
    splats_at,
)
from akd.splat.views import MeshViews

FORMAT = 1
"""Goes up when the same mesh and settings would give another cloud."""
Progress = Callable[[int, int, float], None]
"""Called with the iteration, how many there will be, and the PSNR of the last view, dB."""


def content_hash(mesh: SkinnedMesh, paint: Paint, settings: FitSettings) -> str:
    """Cache key of a fitted cloud: everything that it depends on."""
    skin = mesh.skin
    tensors = [mesh.vertices, mesh.faces, skin.bones, skin.weights, paint.colours, paint.uv]
    tensors += [paint.face_texture, *(texture.levels[0] for texture in paint.textures)]
    parts = [f"{FORMAT} {sorted(asdict(settings).items())}".encode()]
    for tensor in tensors:
        parts += [str(tuple(tensor.shape)).encode(), tensor.numpy(force=True).tobytes()]
    return bytes_hash(parts)[:32]


def random_cameras(
    mesh: SkinnedMesh, count: int, sizes: tuple[int, ...], generator: torch.Generator
) -> list[Camera]:
    """Cameras all around the mesh that have it in full view, sizes in turn."""
    low, high = mesh.vertices.amin(0), mesh.vertices.amax(0)
    middle = 0.5 * (low + high)
    radius = float((mesh.vertices - middle).norm(dim=-1).max())
    opening = math.radians(40.0)
    fits = radius / math.sin(0.5 * opening)
    cameras = []
    for k in range(count):
        away = torch.nn.functional.normalize(torch.randn(3, generator=generator), dim=0)
        distance = fits * (0.9 + 0.25 * float(torch.rand((), generator=generator)))
        side = sizes[k % len(sizes)]
        eye = (middle + distance * away)[None]
        cameras.append(
            Camera.look_at(eye, middle[None], width=side, height=side, field_of_view=opening)
        )
    return cameras


def start_cloud(
    mesh: SkinnedMesh, paint: Paint, settings: FitSettings, generator: torch.Generator
) -> SplatCloud:
    """Gaussians at the vertices, thinned where those are crowded, and on large triangles."""
    normals, areas = face_normals(mesh)
    spacing = even_spacing(areas, settings.splats)
    # A vertex is a point of the last triangle that names it.
    face_of = torch.full((len(mesh.vertices),), -1, dtype=torch.int64)
    corner_of = torch.zeros(len(mesh.vertices), dtype=torch.int64)
    for k in range(3):
        face_of[mesh.faces[:, k]] = torch.arange(len(mesh.faces))
        corner_of[mesh.faces[:, k]] = k
    used = (face_of >= 0).nonzero().squeeze(-1)
    used = used[torch.randperm(len(used), generator=generator)]
    at_vertices = SurfacePoints(face_of[used], torch.eye(3)[corner_of[used]])
    between = scatter_points(mesh, 4 * settings.splats, generator)
    between = between[torch.randperm(4 * settings.splats, generator=generator)]
    points = SurfacePoints(
        torch.cat((at_vertices.faces, between.faces)),
        torch.cat((at_vertices.barycentric, between.barycentric)),
    )
    size = torch.full((len(points.faces),), 0.1 * spacing)
    solid = paint.at(mesh, points.faces, points.barycentric, size)[:, 3] > 0.5
    points = points[solid.nonzero().squeeze(-1)]
    positions = points.blend(mesh, mesh.vertices)
    if len(positions) > settings.splats:
        chosen = choose_evenly(positions, normals[points.faces], settings.splats, spacing)
        points = points[chosen]
    cloud = splats_at(mesh, points, paint, spacing)
    higher = cloud.sh.new_zeros(len(cloud), (settings.degree + 1) ** 2 - 1, 3)
    return replace(cloud, sh=torch.cat((cloud.sh, higher), dim=1))


def psnr(a: Float[Tensor, "*s"], b: Float[Tensor, "*s"]) -> float:
    """Peak signal to noise of values in 0..1, dB."""
    return -10.0 * math.log10(max(float((a - b).square().mean()), 1e-12))


def fit_splats(
    mesh: SkinnedMesh,
    *,
    paint: Paint | None = None,
    settings: FitSettings | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> SplatCloud:
    """A cloud fitted to random views of a mesh in its bind pose, bound to the mesh's bones.

    Bind space, metres. With a `cache` folder the result is kept there under a hash of everything
    it depends on, and a run that was stopped continues from its last checkpoint.
    """
    settings = settings or FitSettings()
    paint = paint or Paint.of_vertices(mesh)
    name = content_hash(mesh, paint, settings) if cache else ""
    done = cache / f"{name}.safetensors" if cache else None
    if done is not None and (kept := load_cloud(done)) is not None:
        return kept
    part = cache / f"{name}.checkpoint.safetensors" if cache else None
    generator = torch.Generator().manual_seed(settings.seed)
    cameras = random_cameras(mesh, settings.views, settings.sizes, generator)
    start = start_cloud(mesh, paint, settings, generator)
    views = MeshViews(mesh, paint)
    seen: dict[int, tuple[Tensor, Tensor]] = {}

    def look(k: int) -> tuple[Tensor, Tensor]:
        """A view, cast when it is first wanted and kept in bytes."""
        if k not in seen:
            colour, coverage = views.render(cameras[k], samples=settings.samples)
            seen[k] = ((255.0 * colour + 0.5).byte(), (255.0 * coverage + 0.5).byte())
        return seen[k][0].float() / 255.0, seen[k][1].float() / 255.0

    extent = float((mesh.vertices.amax(0) - mesh.vertices.amin(0)).norm())
    state = FitState.of(start, extent, settings)
    if part is not None:
        load_state(part, state)
    for iteration in range(state.iteration, settings.iterations):
        draw = torch.Generator().manual_seed(settings.seed * 1_000_003 + iteration)
        k = int(torch.randint(0, settings.views, (), generator=draw))
        background = torch.rand(3, generator=draw)
        colour, coverage = look(k)
        truth = colour + (1.0 - coverage)[..., None] * background
        image = render(state.cloud(), cameras[k], check=False).over(background)
        error = image - truth
        loss = 0.5 * error.abs().mean() + 5.0 * error.square().mean()
        state.step(loss)
        if progress is not None:
            progress(iteration + 1, settings.iterations, psnr(image.detach(), truth))
        if part is not None and (iteration + 1) % settings.checkpoint_every == 0:
            save_state(part, state)
    cloud = _bind(mesh, views, state.cloud())
    if done is not None and part is not None:
        save_cloud(done, cloud)
        remove_checkpoint(part)
    return cloud


def _bind(mesh: SkinnedMesh, views: MeshViews, cloud: SplatCloud) -> SplatCloud:
    """Drop what cannot be seen, and take bones and normals from the nearest surface points."""
    with torch.no_grad():
        cloud = cloud[(cloud.opacities > 1.0 / 128.0).nonzero().squeeze(-1)]
        points = views.nearest(cloud.means)
        bones, weights = blend_weights(mesh, points)
        normals = smooth_normals(mesh, points)
        return replace(cloud, bones=bones, weights=weights, normals=normals)
