"""Augmented bodies stay bodies in the same poses."""

import pytest
import torch

from akd.posespace.augment import augmented, hidden, rebased, reframed, resized
from akd.posespace.body import bone_ends, kinematics
from akd.posespace.ground import clearance
from akd.posespace.settings import LIMIT_FEATURES, PoseTrainSettings


def drawn(poses, *shape):
    return 0.4 * torch.randn(*shape, generator=torch.Generator().manual_seed(8))


def batch(poses):
    return poses.bodies[poses.body_of[:2]], poses.states[:6]


def posed(body, states):
    index = torch.arange(len(body.present)).repeat_interleave(len(states) // len(body.present))
    places, turned = kinematics(body[index], states)
    return places, turned, bone_ends(body[index], places, turned)


@pytest.mark.slow
def test_another_neutral_pose_describes_the_same_poses(poses):
    body, states = batch(poses)
    other, moved = rebased(body, states, drawn(poses, *body.pivots.shape))
    assert float((moved - states).abs().max()) > 0.1
    assert float((other.pivots - body.pivots).abs().max()) > 0.01
    before, after = posed(body, states), posed(other, moved)
    torch.testing.assert_close(after[0], before[0], atol=2e-5, rtol=0)
    torch.testing.assert_close(after[2], before[2], atol=2e-5, rtol=0)


def test_other_axes_describe_the_same_poses(poses):
    body, states = batch(poses)
    other, moved = reframed(body, states, drawn(poses, *body.pivots.shape))
    assert float((moved - states).abs().max()) > 0.1
    for a, b in zip(posed(other, moved), posed(body, states), strict=True):
        torch.testing.assert_close(a, b, atol=2e-5, rtol=0)


def test_bones_are_lengthened_by_their_factors(poses):
    body, _ = batch(poses)
    factors = torch.exp(drawn(poses, *body.present.shape))
    other = resized(body, factors)
    above = body.parents[..., None].expand_as(body.pivots)

    def edges(pivots):
        return (pivots - pivots.gather(-2, above)).norm(dim=-1)

    expected = edges(body.pivots) * factors.gather(-1, body.parents)
    torch.testing.assert_close(edges(other.pivots), expected, atol=1e-5, rtol=0)


def test_hidden_names_and_roles(poses):
    body, _ = batch(poses)
    every = torch.ones_like(body.present)
    found = hidden(body, names=every, roles=~every)
    assert not bool(found.names.any())
    assert torch.equal(found.roles, body.roles)
    found = hidden(body, names=~every, roles=every)
    assert not bool(found.roles.any())
    assert not bool(found.features[..., LIMIT_FEATURES].any())
    assert torch.equal(found.names, body.names)


def test_augmented_poses_keep_their_clearance(poses):
    body, states = batch(poses)
    settings = PoseTrainSettings(drop_leaves=0.0, drop_surface=0.0)
    draw = torch.Generator().manual_seed(1)
    other, moved = augmented(body, states, settings, draw)
    assert bool(moved.isfinite().all())
    index = torch.arange(2).repeat_interleave(3)
    torch.testing.assert_close(
        clearance(other[index], moved), clearance(body[index], states), atol=1e-4, rtol=0
    )
    fewer, _ = augmented(body, states, PoseTrainSettings(drop_leaves=1.0), draw)
    assert int(fewer.present.sum()) < int(body.present.sum())
    assert bool(fewer.present[:, 0].all())
