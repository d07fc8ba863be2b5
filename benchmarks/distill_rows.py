"""Rows of `benchmarks/distill.py`: one case searched for by skeleton or by field, and measured."""

from __future__ import annotations

import hashlib
import json
import time
import traceback
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from akd.commands.recognisers import find_recogniser
from akd.subject import Subject

from akd.base.files import weights_hash
from akd.base.observer import Silent
from akd.distill.settings import DistillSettings
from akd.export.character import write_motions
from akd.fit.warm_start import sample_videos_of
from akd.metrics.action import score_action
from akd.metrics.judge import MotionMetrics, demo_conditions
from akd.metrics.recognise.recogniser import shipped_recognisers
from akd.metrics.recognise.settings import CLASSES
from akd.metrics.selection import judge_of
from akd.motion.motion import Motion
from akd.physics.settings import TrackingSettings
from akd.pipeline import Request, find_motion, judged, starting_point
from akd.prior.choose import choose_prior, chosen_device
from akd.prior.protocol import VideoPrior
from akd.prior.tiny.load import shipped_weights
from akd.scene.film import film_motion
from akd.scene.stage import Stage
from akd.scene.video import Video
from benchmarks.deformation_field import (
    DeformationField,
    FieldStage,
    cloud_measures,
    film_cloud,
    search_field,
)
from benchmarks.distill_cases import Case, find_case, played
from benchmarks.distill_parts import CHANGES, Variant, all_steps, distilled_steps

FIELDS = ("field", "field, fitted first")
"""Deformation fields: distilled alone, and with a warm start of their own."""
STRIP_FRAMES = 8


@cache
def hash_of_weights() -> str:
    """Of the prior and of the recognisers."""
    return weights_hash(shipped_weights()) + weights_hash(shipped_recognisers())


@dataclass(frozen=True)
class Job:
    """One row to be made. What it holds decides the result, up to the code itself."""

    part: str
    case: str
    variant: str
    settings: DistillSettings
    seed: int
    physics: int
    """Iterations of grounding; 0: none."""

    @property
    def key(self) -> str:
        """Rows of one key are the same row."""
        about = json.dumps({**asdict(self), "weights": hash_of_weights()})
        return hashlib.sha256(about.encode()).hexdigest()[:16]


class Clock(Silent):
    """Seconds of each stage of a job."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._began = "", 0.0

    def begin(self, stage: str) -> None:
        """A stage begins, and the one before it ends."""
        now = time.perf_counter()
        if self._stage:
            took = self.seconds.get(self._stage, 0.0) + now - self._began
            self.seconds[self._stage] = round(took, 2)
        self._stage, self._began = stage.split(maxsplit=1)[0], now  # "distil 2 of 2" is "distil"


@cache
def load_prior(device: str) -> VideoPrior:
    """The tiny prior, once a process."""
    return choose_prior("tiny", device=chosen_device(device))


def work(job: Job, device: str, assets: Path | None, out: Path) -> dict[str, Any]:
    """Make one row. What goes wrong is a row as well."""
    row: dict[str, Any] = {"part": job.part, "case": job.case, "variant": job.variant}
    row |= {"key": job.key, "seed": job.seed, "iterations": job.settings.iterations}
    began = time.perf_counter()
    try:
        case = find_case(job.case)
        row |= {"prompt": case.prompt, "asked": case.action}
        with played(case, assets) as (subject, true):
            make = search_by_field if job.part == "field" else search_by_skeleton
            row |= make(job, case, subject, true, load_prior(device), out)
    except Exception as error:
        traceback.print_exc()
        row["error"] = f"{type(error).__name__}: {error}"
    return {**row, "seconds": round(time.perf_counter() - began, 1)}


def request_of(job: Job, case: Case) -> Request:
    """What `akd animate` would ask for."""
    return Request(
        case.prompt, job.settings, seed=job.seed, asked=case.prompt, action=case.action,
        physics=TrackingSettings(iterations=job.physics) if job.physics else None,
    )  # fmt: skip


def search_by_skeleton(
    job: Job, case: Case, subject: Subject, true: Motion | None, prior: VideoPrior, out: Path
) -> dict[str, Any]:
    """Distil as `akd animate` does, and measure what comes of it beside start and true clip."""
    variant, clock = CHANGES.get(job.variant, Variant()), Clock()
    steering, recogniser = find_recogniser("a", None), find_recogniser("b", None)
    with variant.applied():
        found = find_motion(
            subject, request_of(job, case), variant.prior(prior),
            steering=steering if variant.judge else None, watch=clock,
        )  # fmt: skip
    motions = {"motion": found.distilled.motion}
    row: dict[str, Any] = {"notes": list(found.distilled.notes), "finalists": list(found.merits)}
    if job.part == "cases":
        motions["start"] = found.distilled.start
        if true is not None:
            motions["true"] = true
    if found.grounded is not None:
        motions["grounded"] = replace(found.grounded.motion, name="grounded")
    clock.begin("measure")
    for name, motion in motions.items():
        metrics = judged(subject, motion, recogniser, case.action)
        row[name] = in_words(metrics, alternates=case.alternates)
        if steering is not None:  # what steers the search, beside what only reports
            steered = score_action(steering, subject.character, motion, case.action)
            row[name]["steering"] = steered.probability
    row["motion"] |= skeleton_measures(job, subject, found.distilled.motion, prior)
    clock.begin("film")
    keep(job, subject, {n: m for n, m in motions.items() if n in ("motion", "grounded")}, out)
    clock.begin("end")
    return {**row, "stages": clock.seconds}


def in_words(metrics: MotionMetrics, *, alternates: bool) -> dict[str, Any]:
    """Metrics as JSON values, with the conditions of a demo that this action fails."""
    about = metrics.to_json()
    about["fails"] = demo_conditions(metrics, alternates=alternates)
    return about


def skeleton_measures(
    job: Job, subject: Subject, motion: Motion, prior: VideoPrior
) -> dict[str, float]:
    """What can be measured of a field too, over the frames that the prior was shown."""
    assert subject.character.mesh is not None
    stage = Stage.of(subject.character, subject.rig, prior, splats=job.settings.splats)
    world = motion.sample(torch.arange(prior.frames) / prior.fps).world()
    bones = subject.character.mesh.skin.bone_transforms(world)
    return cloud_measures(stage, bones, world[:, subject.rig.root, :3, 3])


def search_by_field(
    job: Job, case: Case, subject: Subject, true: Motion | None, prior: VideoPrior, out: Path
) -> dict[str, Any]:
    """The same with a deformation field: as many steps, all of them distilled or, fitted first, as
    many fitted and distilled as the skeleton has of each."""
    settings, clock = job.settings, Clock()
    generator = torch.Generator().manual_seed(job.seed)
    stage = Stage.of(subject.character, subject.rig, prior, splats=settings.splats)
    start = starting_point(subject, prior, request_of(job, case), None)
    with torch.no_grad():
        path = start.controls().translation
    scene = FieldStage.of(stage, path)
    field = DeformationField(scene.points, seed=job.seed)
    steps = all_steps(settings)
    if job.variant != FIELDS[0]:
        clock.begin("sample")
        videos = sample_videos_of(stage, prior, case.prompt, settings, generator=generator)
        judge = judge_of(find_recogniser("a", None), prior, case.action)
        best = 0 if judge is None else int(judge(videos).argmax())
        clock.begin("fit")
        search_field(
            scene, field, prior, case.prompt, settings, generator=generator,
            iterations=steps - distilled_steps(settings), target=videos[best],
        )  # fmt: skip
        steps = distilled_steps(settings)
    clock.begin("distil")
    search_field(scene, field, prior, case.prompt, settings, generator=generator, iterations=steps)
    clock.begin("measure")
    with torch.no_grad():
        phase = torch.linspace(-1.0, 1.0, prior.frames, device=prior.device)
        bones = scene.bones(field(phase))
        frames, _ = scene.stage.show(bones, path)
    row: dict[str, Any] = cloud_measures(scene.stage, bones, path)
    if (recogniser := find_recogniser("b", None)) is not None:
        found = recogniser(film_cloud(recogniser, scene.stage, bones)).mean(0).tolist()
        probabilities = dict(zip(CLASSES, found, strict=True))
        said = max(probabilities, key=probabilities.__getitem__)
        action = {"probability": probabilities[case.action], "said": said}
        row["action"] = {**action, "probabilities": probabilities}
    Video(frames.cpu(), prior.fps).write_strip(place(out, "strips", job, "png"), count=STRIP_FRAMES)
    clock.begin("end")
    return {"motion": row, "stages": clock.seconds}


def place(out: Path, folder: str, job: Job, ending: str) -> Path:
    """Where a job's file goes."""
    (out / folder).mkdir(parents=True, exist_ok=True)
    return out / folder / f"{_name(job.part, job.case, job.variant)}.{ending}"


def strip_name(part: str, case: str, variant: str) -> str:
    """What the strip of a row is called in OUT/strips."""
    return f"{_name(part, case, variant)}.png"


def _name(part: str, case: str, variant: str) -> str:
    return f"{part} {case} {variant}".replace(",", "").replace(" ", "_")


def keep(job: Job, subject: Subject, motions: dict[str, Motion], out: Path) -> None:
    """The clips as a file, and frames of the last of them to look at."""
    write_motions(subject.character, list(motions.values()), place(out, "clips", job, "glb"))
    last = list(motions.values())[-1]
    times = torch.linspace(float(last.times[0]), float(last.times[-1]), STRIP_FRAMES)
    # Filmed as if the few frames were all, one twenty-fourth of a second apart.
    few = replace(last.sample(times), times=torch.arange(STRIP_FRAMES) / 24.0)
    film = film_motion(subject.character, few, size=(240, 180))
    film.write_strip(place(out, "strips", job, "png"), count=STRIP_FRAMES)
