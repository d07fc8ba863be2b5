"""Noisy point clouds of a clip for `benchmarks/fit.py`."""

from __future__ import annotations

import numpy as np
import torch

from akd.fit.points_fit import fit_points
from akd.fit.settings import FitSettings
from akd.posespace.loss import pose_prior
from akd.rig.control import ControlPose
from akd.rig.skin import skin_points
from akd.scene.stage import Stage
from benchmarks.fit_clips import FPS, Clip

POINTS, NOISE, OUTLIERS = 5000, 0.01, 0.1
"""Points of a frame, their noise in body heights, and the share of points that are elsewhere."""


def fit_noisy_points(
    clip: Clip, settings: FitSettings | None = None, *, device: str = "cpu"
) -> tuple[ControlPose, float]:
    """Coordinates fitted to noisy points, seen from one camera alone, and the score."""
    character, camera = clip.character, clip.camera
    stage = Stage.of(character, style=clip.spec.style, size=(64, 64), splats=POINTS, ground=False)
    assert character.mesh is not None
    bones = character.mesh.skin.bone_transforms(clip.world)
    cloud, draw = stage.cloud, np.random.default_rng(clip.spec.number)
    places = skin_points(bones, cloud.means, cloud.bones, cloud.weights)
    assert cloud.normals is not None
    tips = skin_points(bones, cloud.means + 1e-3 * cloud.normals, cloud.bones, cloud.weights)
    faces = ((tips - places) * (camera.eye[0] - places)).sum(-1) > 0.0
    frames = []
    for points, seen in zip(places.numpy(), faces.numpy(), strict=True):
        noisy = points[seen] + NOISE * character.height * draw.normal(size=points[seen].shape)
        low, high = points.min(0), points.max(0)
        wild = draw.random(len(noisy)) < OUTLIERS
        noisy[wild] = low + (high - low) * (1.4 * draw.random((int(wild.sum()), 3)) - 0.2)
        frames.append(torch.from_numpy(noisy).float())
    settings = settings or FitSettings()
    stage = Stage.of(
        character, style=clip.spec.style, size=(64, 64), splats=settings.splats, ground=False,
        device=device,
    )  # fmt: skip
    found = fit_points(
        stage, [frame.to(device) for frame in frames], fps=FPS, settings=settings,
        losses=[pose_prior(1.0)],
    )  # fmt: skip
    with torch.no_grad():
        return found.curves.controls().to("cpu"), found.quality.score
