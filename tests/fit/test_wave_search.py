"""The wave of an undulating body is found in a video of it, and how fast it goes."""

import pytest
import torch

from akd.fit.warm_start import least_slip
from akd.fit.wave_search import search_waves
from akd.motion.feet import leg_length
from akd.motion.parametrization import MotionStart
from akd.motion.root_limits import root_limits
from akd.motion.settings import Cycle
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.zoo_character import as_character

pytestmark = pytest.mark.slow
FRAMES = 12


def test_a_slithering_snake_is_found(tmp_path):
    creature = build_creature("snake", seed=1002, vertices=900)
    character = as_character(creature)
    rig = character.control_rig
    clip = make_clip(creature, "slither", cycles=1)
    stage = Stage.of(character, style=SceneStyle.ROLES, size=(96, 96), splats=800)
    times = torch.linspace(0.0, clip.duration, FRAMES + 1)[:-1]
    true = rig.from_pose(clip.sample(clip.times[0] + times).pose)
    with torch.no_grad():
        video = stage.show(stage.transforms(true))
    speed = float((true.translation[-1] - true.translation[0]).norm() / times[-1])
    start = MotionStart(
        rig, FRAMES, FRAMES / clip.duration, leg_length(character, rig), speed=1.3 * speed,
        period=clip.duration, symmetrical=True,
        root=root_limits("a snake slithering", undulates=True),
    )  # fmt: skip
    curves = Cycle().begin(start, stage)
    search_waves(stage, curves, video)
    found = curves.controls().angles[..., 1].detach()
    wanted = true.angles[..., 1]
    # Seen from the side, a wave and its mirror image look much alike.
    away = min(float((found - sign * wanted).square().mean().sqrt()) for sign in (1.0, -1.0))
    assert away < 0.6 * float(wanted.square().mean().sqrt())
    step = least_slip(curves)
    assert step is not None
    assert step * curves.fps == pytest.approx(speed, rel=0.35)
