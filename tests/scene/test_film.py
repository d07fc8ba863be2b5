"""Films: bytes, and fewer frames a second where they would take too much memory."""

from dataclasses import replace

import pytest
import torch

from akd.api.loading import load
from akd.export.creature import write_creature
from akd.motion.clip import motion_from_clip
from akd.motion.motion import Motion
from akd.scene import film
from akd.scene.settings import SceneSettings
from akd.scene.video import to_bytes
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip

SIZE = (16, 12)


@pytest.mark.slow
def test_a_long_film_has_fewer_frames_a_second(tmp_path, monkeypatch):
    creature = build_creature("fox", vertices=600)
    write_creature(creature, [make_clip(creature, "walk", cycles=1)], tmp_path / "fox.glb")
    character = load(tmp_path / "fox.glb")
    motion = motion_from_clip(character, character.asset.clips[0])
    whole = film.film_motion(character, motion, size=SIZE, fps=12.0, splats=50)
    assert whole.frames.dtype == torch.uint8
    assert len(whole) == int(motion.duration * 12.0) + 1
    monkeypatch.setattr(film, "_MOST_BYTES", 5 * 3 * SIZE[0] * SIZE[1])
    few = film.film_motion(character, motion, size=SIZE, fps=12.0, splats=50)
    assert len(few) == 5
    assert few.fps * motion.duration == 4.0


@pytest.mark.slow
def test_a_body_without_colour_shows_its_form(tmp_path):
    creature = build_creature("fox", vertices=600)
    write_creature(creature, [], tmp_path / "fox.glb")
    character = load(tmp_path / "fox.glb")
    white = replace(character.mesh, colours=torch.ones_like(character.mesh.colours), parts=())
    character = replace(character, mesh=white)
    pose = character.control_rig.neutral.expand(1)
    motion = Motion(character.skeleton, torch.zeros(1), pose)
    black = SceneSettings(ground=None, plain_background=(0.0, 0.0, 0.0))

    def grey(settings: SceneSettings | None) -> torch.Tensor:
        made = film.film_motion(character, motion, size=(96, 54), splats=2000, settings=settings)
        return made.frames[0].float().mean(-1)

    body = grey(black) > 90
    assert float(grey(None)[body].std()) > 1.3 * float(grey(SceneSettings())[body].std())


def test_bytes_are_rounded_and_stay_what_they_are():
    given = torch.tensor((0.0, 0.5, 1.0, 2.0, -1.0, float("nan"), float("inf")))
    made = to_bytes(given)
    assert made.tolist() == [0, 128, 255, 255, 0, 0, 255]
    assert torch.equal(to_bytes(made), made)
