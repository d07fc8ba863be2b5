"""A fox from the zoo, and its stage."""

from pathlib import Path

import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.motion.feet import leg_length
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.prior.protocol import VideoPrior
from akd.rig.character import Character, load_character
from akd.scene.stage import Stage
from akd.zoo.creature import build_creature
from tests.distill.known_prior import KnownPrior


class Screen(KnownPrior):
    """Of the size that a fox can be seen on; it knows one grey video."""

    frames, width, height, fps = 8, 48, 48, 12.0

    def __init__(self) -> None:
        super().__init__(torch.full((self.frames, self.height, self.width, 3), 0.5), 0.3)


def load_fox(path: Path) -> Character:
    write_creature(build_creature("fox", vertices=800), [], path)
    return load_character(read_asset(path))


def stage_for(character: Character, prior: VideoPrior, *, splats: int) -> Stage:
    """The stage that a prior asks for."""
    return Stage.of(character, style=prior.style, size=(prior.width, prior.height), splats=splats)


def fox_stage(fox: Character, *, splats: int = 600) -> Stage:
    return stage_for(fox, Screen(), splats=splats)


def standing(
    fox: Character,
    *,
    period: float | None = None,
    speed: float = 0.0,
    symmetrical: bool = False,
    **more,
) -> ControlCurves:
    """The fox in its neutral pose, over the screen's frames."""
    rig = fox.control_rig
    start = MotionStart(rig, Screen.frames, Screen.fps, leg_length(fox, rig), speed, period)
    return ControlCurves.start(start, harmonics=3, mirrored=symmetrical, **more)
