"""The ground: where rays meet it, how it is filtered, and that it does not shimmer."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from akd.math.srgb import to_linear, to_srgb
from akd.scene.follow import SIDE, look_from
from akd.scene.ground import checker, hit_ground, paint_ground
from akd.scene.settings import GroundSettings
from akd.splat.camera import Camera


def make_camera(shift: float = 0.0, size: tuple[int, int] = (48, 36), frames: int = 1) -> Camera:
    eye = torch.tensor([[0.3 + shift, 1.2, 2.5]], dtype=torch.float64).expand(frames, 3)
    target = torch.tensor([[shift, 0.4, 0.0]], dtype=torch.float64).expand(frames, 3)
    return Camera.look_at(eye, target, width=size[0], height=size[1])


def test_rays_meet_the_ground_where_they_should() -> None:
    camera = make_camera()
    hits = hit_ground(camera)
    rays = camera.rays()
    assert bool((hits.hit == (rays[..., 1] < 0)).all())
    eye = camera.eye[:, None, None]
    there = eye + hits.distance[..., None] * rays
    torch.testing.assert_close(there[hits.hit][:, [0, 2]], hits.points[hits.hit])
    assert float(there[hits.hit][:, 1].abs().max()) < 1e-9


def test_a_pixels_footprint_is_how_far_its_neighbours_are() -> None:
    hits = hit_ground(make_camera(size=(480, 360)))
    rows = slice(200, 340)  # the lower part, where neighbours differ little
    across = (hits.points[:, rows, 2:] - hits.points[:, rows, :-2]).abs() / 2
    down = (hits.points[:, 201:341] - hits.points[:, 199:339]).abs() / 2
    expected = across + down[:, :, 1:-1]
    torch.testing.assert_close(hits.footprint[:, rows, 1:-1], expected, rtol=1e-3, atol=1e-6)


def test_the_filter_is_the_average_over_the_box() -> None:
    g = torch.Generator().manual_seed(0)
    points = 4.0 * torch.rand(40, 2, generator=g, dtype=torch.float64) - 2.0
    size = 0.05 + 3.0 * torch.rand(40, 2, generator=g, dtype=torch.float64)
    ours = checker(points, size, 0.7)
    steps = (torch.arange(400, dtype=torch.float64) + 0.5) / 400 - 0.5
    x = (points[:, :1] + size[:, :1] * steps) / 0.7
    z = (points[:, 1:] + size[:, 1:] * steps) / 0.7
    parity = torch.remainder(x.floor()[:, :, None] + z.floor()[:, None, :], 2.0)
    torch.testing.assert_close(ours, 1.0 - parity.mean((1, 2)), atol=5e-3, rtol=0.0)


def test_squares_alternate_and_have_their_size() -> None:
    centres = torch.tensor([[0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [-0.25, 0.25]])
    sharp = torch.full((4, 2), 1e-3)
    assert checker(centres, sharp, 0.5).round().tolist() == [1.0, 0.0, 1.0, 0.0]


def test_the_ground_does_not_shimmer() -> None:
    # Slide the camera by a fraction of a square, far away from which squares are below a pixel.
    settings = GroundSettings(square=0.05, fade=0.0)

    def analytic(shift: float) -> torch.Tensor:
        return paint_ground(make_camera(shift), settings)

    def one_ray(shift: float) -> torch.Tensor:
        camera = make_camera(shift)
        hits = hit_ground(camera)
        sharp = type(hits)(hits.points, hits.footprint * 1e-6, hits.distance, hits.hit)
        return paint_ground(camera, settings, hits=sharp)

    def flicker(paint) -> float:
        frames = torch.stack([paint(0.005 * k) for k in range(10)])
        hit = hit_ground(make_camera()).footprint.amax(-1)[0] > 0.1  # two squares and more
        assert int(hit.sum()) > 200
        return float(frames[:, 0, hit].std(0).mean())

    assert flicker(one_ray) > 0.05
    assert flicker(analytic) < 0.1 * flicker(one_ray)


def test_the_filtered_ground_is_the_supersampled_one() -> None:
    settings = GroundSettings(square=0.2, fade=0.0, background=(0.6, 0.6, 0.6))
    camera = make_camera()
    ours = paint_ground(camera, settings)
    fine = camera.scaled(16)
    hits = hit_ground(fine)
    sharp = type(hits)(hits.points, hits.footprint * 1e-6, hits.distance, hits.hit)
    truth = paint_ground(fine, settings, hits=sharp)
    # Light adds up, display values do not.
    truth = to_srgb(to_linear(truth).view(1, 36, 16, 48, 16, 3).mean((2, 4)))
    below = hit_ground(camera).hit
    below = below & below.roll(1, 1)  # not the row that the horizon cuts
    error = (ours - truth).abs()[below]
    assert float(error.mean()) < 0.02
    assert float(error.max()) < 0.15


def test_rays_that_miss_see_the_background_and_far_ground_fades_into_it() -> None:
    settings = GroundSettings(fade=2.0, background=(0.2, 0.4, 0.6))
    camera = make_camera()
    frame = paint_ground(camera, settings)
    missed = ~hit_ground(camera).hit
    expected = torch.tensor((0.2, 0.4, 0.6), dtype=torch.float64)
    assert bool(missed.any())
    assert float((frame[missed] - expected).abs().max()) < 1e-6
    first_row = int(hit_ground(camera).hit[0].all(-1).nonzero()[0])
    near = (frame[0, -1] - expected).abs().mean()
    assert float((frame[0, first_row] - expected).abs().mean()) < 0.3 * float(near)


def test_below_the_ground_the_camera_sees_its_underside_only_above() -> None:
    eye = torch.tensor([[0.0, -1.0, 2.0]])
    camera = Camera.look_at(eye, torch.tensor([[0.0, -1.0, 0.0]]), width=8, height=8)
    hits = hit_ground(camera)
    assert bool(hits.hit[0, 0].all())
    assert not bool(hits.hit[0, -1].any())
    assert math.isfinite(float(paint_ground(camera, GroundSettings()).sum()))


def test_a_fixed_rotation_leaves_nothing_out_of_the_gradient():
    # A camera that looks from a given direction moves with its centre and does not turn.
    centre = torch.tensor([[0.1, 0.4, 0.0], [0.3, 0.5, 0.2]], dtype=torch.float64)
    centre.requires_grad_()
    camera = look_from(
        torch.tensor([1.2, 1.7], dtype=torch.float64), centre, SIDE,
        forward=torch.tensor([0.0, 0.0, 1.0]), width=24, height=16, radius=0.7,
    )  # fmt: skip
    assert camera.fixed_rotation
    g = torch.Generator().manual_seed(0)
    shade = torch.rand(2, 16, 24, dtype=torch.float64, generator=g)
    weights = torch.rand(2, 16, 24, 3, dtype=torch.float64, generator=g)

    def gradient(one: Camera) -> torch.Tensor:
        image = paint_ground(one, GroundSettings(), shade=shade)
        return torch.autograd.grad((weights * image).sum(), centre, retain_graph=True)[0]

    whole = gradient(replace(camera, fixed_rotation=False))
    assert float(whole.abs().min()) > 1e-3
    torch.testing.assert_close(gradient(camera), whole)
