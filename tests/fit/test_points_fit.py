"""Joints from points on a moving surface, and from files of them."""

import math

import numpy as np
import pytest
import torch

from akd.asset.asset import AssetError
from akd.fit.points_fit import fit_points
from akd.fit.sequence import is_sequence, read_sequence, sample_surface
from akd.fit.settings import FitSettings
from akd.rig.control import ControlPose
from akd.rig.roles.role import Part, Side
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from tests.asset.gltf_builder import GltfBuilder


@pytest.mark.slow
def test_a_motion_is_found_in_noisy_points(fox):
    stage = Stage.of(fox, style=SceneStyle.TEXTURED, size=(32, 32), splats=800, ground=False)
    frames = 5
    angles = torch.zeros(frames, len(stage.rig), 3)
    for i, role in enumerate(stage.rig.roles):
        if role.limb is not None and role.part is Part.UPPER:
            side = 1.0 if role.side is Side.LEFT else -1.0
            angles[:, i, 0] = side * torch.linspace(0.1, 0.5, frames)
    travel = torch.zeros(frames, 3)
    travel[:, 2] = torch.linspace(0.0, 0.1, frames)
    turned = torch.zeros(frames, 3)
    turned[:, 0] = math.radians(40.0)
    true = ControlPose(travel, turned, angles)
    from akd.rig.skin import skin_points

    cloud, draw = stage.cloud, torch.Generator().manual_seed(0)
    points = skin_points(stage.transforms(true), cloud.means, cloud.bones, cloud.weights)
    points = points + 0.01 * fox.height * torch.randn(points.shape, generator=draw)
    found = fit_points(stage, list(points), fps=12.0, settings=FitSettings(iterations=90))
    with torch.no_grad():
        pose = found.curves.controls()
    joints = [stage.rig.root, *stage.rig.joints]
    apart = (stage.rig.world(pose) - stage.rig.world(true))[:, joints, :3, 3].norm(dim=-1)
    assert float(apart.mean()) / fox.height < 0.03
    assert found.quality.verdict().startswith("good")


def write_points(path, points) -> None:
    lines = "\n".join(f"{x} {y} {z}" for x, y, z in points)
    path.write_text(
        f"ply\nformat ascii 1.0\nelement vertex {len(points)}\nproperty float x\n"
        f"property float y\nproperty float z\nend_header\n{lines}\n"
    )


def test_files_are_read_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 2, 1):
        write_points(tmp_path / f"frame{number}.ply", np.full((3, 3), float(number)))
    found = read_sequence(tmp_path, fps=12.0)
    assert [float(points[0, 0]) for points in found.frames] == [1.0, 2.0, 10.0]
    assert found.first.name == "frame1.ply"
    assert is_sequence(tmp_path)
    assert not is_sequence(tmp_path / "video.mp4")


@pytest.mark.slow
def test_sequences_that_cannot_be_used_are_one_line(tmp_path, fox):
    with pytest.raises(ValueError, match="from 2 to 300 files of geometry, got 0"):
        read_sequence(tmp_path)
    with pytest.raises(ValueError, match="must hold a clip"):
        read_sequence(_fox_file(tmp_path))
    (tmp_path / "a").mkdir()
    for name in ("1.ply", "2.ply"):
        (tmp_path / "a" / name).write_text("ply\nnot a header\n")
    with pytest.raises(AssetError, match=r"1\.ply: PLY must start with 'ply'"):
        read_sequence(tmp_path / "a")


def _fox_file(folder):
    from tests.distill.fox import load_fox

    load_fox(folder / "fox.glb")
    return folder / "fox.glb"


def test_an_animated_file_is_a_sequence(tmp_path):
    from akd.export.creature import write_creature
    from akd.zoo import build_creature, make_clip

    creature = build_creature("fox", vertices=800)
    path = tmp_path / "walk.glb"
    write_creature(creature, [make_clip(creature, "walk", fps=12.0, frames=4)], path)
    found = read_sequence(path, fps=12.0)
    assert len(found.frames) == 4
    moved = np.linalg.norm(found.frames[3] - found.frames[0], axis=1)
    assert moved.max() > 0.02


def test_points_are_spread_over_triangles():
    corners = np.array(((0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 5)))
    points = sample_surface(corners, np.array(((0, 1, 2),)), 100)
    assert points.shape == (100, 3)
    assert float(points[:, 2].max()) == 0.0
    assert float((points[:, 0] + points[:, 1]).max()) <= 1.0


@pytest.mark.slow
def test_a_mesh_that_is_shown_very_often_is_refused(tmp_path):
    often = GltfBuilder()
    for _ in range(1001):
        often.show(often.triangle())
    for name in ("1.glb", "2.glb"):
        (tmp_path / name).write_bytes(often.glb())
    with pytest.raises(AssetError, match="must show at most 1000 parts, got 1001"):
        read_sequence(tmp_path)
