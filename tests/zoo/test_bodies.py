"""Bodies that do not stride: wings, many legs, no legs."""

import numpy as np
import pytest
import torch

from akd.rig.roles.role import LimbKind
from akd.zoo.gait.clips import perform
from akd.zoo.gait.footfalls import ARTHROPOD_GAITS
from akd.zoo.gait.puppet import Puppet
from akd.zoo.gait.style import Style
from akd.zoo.gait.undulation import pose_undulation, undulation_period
from akd.zoo.gait.wings import beat_frequency, flight_speed, wing_span
from tests.zoo.menagerie import creature, skinned


def relative_to_root(animal, motion):
    world = motion.world()
    return torch.linalg.inv(world[:, :1]) @ world


@pytest.mark.slow
@pytest.mark.parametrize(
    ("species", "action"),
    [("eagle", "fly"), ("spider", "walk"), ("crab", "scuttle"), ("snake", "slither"),
     ("trout", "swim"), ("trout", "stand"), ("snake", "stand")],
)  # fmt: skip
def test_cyclic_actions_close_and_stay_above_ground(species, action):
    animal = creature(species)
    act = perform(animal, action, fps=30.0, cycles=1)
    relative = relative_to_root(animal, act.motion)
    torch.testing.assert_close(
        relative[-1], relative[0], atol=1e-3 * animal.height + 1e-4, rtol=0.0
    )
    assert skinned(animal, act)[..., 1].min() > -0.005 * animal.height


def test_an_eagle_beats_its_wings_about_three_times_a_second():
    """Beat and speed follow from mass, span and wing area (Pennycuick 1996)."""
    eagle = creature("eagle")
    assert 2.4 < beat_frequency(eagle) < 4.0
    assert 9.0 < flight_speed(eagle, stroke=np.radians(34.0)) < 17.0
    assert 1.5 < wing_span(eagle) < 2.4
    act = perform(eagle, "fly", fps=60.0, cycles=1)
    assert not act.contacts.any()
    assert skinned(eagle, act)[..., 1].min() > 0.2 * eagle.height
    tips = act.motion.world()[:, [eagle.skeleton.names.index("left_wing_hand")], :3, 3]
    assert np.ptp(tips[:, 0, 1].numpy()) > 0.15 * wing_span(eagle)


@pytest.mark.slow
def test_birds_whose_legs_are_short_jump_too():
    """Their legs are straight at a height below the usual crouch."""
    for seed in (1416, 1460):
        eagle = creature("eagle", seed=seed)
        act = perform(eagle, "jump", fps=30.0, style=Style.random(seed))
        assert 0 < (~act.contacts).all(-1).sum() < len(act.contacts)


def test_wings_are_folded_on_the_ground():
    eagle = creature("eagle")
    standing = skinned(eagle, perform(eagle, "stand", fps=30.0, frames=2))[0]
    gliding = skinned(eagle, perform(eagle, "glide", fps=30.0, frames=2))[0]
    assert np.ptp(standing[:, 0]) < 0.5 * np.ptp(gliding[:, 0])


def test_spiders_step_in_alternating_tetrapods():
    """Neighbours on a side, and both legs of a pair, are half a stride apart (Wilson 1967)."""
    touchdown = ARTHROPOD_GAITS["walk"].touchdown
    for i in range(1, 5):
        apart = (touchdown[f"left_leg{i}"] - touchdown[f"right_leg{i}"]) % 1.0
        assert apart == pytest.approx(0.5)
        if i < 4:
            apart = (touchdown[f"left_leg{i}"] - touchdown[f"left_leg{i + 1}"]) % 1.0
            assert apart == pytest.approx(0.5, abs=0.05)
    act = perform(creature("spider"), "walk", fps=240.0, cycles=1)
    assert int(act.contacts.sum(dim=1).min()) >= 4


@pytest.mark.slow
def test_planted_feet_of_spiders_and_crabs_stay():
    for species, action in (("spider", "walk"), ("crab", "scuttle")):
        animal = creature(species)
        act = perform(animal, action, fps=240.0, cycles=1)
        speed = float(act.motion.pose.translation[-1, 0].norm()) / act.motion.duration
        for number, foot in enumerate(animal.feet):
            sole = skinned(animal, act, foot.vertices.numpy())
            down = act.contacts[:, number].numpy()
            both = down[1:] & down[:-1]
            slip = np.linalg.norm(np.diff(sole, axis=0)[..., [0, 2]], axis=-1)[both] * 240.0
            assert slip.max() < 0.01 * speed, (species, foot.name)


def test_crabs_run_sideways():
    path = perform(creature("crab"), "scuttle", fps=30.0, cycles=1).motion.pose.translation[:, 0]
    assert path[-1, 0] > 10.0 * path[-1, 2].abs()


def test_a_snake_does_not_slip_sideways():
    """Every joint moves along the body, whose direction there is that of the bones it joins."""
    snake = creature("snake")
    puppet = Puppet.of(snake)
    phase = np.linspace(0.0, 1.0, 401)
    posed, stride = pose_undulation(snake, puppet, phase, Style())
    assert posed.position[-1, 0, 2] == pytest.approx(stride)
    for name in ("spine_3", "spine_5", "tail_2", "tail_4"):
        joint = puppet.index[name]
        step = np.diff(posed.position[:, joint], axis=0)
        both = posed.rotation[..., 2][:, [joint, puppet.parents[joint]]].sum(axis=1)
        ahead = both[1:] + both[:-1]
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        across = step - (step * ahead).sum(-1, keepdims=True) * ahead
        speed = np.linalg.norm(step, axis=1).mean()
        assert np.sqrt((across**2).sum(-1).mean()) < 0.15 * speed, name


def test_a_fish_swings_its_tail_most():
    """Videler and Hess (1984): a tenth of the length at the tail, little behind the head."""
    trout = creature("trout")
    puppet = Puppet.of(trout)
    posed, stride = pose_undulation(trout, puppet, np.linspace(0, 1, 101), Style())
    length = trout.parameters.length
    tail = np.ptp(posed.position[:, puppet.index["tail_4"], 0]) / length
    middle = np.ptp(posed.position[:, puppet.index["pelvis"], 0]) / length
    assert 0.06 < tail < 0.2
    assert middle < 0.5 * tail
    assert 0.5 < stride / length < 0.9
    assert 0.2 < undulation_period(trout) < 1.0


@pytest.mark.slow
def test_a_frog_leaps_many_times_its_height():
    frog = creature("frog")
    act = perform(frog, "jump", fps=120.0, cycles=1)
    assert not act.contacts.any(dim=1).all()
    assert act.motion.pose.translation[-1, 0, 2] > 3.0 * frog.height


@pytest.mark.slow
@pytest.mark.parametrize(
    ("species", "legs", "others"),
    [("eagle", 2, {LimbKind.WING}), ("dragon", 4, {LimbKind.WING}), ("spider", 8, set()),
     ("crab", 8, {LimbKind.ARM}), ("trout", 0, {LimbKind.FIN}), ("snake", 0, set())],
)  # fmt: skip
def test_the_rig_finds_their_limbs(species, legs, others):
    from akd.api.poses import zoo_character
    from akd.rig.control_build import build_control_rig

    character = zoo_character(species, 0)
    limbs = character.anatomy.limbs
    assert sum(limb.kind.is_leg for limb in limbs) == legs
    assert {limb.kind for limb in limbs if not limb.kind.is_leg} == others
    assert len(build_control_rig(character)) <= 40
