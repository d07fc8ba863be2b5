"""Validators of posed bodies and meshes, and guidance by them."""

from dataclasses import replace

import pytest
import torch
import trimesh

from akd.posespace.codec import PoseCodec
from akd.posespace.diffusion import levels, walk
from akd.posespace.intersect import INTERSECTS, intersection_depth
from akd.posespace.network import PoseNetwork
from akd.posespace.settings import ANGLE_UNIT
from akd.posespace.surface import PosedSurface
from akd.posespace.validate import (
    SLACK,
    between_guidance,
    body_validators,
    guidance,
    range_excess,
    state_limits,
)
from tests.posespace.conftest import SMALL


@pytest.fixture(scope="module")
def surface(fox, codec):
    return PosedSurface.of(fox, codec)


def random_states(codec, count, scale):
    draw = torch.Generator().manual_seed(3)
    return scale * torch.randn(count, codec.body.tokens, 3, generator=draw)


def test_range_excess_counts_from_the_limits(codec):
    body = codec.body.expand(1)
    low, high = state_limits(body)
    assert float(range_excess(body, high).max()) == 0.0
    states = high.clone()
    states[0, 4, 0] += (SLACK + 0.2) / ANGLE_UNIT
    excess = range_excess(body, states)
    assert float(excess[0, 4]) == pytest.approx(0.2, abs=1e-5)
    assert float(excess.sum()) == pytest.approx(0.2, abs=1e-5)
    free = low.clone()
    free[:, 0] = 100.0
    assert float(range_excess(body, free).max()) == 0.0


def test_the_surface_is_that_of_the_character(fox, codec, surface):
    states = random_states(codec, 2, 0.4)
    world = fox.mesh.pose(codec.rig.world(codec.decode(states)))
    up, left, forward = codec.rig.root_axes
    axes = torch.stack((left, up, forward))
    expected = (world - codec.rig.root_pivot) @ axes.T / codec.size
    torch.testing.assert_close(surface.pose(states), expected, atol=2e-4, rtol=0)
    torch.testing.assert_close(
        surface.pose(torch.zeros_like(states))[0], surface.vertices, atol=1e-5, rtol=0
    )


def test_the_volume_of_a_mesh(surface):
    twice = surface.volume(2.0 * surface.vertices[None])
    torch.testing.assert_close(twice, 8.0 * surface.volume(surface.vertices[None]))


def test_depth_is_that_of_points_inside_a_part(surface):
    ball = trimesh.creation.icosphere(subdivisions=3, radius=1.0)
    faces = torch.from_numpy(ball.faces.copy())
    points = torch.tensor([[0.0, 0.0, 0.2], [0.7, 0.0, 0.0], [0.0, 1.2, 0.0], [3.0, 0.0, 0.0]])
    vertices = torch.cat((torch.from_numpy(ball.vertices).float(), points)).requires_grad_()
    one = replace(
        surface,
        walls=faces,
        shares=torch.ones(len(faces)),
        probes=torch.arange(len(ball.vertices), len(vertices)),
        far=torch.ones(len(points), len(faces), dtype=torch.bool),
    )
    (depth,) = one.depth(vertices[None])
    torch.testing.assert_close(depth, torch.tensor([0.8, 0.3, 0.0, 0.0]), atol=0.03, rtol=0)
    (slope,) = torch.autograd.grad(depth[1], vertices)
    assert float(slope[one.probes[1], 0]) == pytest.approx(-1.0, abs=0.05)
    inside_out = replace(one, walls=faces.flip(-1))
    assert float(inside_out.depth(vertices.detach()[None]).max()) == 0.0


def test_the_neutral_pose_is_valid(codec, surface):
    states = torch.zeros(1, codec.body.tokens, 3)
    for validator in (*body_validators(codec.body.expand(1)), *surface.validators()):
        assert float(validator(states)) == 0.0


@pytest.mark.slow
def test_a_folded_body_is_found_and_guided_away(codec, surface):
    states = random_states(codec, 4, 2.5)
    validators = body_validators(codec.body.expand(4)) + surface.validators()
    before = torch.stack([validator(states) for validator in validators])
    assert bool((before > 0).any(-1).all())
    steer = guidance(validators)
    assert torch.equal(steer(states, 0.9), states)
    for _ in range(8):
        states = steer(states, 0.1)
    after = torch.stack([validator(states) for validator in validators])
    assert float(after.sum()) < 0.3 * float(before.sum())


def test_guidance_between_two_poses_keeps_the_ends(codec):
    body = codec.body.expand(1)
    states = random_states(codec, 8, 1.5)
    deep = intersection_depth(codec.body.expand(8), states)
    a, b = states[deep.argmax()][None], states[deep.argmin()][None]
    steer = between_guidance(body, a, b, torch.tensor([0.0, 1.0]))
    torch.testing.assert_close(steer(torch.cat((a, b)), 0.1), torch.cat((a, b)))
    assert float(deep.max()) > INTERSECTS


def test_walks_are_guided(codec):
    network = PoseNetwork(SMALL).eval().requires_grad_(False)
    body = codec.body.expand(3)
    noise = random_states(codec, 3, 2.0)
    loose = walk(network, network.describe(body), noise, levels(6))
    steer = guidance(body_validators(body)[:1])
    kept = walk(network, network.describe(body), noise, levels(6), steer=steer)
    assert float(range_excess(body, kept).sum()) < 0.5 * float(range_excess(body, loose).sum())


def test_bodies_without_faces_have_no_surface(fox, codec):
    assert PosedSurface.of(replace(fox, mesh=None), PoseCodec(codec.rig, codec.body, 1.0)) is None
