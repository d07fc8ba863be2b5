"""Feet planted on the ground where physics did not bring that about."""

from dataclasses import replace

import pytest
import torch

from akd.api.request import make_request
from akd.api.search import choose_each, measures_for
from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.metrics.motion import MotionMetrics, measure
from akd.metrics.recognise.recogniser import load_recogniser
from akd.metrics.selection import Criteria, lowered
from akd.motion.clip import motion_from_clip
from akd.motion.footing.replant import stand_up
from akd.motion.loop import repeat
from akd.motion.motion import Motion
from akd.physics.ground import Grounded, ground
from akd.physics.settings import TrackingSettings
from akd.rig.character import Character, load_character
from akd.rig.control import ControlPose
from akd.zoo import build_creature, make_clip
from tests.rig.block_figure import block_figure

DEPTH = 0.05
"""Body heights by which clips are lowered."""


@pytest.fixture(scope="module")
def spider(tmp_path_factory) -> tuple[Character, Motion]:
    """A spider, and one cycle of its true walk."""
    creature = build_creature("spider", seed=1000, vertices=1200)
    path = tmp_path_factory.mktemp("zoo") / "spider.glb"
    write_creature(creature, [make_clip(creature, "walk", cycles=1)], path)
    character = load_character(read_asset(path))
    return character, motion_from_clip(character, character.asset.clips[0])


def sunk(character: Character, motion: Motion) -> Motion:
    """The motion under the ground."""
    rig = character.control_rig
    pose = rig.from_pose(motion.pose)
    down = DEPTH * character.height * pose.translation.new_tensor((0.0, 1.0, 0.0))
    return replace(motion, pose=rig.to_pose(replace(pose, translation=pose.translation - down)))


def measured(character: Character, motion: Motion) -> MotionMetrics:
    return measure(character, character.control_rig, motion, asked="walk")


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [0, 2])
def test_a_walk_under_the_ground_stands_on_it_and_stays_a_loop(spider, rounds):
    character, cycle = spider
    low = sunk(character, cycle)
    clip = repeat(character.control_rig, low, max(rounds, 1))
    fps = (len(cycle) - 1) / cycle.duration
    made = stand_up(character, clip, low if rounds else None, fps=fps)
    before, after = measured(character, clip), measured(character, made)
    assert before.penetration > 0.8 * DEPTH
    assert after.penetration < 0.01
    assert min(after.contact) > 0.3
    assert max(after.skate) < 0.2
    assert not after.fails
    torch.testing.assert_close(made.times, clip.times)
    if rounds:
        assert after.loop_gap < 0.01
    # It begins where the clip began and goes as far.
    ends = [m.world()[[0, -1], character.control_rig.root, :3, 3] for m in (clip, made)]
    level = [e[:, [0, 2]] for e in ends]
    torch.testing.assert_close(level[0], level[1], atol=0.03 * character.height, rtol=0.0)


@pytest.mark.slow
def test_the_planted_clip_is_kept_where_physics_failed(spider):
    character, cycle = spider
    rig, low = character.control_rig, sunk(character, cycle)
    grounded = ground(
        rig, character.mesh, cycle, fps=30.0, travel=False, settings=TrackingSettings(iterations=1)
    )
    request = make_request(character, "a spider walking", device="cpu")
    measures = measures_for(request)

    def chosen(physical: Grounded) -> tuple[Motion, Grounded | None, str | None]:
        [found] = choose_each(request, [low], [low], [physical], fps=30.0, measures=measures)
        return found

    still = replace(cycle, pose=cycle.pose[0].expand(len(cycle)))
    kept, _, why = chosen(replace(grounded, motion=still, cycle=None))
    assert why is not None
    assert measured(character, kept).penetration < 0.01
    # A grounded motion that is sound is kept, and the distilled one stays as it was.
    sound = replace(grounded, motion=cycle, cycle=cycle)
    kept, physical, why = chosen(sound)
    assert kept is low
    assert physical is sound
    assert why is None
    # One that sinks is planted again, and kept then.
    kept, physical, why = chosen(replace(grounded, motion=low, cycle=low))
    assert physical is not None
    assert why is None
    assert kept is low
    assert not measured(character, physical.motion).fails
    assert measured(character, physical.motion).loop_gap < 0.01
    torch.testing.assert_close(
        character.control_rig.from_pose(physical.motion.pose).translation,
        physical.controls.translation,
    )


@pytest.mark.slow
def test_legs_that_cannot_shorten_are_lifted_by_rolling_over_the_other():
    character = block_figure()
    rig, frames, fps = character.control_rig, 31, 30.0
    phase = torch.linspace(0.0, 2.0 * torch.pi, frames)
    angles = torch.zeros(frames, len(rig), 3)
    for joint, role in enumerate(rig.roles):
        if role.limb is not None and role.limb.is_leg:
            swing = 0.4 * torch.sin(phase if role.side == "left" else phase + torch.pi)
            angles[:, joint, 0] = swing
    # As far as a stance foot goes back in its half of the cycle, twice.
    gone = phase / phase[-1] * 4.0 * 0.7 * torch.tensor(0.4).sin()
    up, _, forward = rig.root_axes
    # The body rises and falls with the foot that stands.
    rise = 0.7 * (torch.cos(0.4 * torch.sin(phase)) - 1.0)
    translation = gone[:, None] * forward + rise[:, None] * up
    pose = rig.to_pose(ControlPose(translation, torch.zeros(frames, 3), angles))
    cycle = Motion(character.skeleton, torch.arange(frames) / fps, pose, "walk")
    clip = repeat(rig, cycle, 2)
    before = measured(character, clip)
    assert max(before.skate) > 0.5  # the feet pass each other on the ground
    made = stand_up(character, clip, cycle, fps=fps)
    after = measured(character, made)
    assert max(after.skate) < 0.2
    assert min(after.contact) > 0.3
    assert after.penetration < 0.01
    roll = rig.from_pose(made.pose).root_rotation[:, 2]
    assert 0.05 < float(roll.abs().max()) < 0.35


@pytest.mark.slow
def test_a_planted_action_competes_although_physics_passes_all_checks(tmp_path):
    """Deep in the ground a kick is worth less than a body that stands still, and physics seems to
    have lowered nothing; only the planted kick shows what is lost."""
    creature = build_creature("man", seed=1000, vertices=1200)
    path = tmp_path / "man.glb"
    write_creature(creature, [make_clip(creature, "kick")], path)
    character = load_character(read_asset(path))
    kick = motion_from_clip(character, character.asset.clips[0])
    low = sunk(character, sunk(character, sunk(character, kick)))
    tracked = ground(
        character.control_rig, character.mesh, kick, fps=30.0, travel=False, action="kick",
        settings=TrackingSettings(iterations=1),
    )  # fmt: skip
    still = replace(kick, pose=kick.pose[0].expand(len(kick)))
    request = make_request(character, "a man kicking", device="cpu")
    measures, chooser = measures_for(request), load_recogniser("a")
    before, after = (Criteria.of(measures, motion, chooser) for motion in (low, still))
    assert lowered(before, after) is None
    assert not after.metrics.fails

    def chosen(physical: Motion) -> tuple[Motion, Grounded | None, str | None]:
        grounded = replace(tracked, motion=physical)
        [found] = choose_each(
            request, [low], [None], [grounded], fps=30.0, measures=measures, chooser=chooser
        )
        return found

    kept, _, why = chosen(still)
    assert "it looks less like kicking" in (why or "")
    assert measures.of(kept).penetration < 0.01
    assert (Criteria.of(measures, kept, chooser).likeness or 0.0) > 0.5
    # Physics that kept the kick is kept.
    kept, physical, why = chosen(kick)
    assert why is None
    assert kept is low
    assert physical is not None
    assert physical.motion is kick
