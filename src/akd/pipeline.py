"""`animate`: the whole flow, from a file and a sentence to the same file with a new clip."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from akd.asset.read import read_asset
from akd.distill.loop import Keeper, Report, distil
from akd.distill.result import motion_of
from akd.distill.settings import DistillSettings
from akd.distill.speed import starting_speed
from akd.distill.stage import Stage
from akd.distill.unknowns import Unknowns
from akd.distill.warm_start import fit_to_video, sample_target
from akd.export.character import write_motions
from akd.metrics.feet import track_feet
from akd.metrics.motion import MotionMetrics, measure
from akd.motion.motion import Motion
from akd.physics.ground import ground
from akd.physics.settings import TrackingSettings
from akd.prior.protocol import VideoPrior
from akd.rig.character import Character, load_character
from akd.rig.control import ControlRig
from akd.rig.control_build import build_control_rig
from akd.scene.film import film
from akd.splat.surface import surface_splats


@dataclass(frozen=True)
class Animation:
    """What `animate` made."""

    character: Character
    rig: ControlRig
    motion: Motion
    metrics: MotionMetrics
    grounded: Motion | None
    grounded_metrics: MotionMetrics | None


def animate(
    path: Path,
    prompt: str,
    out: Path,
    prior: VideoPrior,
    settings: DistillSettings,
    *,
    seed: int = 0,
    physics: TrackingSettings | None = None,
    report: Report | None = None,
) -> Animation:
    """Distil the motion of a sentence into a character's joints and write the results to `out`."""
    character = load_character(read_asset(path))
    rig = build_control_rig(character)
    stage = Stage.of(character, rig, prior, splats=settings.splats)
    generator = torch.Generator().manual_seed(seed)
    unknowns = starting_point(stage, prior, prompt, settings)
    if settings.warm_start.samples:
        target = sample_target(stage, prior, prompt, unknowns, settings, generator=generator)
        fit_to_video(stage, unknowns, target, settings, report=report)
    distil(
        stage, prior, prompt, unknowns, settings,
        generator=generator, keeper=Keeper(), report=report,
    )  # fmt: skip
    motion = motion_of(stage, unknowns, prompt)
    grounded = None
    if physics is not None:
        tracked = ground(rig, character.mesh, motion, settings=physics).motion
        grounded = replace(tracked, name=f"{prompt} (grounded)")
    result = Animation(
        character, rig, motion, measure(character, rig, motion),
        grounded, None if grounded is None else measure(character, rig, grounded),
    )  # fmt: skip
    write_animation(result, out)
    return result


def starting_point(
    stage: Stage, prior: VideoPrior, prompt: str, settings: DistillSettings
) -> Unknowns:
    """The neutral pose, travelling as fast as the words and the legs suggest."""
    resting = Motion(stage.rig.skeleton, torch.zeros(1), stage.rig.neutral.expand(1), "neutral")
    feet = track_feet(stage.character, stage.rig, resting)
    height = stage.character.height
    leg = sum(f.length for f in feet) / len(feet) if feet else 0.5 * height
    speed = settings.unknowns.speed
    if speed is None:
        speed = starting_speed(prompt, leg) if feet else 0.0
    return Unknowns.start(
        stage.rig, settings.unknowns,
        frames=prior.frames, fps=prior.fps, leg_length=leg, speed=speed,
    )  # fmt: skip


def write_animation(made: Animation, out: Path) -> None:
    """`motion.glb`, `video.mp4`, `grounded.mp4` and `metrics.json`."""
    out.mkdir(parents=True, exist_ok=True)
    motions = {"video": made.motion}
    metrics: dict[str, object] = {"motion": made.metrics.to_json()}
    if made.grounded is not None and made.grounded_metrics is not None:
        motions["grounded"] = made.grounded
        metrics["grounded"] = made.grounded_metrics.to_json()
    write_motions(made.character, list(motions.values()), out / "motion.glb")
    (out / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n", encoding="utf-8")
    mesh = made.character.mesh
    assert mesh is not None
    cloud = surface_splats(mesh, 20_000)
    for name, motion in motions.items():
        frames = motion.resample(24.0)
        bones = mesh.skin.bone_transforms(frames.world())
        video = film(
            cloud, bones, fps=24.0, forward=made.character.forward,
            body_height=made.character.height,
        )  # fmt: skip
        video.write_mp4(out / f"{name}.mp4")
        video.write_strip(out / f"{name}.png")
