"""Rows of `benchmarks/distill.py`: one case searched for by skeleton or by field, and measured."""

from __future__ import annotations

import hashlib
import json
import math
import time
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

import akd
from akd.api.request import make_request
from akd.api.search import fit, sample, set_stage, spawn
from akd.base.files import file_hash, weights_hash
from akd.base.observer import Observers
from akd.distill.loop import distil
from akd.distill.run_folder import RunFolder
from akd.distill.settings import DistillSettings
from akd.export.character import write_motions
from akd.metrics.action import score_films, score_videos
from akd.metrics.films import Films, film_views
from akd.metrics.recognise.recogniser import (
    find_recogniser,
    reporting_recognisers,
    shipped_recognisers,
)
from akd.metrics.selection import video_score
from akd.motion.actions import ACTIONS
from akd.motion.feet import leg_length
from akd.motion.loop import is_loop, repeat
from akd.motion.motion import Motion
from akd.physics.settings import TrackingSettings
from akd.posespace.loss import pose_prior
from akd.posespace.model import shipped_model
from akd.prior.tiny.load import shipped_weights
from akd.prior.tiny.prior import PriorTiny
from akd.rig.character import Character
from akd.scene.film import film_motion
from akd.scene.video import Video
from benchmarks.deformation_field import (
    DeformationField,
    cloud_measures,
    field_losses,
    field_settings,
)
from benchmarks.distill_cases import CLIP_SECONDS, Case, find_case, played
from benchmarks.distill_controls import CONTROLS, SINE, sine_gait
from benchmarks.distill_parts import CHANGES, Variant
from benchmarks.natural_range import naturalness_features
from benchmarks.seam import measure_seam, sideways

FIELDS = ("field", "field, fitted first")
"""Deformation fields: distilled alone, and with a warm start of their own."""
STRIP_FRAMES = 8
LONG = ("paper", "full")
"""Parts whose rows take 10,000 iterations: one that is stopped continues from its checkpoint in
OUT/runs."""


@cache
def hash_of_weights(prior: Path | None) -> str:
    """Of the prior and of the recognisers."""
    return weights_hash(prior or shipped_weights()) + weights_hash(shipped_recognisers())


@dataclass(frozen=True)
class Job:
    """One row to be made. What it holds decides the result, up to the code itself."""

    part: str
    case: str
    variant: str
    settings: DistillSettings
    seed: int
    physics: TrackingSettings | None
    """Of grounding; None: without."""
    weights: Path | None = None
    """Folder of the tiny prior's weights; those that ship if left out."""
    pose_prior: float = 0.0
    """Weight of the pose model as a loss."""
    pose_weights: Path | None = None
    """File of the pose model; the one that ships if left out."""

    @property
    def key(self) -> str:
        """Rows of one key are the same row."""
        about = {**asdict(self), "weights": hash_of_weights(self.weights)}
        del about["pose_prior"], about["pose_weights"]
        if self.pose_prior:
            model = self.pose_weights or shipped_model()
            about["pose prior"] = self.pose_prior, file_hash(model)
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]

    def losses(self) -> list[akd.LossTerm]:
        """Those of the settings, and the pose model where it is asked for."""
        terms = akd.losses.default(self.settings.losses)
        if self.pose_prior:
            terms.append(pose_prior(self.pose_prior, self.pose_weights, seed=self.seed))
        return terms


class Clock(akd.Observer):
    """Seconds of each phase of a job, and processor seconds of all its threads."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.processor: dict[str, float] = {}
        self._phase, self._began = "", (0.0, 0.0)

    def begin(self, phase: str) -> None:
        """A phase begins, and the one before it ends."""
        now = time.perf_counter(), time.process_time()
        for kept, start, end in zip((self.seconds, self.processor), self._began, now, strict=True):
            if self._phase:
                kept[self._phase] = round(kept.get(self._phase, 0.0) + end - start, 2)
        self._phase, self._began = phase.split(maxsplit=1)[0], now  # "distil 2 of 2" is "distil"


@cache
def load_prior(device: str, weights: Path | None) -> PriorTiny:
    """The tiny prior, once a process."""
    prior = akd.prior("tiny", device=device, weights=weights)
    assert isinstance(prior, PriorTiny)
    return prior


def work(job: Job, device: str, assets: Path | None, out: Path) -> dict[str, Any]:
    """Make one row. What goes wrong is a row as well."""
    row: dict[str, Any] = {"part": job.part, "case": job.case, "variant": job.variant}
    row |= {"key": job.key, "seed": job.seed, "iterations": job.settings.iterations}
    began = time.perf_counter()
    try:
        case = find_case(job.case)
        row |= {"prompt": case.prompt, "asked": case.action}
        prior = load_prior(device, job.weights)
        with played(case, assets) as (character, true):
            prior = prior.for_body(leg_length(character, character.control_rig))
            if job.variant == SINE:
                row |= measured({"motion": sine_gait(character, case.prompt)}, case, character)
            elif job.part == "field":
                row |= search_by_field(job, case, character, prior, out)
            else:
                row |= search_by_skeleton(job, case, character, true, prior, out)
    except Exception as error:
        traceback.print_exc()
        row["error"] = f"{type(error).__name__}: {error}"
    return {**row, "seconds": round(time.perf_counter() - began, 1)}


def search_by_skeleton(
    job: Job, case: Case, character: Character, true: Motion | None, prior: PriorTiny, out: Path
) -> dict[str, Any]:
    """Distil as `akd animate` does, and measure the result beside start and true clip."""
    variant, clock = {**CHANGES, **CONTROLS}.get(job.variant, Variant()), Clock()
    observers: list[akd.Observer] = [clock]
    if job.part in LONG:
        observers.append(RunFolder(out / "runs" / job.key))
    made = akd.animate(
        character, case.prompt, prior=variant.prior(prior), preset=job.settings,
        physics=job.physics or False, steering=variant.steering, observer=Observers(*observers),
        seed=job.seed, losses=job.losses(),
    )  # fmt: skip
    clock.begin("measure")
    motions = {"start": made.start, **made.motions()}
    if job.part != "cases":
        del motions["start"]
    if job.part in ("cases", "paper") and true is not None:
        motions["true"] = true
    row: dict[str, Any] = {
        # Without the notes on the file.
        "notes": list(made.notes[len(made.character.notes) :]),
        "selection_scores": list(made.selection_scores),
        "best": made.best,
        **measured(motions, case, character),
    }
    row["motion"] |= skeleton_measures(made, prior)
    if (action := ACTIONS.get(case.action)) is not None and action.is_cyclic:
        for name, motion in made.motions().items():
            row[name]["cycle"] = cycle_measures(character, motion)
    clock.begin("film")
    keep(job, made, out)
    clock.begin("end")
    return {**row, "stages": clock.seconds, "processor": clock.processor}


def measured(
    motions: Mapping[str, Motion], case: Case, character: Character
) -> dict[str, dict[str, Any]]:
    """Metrics of motions by name, with what recognisers B and C say; beside it what A says, which
    steers, and the features of naturalness."""
    rows: dict[str, dict[str, Any]] = {}
    for name, motion in motions.items():
        rows[name] = akd.measure(character, motion, action=case.action).to_json()
        rows[name]["naturalness"] = naturalness_features(character, _played_on(character, motion))
        if (steering := find_recogniser("a")) is not None:
            steered = score_films({"a": steering}, Films(character, case.action), motion)["a"]
            rows[name]["steering"] = steered.probability
    return rows


def _played_on(character: Character, motion: Motion) -> Motion:
    """A loop, over and over for as long as true clips are: one cycle alone shows no stride."""
    rig = character.control_rig
    if motion.duration >= CLIP_SECONDS or not is_loop(rig, motion, height=character.height):
        return motion
    return repeat(rig, motion, math.ceil(CLIP_SECONDS / motion.duration))


def cycle_measures(character: Character, motion: Motion) -> dict[str, float]:
    """The seam of a gait's clip, and its drift across the way the character faces."""
    rig, height = character.control_rig, character.height
    return {
        **asdict(measure_seam(rig, motion, height=height)),
        "sideways": sideways(rig, motion, character.forward, height=height),
    }


def skeleton_measures(made: akd.Animation, prior: PriorTiny) -> dict[str, float]:
    """What can be measured of a field too, over the frames that the prior was shown."""
    character = made.character
    assert character.mesh is not None
    world = made.motion.sample(torch.arange(prior.frames) / prior.fps).world()
    return cloud_measures(
        set_stage(made.request, prior), character.mesh.skin.bone_transforms(world),
        world[:, character.control_rig.root, :3, 3],
    )  # fmt: skip


def search_by_field(
    job: Job, case: Case, character: Character, prior: PriorTiny, out: Path
) -> dict[str, Any]:
    """The same search with a deformation field in place of the skeleton."""
    settings, clock = field_settings(job.settings, fitted=job.variant != FIELDS[0]), Clock()
    request = make_request(
        character, case.prompt, prior=prior, preset=settings, physics=False,
        parametrization=DeformationField(job.seed), losses=field_losses(settings.losses),
        seed=job.seed,
    )  # fmt: skip
    clock.begin("stage")
    stage = set_stage(request, prior)
    score = video_score(
        find_recogniser("a"), case.action, style=prior.style,
        size=(prior.frames, prior.height, prior.width),
    )  # fmt: skip
    videos, generator = sample(stage, prior, request, clock)
    [field] = fit(stage, prior, request, videos, score=score, observer=clock)
    clock.begin("distil")
    [went] = distil(
        stage, prior, request.asked, [field], request.settings, losses=request.losses,
        generators=spawn(generator, 1), observer=clock,
    )  # fmt: skip
    clock.begin("measure")
    with torch.no_grad():
        posed = field.pose(stage)
        frames = stage.show(posed.transforms)
    motion: dict[str, Any] = cloud_measures(stage, posed.transforms, posed.path)
    for name, recogniser in reporting_recognisers().items():
        videos = film_views(
            recogniser, character, stage.cloud.to("cpu"), posed.transforms.cpu(),
            stage.bone_colours.cpu(),
        )  # fmt: skip
        key = {"b": "action", "c": "action_c"}[name]
        motion[key] = asdict(score_videos(recogniser, videos, case.action))
    Video(frames.cpu(), prior.fps).write_strip(place(out, "strips", job, "png"), count=STRIP_FRAMES)
    clock.begin("end")
    return {"motion": motion, "notes": list(went.notes), "stages": clock.seconds}


def place(out: Path, folder: str, job: Job, ending: str) -> Path:
    """Where a job's file goes."""
    (out / folder).mkdir(parents=True, exist_ok=True)
    return out / folder / f"{_name(job.part, job.case, job.variant, job.seed)}.{ending}"


def strip_name(part: str, case: str, variant: str, seed: int) -> str:
    """What the strip of a row is called in OUT/strips."""
    return f"{_name(part, case, variant, seed)}.png"


def _name(part: str, case: str, variant: str, seed: int) -> str:
    return f"{part} {case} {variant} {seed}".replace(",", "").replace(" ", "_")


def keep(job: Job, made: akd.Animation, out: Path) -> None:
    """The clips as a file, and frames of the final one to look at."""
    write_motions(made.character, list(made.motions().values()), place(out, "clips", job, "glb"))
    last = made.final
    times = torch.linspace(float(last.times[0]), float(last.times[-1]), STRIP_FRAMES)
    # Filmed as if the few frames were all, one twenty-fourth of a second apart.
    few = replace(last.sample(times), times=torch.arange(STRIP_FRAMES) / 24.0)
    film = film_motion(made.character, few, size=(240, 180))
    film.write_strip(place(out, "strips", job, "png"), count=STRIP_FRAMES)
