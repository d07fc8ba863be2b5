"""A motion as Gaussian clouds: one PLY a frame, for viewers and engines that play sequences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.skin import skin_covariances, skin_points
from akd.splat.cloud import SplatCloud
from akd.splat.paint import Paint
from akd.splat.ply import write_splat_ply
from akd.splat.surface import surface_splats


def write_splat_frames(
    character: Character, motion: Motion, path: Path, *, fps: float, splats: int = 20_000
) -> list[Path]:
    """Write `name-0000.ply` and so on beside `path` (`name.ply`), at `fps` frames per second."""
    mesh = character.mesh
    if mesh is None:
        raise ValueError(f"{character.asset.path.name}: there is no mesh to make Gaussians from")
    cloud = surface_splats(mesh, splats, paint=Paint.of(character))
    frames = motion.resample(fps)
    written: list[Path] = []
    for number, world in enumerate(frames.world()):
        posed = pose_cloud(cloud, mesh.skin.bone_transforms(world))
        written.append(write_splat_ply(posed, path.with_stem(f"{path.stem}-{number:04d}")))
    return written


def pose_cloud(cloud: SplatCloud, world_from_mesh: Float[Tensor, "B 4 4"]) -> SplatCloud:
    """The cloud carried along by its bones: Gaussians are stretched and turned with the skin."""
    turns = quaternion.to_matrix(cloud.rotations.double())
    covariances = turns @ torch.diag_embed(cloud.scales.double() ** 2) @ turns.transpose(-1, -2)
    world = world_from_mesh.double()
    weights = cloud.weights.double()
    values, axes = torch.linalg.eigh(skin_covariances(world, covariances, cloud.bones, weights))
    axes = axes * torch.linalg.det(axes)[:, None, None].sign()
    return replace(
        cloud,
        means=skin_points(world, cloud.means.double(), cloud.bones, weights).float(),
        scales=values.clamp_min(1e-16).sqrt().float(),
        rotations=quaternion.from_matrix(axes).float(),
        normals=None,
    )
