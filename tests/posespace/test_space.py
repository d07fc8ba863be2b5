"""Queries of the pose space of a character."""

import math

import pytest
import torch

from akd.posespace import diffusion, ground, guided_ik, ik
from akd.posespace.body import kinematics
from akd.posespace.ik import Goals
from akd.posespace.network import PoseNetwork
from akd.posespace.settings import ANGLE_UNIT
from akd.posespace.space import PoseSpace
from akd.posespace.stand import standing_feet
from tests.posespace.conftest import SMALL

LEGS = ("fore", "hind")


@pytest.fixture(scope="module")
def space(codec):
    torch.manual_seed(0)
    return PoseSpace(codec, PoseNetwork(SMALL).eval().requires_grad_(False))


def world_places(space, states):
    codec = space.codec
    deltas = codec.rig.deltas(codec.decode(states))[:, 2:]
    pivots = torch.cat((codec.rig.root_pivot[None], codec.rig.pivots))
    return (deltas[..., :3, :3] @ pivots[..., None]).squeeze(-1) + deltas[..., :3, 3]


def test_ik_reaches_a_handle(space):
    foot = "left fore foot"
    token = space.spot(foot).token
    start = torch.zeros(1, space.codec.body.tokens, 3)
    target = world_places(space, start)[0, token] + torch.tensor((0.0, 0.03, 0.04))
    found = space.ik({foot: target.tolist()}, pin=["head"], count=2, seed=1)
    reached = world_places(space, found.states)[:, token]
    assert float((reached - target).norm(dim=-1).max()) < 0.02 * space.codec.size
    torch.testing.assert_close(
        found.residual.max(),
        torch.maximum(
            (reached - target).norm(dim=-1),
            (world_places(space, found.states) - world_places(space, start))[
                :, space.spot("head").token
            ].norm(dim=-1),
        ).max(),
        atol=1e-4, rtol=0,
    )  # fmt: skip
    places, _ = kinematics(space.codec.body.expand(2), found.states)
    above = space.codec.body.parents
    lengths = (places - places[:, above]).norm(dim=-1)
    rest = (space.codec.body.pivots - space.codec.body.pivots[above]).norm(dim=-1)
    torch.testing.assert_close(lengths, rest.expand_as(lengths), atol=1e-5, rtol=0)


def test_a_joint_that_is_not_driven_is_a_handle_too(space):
    """An ear goes where it is asked to, with the head that moves it."""
    codec, head = space.codec, space.spot("head").token
    ear = codec.rig.skeleton.names.index("left_ear")
    assert ear not in codec.rig.joints
    before = codec.rig.neutral_world[ear, :3, 3]
    torch.testing.assert_close(torch.tensor(space.place("left_ear")), before, atol=1e-5, rtol=0)
    assert space.spot("left_ear").token == head
    target = before - 0.05 * codec.size * codec.rig.root_axes[0]
    found = space.ik({"left_ear": target.tolist()}, pin=["left fore foot"])
    reached = codec.rig.world(codec.decode(found.states))[0, ear, :3, 3]
    assert float((reached - target).norm()) < 0.002 * codec.size
    placed = torch.tensor(space.place("left_ear", found.states[0]))
    torch.testing.assert_close(placed, reached, atol=1e-4, rtol=0)


def test_answers_differ_and_the_first_has_no_noise(space):
    handles = {"left fore foot": (0.05, 0.1, 0.25)}
    several = space.ik(handles, count=2, seed=3).states
    torch.testing.assert_close(several[:1], space.ik(handles).states, atol=1e-3, rtol=0)
    assert float((several[0] - several[1]).abs().max()) > 0.05


def test_chains_lead_from_the_goals_to_the_root(space):
    body, foot = space.codec.body, space.spot("left fore foot").token
    goals = Goals.at(torch.tensor([[foot]]), torch.zeros(1, 1, 3))
    expected, token = set(), foot
    while token:
        expected.add(token)
        token = int(body.parents[token])
    for row in goals.chains(ik.ancestry(body.expand(2))):
        assert set(torch.nonzero(row)[:, 0].tolist()) == expected


def test_the_jacobian_is_that_of_the_kinematics(space):
    body = space.codec.body.expand(3)
    draw = torch.Generator().manual_seed(5)
    states = 0.6 * torch.randn(3, body.tokens, 3, generator=draw)
    goals = Goals(
        torch.tensor([[0, 9], [5, 12], [20, 3]]), torch.randn(3, 2, 3, generator=draw),
        torch.tensor([[7]]), torch.randn(1, 1, 3, generator=draw),
        torch.tensor([1.0, 0.1]), 0.2 * torch.randn(3, 2, 3, generator=draw),
    )  # fmt: skip
    moved_by = goals.moved_by(ik.ancestry(body))
    found = ik.jacobian(body, states, *kinematics(body, states), goals, moved_by)
    expected = (
        -torch.autograd.functional.jacobian(
            lambda x: goals.errors(*kinematics(body, x)).sum(0), states
        )
        .permute(1, 0, 2, 3)
        .flatten(2)
    )
    torch.testing.assert_close(found, expected, atol=2e-4, rtol=0)


def test_ik_looks_at_a_point(space):
    codec = space.codec
    head = space.spot("head").token
    at = codec.rig.root_pivot + codec.size * (codec.rig.root_axes[2] + codec.rig.root_axes[1])
    found = space.ik({}, look={"head": at.tolist()})
    before = torch.zeros_like(found.states)
    for states, least, most in ((before, -1.0, 0.95), (found.states, 0.97, 1.01)):
        places, turned = kinematics(codec.body.expand(1), states)
        point = space._in_body("head", at.tolist())
        way = torch.nn.functional.normalize(point - places[0, head], dim=-1)
        assert least < float(way @ turned[0, head, :, 2]) < most


def test_a_handle_out_of_reach_states_its_residual(space):
    found = space.ik({"left fore foot": (0.0, 50.0, 0.0)})
    assert bool(found.states.isfinite().all())
    assert 40.0 < float(found.residual[0]) < 50.0


def test_standing_feet_stay_on_the_ground(space):
    neutral = torch.zeros(1, space.codec.body.tokens, 3)
    before = world_places(space, neutral)
    feet = standing_feet(space.codec.body, neutral[0], moved=[])
    up = 0.05 * space.codec.size * space.codec.rig.root_axes[0]
    target = {"head": (before[0, space.spot("head").token] + up).tolist()}

    def moved(**options):
        found = space.ik(target, **options)
        assert float(found.residual[0]) < 0.002 * space.codec.size
        after = world_places(space, found.states)
        return float((after - before)[0, feet].norm(dim=-1).max()) / space.codec.size

    assert moved() < 0.002
    assert moved(stand=False) > 0.02


def test_feet_leave_the_ground_where_a_handle_asks_for_it(space):
    body, neutral = space.codec.body, torch.zeros(space.codec.body.tokens, 3)
    every = standing_feet(body, neutral, moved=[])
    toes = [space.spot(f"{side} {leg} toes").token for side in ("left", "right") for leg in LEGS]
    assert sorted(toes) == every
    assert standing_feet(body, neutral, moved=[space.spot("left fore lower").token]) == every
    for end in ("foot", "toes"):
        freed = standing_feet(body, neutral, moved=[space.spot(f"left fore {end}").token])
        assert set(every) - set(freed) == {space.spot("left fore toes").token}
    high = ground.lifted(neutral[None], torch.tensor([0.2]))[0]
    assert standing_feet(body, high, moved=[]) == []


def test_a_pelvis_pulled_out_of_reach_lifts_the_feet(space):
    place = space.codec.rig.root_pivot + space.codec.size * space.codec.rig.root_axes[0]
    found = space.ik({"pelvis": place.tolist()})
    assert float(found.residual[0]) < 0.002 * space.codec.size


def test_wrong_handles_are_refused(space):
    with pytest.raises(ValueError, match="no joint 'left for foot'; did you mean 'left fore foot'"):
        space.ik({"left for foot": (0.0, 0.0, 0.0)})
    with pytest.raises(ValueError, match="must be three finite numbers, got"):
        space.ik({"head": (0.0, float("nan"), 0.0)})
    with pytest.raises(ValueError, match="at least one joint"):
        space.ik({})


def test_poses_of_another_skeleton_are_refused(space):
    tokens = space.codec.body.tokens
    own, other = torch.zeros(1, tokens, 3), torch.zeros(1, tokens + 3, 3)
    queries = (
        space.score,
        space.project,
        lambda states: space.interpolate(states[0], states[0], 3),
        lambda states: space.ik({"head": (0.0, 0.0, 0.0)}, start=states[0]),
    )
    for query in queries:
        with pytest.raises(ValueError, match=f"skeleton, {tokens} tokens, got {tokens + 3}"):
            query(other)
        with pytest.raises(ValueError, match="states must be finite numbers"):
            query(torch.full_like(own, float("nan")))


def test_interpolation_begins_and_ends_at_the_poses(space):
    draw = torch.Generator().manual_seed(0)
    a, b = 0.4 * torch.randn(2, space.codec.body.tokens, 3, generator=draw)
    found = space.interpolate(a, b, 5)
    torch.testing.assert_close(found[0], a, atol=0.02, rtol=0)
    torch.testing.assert_close(found[-1], b, atol=0.02, rtol=0)


def test_poses_half_way_are_projected(space, monkeypatch):
    draw = torch.Generator().manual_seed(0)
    a, b = 0.4 * torch.randn(2, space.codec.body.tokens, 3, generator=draw)
    found = space.interpolate(a, b, 3)
    monkeypatch.setattr(diffusion, "PROJECT_LEVEL", 0.0)
    decoded = space.interpolate(a, b, 3)
    torch.testing.assert_close(found[::2], decoded[::2], atol=1e-5, rtol=0)
    assert float((found[1] - decoded[1]).abs().max()) > 0.01


def test_projection_keeps_the_shape(space):
    states = 0.3 * torch.ones(3, space.codec.body.tokens, 3)
    assert space.project(states).shape == states.shape


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joint", "share"), [("left fore foot", (0.05, 0.35, 0.1)), ("head", (0.2, -0.2, -0.2))]
)
def test_implausible_answers_are_corrected_where_goals_leave_them_free(
    fox, joint, share, monkeypatch
):
    space = PoseSpace.of(fox)
    body, size = space.codec.body.expand(1), space.codec.size
    target = torch.tensor(space.place(joint)) + size * torch.tensor(share)
    neutral = torch.zeros(1, body.tokens, 3)
    feet = standing_feet(space.codec.body, neutral[0], moved={space.spot(joint).token})

    def solved(corrections):
        monkeypatch.setattr(guided_ik, "_CORRECTIONS", corrections)
        found = space.ik({joint: target.tolist()})
        assert float(found.residual) < 0.001 * size
        places = kinematics(body, found.states)[0] - kinematics(body, neutral)[0]
        return float(space.score(found.states).poses), float(places[0, feet].norm(dim=-1).max())

    (before, far), (after, corrected) = solved(0), solved(3)
    assert after < before - 2.0
    assert corrected < far + 0.01


@pytest.mark.slow
def test_a_joint_that_is_twisted_is_put_back_by_projection(fox):
    space = PoseSpace.of(fox)
    token = space.spot("left fore lower").token
    states = torch.zeros(1, space.codec.body.tokens, 3)
    states[0, token, 2] = math.radians(60.0) / ANGLE_UNIT
    assert float(space.score(states).poses) > 0.0
    found = space.project(states)
    assert float(space.score(found).poses) < 0.0
    assert float(found[0, token].norm()) * ANGLE_UNIT < math.radians(20.0)
