"""Bodies, their kinematics, and the way from control poses to states and back."""

import pytest
import torch

from akd.math import davenport, quaternion
from akd.posespace.body import kinematics, local_rotations, mirrored, stack_bodies
from akd.posespace.features import name_embedding
from akd.posespace.settings import HEIGHT_UNIT, STEPS
from akd.rig.control import ControlPose


def random_states(codec, count=6, scale=1.0):
    draw = torch.Generator().manual_seed(3)
    return scale * torch.randn(count, codec.body.tokens, 3, generator=draw)


def test_kinematics_are_those_of_the_control_rig(codec):
    states = random_states(codec)
    places, turned = kinematics(codec.body.expand(6), states)
    deltas = codec.rig.deltas(codec.decode(states))[:, 2:]
    up, left, forward = codec.rig.root_axes
    axes = torch.stack((left, up, forward))
    pivots = torch.cat((codec.rig.root_pivot[None], codec.rig.pivots))
    world = (deltas[..., :3, :3] @ pivots[..., None]).squeeze(-1) + deltas[..., :3, 3]
    expected = (world - codec.rig.root_pivot) @ axes.T / codec.size
    torch.testing.assert_close(places, expected, atol=2e-5, rtol=0)
    torch.testing.assert_close(turned, axes @ deltas[..., :3, :3] @ axes.T, atol=2e-5, rtol=0)


def test_kinematics_walk_down_the_tree(codec):
    """The same as joint after joint: G_j = G_parent T(offset) R_j."""
    body, states = codec.body, random_states(codec, 1)
    places, turned = kinematics(body.expand(1), states)
    local = local_rotations(body.expand(1), states)[0]
    expected, rotations = (
        [torch.tensor((0.0, HEIGHT_UNIT * float(states[0, 0, 2]), 0.0))],
        [local[0]],
    )
    for token in range(1, body.tokens):
        parent = int(body.parents[token])
        offset = body.pivots[token] - body.pivots[parent]
        expected.append(expected[parent] + rotations[parent] @ offset)
        rotations.append(rotations[parent] @ local[token])
    torch.testing.assert_close(places[0], torch.stack(expected), atol=1e-5, rtol=0)
    torch.testing.assert_close(turned[0], torch.stack(rotations), atol=1e-5, rtol=0)


def test_bone_lengths_do_not_depend_on_the_state(codec):
    states = random_states(codec, scale=3.0)
    places, _ = kinematics(codec.body.expand(6), states)
    above = codec.body.parents
    lengths = (places - places[:, above]).norm(dim=-1)
    neutral = (codec.body.pivots - codec.body.pivots[above]).norm(dim=-1)
    torch.testing.assert_close(lengths, neutral.expand_as(lengths), atol=1e-5, rtol=0)


def test_states_return_from_control_poses(codec):
    states = random_states(codec)
    torch.testing.assert_close(codec.encode(codec.decode(states)), states, atol=2e-4, rtol=0)


def test_a_state_knows_neither_heading_nor_place(codec):
    pose = codec.decode(random_states(codec))
    up = codec.rig.root_axes[0]
    turn = quaternion.about_axis(up, torch.tensor(2.0))
    root = davenport.to_quaternion(codec.rig.root_axes, pose.root_rotation)
    turned = davenport.from_quaternion(codec.rig.root_axes, quaternion.multiply(turn, root))
    moved = pose.translation + torch.tensor((3.0, 0.0, -2.0))
    elsewhere = ControlPose(moved, turned, pose.angles)
    torch.testing.assert_close(codec.encode(elsewhere), codec.encode(pose), atol=1e-4, rtol=0)


def test_a_mirrored_pose_is_the_mirror_image(codec):
    body, states = codec.body, random_states(codec)
    assert bool((body.mirror >= 0).all())
    batch = body.expand(6)
    places, _ = kinematics(batch, states)
    other, _ = kinematics(batch, mirrored(batch, states))
    image = other[:, body.mirror] * torch.tensor((-1.0, 1.0, 1.0))
    torch.testing.assert_close(image, places, atol=2e-3, rtol=0)
    torch.testing.assert_close(mirrored(batch, mirrored(batch, states)), states)


def test_padding_changes_nothing(codec):
    body, states = codec.body, random_states(codec, 1)
    batch = stack_bodies([body], tokens=body.tokens + 5)
    padded = torch.cat((states, torch.zeros(1, 5, 3)), dim=1)
    assert int(batch.present.sum()) == body.tokens
    torch.testing.assert_close(
        kinematics(batch, padded)[0][:, : body.tokens], kinematics(body.expand(1), states)[0]
    )


def test_relations_count_steps_in_the_tree(codec):
    body = codec.body
    steps = body.relation % (STEPS * STEPS)
    for token in range(1, body.tokens):
        parent = int(body.parents[token])
        assert int(steps[token, parent]) == STEPS  # one up, none down
        assert int(steps[parent, token]) == 1
    token = next(t for t in range(body.tokens) if int(body.mirror[t]) not in (t, -1))
    assert int(body.relation[token, body.mirror[token]]) >= STEPS * STEPS


def test_names_alike_are_near():
    arm, also, tail = (name_embedding(n) for n in ("LeftForeArm", "forearm.L", "tail_03"))
    assert float(arm @ also) > 0.4 > float(arm @ tail) + 0.2
    assert float(name_embedding("").norm()) == pytest.approx(0.0)
