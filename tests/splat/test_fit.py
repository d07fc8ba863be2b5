"""Fitting a cloud to a mesh: it gets better, it binds, it can be stopped and taken up again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from akd.splat.fit import content_hash, fit_splats, psnr, random_cameras, start_cloud
from akd.splat.paint import Paint
from akd.splat.render import render
from akd.splat.settings import FitSettings
from akd.splat.views import MeshViews
from tests.splat.splat_meshes import make_sphere

QUICK = FitSettings(
    splats=250, views=6, sizes=(24, 40), samples=2, iterations=60, checkpoint_every=20
)


@pytest.mark.slow
def test_fitting_improves_on_views_it_has_not_seen() -> None:
    mesh = make_sphere(rings=10)
    paint = Paint.of_vertices(mesh)
    unseen = random_cameras(mesh, 4, (40,), torch.Generator().manual_seed(77))
    views = MeshViews(mesh)

    def quality(cloud) -> float:
        total = 0.0
        for camera in unseen:
            colour, coverage = views.render(camera)
            assert 0.2 < float(coverage.mean()) < 0.9
            total += psnr(render(cloud, camera).over(torch.zeros(3)).detach(), colour)
        return total / len(unseen)

    before = quality(start_cloud(mesh, paint, QUICK, torch.Generator().manual_seed(0)))
    after = quality(fit_splats(mesh, settings=replace(QUICK, iterations=150)))
    assert after > before + 5.0


@pytest.mark.slow
def test_a_fitted_cloud_hangs_on_the_bones_of_the_nearest_surface() -> None:
    mesh = make_sphere(rings=10)
    cloud = fit_splats(mesh, settings=replace(QUICK, iterations=10))
    cloud.check()
    of_upper = torch.where(cloud.bones == 1, cloud.weights, 0.0).sum(1)
    expected = (cloud.means[:, 1] / cloud.means.norm(dim=-1) * 0.5 + 0.5).clamp(0.0, 1.0)
    torch.testing.assert_close(of_upper, expected, atol=0.03, rtol=0.0)
    assert cloud.normals is not None


def test_harmonics_of_a_chosen_degree_are_fitted() -> None:
    cloud = fit_splats(make_sphere(rings=8), settings=replace(QUICK, iterations=5, degree=1))
    assert cloud.sh.shape[1] == 4
    assert float(cloud.sh[:, 1:].abs().max()) > 0.0


@pytest.mark.slow
def test_a_stopped_fit_goes_on_to_the_same_cloud(tmp_path: Path) -> None:
    mesh = make_sphere(rings=8)
    settings = replace(QUICK, iterations=40)
    whole = fit_splats(mesh, settings=settings)

    class Stop(Exception):
        pass

    def stop_at_30(iteration: int, total: int, quality: float) -> None:
        assert total == 40
        assert quality > 0.0
        if iteration == 30:
            raise Stop

    with pytest.raises(Stop):
        fit_splats(mesh, settings=settings, cache=tmp_path, progress=stop_at_30)
    assert [p.suffixes[-2] for p in tmp_path.iterdir()] == [".checkpoint"]
    seen: list[int] = []
    resumed = fit_splats(
        mesh, settings=settings, cache=tmp_path, progress=lambda i, *_: seen.append(i)
    )
    assert seen == list(range(21, 41)), "it goes on from the checkpoint at 20"
    assert torch.equal(resumed.means, whole.means)
    assert torch.equal(resumed.sh, whole.sh)
    # And a third time nothing is left to do.
    again = fit_splats(mesh, settings=settings, cache=tmp_path, progress=lambda *_: seen.append(0))
    assert torch.equal(again.means, whole.means)
    assert 0 not in seen
    assert len(list(tmp_path.iterdir())) == 1


def test_the_hash_follows_what_the_cloud_depends_on() -> None:
    mesh = make_sphere(rings=6)
    paint = Paint.of_vertices(mesh)
    same = content_hash(mesh, paint, QUICK)
    assert same == content_hash(make_sphere(rings=6), paint, QUICK)
    assert same != content_hash(mesh, paint, replace(QUICK, seed=1))
    assert same != content_hash(make_sphere(0.6, rings=6), paint, QUICK)
    assert same != content_hash(mesh, replace(paint, colours=1.0 - paint.colours), QUICK)


def test_views_pass_through_what_a_texture_cuts_out() -> None:
    from akd.rig.mesh import SkinnedMesh
    from akd.rig.skin import Skin
    from akd.splat.camera import Camera
    from akd.splat.paint import Texture, mip_levels

    # Two squares, the nearer one cut out on its left half; white before, red behind.
    square = torch.tensor([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    vertices = torch.cat((square, square - torch.tensor([0.0, 0, 1])))
    faces = torch.tensor([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
    skin = Skin(
        torch.tensor([0]), torch.eye(4)[None], torch.zeros(8, 1, dtype=torch.int64),
        torch.ones(8, 1),
    )  # fmt: skip
    colours = torch.cat((torch.ones(4, 3), torch.tensor([[1.0, 0, 0]]).expand(4, 3)))
    mesh = SkinnedMesh(vertices, faces, skin, colours)
    pixels = torch.ones(8, 8, 4)
    pixels[:, :4, 3] = 0.0
    texture = Texture(mip_levels(pixels), ("clamp", "clamp"), alpha_cutoff=0.5)
    uv = torch.tensor([[0.0, 1], [1, 1], [1, 0], [0, 0]]).repeat(2, 1)
    paint = Paint(colours, uv, torch.tensor([0, 0, -1, -1]), (texture,))
    camera = Camera.look_at(
        torch.tensor([[0.0, 0.0, 20.0]]), torch.zeros(1, 3), width=20, height=20,
        field_of_view=0.11,
    )  # fmt: skip
    colour, coverage = MeshViews(mesh, paint).render(camera)
    assert float(coverage[0, 10, 4]) == 1.0
    assert colour[0, 10, 4].tolist() == pytest.approx([1.0, 0.0, 0.0], abs=1e-3)
    assert colour[0, 10, 15].tolist() == pytest.approx([1.0, 1.0, 1.0], abs=1e-3)
