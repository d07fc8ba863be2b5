"""Which way knees and elbows bend, on two legs and on four."""

import math

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.motion.clip import motion_from_clip
from akd.rig.character import load_character
from akd.rig.limits import AngleLimits, BodyPlan, has_stiff_legs, limit_of, range_of
from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind, Part, Role
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import perform
from tests.rig.block_figure import block_figure


@pytest.fixture(scope="module")
def rigs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")

    def rig_of(species):
        path = folder / f"{species}.glb"
        write_creature(build_creature(species, seed=1), [], path)
        return load_character(read_asset(path)).control_rig

    return {species: rig_of(species) for species in ("man", "horse", "ostrich")}


def sides(rig, limb, part):
    limits = AngleLimits.of(rig)
    places = [i for i, r in enumerate(rig.roles) if (r.limb, r.part) == (limb, part)]
    assert len(places) == 2
    back = [math.degrees(float(limits.back[i, 0])) for i in places]
    forth = [math.degrees(float(limits.forth[i, 0])) for i in places]
    assert back[0] == back[1]  # left and right alike
    assert forth[0] == forth[1]
    return forth[0], back[0]


@pytest.mark.slow
def test_a_knee_bends_back_and_an_elbow_forward(rigs):
    forth, back = sides(rigs["man"], LimbKind.LEG, Part.LOWER)
    assert forth == pytest.approx(90.0)
    assert 5.0 <= back < 25.0
    forth, back = sides(rigs["man"], LimbKind.ARM, Part.LOWER)
    assert back == pytest.approx(105.0)
    assert 5.0 <= forth < 25.0


def test_what_is_bent_in_the_neutral_pose_may_be_straightened(rigs):
    forth, back = sides(rigs["horse"], LimbKind.HIND, Part.LOWER)
    assert forth == pytest.approx(90.0)
    assert 40.0 < back < 85.0
    forth, back = sides(rigs["ostrich"], LimbKind.LEG, Part.LOWER)
    assert 70.0 < back <= 90.0


def test_a_leg_of_one_joint_swings_no_further_than_its_steps_are_long(rigs):
    figure = block_figure().control_rig
    limits, free = AngleLimits.of_strides(figure), AngleLimits.of(figure)
    legs = [i for i, role in enumerate(figure.roles) if role.limb is LimbKind.LEG]
    others = [i for i in range(len(figure.roles)) if i not in legs]
    assert len(legs) == 2
    for strides, gait in ((limits.forth, free.forth), (limits.back, free.back)):
        torch.testing.assert_close(strides[legs, 0], torch.full((2,), math.radians(35.0)))
        assert bool((gait[legs, 0] > math.radians(50.0)).all())
        torch.testing.assert_close(strides[legs, 1:], gait[legs, 1:])
        torch.testing.assert_close(strides[others], gait[others])
    man = rigs["man"]
    torch.testing.assert_close(AngleLimits.of_strides(man).forth, AngleLimits.of(man).forth)
    assert has_stiff_legs(figure.roles)
    assert not has_stiff_legs(man.roles)


def test_arms_reach_further_in_actions_than_in_gaits(rigs):
    rig = rigs["man"]
    gait, action = AngleLimits.of(rig), AngleLimits.of_actions(rig)
    assert torch.isfinite(action.forth).all()  # unlike the whole range, it can bound a search
    assert torch.isfinite(action.back).all()
    uppers = [i for i, r in enumerate(rig.roles) if (r.limb, r.part) == (LimbKind.ARM, Part.UPPER)]
    assert float(action.back[uppers, 0].min()) > float(gait.back[uppers, 0].max()) + 0.8
    # An elbow still bends one way.
    elbows = [i for i, r in enumerate(rig.roles) if (r.limb, r.part) == (LimbKind.ARM, Part.LOWER)]
    assert float(action.forth[elbows, 0].max()) < math.radians(25.0)


@pytest.mark.slow
def test_true_punches_and_seats_keep_within_the_limits_of_actions(tmp_path):
    """Flexion and twist of the trunk and flexion of the legs; the elbows of the zoo's people turn
    about other axes than ours."""
    man = build_creature("man", seed=1001, vertices=500)
    names = ("punch", "throw", "pick_up", "sit_down")
    clips = [perform(man, name, fps=15.0, frames=46).motion for name in names]
    write_creature(man, clips, tmp_path / "man.glb")
    character = load_character(read_asset(tmp_path / "man.glb"))
    rig, limits = character.control_rig, AngleLimits.of_actions(character.control_rig)
    for clip in character.asset.clips:
        angles = rig.from_pose(motion_from_clip(character, clip).pose).angles
        for i, role in enumerate(rig.roles):
            axes = [0] if role.limb is LimbKind.LEG else [0, 2] if role.limb is None else []
            assert bool((angles[:, i, axes] < limits.forth[i, axes]).all()), (clip.name, role)
            assert bool((-angles[:, i, axes] < limits.back[i, axes]).all()), (clip.name, role)


def test_joints_of_a_spine_share_what_a_spine_has(rigs):
    for rig in rigs.values():
        limits = AngleLimits.of(rig)
        spine = [i for i, r in enumerate(rig.roles) if r.part is Part.SPINE]
        whole = torch.rad2deg(limits.forth[spine].sum(0))
        assert len(spine) > 1
        torch.testing.assert_close(whole, torch.tensor([35.0, 10.0, 12.0]))


def test_an_upright_spine_arches_little(rigs):
    for species, most in (("man", 10.0), ("horse", 35.0), ("ostrich", 35.0)):
        rig = rigs[species]
        spine = [i for i, r in enumerate(rig.roles) if r.part is Part.SPINE]
        back = torch.rad2deg(AngleLimits.of(rig).back[spine, 0].sum())
        assert float(back) == pytest.approx(most, abs=1e-3)


def test_bounds_meet_smoothly_at_the_neutral_pose(rigs):
    limits = AngleLimits.of(rigs["man"])
    angles = torch.zeros(1, len(rigs["man"]), 3, requires_grad=True)
    limits.bounded(angles).sum().backward()
    assert torch.equal(angles.grad, torch.ones_like(angles))
    near = torch.full_like(angles.detach(), -1e-3)
    torch.testing.assert_close(limits.bounded(near), near, atol=1e-6, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("species", ["man", "fox", "horse", "trex", "ostrich", "elephant"])
def test_true_gaits_keep_within_the_limits(species, tmp_path):
    """Knees, elbows and hocks each; flexion and sideways bend of a trunk's joints together. Its
    twist is left out: a man who runs twists his spine by more than the limit, which is meant to be
    narrow."""
    creature = build_creature(species, seed=3)
    action = next(a for a in ("gallop", "run", "walk") if a in creature.actions)
    path = tmp_path / "true.glb"
    write_creature(creature, [perform(creature, action, fps=30.0, frames=40).motion], path)
    character = load_character(read_asset(path))
    motion = motion_from_clip(character, character.asset.clips[0])
    angles = character.control_rig.from_pose(motion.pose).angles
    limits = AngleLimits.of(character.control_rig)
    for part in (Part.SPINE, Part.NECK, Part.HEAD, Part.TAIL):
        joints = [
            i
            for i, r in enumerate(character.control_rig.roles)
            if r.part is part and r.limb is None
        ]
        together = angles[:, joints, :2].sum(1)
        assert bool((together <= limits.forth[joints, :2].sum(0)).all()), part
        assert bool((-together <= limits.back[joints, :2].sum(0)).all()), part
    angles = angles[..., 0]
    for i, role in enumerate(character.control_rig.roles):
        if role.limb is not None and role.part in (Part.LOWER, Part.CANNON):
            assert float(angles[:, i].amax()) <= float(limits.forth[i, 0]), role
            assert float(-angles[:, i].amin()) <= float(limits.back[i, 0]), role


def test_the_pull_to_the_neutral_pose_counts_in_parts_of_each_sides_limit(rigs):
    limits = AngleLimits.of(rigs["man"])
    knee = next(i for i, r in enumerate(rigs["man"].roles) if r.part is Part.LOWER)
    angles = torch.zeros(2, len(rigs["man"]), 3)
    angles[0, knee, 0], angles[1, knee, 0] = limits.forth[knee, 0], -limits.back[knee, 0]
    torch.testing.assert_close(limits.parts(angles)[:, knee, 0], torch.tensor([1.0, -1.0]))
    assert float(limits.forth[knee, 0]) != pytest.approx(float(limits.back[knee, 0]))


@pytest.mark.parametrize("species", ["man", "horse", "ostrich"])
def test_the_range_of_motion_is_wider_than_what_gaits_use(rigs, species):
    rig = rigs[species]
    used, possible = AngleLimits.of(rig), AngleLimits.range_of_motion(rig)
    assert bool((possible.forth >= used.forth - 1e-6).all())
    assert bool((possible.back >= used.back - 1e-6).all())
    knees = [
        i for i, role in enumerate(rig.roles)
        if role.part is Part.LOWER and role.limb is not None and role.limb.is_leg
    ]  # fmt: skip
    assert knees
    ways = torch.stack((possible.forth[knees, 0], possible.back[knees, 0]))
    assert bool((ways.amin(0) < ways.amax(0)).all())  # they bend one way


def test_ranges_by_role():
    upper_arm = Role(Part.UPPER, Side.LEFT, LimbKind.ARM)
    assert range_of(upper_arm) == (math.inf, math.inf, math.inf)
    wing = Role(Part.UPPER, Side.LEFT, LimbKind.WING)
    assert range_of(wing) == tuple(2.0 * angle for angle in limit_of(wing))
    spine = Role(Part.SPINE)
    assert range_of(spine, BodyPlan(alike={Part.SPINE: 2})) == range_of(spine)
    assert range_of(spine, BodyPlan(alike={Part.SPINE: 4})) == tuple(
        angle / 2.0 for angle in range_of(spine)
    )
    assert limit_of(spine, BodyPlan(alike={Part.SPINE: 4})) == tuple(
        angle / 4.0 for angle in limit_of(spine)
    )
    other = Role(Part.OTHER)
    assert range_of(other) == tuple(2.0 * angle for angle in limit_of(other))
