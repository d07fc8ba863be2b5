"""What every clip must hold: planted feet, no penetration, real travel, loops, free fall."""

import numpy as np
import pytest
import torch

from akd.base.constants import GRAVITY
from akd.zoo.gait.clips import make_clip, perform
from akd.zoo.gait.footfalls import QUADRUPED_GAITS, gait_of, speed_and_period
from akd.zoo.gait.style import Style
from akd.zoo.species.catalogue import SPECIES
from tests.zoo.menagerie import FEW, STRIDERS, creature, performance, skinned, sole_rows

JUMPERS = [name for name, parameters in SPECIES.items() if "jump" in parameters.actions]
FAST = 120.0
"""Frames a second at which contact speed is measured: a foot may peel off within two of 30."""

EVERY_THIRD = slice(None, None, 3)
"""Of the vertices: enough to see a limb below the ground."""


def travelling(species):
    return [a for a in creature(species).parameters.actions if a not in ("stand", "jump")]


def root_path(act):
    return act.motion.pose.translation[:, 0].numpy()


def contact_speed(species, act, fps):
    """Greatest horizontal speed of any sole vertex that touches the ground in two frames running,
    metres per second, and the greatest height of a planted foot's lowest vertex."""
    animal = creature(species)
    touching = 4e-4 * animal.height
    worst, float_height = 0.0, 0.0
    for number, rows in enumerate(sole_rows(species)):
        sole = skinned(animal, act, rows)
        down = act.contacts[:, number].numpy()
        float_height = max(float_height, float(sole[down][..., 1].min(axis=1).max()))
        both = (down[1:] & down[:-1])[:, None]
        touch = both & (sole[1:, :, 1] < touching) & (sole[:-1, :, 1] < touching)
        step = np.linalg.norm(np.diff(sole, axis=0)[..., [0, 2]], axis=-1)
        assert touch.any()
        worst = max(worst, float(step[touch].max()) * fps)
    return worst, float_height


def body_speed(act):
    return np.linalg.norm(np.diff(root_path(act), axis=0), axis=1).sum() / act.motion.duration


@pytest.mark.slow
@pytest.mark.parametrize("species", STRIDERS)
def test_planted_feet_stay(species):
    """Contact speed under one hundredth of the body's speed, on the vertices of the soles."""
    for action in creature(species).parameters.actions:
        fps = 30.0 if action == "stand" else FAST
        act = performance(species, action, fps)
        speed = 0.1 * creature(species).height if action == "stand" else body_speed(act)
        slip, lift = contact_speed(species, act, fps)
        assert slip < 0.01 * speed, action
        assert lift < 0.002 * creature(species).height, action


@pytest.mark.slow
@pytest.mark.parametrize("species", STRIDERS)
def test_nothing_sinks_into_the_ground(species):
    animal = creature(species)
    for action in animal.parameters.actions:
        act = performance(species, action, 30.0)
        assert skinned(animal, act, EVERY_THIRD)[..., 1].min() > -0.005 * animal.height, action


@pytest.mark.parametrize("species", STRIDERS)
def test_feet_in_the_air_are_in_the_air(species):
    animal = creature(species)
    for action in travelling(species):
        act = performance(species, action, FAST)
        for number, rows in enumerate(sole_rows(species)):
            swing = ~act.contacts[:, number].numpy()
            height = skinned(animal, act, rows)[swing][..., 1].min(axis=1)
            assert height.max() > 0.01 * animal.height, action


@pytest.mark.parametrize("species", STRIDERS)
def test_root_travels_at_its_natural_speed(species):
    animal = creature(species)
    for action in travelling(species):
        act = performance(species, action, 30.0)
        path = root_path(act)
        natural, _ = speed_and_period(animal, action)
        speed = body_speed(act)
        assert speed == pytest.approx(abs(natural), rel=0.01)
        assert path[0] == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
        if not action.startswith("turn"):
            assert path[-1, 2] == pytest.approx(natural * act.motion.duration, rel=0.01)
        elif action == "turn_left":
            assert path[-1, 0] > 0.0
        else:
            assert path[-1, 0] < 0.0


@pytest.mark.parametrize("species", STRIDERS)
def test_clips_loop_up_to_the_roots_displacement(species):
    animal = creature(species)
    for action in animal.parameters.actions:
        act = performance(species, action, 30.0)
        world = act.motion.world()
        root = animal.skeleton.names.index("root")
        relative = torch.linalg.inv(world[:, root : root + 1]) @ world
        torch.testing.assert_close(
            relative[-1], relative[0], atol=2e-4 * animal.height, rtol=0.0, msg=action
        )


@pytest.mark.slow
@pytest.mark.parametrize("species", [*FEW, "cat", "elephant", "trex"])
def test_joints_move_smoothly(species):
    """No popping: in a hundredth of a stride no joint turns far, nor changes its speed by much."""
    animal = creature(species)
    for action in travelling(species):
        _, period = speed_and_period(animal, action)
        turn = perform(animal, action, fps=100.0 / period, cycles=1).motion.pose.rotation.double()
        step = 2 * (turn[1:] * turn[:-1]).sum(-1).abs().clamp(max=1.0).acos()
        assert step.max() < np.radians(12.0), action
        assert (step[1:] - step[:-1]).abs().max() < np.radians(7.0), action


@pytest.mark.parametrize("species", STRIDERS)
def test_bones_keep_their_lengths(species):
    animal = creature(species)
    rest = animal.skeleton.rest.translation
    moving = [animal.skeleton.names.index(name) for name in ("root", "pelvis")]
    fixed = [j for j in range(len(animal.skeleton)) if j not in moving]
    for action in animal.parameters.actions:
        pose = performance(species, action, 30.0).motion.pose
        assert torch.equal(pose.translation[:, fixed], rest[fixed].expand(len(pose.scale), -1, -1))
        assert (pose.scale == 1).all()
        torch.testing.assert_close(
            pose.rotation.norm(dim=-1), torch.ones(pose.rotation.shape[:2]), atol=1e-5, rtol=0.0
        )


@pytest.mark.parametrize("species", STRIDERS)
def test_knees_hocks_and_elbows_bend_the_right_way(species):
    animal = creature(species)
    names = animal.skeleton.names
    for action in travelling(species):
        act = performance(species, action, FAST)
        world = act.motion.world().numpy()
        heading = world[:, names.index("root"), :3, 2]
        for foot in animal.feet:
            joints = [
                world[:, names.index(n), :3, 3]
                for n in (foot.leg.upper, foot.leg.lower, foot.leg.foot, foot.leg.toes)
            ]
            # Forward distance of the middle joint from the line between its neighbours.
            middle = forward_of_line(joints[0], joints[1], joints[2], heading)
            reach = np.linalg.norm(joints[2] - joints[0], axis=1).mean()
            if foot.leg.kind == "fore":
                assert middle.max() < 0.02 * reach, (action, foot.name)
            else:
                assert middle.min() > -0.02 * reach, (action, foot.name)
            if foot.leg.kind == "hind":
                hock = forward_of_line(joints[1], joints[2], joints[3], heading)
                assert hock.max() < 0.05 * reach, (action, foot.name)


def forward_of_line(above, middle, below, heading):
    along = below - above
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    off = middle - above
    off = off - (off * along).sum(axis=1, keepdims=True) * along
    return (off * heading).sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("species", ["fox", "horse", "elephant", "leopard"])
def test_footfalls_follow_hildebrand(species):
    """Duty factor and limb phase, read off the soles of the mesh rather than off the plan."""
    animal = creature(species)
    for action in travelling(species):
        act = performance(species, action, 240.0)
        gait = gait_of(animal, action)
        touchdown, duty = {}, {}
        for foot, rows in zip(animal.feet, sole_rows(species), strict=True):
            low = skinned(animal, act, rows)[:-1, :, 1].min(axis=1)
            down = low < 2e-4 * animal.height
            falls = np.flatnonzero(down & ~np.roll(down, 1))
            assert len(falls) == 1, (action, foot.name)
            touchdown[foot.name] = falls[0] / len(down)
            duty[foot.name] = down.mean()
        if gait.short:
            continue  # a limp is not symmetrical
        limb_phase = (touchdown["left_fore"] - touchdown["left_hind"]) % 1.0
        expected = {"walk": 0.25, "amble": 0.25, "trot": 0.5}
        if gait.name in expected:
            assert limb_phase == pytest.approx(expected[gait.name], abs=0.03)
            for pair in ("fore", "hind"):
                apart = (touchdown[f"right_{pair}"] - touchdown[f"left_{pair}"]) % 1.0
                assert apart == pytest.approx(0.5, abs=0.03)
        else:
            order = sorted(touchdown, key=lambda foot: touchdown[foot])
            rotary = ["left_hind", "right_hind", "right_fore", "left_fore"]
            transverse = ["left_hind", "right_hind", "left_fore", "right_fore"]
            start = order.index("left_hind")
            wanted = rotary if animal.parameters.manner.gallop == "rotary" else transverse
            assert order[start:] + order[:start] == wanted
        for foot, share in duty.items():
            assert share == pytest.approx(gait.duty, abs=0.05), (action, foot)


def test_gaits_have_their_place_in_hildebrands_diagram():
    walk, trot = QUADRUPED_GAITS["walk"], QUADRUPED_GAITS["trot"]
    assert walk.duty > 0.5 > trot.duty  # walks from runs
    assert not walk.runs
    assert not QUADRUPED_GAITS["amble"].runs
    assert trot.runs
    assert QUADRUPED_GAITS["rotary"].runs


@pytest.mark.slow
@pytest.mark.parametrize("species", JUMPERS)
def test_jump_is_a_free_fall(species):
    animal = creature(species)
    act = performance(species, "jump", FAST)
    centre = animal.centre_of_mass(act.motion.world().double()).numpy()
    air = ~act.contacts.any(dim=1).numpy()
    free = air[2:] & air[1:-1] & air[:-2]
    assert free.sum() > 0.1 * FAST * np.sqrt(animal.height / 10)
    # y'' = -g by central differences; float32 keys leave some noise.
    acceleration = np.diff(centre[:, 1], n=2) * FAST**2
    assert np.median(acceleration[free]) == pytest.approx(-GRAVITY, rel=0.02)
    fit = np.polyfit(np.arange(air.sum()) / FAST, centre[air, 1], 2)
    assert 2 * fit[0] == pytest.approx(-GRAVITY, rel=0.01)
    # No jerk where the ground is left or met: the push and the landing are a few g.
    assert np.abs(acceleration).max() < 15 * GRAVITY
    drift = np.diff(act.motion.pose.translation[air, 0, 2].numpy()) * FAST
    assert np.ptp(drift) < 0.01 * drift.mean()


@pytest.mark.parametrize(
    ("species", "action"), [("fox", "gallop"), ("man", "run"), ("horse", "trot")]
)
def test_running_falls_freely_between_footfalls(species, action):
    animal = creature(species)
    act = perform(animal, action, fps=240.0, cycles=1)
    centre = animal.centre_of_mass(act.motion.world().double()).numpy()[:, 1]
    air = ~act.contacts.any(dim=1).numpy()
    free = air[2:] & air[1:-1] & air[:-2]
    assert free.any()
    acceleration = np.diff(centre, n=2)[free] * 240.0**2
    assert acceleration.mean() == pytest.approx(-GRAVITY, rel=0.1)


@pytest.mark.parametrize("species", FEW)
def test_standing_breathes_in_place(species):
    act = performance(species, "stand", 30.0)
    assert act.contacts.all()
    assert root_path(act) == pytest.approx(np.zeros_like(root_path(act)))
    pelvis = act.motion.pose.translation[:, 1]
    assert float((pelvis.max(dim=0).values - pelvis.min(dim=0).values).max()) > 0.0
    assert act.motion.duration > 2.0


@pytest.mark.parametrize("species", FEW)
def test_same_arguments_give_the_same_bits(species):
    animal = creature(species)
    style = Style.random(7)
    one, two = (perform(animal, "walk", style=style) for _ in range(2))
    assert torch.equal(one.motion.pose.rotation, two.motion.pose.rotation)
    assert torch.equal(one.motion.pose.translation, two.motion.pose.translation)
    assert torch.equal(one.contacts, two.contacts)


@pytest.mark.slow
@pytest.mark.parametrize("species", FEW)
def test_every_style_keeps_its_feet_planted(species):
    animal = creature(species)
    for seed in (1, 2, 3):
        for action in ("walk", "jump"):
            act = perform(animal, action, fps=FAST, cycles=1, style=Style.random(seed))
            slip, _ = contact_speed(species, act, FAST)
            assert slip < 0.01 * body_speed(act)
            assert skinned(animal, act)[::4, :, 1].min() > -0.005 * animal.height


def test_styles_differ():
    animal = creature("fox")
    slow, brisk = (
        make_clip(animal, "walk", frames=40, style=Style(speed=speed)) for speed in (0.8, 1.2)
    )
    assert brisk.pose.translation[-1, 0, 2] > 1.3 * slow.pose.translation[-1, 0, 2]
    low = make_clip(animal, "walk", cycles=1, style=Style(crouch=0.1))
    high = make_clip(animal, "walk", cycles=1)
    assert low.pose.translation[:, 1, 1].mean() < high.pose.translation[:, 1, 1].mean() - 0.01
    assert Style.random(0) == Style()
    assert Style.random(3) == Style.random(3) != Style.random(4)


def test_a_clip_is_the_motion_of_a_performance():
    animal = creature("fox")
    act = perform(animal, "trot", fps=30.0, cycles=3)
    motion = make_clip(animal, "trot", fps=30.0, cycles=3)
    assert torch.equal(motion.pose.rotation, act.motion.pose.rotation)
    assert act.contacts.shape == (len(motion), 4)
    assert motion.name == "trot"


@pytest.mark.slow
@pytest.mark.parametrize("action", ["stand", "walk", "gallop", "jump"])
def test_frames_are_counted(action):
    for frames in (1, 16, 90):
        assert len(make_clip(creature("fox"), action, fps=12.0, frames=frames)) == frames


@pytest.mark.parametrize(
    ("action", "options", "message"),
    [
        ("fly", {}, "action must be one of stand, walk, trot, .* for a fox; got 'fly'"),
        ("walk", {"fps": 0.0}, "fps must be above zero, got 0.0"),
        ("walk", {"cycles": 0}, "cycles must be at least 1, got 0"),
        ("walk", {"frames": 0}, "frames must be at least 1, got 0"),
    ],
)
def test_bad_arguments_are_named(action, options, message):
    with pytest.raises(ValueError, match=message):
        make_clip(creature("fox"), action, **options)


def test_a_style_out_of_bounds_is_named():
    with pytest.raises(ValueError, match=r"style.speed must lie in 0.5..1.6, got 9.0"):
        Style(speed=9.0)


def test_an_elephant_does_not_gallop():
    with pytest.raises(ValueError, match=r"walk, amble, .*; got 'gallop'"):
        make_clip(creature("elephant"), "gallop")
