import math

import pytest
import torch

from akd.api.directing import find_kept, find_poses
from akd.metrics.motion import measure
from akd.motion.direction import Direction, direct
from akd.motion.joining import acceleration, join
from akd.motion.key_poses import KeyPoses
from akd.motion.loop import loop_gap
from akd.rig.control import ControlPose
from akd.zoo import build_creature, make_clip
from benchmarks.zoo_character import as_character

FPS = 30.0


@pytest.fixture(scope="module")
def fox():
    """A fox, and a stride of its walk."""
    creature = build_creature("fox", vertices=800)
    return as_character(creature), make_clip(creature, "walk", cycles=1), creature


def _end(character, motion):
    path = motion.world()[:, character.control_rig.root, :3, 3]
    return path[-1] - path[0]


def test_a_gait_lasts_as_long_as_it_is_told(fox):
    character, walk, _ = fox
    longer = direct(character, walk, Direction(duration=2.5), fps=FPS)
    assert longer.duration == pytest.approx(2.5, abs=0.02)
    speed = float(_end(character, walk).norm()) / walk.duration
    assert float(_end(character, longer).norm()) == pytest.approx(2.5 * speed, rel=0.05)
    rounds = direct(character, walk, Direction(duration=2.5, loop=True), fps=FPS)
    assert loop_gap(character.control_rig, rounds, height=character.height) < 0.01
    count = rounds.duration / walk.duration
    assert count == pytest.approx(round(count), abs=0.03)


def test_a_gait_goes_as_fast_as_it_is_told(fox):
    character, walk, _ = fox
    quick = direct(character, walk, Direction(speed=1.0), fps=FPS)
    assert float(_end(character, quick).norm()) / quick.duration == pytest.approx(1.0, rel=0.05)
    with pytest.raises(ValueError, match=r"speed must be from 0\.\d+ to \d\.\d+ metres per second"):
        direct(character, walk, Direction(speed=20.0), fps=FPS)


@pytest.mark.slow
def test_a_turn_bends_the_path_and_feet_stay_planted(fox):
    character, walk, _ = fox
    turned = direct(character, walk, Direction(turn=45.0), fps=FPS)
    rig = character.control_rig
    yaw = rig.from_pose(turned.pose).root_rotation[:, 0]
    assert math.degrees(float(yaw[-1] - yaw[0])) == pytest.approx(45.0, abs=3.0)
    found = measure(character, rig, turned)
    assert max(found.skate) < 0.15
    assert found.penetration < 0.005


@pytest.mark.slow
def test_a_path_is_followed_to_its_end(fox):
    character, walk, _ = fox
    moved = direct(character, walk, Direction(path=((0.2, 0.8), (0.8, 1.2))), fps=FPS)
    end = _end(character, moved)
    assert float(end[0]) == pytest.approx(0.8, abs=0.1)
    assert float(end[2]) == pytest.approx(1.2, abs=0.1)


def test_contradictions_are_refused(fox):
    character, walk, creature = fox
    for direction, said in (
        (Direction(duration=0.0), "duration must be from 0.1"),
        (Direction(turn=10.0, path=((1.0, 1.0),)), "turn and path exclude"),
        (Direction(duration=1.0, speed=1.0, path=((1.0, 1.0),)), "give two of them"),
        (Direction(path=((0.0, 0.0),)), "path must not start at 0,0"),
    ):
        with pytest.raises(ValueError, match=said):
            direct(character, walk, direction, fps=FPS)
    still = make_clip(creature, "stand", cycles=1)
    with pytest.raises(ValueError, match="need a motion that travels"):
        direct(character, still, Direction(speed=1.0), fps=FPS)


def test_kept_joints_move_as_the_other_motion_has_them(fox):
    character, walk, creature = fox
    rig = character.control_rig
    head = [str(role) for role in rig.roles].index("head")
    still = make_clip(creature, "stand", cycles=1)
    moved = direct(character, walk, Direction(), fps=FPS, kept={head: still})
    wanted = rig.from_pose(still.sample(still.times[:1] + moved.times).pose).angles[:, head]
    torch.testing.assert_close(rig.from_pose(moved.pose).angles[:, head], wanted, atol=1e-3, rtol=0)


@pytest.mark.slow
def test_a_keyframe_is_met(fox):
    character, walk, _ = fox
    rig = character.control_rig
    head = [str(role) for role in rig.roles].index("head")
    angles = rig.from_pose(walk.pose).angles[10].clone()
    angles[head, 0] += 0.5
    pose = ControlPose(torch.zeros(3), torch.zeros(3), angles)
    moved = direct(character, walk, Direction(), fps=FPS, keys=KeyPoses.of({0.4: pose}))
    found = rig.from_pose(moved.pose).angles[12, head]
    torch.testing.assert_close(found, angles[head], atol=1e-3, rtol=0)
    later = direct(character, walk, Direction(), fps=FPS, keys=KeyPoses.of({3.0: pose}))
    assert later.duration == pytest.approx(3.0)
    found = rig.from_pose(later.pose).angles[-1, head]
    torch.testing.assert_close(found, angles[head], atol=1e-3, rtol=0)
    keys = KeyPoses.of({3.0: pose})
    with pytest.raises(ValueError, match=r"keyframe must be within the clip, from 0 to 2\.00 s"):
        direct(character, walk, Direction(duration=2.0), fps=FPS, keys=keys)


def test_what_is_named_must_be_there(fox):
    character, _, _ = fox
    for keep in ("head", "Idle:", ":head"):
        with pytest.raises(ValueError, match="keep must be CLIP:JOINT,JOINT"):
            find_kept(character, Direction(keep=(keep,)))
    with pytest.raises(ValueError, match=r"keyframe must be within the clip, from 0 to 1\.5 s"):
        find_poses(character, Direction(duration=1.5, keyframes=("2=walk@0.2",)))
    for keyframe in ("1", "x=walk@1", "-1=walk@1", "nan=walk@1"):
        with pytest.raises(ValueError, match="keyframe must be SECONDS=POSE"):
            find_poses(character, Direction(keyframes=(keyframe,)))
    with pytest.raises(ValueError, match="has no clip"):
        find_poses(character, Direction(keyframes=("1=walk@0.2",)))


def test_joins_do_not_pop(fox):
    character, walk, creature = fox
    motions = [walk, *(make_clip(creature, action, cycles=1) for action in ("jump", "stand"))]
    joined = join(character, motions, gaits=[True, False, False], fps=FPS)
    assert len(joined.joins) == 2
    rig, motion = character.control_rig, joined.motion
    found = acceleration(rig, rig.from_pose(motion.pose))
    for start, usual in zip(joined.joins, joined.usual, strict=True):
        around = (motion.times[1:-1] - start).abs() <= 0.1
        assert float(found[around].max()) <= usual
    steps = joined.motion.world()[:, character.control_rig.root, :3, 3].diff(dim=0).norm(dim=-1)
    assert float(steps.max()) < 0.2 * character.height
    assert joined.motion.duration > sum(m.duration for m in motions[1:])


def test_a_part_that_repeats_the_end_of_the_one_before_goes_on_from_there(fox):
    character, walk, _ = fox
    lead, rig = 4 / FPS, character.control_rig
    walk = walk.resample(FPS)
    first = walk.sample(walk.times[:16])
    second = walk.sample(walk.times[15 - 4 :])  # begins four frames before the first one ends
    joined = join(character, [first, second], gaits=[False, False], leads=[0.0, lead], fps=FPS)
    assert joined.joins == pytest.approx((11 / FPS,), abs=1e-3)
    pose, true = rig.from_pose(joined.motion.pose), rig.from_pose(walk.pose)
    torch.testing.assert_close(pose.angles, true.angles, atol=2e-3, rtol=0)
