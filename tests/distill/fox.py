"""A fox from the zoo, and its stage."""

from pathlib import Path

import torch
from akd.subject import Subject

from akd.asset.read import read_asset
from akd.distill.settings import UnknownSettings
from akd.export.creature import write_creature
from akd.motion.parameters import MotionParameters
from akd.rig.character import load_character
from akd.rig.control_build import build_control_rig
from akd.scene.stage import Stage
from akd.zoo.creature import build_creature
from tests.distill.known_prior import KnownPrior


class Screen(KnownPrior):
    """Of the size that a fox can be seen on; it knows one grey video."""

    frames, width, height, fps = 8, 48, 48, 12.0

    def __init__(self) -> None:
        super().__init__(torch.full((self.frames, self.height, self.width, 3), 0.5), 0.3)


def load_fox(path: Path) -> Subject:
    write_creature(build_creature("fox", vertices=800), [], path)
    character = load_character(read_asset(path))
    return Subject(path, character, build_control_rig(character), ())


def fox_stage(fox: Subject, *, splats: int = 600) -> Stage:
    return Stage.of(fox.character, fox.rig, Screen(), splats=splats)


def standing(
    fox: Subject,
    *,
    period: float | None = None,
    speed: float = 0.0,
    symmetrical: bool = False,
    **more,
) -> MotionParameters:
    """The fox in its neutral pose, over the screen's frames."""
    return MotionParameters.start(
        fox.rig, UnknownSettings(**more), frames=Screen.frames, fps=Screen.fps,
        leg_length=fox.leg_length, speed=speed, period=period, symmetrical=symmetrical,
    )  # fmt: skip
