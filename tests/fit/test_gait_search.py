"""A gait is found with its period and sides; a body is found where its colours are."""

import math

import pytest
import torch

from akd.fit.gait_search import search_gait
from akd.fit.limb_search import LimbTarget, find_limbs, search_limbs, sides_as
from akd.fit.placing import find_shifts
from akd.fit.video_fit import show_fit
from akd.fit.view_search import canvas_camera
from akd.rig.control import ControlPose
from akd.rig.roles.role import Part, Side
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage

FRAMES, FPS, PERIOD = 16, 16.0, 0.75


@pytest.fixture(scope="module")
def stage(fox):
    return Stage.of(fox, style=SceneStyle.ROLES, size=(64, 64), splats=1500, ground=False)


@pytest.fixture(scope="module")
def true_angles(stage):
    angles = torch.zeros(FRAMES, len(stage.rig), 3)
    turn = 2.0 * math.pi * torch.arange(FRAMES) / FPS / PERIOD
    for i, role in enumerate(stage.rig.roles):
        if role.limb is not None and role.part is Part.UPPER:
            angles[:, i, 0] = 0.5 * torch.cos(turn + (math.pi if role.side is Side.LEFT else 0.0))
    return angles


def test_a_gait_is_found_with_its_period_and_sides(stage, true_angles):
    way, distance = (0.5 * math.pi, 0.2), 3.0 * stage.character.height
    still = torch.zeros(FRAMES, 3)
    bones = stage.transforms(ControlPose(still, still, true_angles))
    colour, light = show_fit(stage, bones, canvas_camera(stage, *way, distance))
    target = LimbTarget.of(
        colour.movedim(-1, 1), 1.0 - light[:, None], azimuth=way[0], elevation=way[1],
        distance=distance, colour=1.0,
    )  # fmt: skip
    limbs = find_limbs(stage)
    found = search_limbs(stage, limbs, [target], rounds=1)
    gait = search_gait(stage, limbs, found, frames=FRAMES, fps=FPS)
    assert gait is not None
    assert gait.period == pytest.approx(PERIOD, rel=0.08)
    for limb in limbs:
        own, true = (a[:, limb.upper, 0] for a in (gait.angles, true_angles))
        assert float(torch.corrcoef(torch.stack((own, true)))[0, 1]) > 0.8, limb.role


def test_limbs_that_turned_back_pass_each_other_as_in_the_gait(stage):
    limbs = find_limbs(stage)
    count = len(limbs[0].angles)
    draw = torch.Generator().manual_seed(5)
    true = torch.stack([torch.randint(len(k.angles), (FRAMES,), generator=draw) for k in limbs], 1)
    assert count > 1
    legs = [k for k, limb in enumerate(limbs) if limb.role.limb is limbs[0].role.limb]
    turned = true.clone()
    turned[5:9, legs] = true[5:9, legs[::-1]]
    assert not torch.equal(turned, true)
    assert torch.equal(sides_as(limbs, turned, true), true)
    assert torch.equal(sides_as(limbs, true, true), true)


def test_too_few_frames_have_no_gait(stage, true_angles):
    limbs = find_limbs(stage)
    target = LimbTarget.of(
        torch.zeros(4, 3, 64, 64), torch.zeros(4, 1, 64, 64), azimuth=0.0, elevation=0.0,
        distance=2.0, colour=1.0,
    )  # fmt: skip
    found = search_limbs(stage, limbs, [target], rounds=0)
    assert search_gait(stage, limbs, found, frames=4, fps=FPS) is None


def test_a_body_is_moved_to_where_its_colours_are():
    draw = torch.Generator().manual_seed(3)
    images = torch.zeros(3, 4, 64, 64)
    images[:, :, 20:44, 24:40] = torch.rand(3, 4, 24, 16, generator=draw)
    wanted = torch.roll(images, (-2, 3), dims=(-2, -1))
    shifts = find_shifts(images, wanted)
    torch.testing.assert_close(shifts, torch.tensor((3.0, -2.0)).expand(3, 2), atol=0.2, rtol=0.0)
