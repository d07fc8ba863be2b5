"""The warm start of `akd animate` on a clip of `benchmarks/fit.py`, as a baseline.

It is told more than `akd fit` is: the name of the action and the camera, which follows the body.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from akd.fit.losses import default
from akd.fit.period import find_period
from akd.fit.settings import FitSettings, WarmStartSettings
from akd.fit.warm_start import fit_to_videos
from akd.motion.feet import leg_length
from akd.motion.gait import is_symmetrical, starting_period, starting_speed
from akd.motion.parametrization import MotionStart
from akd.motion.root_limits import root_limits
from akd.motion.settings import Cycle
from akd.rig.control import ControlPose
from akd.scene.follow import View
from akd.scene.stage import Stage
from benchmarks.fit_clips import FPS, Clip


def fit_warm_start(clip: Clip, settings: FitSettings, *, device: str) -> ControlPose:
    """Coordinates fitted to the clip's motion as the warm start's own camera shows it."""
    character, spec = clip.character, clip.spec
    view = View(
        math.radians(spec.azimuth), math.radians(spec.elevation),
        field_of_view=math.radians(spec.field_of_view),
    )  # fmt: skip
    stage = Stage.of(
        character, style=spec.style, size=(settings.size, settings.size), splats=settings.splats,
        device=device, view=view,
    )  # fmt: skip
    rig, warm = character.control_rig, WarmStartSettings()
    true = rig.from_world(clip.world)
    # The stage raises the body to stand on the ground.
    path = true.translation - true.translation.new_tensor((0.0, stage.lift, 0.0))
    pose = replace(true, translation=path).to(device)
    with torch.no_grad():
        video = stage.show(stage.transforms(pose))
    leg, legs = leg_length(character, rig), len(character.anatomy.legs)
    period = starting_period(spec.action, leg)
    start = MotionStart(
        rig, len(video), FPS, leg,
        speed=starting_speed(spec.action, leg) if spec.travels else 0.0,
        period=None if period is None else find_period(video.cpu(), FPS, near=period),
        symmetrical=is_symmetrical(spec.action, legs),
        root=root_limits(spec.action, legs=legs),
    )  # fmt: skip
    curves = Cycle().begin(start, stage)
    terms, target = default(), video[None]
    first, second = (min(n, settings.iterations) for n in (warm.trial, warm.iterations))
    fit_to_videos(stage, [curves], target, terms, warm, iterations=first)
    fit_to_videos(stage, [curves], target, terms, warm, iterations=second, refine=True)
    with torch.no_grad():
        return curves.controls().to("cpu")
