import math
from dataclasses import replace

import pytest
import torch

from akd.metrics.motion import measure
from akd.motion.feet import leg_length
from akd.motion.footing.floor import find_floor
from akd.motion.footing.stance import find_stance, number_stands
from akd.motion.motion import Motion
from akd.motion.retargeting.retarget import retarget
from akd.motion.retargeting.roles import Source, correspond
from akd.motion.retargeting.transfer import to_body
from akd.rig.limits import AngleLimits
from akd.zoo import build_creature, make_clip
from benchmarks.zoo_character import as_character


@pytest.fixture(scope="module")
def people():
    """A man who walks, and a child."""
    man = build_creature("man", vertices=800)
    child = build_creature("child", seed=3, vertices=800)
    walk = make_clip(man, "walk", cycles=1)
    return as_character(man), walk, as_character(child)


@pytest.fixture(scope="module")
def walked(people):
    man, walk, child = people
    return retarget(man, walk, child, travel=True)


@pytest.mark.slow
def test_retargeted_feet_stand_and_nothing_sinks(people, walked):
    man, walk, child = people
    found = measure(child, child.control_rig, walked)
    given = measure(man, man.control_rig, walk)
    assert max(found.skate) < 0.1
    assert found.penetration < 0.005
    assert found.alternation[0] == pytest.approx(given.alternation[0], abs=0.1)
    limits = AngleLimits.range_of_motion(child.control_rig)
    angles = child.control_rig.from_pose(walked.pose).angles
    assert float((angles - limits.clamped(angles)).abs().max()) < 1e-4


def test_root_motion_scales_with_leg_length(people, walked):
    man, walk, child = people
    legs = [leg_length(body, body.control_rig) for body in (man, child)]
    gone = [
        float((m.world()[-1, body.control_rig.root] - m.world()[0, body.control_rig.root])[2, 3])
        for body, m in ((man, walk), (child, walked))
    ]
    assert gone[1] / gone[0] == pytest.approx(legs[1] / legs[0], rel=0.05)


def test_a_loop_stays_a_loop(people, walked):
    _, _, child = people
    assert measure(child, child.control_rig, walked).loop_gap < 1e-3


@pytest.mark.slow
def test_there_and_back_again(people):
    man, walk, child = people
    there = retarget(man, walk, child, travel=True)
    back = retarget(child, there, man, travel=True)
    count = min(len(back), len(walk))
    joints = [man.control_rig.root, *man.control_rig.joints]
    places = [m.world()[:count, joints, :3, 3] for m in (walk, back)]
    level = torch.tensor((1.0, 0.0, 1.0))
    places = [p - p[:, :1] * level for p in places]
    assert float((places[0] - places[1]).norm(dim=-1).mean()) / man.height < 0.03


def test_arms_keep_their_direction_whatever_the_neutral_pose(people):
    man, walk, _ = people
    rig = man.control_rig
    upper = [str(role) for role in rig.roles].index("left arm upper")
    # The same body with its arms bound at another angle.
    from akd.math import quaternion

    raised = rig.neutral.rotation.clone()
    turn = quaternion.about_axis(torch.tensor((0.0, 0.0, 1.0)), torch.tensor(0.9))
    raised[rig.joints[upper]] = quaternion.multiply(turn, raised[rig.joints[upper]])
    other = replace(man, bind=replace(man.bind, rotation=raised))
    moved = retarget(man, walk, other, plant=False)
    lower = next(c for c, p in enumerate(rig.parents) if p == upper)
    bones = [
        torch.nn.functional.normalize(
            m.world()[:, rig.joints[lower], :3, 3] - m.world()[:, rig.joints[upper], :3, 3], dim=-1
        )
        for m in (walk, moved)
    ]
    torch.testing.assert_close(bones[0][: len(moved)], bones[1], atol=0.02, rtol=0)


def test_chains_of_different_length_share_their_bend(people):
    man, _, _ = people
    rig = man.control_rig
    spine = [c for c, role in enumerate(rig.roles) if role.part == "spine"]
    assert len(spine) > 1
    kept = [c for c in range(len(rig)) if c != spine[0]]
    index = {c: i for i, c in enumerate(kept)}
    fewer = replace(
        rig, joints=tuple(rig.joints[c] for c in kept), roles=tuple(rig.roles[c] for c in kept),
        parents=tuple(index.get(rig.parents[c], -1) for c in kept), pivots=rig.pivots[kept],
        axes=rig.axes[kept],
    )  # fmt: skip
    assert correspond(fewer, fewer)[0] == Source(1, 1)
    found = correspond(rig, fewer)[index[spine[-1]]]
    assert found is not None
    assert found.after == spine[-1] + 1


def test_a_person_is_not_put_on_a_dog(people):
    man, walk, _ = people
    dog = as_character(build_creature("dog", vertices=800))
    with pytest.raises(ValueError, match=r"man.glb has 2 legs and dog.glb has 4 legs"):
        retarget(man, walk, dog)


def test_a_map_names_joints(people):
    man, _, child = people
    names = man.skeleton.names, child.skeleton.names
    rig, other = man.control_rig, child.control_rig
    left, right = rig.joints[-1], other.joints[0]
    found = correspond(rig, other, {names[0][left]: names[1][right]})
    assert found[0] == Source(len(rig), len(rig))
    with pytest.raises(ValueError, match="'nose' must be a driven joint of the source"):
        correspond(rig, other, {"nose": "nose"})


def test_a_tilted_floor_is_found():
    steps = torch.linspace(0.0, 4.0, 60)
    foot = torch.stack((torch.zeros(60), 0.02 * steps + 0.1, steps), dim=-1)
    foot[::7, 1] += 0.3  # swings
    floor = find_floor([foot[:, None]], foot, body_height=1.0)
    assert float(floor.tilt[1]) == pytest.approx(0.02, rel=0.1)


def test_stance_is_low_and_slow():
    time = torch.arange(30) / 30.0
    swings = torch.where(time < 0.5, 0.0, 0.1 * torch.sin(2 * math.pi * (time - 0.5)))
    ahead = torch.where(time < 0.5, 0.0, 2.0 * (time - 0.5))
    foot = torch.stack((torch.zeros(30), swings, ahead), dim=-1)[:, None]
    root = torch.stack((torch.zeros(30), torch.ones(30), time), dim=-1)
    stance = find_stance([foot], root, fps=30.0, body_height=1.0)
    assert stance[:13, 0].all()
    assert not stance[17:, 0].any()
    assert number_stands(stance).max() == 1


def test_body_axes_are_a_rotation(people):
    for body in (people[0], people[2]):
        axes = to_body(body.control_rig)
        torch.testing.assert_close(axes @ axes.T, torch.eye(3), atol=1e-6, rtol=0)
        assert float(torch.linalg.det(axes)) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.slow
def test_a_still_motion_stays_still(people):
    man, walk, child = people
    still = walk.sample(walk.times[:1].expand(1))
    held = Motion(walk.skeleton, torch.arange(8) / 30.0, still.pose[torch.zeros(8).long()])
    moved = retarget(man, held, child)
    assert float((moved.world() - moved.world()[:1]).abs().max()) < 0.02 * child.height
