"""`render` and `render_skinned`: the fused path, the camera's gradient, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from akd.rig.skin import skin_covariances, skin_points
from akd.splat.camera import Camera
from akd.splat.harmonics import from_colour, harmonics
from akd.splat.raster_call import RasterCall
from akd.splat.rasterize import rasterize
from akd.splat.render import ground_planes, render, render_skinned
from tests.splat.splat_parts import make_bones, make_camera, make_cloud


def test_fused_pictures_are_those_of_a_cloud_skinned_first() -> None:
    cloud, bones, camera = make_cloud(), make_bones(), make_camera()
    fused = render_skinned(cloud, bones, camera)
    assert 0.05 < float(1.0 - fused.transmittance.mean()) < 0.95
    for t in range(3):
        points = skin_points(bones[t], cloud.means, cloud.bones, cloud.weights)
        shapes = skin_covariances(bones[t], cloud.covariances(), cloud.bones, cloud.weights)
        view = camera[t : t + 1]
        call = RasterCall(
            view.camera_from_world[:, None, :3], points, cloud.flat_colours()[None],
            torch.linalg.cholesky(shapes), cloud.opacities, torch.zeros(60, 1, dtype=torch.int64),
            torch.ones(60, 1), torch.cat((view.focal, view.centre), -1), 40, 32, antialias=True,
        )  # fmt: skip
        image, transmittance = rasterize(call)
        torch.testing.assert_close(image[0], fused.colour[t], atol=2e-5, rtol=0.0)
        torch.testing.assert_close(transmittance[0], fused.transmittance[t], atol=2e-5, rtol=0.0)


def test_gradients_reach_bones_cloud_and_camera_as_in_the_reference() -> None:
    def gradients(rasterizer: str) -> list[torch.Tensor]:
        cloud, bones, camera = make_cloud(), make_bones().requires_grad_(), make_camera()
        pose = camera.camera_from_world.clone().requires_grad_()
        names = ("means", "scales", "rotations", "opacities", "sh")
        leaves = [getattr(cloud, n).clone().requires_grad_() for n in names]
        cloud = replace(cloud, **dict(zip(names, leaves, strict=True)))
        out = render_skinned(
            cloud, bones, replace(camera, camera_from_world=pose), rasterizer=rasterizer
        )
        g = torch.Generator().manual_seed(3)
        loss = (out.colour * torch.randn(out.colour.shape, generator=g)).sum()
        loss = loss + (out.transmittance * torch.randn(out.transmittance.shape, generator=g)).sum()
        return list(torch.autograd.grad(loss, [bones, pose, *leaves]))

    for fast, slow in zip(gradients("warp"), gradients("reference"), strict=True):
        assert float(slow.norm()) > 0.0
        assert float((fast - slow).norm() / slow.norm()) < 1e-3


def test_a_still_cloud_is_one_carried_by_one_unmoved_bone() -> None:
    cloud, camera = make_cloud(), make_camera()
    still = torch.eye(4).expand(1, 3, 4, 4)
    # (Weights sum to one only up to rounding, hence not bit for bit.)
    a, b = render(cloud, camera), render_skinned(cloud, still, camera)
    torch.testing.assert_close(a.colour, b.colour, atol=2e-5, rtol=0.0)


def test_one_camera_serves_many_frames_and_one_pose_many_cameras() -> None:
    cloud, bones, camera = make_cloud(), make_bones(), make_camera()
    assert render_skinned(cloud, bones, camera[:1]).colour.shape == (3, 32, 40, 3)
    assert render_skinned(cloud, bones[:1], camera).colour.shape == (3, 32, 40, 3)
    with pytest.raises(ValueError, match="bones 2, camera 3"):
        render_skinned(cloud, bones[:2], camera)


def test_the_ground_plane_is_the_worlds() -> None:
    camera = make_camera()
    planes = ground_planes(camera, 0.25)
    g = torch.Generator().manual_seed(0)
    points = torch.randn(7, 3, generator=g)
    pose = camera.camera_from_world
    seen = torch.einsum("tij,nj->tni", pose[:, :3, :3], points) + pose[:, None, :3, 3]
    height = torch.einsum("tni,ti->tn", seen, planes[:, :3]) + planes[:, 3:]
    torch.testing.assert_close(height, (points[:, 1] - 0.25).expand(3, 7))


def test_gaussians_under_the_ground_do_not_show() -> None:
    cloud, camera = make_cloud(), make_camera()
    cut = render_skinned(cloud, torch.eye(4).expand(1, 3, 4, 4), camera, ground=0.5)
    upper = cloud[cloud.means[:, 1] >= 0.5]
    expected = render_skinned(upper, torch.eye(4).expand(1, 3, 4, 4), camera)
    torch.testing.assert_close(cut.colour, expected.colour)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_harmonics_are_orthonormal(degree: int) -> None:
    # Quadrature on the sphere: uniform in z (Gauss-Legendre) and in longitude.
    import numpy as np

    z, wz = np.polynomial.legendre.leggauss(12)
    lon = 2.0 * np.pi * np.arange(16) / 16
    zz, ll = np.meshgrid(z, lon, indexing="ij")
    r = np.sqrt(1.0 - zz**2)
    d = torch.from_numpy(np.stack((r * np.cos(ll), r * np.sin(ll), zz), -1).reshape(-1, 3))
    w = torch.from_numpy(np.repeat(wz, 16) * 2.0 * np.pi / 16)
    basis = harmonics(d, degree)
    gram = torch.einsum("pa,pb,p->ab", basis, basis, w)
    torch.testing.assert_close(gram, torch.eye((degree + 1) ** 2, dtype=torch.float64))


def test_view_dependent_colours_change_with_the_view() -> None:
    cloud, camera = make_cloud(degree=2), make_camera()
    from_three_sides = render(cloud, camera)
    flat = render(replace(cloud, sh=cloud.sh[:, :1]), camera)
    assert float((from_three_sides.colour - flat.colour).abs().max()) > 0.01
    torch.testing.assert_close(from_three_sides.transmittance, flat.transmittance)


def test_colours_survive_as_constant_harmonics() -> None:
    colours = torch.rand(60, 3, generator=torch.Generator().manual_seed(4))
    torch.testing.assert_close(
        replace(make_cloud(), sh=from_colour(colours)[:, None]).flat_colours(), colours
    )
    assert float(from_colour(torch.full((3,), 0.5)).abs().max()) == 0.0


BAD = [
    ("means", float("nan"), "means must be finite: splat 7 is not"),
    ("scales", 0.0, r"scales must be above zero: splat 7 has \[0.0"),
    ("opacities", 1.5, "opacities must lie in 0..1: splat 7 has 1.5"),
    ("sh", float("inf"), "sh must be finite: splat 7 is not"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_a_bad_cloud_is_named(name: str, value: float, message: str) -> None:
    cloud = make_cloud()
    bad = getattr(cloud, name).clone()
    bad[7] = value
    with pytest.raises(ValueError, match=message):
        render(replace(cloud, **{name: bad}), make_camera())


def test_bad_cameras_and_bones_are_named() -> None:
    cloud, camera = make_cloud(), make_camera()
    flat = replace(
        camera, camera_from_world=camera.camera_from_world * torch.tensor([1, 1, 0, 1.0])
    )
    with pytest.raises(ValueError, match=r"misses orthonormality by 0\.937"):
        render(cloud, flat)
    with pytest.raises(ValueError, match="focal lengths must be above zero, got 0"):
        render(cloud, replace(camera, focal=camera.focal * 0.0))
    with pytest.raises(ValueError, match="the cloud names bone 2, but there are 2 transforms"):
        render_skinned(cloud, torch.eye(4).expand(1, 2, 4, 4), camera)
    with pytest.raises(ValueError, match="eye equals target"):
        Camera.look_at(torch.zeros(1, 3), torch.zeros(1, 3), width=4, height=4)
    with pytest.raises(ValueError, match="gsplat needs a CUDA device"):
        render(cloud, camera, rasterizer="gsplat")


def test_an_empty_cloud_is_an_empty_picture() -> None:
    out = render(make_cloud()[:0], make_camera())
    assert float(out.over(torch.tensor([0.2, 0.3, 0.4]))[..., 1].min()) == pytest.approx(0.3)


def test_a_camera_sees_its_target_in_the_middle_and_up_is_up() -> None:
    camera = make_camera(2, (64, 48))
    target = torch.tensor([0.0, 0.4, 0.0, 1.0])
    above = torch.tensor([0.0, 0.6, 0.0, 1.0])
    for t in range(2):
        seen = camera.camera_from_world[t] @ target
        assert float(seen[2]) > 0.0
        torch.testing.assert_close(seen[:2], torch.zeros(2), atol=1e-6, rtol=0.0)
        assert float((camera.camera_from_world[t] @ above)[1]) < -0.1
    rays = camera.rays()
    torch.testing.assert_close(rays.norm(dim=-1), torch.ones(2, 48, 64))
    # The four middle pixels surround the optical axis.
    axis = rays[:, 23:25, 31:33].mean((1, 2))
    torch.testing.assert_close(
        axis / axis.norm(dim=-1, keepdim=True), camera.camera_from_world[:, 2, :3]
    )
