"""Keyframed actions: on the ground, within reach, smooth, and back where they began."""

import numpy as np
import pytest
import torch

from akd.motion.actions import ACTIONS
from akd.zoo.acts.act import Act, Swing
from akd.zoo.acts.catalogue import acts_of
from akd.zoo.gait.clips import perform
from akd.zoo.gait.style import Style
from akd.zoo.species.catalogue import SPECIES
from tests.zoo.menagerie import ALL, creature, skinned, sole_rows

FPS = 24.0
IN_THE_AIR = {"fly", "glide"}


@pytest.mark.slow
@pytest.mark.parametrize("species", ALL)
def test_every_act_stays_on_the_ground(species):
    """Nothing below the ground, planted soles at rest on it, and each joint turns smoothly."""
    animal = creature(species)
    for action, sheet in acts_of(animal.parameters).items():
        act = perform(animal, action, fps=FPS, cycles=1)
        points = skinned(animal, act)
        assert points[..., 1].min() > -0.01 * animal.height, action
        for number, rows in enumerate(sole_rows(species)):
            sole, down = points[:, rows], act.contacts[:, number].numpy()
            if not down.any():
                continue
            assert sole[down][..., 1].min(axis=1).max() < 0.02 * animal.height, action
            both = down[1:] & down[:-1]
            low = sole[..., 1].argmin(axis=1)[:-1]
            still = np.take_along_axis(
                np.linalg.norm(np.diff(sole, axis=0)[..., [0, 2]], axis=-1), low[:, None], axis=1
            )
            assert still[both].max(initial=0.0) < 0.02 * animal.height, action
        turn = act.motion.pose.rotation.double()
        step = 2 * (turn[1:] * turn[:-1]).sum(-1).abs().clamp(max=1.0).acos()
        assert step.max() * FPS * act.motion.duration < np.radians(360.0 * 14), action
        if sheet.holds:
            assert not torch.allclose(turn[0], turn[-1], atol=0.05), action
        else:
            same = (turn[0] * turn[-1]).sum(-1).abs()
            assert same.min() > 1.0 - 1e-4, action


@pytest.mark.parametrize("species", ["fox", "man"])
def test_getting_up_begins_where_lying_down_ends(species):
    animal = creature(species)
    down, up = (perform(animal, a, fps=FPS, cycles=1).motion for a in ("lie_down", "get_up"))
    torch.testing.assert_close(down.world()[-1], up.world()[0], atol=0.02 * animal.height, rtol=0.0)
    assert down.pose.translation[-1, 1, 1] < 0.6 * down.pose.translation[0, 1, 1]


def test_a_held_act_is_done_once():
    animal = creature("fox")
    once = perform(animal, "sit_down", fps=FPS, cycles=1).motion
    long = perform(animal, "sit_down", fps=FPS, cycles=2).motion
    assert long.duration == pytest.approx(2.0 * once.duration, rel=0.05)
    late = long.pose.translation[len(long) // 2 + 1 :, 1]
    assert (late - late[0]).abs().max() < 0.01 * animal.height


def test_grazing_brings_the_head_down():
    for species in ("fox", "horse"):
        animal = creature(species)
        act = perform(animal, "eat", fps=FPS, cycles=1)
        skin = animal.mesh.skin
        head = animal.skeleton.names.index("head")
        mine = (skin.bones[:, 0] == head).numpy()
        middle = skinned(animal, act, np.flatnonzero(mine))[len(act.motion) // 2]
        assert middle[:, 1].min() < 0.08 * animal.height


def test_the_mirror_image_uses_the_other_hand():
    animal = creature("man")
    one, two = (
        perform(animal, "wave", fps=FPS, cycles=1, style=Style(mirrored=m)).motion.world()
        for m in (False, True)
    )
    names = animal.skeleton.names
    left, right = (names.index(f"{side}_arm_hand") for side in ("left", "right"))
    assert one[:, right, 1, 3].max() > one[:, left, 1, 3].max() + 0.3
    assert two[:, left, 1, 3].max() == pytest.approx(float(one[:, right, 1, 3].max()), abs=0.02)


@pytest.mark.parametrize("species", SPECIES)
def test_acts_have_words(species):
    for action, sheet in acts_of(SPECIES[species]).items():
        assert action in ACTIONS
        assert ACTIONS[action].froude == 0.0 or action in IN_THE_AIR
        assert not (sheet.loop and ACTIONS[action].one_off)


def test_a_row_needs_a_value_for_each_key():
    with pytest.raises(ValueError, match=r"act nod: head.pitch must have 3 keys: \(0, 1\)"):
        Act("nod", 1.0, (0, 0.5, 1), {"head.pitch": (0, 1)})


def test_rows_pass_through_their_keys():
    act = Act("nod", 1.0, (0, 0.5, 1), {"head.pitch": (0, 20, 0)}, swings={"tail.yaw": Swing(5)})
    assert act.angle("head.pitch", np.array([0.0, 0.5, 1.0])) == pytest.approx([0, 20, 0])
    assert act.angle("tail.yaw", np.array([0.25])) == pytest.approx([5.0])
    assert set(act.names()) == {"head.pitch", "tail.yaw"}
    assert act.scaled(2.0).turns["head.pitch"] == (0, 40, 0)
