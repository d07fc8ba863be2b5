"""Cameras that follow, and the presets."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from akd.rig.skin import skin_points
from akd.scene.follow import (
    FRONT,
    PRESETS,
    SIDE,
    THREE_QUARTER,
    ViewBounds,
    bounding_boxes,
    box_middles,
    follow,
    random_view,
    smooth_path,
)
from tests.splat.splat_parts import make_bones, make_cloud

FORWARD = torch.tensor([0.0, 0.0, 1.0])


def boxes(path: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    half = torch.tensor([0.2, 0.5, 0.6])
    return path - half, path + half


def test_boxes_hold_the_deformed_cloud_tightly() -> None:
    cloud, bones = make_cloud(), make_bones()
    low, high = bounding_boxes(cloud, bones)
    points = skin_points(bones, cloud.means, cloud.bones, cloud.weights)
    torch.testing.assert_close(low, points.amin(1))
    torch.testing.assert_close(high, points.amax(1))
    with pytest.raises(ValueError, match="an empty cloud has no bounding box"):
        bounding_boxes(cloud[:0], bones)


def test_middles_of_boxes_have_the_gradient_of_the_outermost_points() -> None:
    cloud, bones = make_cloud(), make_bones().requires_grad_()
    low, high = bounding_boxes(cloud, bones)
    found = box_middles(cloud, bones)
    torch.testing.assert_close(found, 0.5 * (low + high))
    points = skin_points(bones, cloud.means, cloud.bones, cloud.weights)
    expected = 0.5 * (points.amin(1) + points.amax(1))
    weight = torch.arange(expected.numel(), dtype=expected.dtype).view_as(expected)
    (one,) = torch.autograd.grad((weight * found).sum(), bones)
    (other,) = torch.autograd.grad((weight * expected).sum(), bones)
    torch.testing.assert_close(one, other)
    with pytest.raises(ValueError, match="an empty cloud has no bounding box"):
        box_middles(cloud[:0], bones)


def test_smoothing_keeps_steady_travel_and_takes_bobbing_away() -> None:
    t = torch.arange(49, dtype=torch.float64)
    steady = torch.stack((0.03 * t, 0.5 + 0 * t, -0.01 * t), dim=-1)
    torch.testing.assert_close(smooth_path(steady, 6.0), steady)
    bobbing = steady.clone()
    bobbing[:, 1] += 0.05 * torch.sin(2.0 * math.pi * t / 8)
    smooth = smooth_path(bobbing, 6.0)
    assert float((smooth[:, 1] - 0.5).abs()[4:-4].max()) < 0.01
    assert torch.equal(smooth_path(bobbing, 0.0), bobbing)


@pytest.mark.parametrize("name", PRESETS)
def test_the_body_fills_the_picture_and_stays_in_its_middle(name: str) -> None:
    path = torch.stack((torch.zeros(12), 0.5 + torch.zeros(12), 0.1 * torch.arange(12.0)), -1)
    low, high = boxes(path)
    camera = follow(low, high, PRESETS[name], forward=FORWARD, width=72, height=48)
    for t in (0, 11):
        corners = torch.cartesian_prod(*torch.stack((low[t], high[t]), -1))
        seen = (camera.camera_from_world[t] @ torch.cat((corners, torch.ones(8, 1)), 1).T).T
        pixels = seen[:, :2] / seen[:, 2:3] * camera.focal[t] + camera.centre[t]
        middle = (camera.camera_from_world[t, :3, :3] @ path[t]) + camera.camera_from_world[
            t, :3, 3
        ]
        assert float(middle[:2].abs().max()) < 1e-5
        assert float(pixels[:, 0].min()) > 0.0
        assert float(pixels[:, 0].max()) < 72.0
        assert 0.0 < float(pixels[:, 1].min()) < 20.0
        assert 28.0 < float(pixels[:, 1].max()) < 48.0


def test_presets_look_from_where_they_say() -> None:
    low, high = boxes(torch.tensor([[0.0, 0.5, 0.0]]))

    def eye(view) -> torch.Tensor:
        camera = follow(low, high, view, forward=FORWARD, width=32, height=32)
        return camera.eye[0]

    # Facing +z with y up, the character's left is +x.
    assert float(eye(FRONT)[2]) > 1.0
    assert abs(float(eye(FRONT)[0])) < 1e-5
    assert float(eye(SIDE)[0]) > 1.0
    assert abs(float(eye(SIDE)[2])) < 1e-5
    quarter = eye(THREE_QUARTER)
    assert float(quarter[0]) > 0.5
    assert float(quarter[2]) > 0.5
    assert float(quarter[1]) > 0.5


def test_random_views_stay_within_bounds_and_follow_their_seed() -> None:
    bounds = ViewBounds(azimuth=(0.5, 2.0), elevation=(0.1, 0.3), zoom=(0.9, 1.0))
    views = [random_view(torch.Generator().manual_seed(s), bounds) for s in range(40)]
    assert all(0.5 <= abs(v.azimuth) <= 2.0 for v in views)
    assert all(0.1 <= v.elevation <= 0.3 and 0.9 <= v.zoom <= 1.0 for v in views)
    assert {v.azimuth > 0 for v in views} == {True, False}
    assert views[7] == random_view(torch.Generator().manual_seed(7), bounds)


def test_a_turning_camera_goes_round_at_the_same_distance() -> None:
    low, high = boxes(torch.tensor([[0.0, 0.5, 0.0]]).expand(8, 3))
    size = {"forward": FORWARD, "width": 72, "height": 48}
    eyes = follow(low, high, SIDE, turn=2.0 * math.pi, **size).eye
    torch.testing.assert_close(eyes[0], follow(low, high, SIDE, **size).eye[0])
    offset = eyes - torch.tensor([0.0, 0.5, 0.0])
    torch.testing.assert_close(offset.norm(dim=-1), offset[0].norm().expand(8))
    torch.testing.assert_close(offset[4, [0, 2]], -offset[0, [0, 2]], atol=1e-5, rtol=0.0)
    steps = (eyes - eyes.roll(1, 0)).norm(dim=-1)
    torch.testing.assert_close(steps, steps[0].expand(8))


def test_middles_of_boxes_hand_their_gradient_to_the_bones() -> None:
    cloud, bones = make_cloud(), make_bones().double()
    cloud = replace(
        cloud, means=cloud.means.double(), scales=cloud.scales.double(),
        weights=cloud.weights.double(),
    )  # fmt: skip
    low, high = bounding_boxes(cloud, bones)
    torch.testing.assert_close(box_middles(cloud, bones), 0.5 * (low + high))
    bones.requires_grad_()
    assert torch.autograd.gradcheck(lambda moved: box_middles(cloud, moved), (bones,))
