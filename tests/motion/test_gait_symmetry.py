"""Symmetrical gaits: half a cycle later, left does what right did."""

from dataclasses import replace

import pytest
import torch

from akd.motion.gait import is_symmetrical
from akd.motion.gait_symmetry import Mirror
from akd.rig.roles.role import Part, Side
from tests.distill.fox import standing

PERIOD = 0.6


def shaken(fox, **more):
    curves = standing(fox, period=PERIOD, speed=1.0, **more)
    g = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for leaf in (curves.angles, curves.root):
            leaf.copy_(0.4 * torch.randn(leaf.shape, generator=g))
    return curves


def places(fox, curves, seconds):
    """Of the driven joints in the world, as left and right of the way, up and ahead of the root."""
    with torch.no_grad():
        world = fox.control_rig.skeleton.forward(fox.control_rig.to_pose(curves.controls(seconds)))
    points = world[:, list(fox.control_rig.joints), :3, 3]
    up, left, forward = fox.control_rig.root_axes
    ahead = curves.speed * seconds[:, None]
    return torch.stack((points @ left, points @ up, points @ forward - ahead), dim=-1)


@pytest.mark.parametrize("symmetrical", [True, False])
def test_half_a_cycle_later_the_fox_is_its_own_mirror_image(fox, symmetrical):
    curves = shaken(fox, symmetrical=symmetrical)
    with torch.no_grad():
        curves.pace.zero_()
    seconds = torch.arange(7) * 0.05
    now, later = (places(fox, curves, s) for s in (seconds, seconds + 0.5 * PERIOD))
    partners = Mirror.of(fox.control_rig).partners
    seen = later[:, partners] * torch.tensor((-1.0, 1.0, 1.0))
    # What goes to either side by yaw adds up along the way: only the first frame starts at zero.
    drift = (seen - now).mean(1, keepdim=True)
    apart = float((seen - now - drift).norm(dim=-1).max()) / fox.height
    if symmetrical:
        assert apart < 0.01
    else:
        assert apart > 0.1


def test_every_control_of_a_side_has_its_partner(fox):
    mirror = Mirror.of(fox.control_rig)
    assert bool(mirror.known.all())
    for i, role in enumerate(fox.control_rig.roles):
        other = fox.control_rig.roles[int(mirror.partners[i])]
        assert (other.part, other.limb, other.number) == (role.part, role.limb, role.number)
        assert (other.side is role.side) == (role.side is Side.CENTRE)
    assert bool((mirror.partners[mirror.partners] == torch.arange(len(fox.control_rig))).all())


def test_several_joints_of_one_role_are_paired_in_their_order(fox):
    """The middle legs of artists' spiders have several cannons, which share one role."""
    rig = fox.control_rig
    lower = [i for i, r in enumerate(rig.roles) if r.part is Part.LOWER]
    roles = list(rig.roles)
    for i, role in enumerate(roles):
        if role.limb is not None and role.part in (Part.UPPER, Part.LOWER):
            roles[i] = replace(role, part=Part.CANNON)
    partners = Mirror.of(replace(rig, roles=tuple(roles))).partners
    assert bool((partners == Mirror.of(rig).partners)[lower].all())


def test_wings_beat_at_once(fox):
    curves = replace(shaken(fox), mirror=Mirror.of(fox.control_rig, at_once=True))
    assert curves.mirror is not None
    with torch.no_grad():
        controls = curves.controls(torch.arange(5) * 0.1)
    partners, signs = curves.mirror.partners, curves.mirror.signs
    torch.testing.assert_close(controls.angles[:, partners] * signs, controls.angles)
    assert float(controls.angles.std(0).max()) > 0.05
    assert float(controls.root_rotation[:, [0, 2]].abs().max()) < 1e-6  # neither yaw nor roll


def test_balance_is_kept_once_it_is_there(fox):
    curves, mirror = shaken(fox), Mirror.of(fox.control_rig)
    once = mirror.balanced(curves.angles, curves.root)
    for a, b in zip(once, mirror.balanced(*once), strict=True):
        torch.testing.assert_close(a, b)
    for a, b in zip(once, mirror.mirrored(*once), strict=True):
        torch.testing.assert_close(a, b)


def test_limbs_swing_once_a_cycle_where_they_hang_on_the_body(fox):
    curves = shaken(fox, symmetrical=True)
    assert curves.mirror is not None
    angles, _ = curves.mirror.balanced(curves.angles.detach(), curves.root.detach())
    for i, role in enumerate(fox.control_rig.roles):
        hangs = role.limb is not None and role.part in (Part.GIRDLE, Part.UPPER)
        assert bool((angles[3:5, i] == 0.0).all()) == hangs, role
        assert float(angles[1:3, i].abs().max()) > 0.0


def test_without_a_cycle_there_is_no_half_of_it(fox):
    assert standing(fox, symmetrical=True).mirror is None


@pytest.mark.parametrize(
    ("prompt", "legs", "is_so"),
    [
        ("a fox walking", 4, True),
        ("a horse trots quickly", 4, True),
        ("a man running", 2, True),
        ("a dog running", 4, False),  # it gallops
        ("a horse galloping", 4, False),
        ("a fox walking and turning left", 4, False),
        ("a man jumping", 2, False),
        ("a man dancing", 2, False),
    ],
)
def test_which_gaits_are_symmetrical(prompt, legs, is_so):
    assert is_symmetrical(prompt, legs) is is_so
