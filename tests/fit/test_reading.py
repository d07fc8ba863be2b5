"""Videos of any camera are resampled to what the motion regressor was trained on, and read."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from akd.api.creatures import creature_character
from akd.fit.limb_starts import READ
from akd.fit.observation import Observation
from akd.fit.reading import is_readable, piece_starts, read_motion, regressor_for, sampled_frames
from akd.fit.settings import FitSettings
from akd.fit.starts import make_starts
from akd.fit.view_search import look_from
from akd.rig.control import ControlPose
from akd.rig.roles.role import LimbKind, Part, Side
from akd.scene.follow import View, follow
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.zoo import build_creature
from tests.fit.test_video_fit import film

FRAMES, FPS = 24, 12.0
SETTINGS = FitSettings(size=72, splats=900, starts=4, limb_search=False)


@pytest.fixture(scope="module")
def stage() -> Stage:
    character = creature_character(build_creature("man", seed=1000, vertices=1200))
    return Stage.of(character, style=SceneStyle.ROLES, size=(72, 72), splats=900, ground=False)


def walking(stage: Stage) -> ControlPose:
    """Legs that swing against each other, one cycle a second."""
    phase = 2.0 * math.pi * torch.arange(FRAMES) / FPS
    angles = torch.zeros(FRAMES, len(stage.rig), 3)
    for i, role in enumerate(stage.rig.roles):
        if role.limb is LimbKind.LEG and role.part is Part.UPPER:
            way = 1.0 if role.side is Side.LEFT else -1.0
            angles[:, i, 0] = 0.5 * way * torch.sin(phase)
    return ControlPose(torch.zeros(FRAMES, 3), torch.zeros(FRAMES, 3), angles)


@pytest.fixture(scope="module")
def filmed(stage) -> Observation:
    low, high = stage.neutral_box
    view = View(math.radians(80.0), math.radians(10.0), zoom=0.8)
    camera = follow(low, high, view, forward=stage.character.forward, width=72, height=72)
    colour, light = film(stage, stage.transforms(walking(stage)), camera)
    return Observation(colour + 0.8 * light[..., None], 1.0 - light)


def thighs(stage: Stage, angles: torch.Tensor) -> torch.Tensor:
    roles = enumerate(stage.rig.roles)
    own = [i for i, r in roles if r.limb is LimbKind.LEG and r.part is Part.UPPER]
    return angles[:, own, 0]


def test_the_bundled_regressor_reads_legs_that_swing(stage, filmed):
    regressor = regressor_for(stage, SETTINGS)
    assert regressor is not None
    guess = look_from(stage, filmed, math.radians(80.0), math.radians(10.0))
    read = read_motion(stage, filmed, guess, regressor, fps=FPS)
    true = thighs(stage, walking(stage).angles)
    found = thighs(stage, read.angles)
    # The network expects knees that bend, so it reads stiff legs as swinging less. Each is itself.
    assert float((found - true).abs().mean()) < 0.7 * float(true.abs().mean())
    for leg in range(2):
        swings = torch.corrcoef(torch.stack((found[:, leg], true[:, leg])))
        assert float(swings[0, 1]) > 0.9


@pytest.mark.slow
def test_what_was_read_is_one_of_the_starts_and_holds_the_fit(stage, filmed):
    read = [s for s in make_starts(stage, [filmed], SETTINGS, fps=FPS)[0] if READ in s.name]
    assert len(read) == 1
    assert read[0].anchor is not None
    angles = read[0].curves.controls().angles.detach()
    assert float((angles - read[0].anchor).abs().mean()) < 0.05
    without, _ = make_starts(stage, [filmed], replace(SETTINGS, regressor=False), fps=FPS)
    assert all(start.anchor is None for start in without)


def test_only_role_colours_are_read(stage):
    textured = replace(stage, scene=replace(stage.scene, style=SceneStyle.TEXTURED))
    assert regressor_for(textured, SETTINGS) is None


def test_views_from_the_front_are_not_read(stage, filmed):
    side, front = (look_from(stage, filmed, math.radians(a), 0.2) for a in (-100.0, 10.0))
    assert is_readable(side)
    assert not is_readable(front)


def test_long_videos_are_read_in_pieces_and_short_ones_slowly():
    assert len(sampled_frames(48, 24.0, 12.0, least=24)) == 24
    assert len(sampled_frames(12, 24.0, 12.0, least=24)) == 24
    long = sampled_frames(240, 24.0, 12.0, least=24)
    assert float(long.diff().mean()) == pytest.approx(2.0, rel=0.01)
    starts = piece_starts(len(long), 24)
    assert starts[0] == 0
    assert starts[-1] == len(long) - 24
    assert all(0 < b - a <= 12 for a, b in pairwise(starts))
