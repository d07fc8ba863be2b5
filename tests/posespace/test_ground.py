"""Poses above the ground, on it and in it."""

from dataclasses import replace

import pytest
import torch

from akd.posespace.codec import PoseCodec
from akd.posespace.ground import (
    FLIGHT,
    SINK,
    STANDING,
    clearance,
    ground_excess,
    grounded,
    lifted,
    lowest,
    settled,
)
from akd.posespace.perturb import leave_ground
from akd.posespace.settings import HEIGHT_UNIT
from akd.posespace.surface import PosedSurface
from akd.posespace.validate import body_validators, guidance


def poses_of(codec, count, scale=0.3):
    draw = torch.Generator().manual_seed(6)
    return scale * torch.randn(count, codec.body.tokens, 3, generator=draw)


def test_the_lowest_point_is_that_of_the_mesh(fox, codec):
    states = poses_of(codec, 6)
    found = lowest(codec.body.expand(6), states)
    vertices = PosedSurface.of(fox, codec).pose(states)[..., 1].amin(-1)
    assert bool((found >= vertices - 1e-5).all())  # a sample of the vertices
    torch.testing.assert_close(found, vertices, atol=SINK, rtol=0)


def test_a_body_without_skin_stands_on_its_joints(codec):
    bare = replace(codec.body, has_points=torch.zeros_like(codec.body.has_points)).expand(1)
    neutral = torch.zeros(1, codec.body.tokens, 3)
    assert float(lowest(bare, neutral)) == pytest.approx(float(codec.body.pivots[:, 1].min()))


def test_the_root_height_is_the_clearance(codec):
    states = torch.zeros(3, codec.body.tokens, 3)
    height = torch.tensor([-0.1, 0.0, 0.4])
    gap = clearance(codec.body.expand(3), lifted(states, height))
    torch.testing.assert_close(gap, height, atol=1e-6, rtol=0)
    assert float(lifted(states, height)[2, 0, 2]) == pytest.approx(0.4 / HEIGHT_UNIT)
    excess = ground_excess(codec.body.expand(3), lifted(states, height))
    expected = torch.tensor([0.1 - SINK, 0.0, 0.4 - FLIGHT])
    torch.testing.assert_close(excess, expected, atol=1e-5, rtol=0)
    stands = ground_excess(codec.body.expand(3), lifted(states, height), highest=STANDING)
    assert float(stands[2]) == pytest.approx(0.4 - STANDING, abs=1e-5)


def test_poses_that_nearly_stand_are_set_down_and_leaps_stay(codec):
    body, neutral = codec.body.expand(4), torch.zeros(4, codec.body.tokens, 3)
    height = torch.tensor([-0.02, 0.05, 0.0, 0.2])
    gap = clearance(body, settled(body, lifted(neutral, height)))
    torch.testing.assert_close(gap, torch.tensor([0.0, 0.0, 0.0, 0.2]), atol=1e-6, rtol=0)


def test_a_weapon_below_the_feet_is_not_what_a_body_stands_on(fox, codec):
    """The body is described without props: only `mesh` has them."""
    assert fox.mesh is not None
    longer = replace(fox.mesh, vertices=fox.mesh.vertices * torch.tensor([1.0, 1.5, 1.0]))
    found = PoseCodec.of(replace(fox, mesh=longer))
    assert found.size == codec.size
    assert torch.equal(found.body.points, codec.body.points)


def test_a_clip_is_put_on_the_ground_but_its_jumps_stay(codec):
    fps, count = 10.0, 60
    states = torch.zeros(count, codec.body.tokens, 3)
    height = torch.full((count,), 0.3)  # the file's ground is elsewhere
    height[30:] = 0.8  # a step up
    height[10:14] += 0.2  # a jump of 0.4 s
    gap = clearance(codec.body.expand(count), grounded(codec.body, lifted(states, height), fps=fps))
    expected = torch.zeros(count)
    expected[10:14] = 0.2
    expected[30:35] = 0.5  # until the lower step is half a second ago
    torch.testing.assert_close(gap, expected, atol=1e-5, rtol=0)


def test_poses_that_leave_the_ground_float_or_sink(codec):
    states = poses_of(codec, 64)
    body = codec.body.expand(64)
    on_ground = lifted(states, -clearance(body, states))
    moved = leave_ground(body, on_ground, torch.Generator().manual_seed(0))
    gap = clearance(body, moved)
    assert 0.3 < float((gap > 0).float().mean()) < 0.7
    assert bool((gap.abs() >= 0.08 - 1e-4).all())
    assert torch.equal(moved[:, 1:], on_ground[:, 1:])


def test_a_floating_body_is_guided_to_the_ground(codec):
    body, states = codec.body.expand(2), torch.zeros(2, codec.body.tokens, 3)
    off = lifted(states, torch.tensor([0.6, -0.2]))
    steer = guidance(body_validators(body)[2:])
    for _ in range(10):
        off = steer(off, 0.1)
    assert float(ground_excess(body, off).max()) < 0.01
