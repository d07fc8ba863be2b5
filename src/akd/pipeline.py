"""`animate`: the whole flow, from a character and a sentence to its file with a new clip."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from akd.base.observer import Silent, Watch
from akd.distill.loop import CheckpointManager, distil
from akd.distill.result import motion_of, smooth_fps
from akd.distill.run_folder import RunFolder
from akd.distill.settings import DistillSettings
from akd.distill.starts import kept_starts, kept_videos
from akd.fit.period import SHORTEST_CYCLE, find_period
from akd.fit.warm_start import Judge, fit_finalists, sample_videos_of
from akd.metrics.action import score_action
from akd.metrics.motion import MotionMetrics, measure
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.selection import judge_of, merit
from akd.motion.gait import is_symmetrical, starting_period, starting_speed, starting_turn
from akd.motion.motion import Motion
from akd.motion.parameters import MotionParameters
from akd.physics.ground import Grounded, ground
from akd.physics.settings import TrackingSettings
from akd.prior.protocol import VideoPrior
from akd.report.results import write_results
from akd.scene.stage import Stage
from akd.scene.video import Video
from akd.subject import Subject

PREVIEW_SECONDS = 20.0


@dataclass(frozen=True)
class Request:
    """What is asked for. Together with the subject it decides the result."""

    prompt: str
    """The user's words: the clip's name, and what the starting speed is read from."""
    settings: DistillSettings
    seed: int = 0
    fps: float | None = None
    """Of the clip; by default a multiple of the prior's own that looks smooth."""
    physics: TrackingSettings | None = None
    """How the motion is brought down to the ground; None: not at all."""
    asked: str | None = None
    """What the prior is asked with, where that is not the prompt itself."""
    action: str | None = None
    """What recognisers call what is asked for, where they know it."""
    formats: tuple[str, ...] = ("glb",)
    """What the clips are written as; GLB is always among them."""
    in_place: bool = False
    """Take the travel over the ground out of the clips that are written."""


@dataclass(frozen=True)
class Distilled:
    """A motion that was found, and how."""

    start: Motion
    """Where the search began: the neutral pose, travelling."""
    motion: Motion
    history: list[dict[str, float]]
    """Parts of the loss at every iteration."""
    notes: tuple[str, ...]
    """Whatever went wrong and was mended."""


@dataclass(frozen=True)
class Found:
    """A motion, brought down to the ground where that was asked for."""

    distilled: Distilled
    grounded: Grounded | None
    merits: tuple[float, ...]
    """What each finalist was worth, the kept one's the highest; see `merit`."""

    @property
    def final(self) -> Motion:
        """The motion that counts."""
        return self.distilled.motion if self.grounded is None else self.grounded.motion


@dataclass(frozen=True)
class Animation:
    """What `animate` made."""

    subject: Subject
    request: Request
    found: Found
    metrics: dict[str, MotionMetrics]
    """Of `start`, `motion` and `grounded`, where there is one."""

    @property
    def distilled(self) -> Distilled:
        """How it was found."""
        return self.found.distilled

    @property
    def grounded(self) -> Grounded | None:
        """What physics made of it."""
        return self.found.grounded

    def motions(self) -> dict[str, Motion]:
        """Clips by the name of their video."""
        made = {"video": self.distilled.motion}
        if self.grounded is not None:
            # Cut here, so that what tells the two apart is not cut off by the file's own limit.
            name = f"{self.request.prompt[:48]} (grounded)"
            made["grounded"] = replace(self.grounded.motion, name=name)
        return made


def animate(
    subject: Subject,
    request: Request,
    prior: VideoPrior,
    out: Path,
    *,
    folder: RunFolder | None = None,
    steering: Recogniser | None = None,
    recogniser: Recogniser | None = None,
    provenance: dict[str, Any] | None = None,
    watch: Watch | None = None,
) -> Animation:
    """Distil the motion of a sentence into a character's joints and write the results to `out`.

    Goes on from `folder` where that holds a state. `steering` chooses among samples and finalists,
    `recogniser` only scores the result.
    """
    watch = watch or Silent()
    found = find_motion(subject, request, prior, folder=folder, steering=steering, watch=watch)
    watch.begin("measure")
    motions = {"start": found.distilled.start, "motion": found.distilled.motion}
    if found.grounded is not None:
        motions["grounded"] = found.grounded.motion
    metrics = {
        name: judged(subject, motion, recogniser, request.action)
        for name, motion in motions.items()
    }
    made = Animation(subject, request, found, metrics)
    watch.begin("film")
    write_results(made, out, provenance=provenance or {})
    if folder is not None:
        folder.finish()
    return made


def find_motion(
    subject: Subject,
    request: Request,
    prior: VideoPrior,
    *,
    folder: RunFolder | None = None,
    steering: Recogniser | None = None,
    watch: Watch | None = None,
) -> Found:
    """Distil every finalist, bring each down to the ground, and keep the one of most merit."""
    watch = watch or Silent()
    judge = judge_of(steering, prior, request.action)
    finalists = distil_motions(subject, request, prior, folder=folder, judge=judge, watch=watch)
    grounded: list[Grounded | None] = [None] * len(finalists)
    if request.physics is not None:
        watch.begin("physics")
        for k, finalist in enumerate(finalists):
            grounded[k] = ground(
                subject.rig, subject.character.mesh, finalist.motion,
                settings=request.physics,
                progress=_part_of(k, len(finalists), watch),
            )  # fmt: skip
    if len(finalists) == 1:
        return Found(finalists[0], grounded[0], (1.0,))
    watch.begin("choose")
    results = [Found(d, g, ()) for d, g in zip(finalists, grounded, strict=True)]
    merits = tuple(merit(subject, f.final, steering, request.action) for f in results)
    return replace(results[merits.index(max(merits))], merits=merits)


def _part_of(k: int, count: int, watch: Watch) -> Callable[[int, int, float], None]:
    """Progress of one of several rounds, shown as that of all of them."""
    return lambda i, n, loss: watch.step(k * n + i + 1, count * n, {"loss": loss})


def distil_motions(
    subject: Subject,
    request: Request,
    prior: VideoPrior,
    *,
    folder: RunFolder | None = None,
    judge: Judge | None = None,
    watch: Watch | None = None,
) -> list[Distilled]:
    """The motions alone: set the stage, find starts that move, follow the prior's score from each.

    Every random number comes from the seed, stage by stage, so that a run that was stopped goes on
    from `folder` to the same result, bit for bit on the CPU.
    """
    watch, settings = watch or Silent(), request.settings
    fps = request.fps or smooth_fps(prior.fps)
    asked = request.asked or request.prompt
    watch.begin("stage")
    stage = Stage.of(subject.character, subject.rig, prior, splats=settings.splats)
    generator = torch.Generator().manual_seed(request.seed)

    def begin(video: Tensor | None) -> MotionParameters:
        return starting_point(subject, prior, request, video)

    start = motion_of(stage, begin(None), "start", fps=fps)
    finalists = [begin(None)]
    if settings.warm_start.samples:
        watch.begin("sample")
        videos = kept_videos(folder, generator, lambda: sample_videos_of(
            stage, prior, asked, settings, generator=generator
        ))  # fmt: skip
        watch.begin("fit")
        finalists = kept_starts(folder, begin(None), lambda: fit_finalists(
            stage, videos, begin, settings, judge=judge, report=watch.step
        ))  # fmt: skip
    found = []
    for k, unknowns in enumerate(finalists):
        preview = Preview(stage, unknowns, prior.fps, folder)
        keeper = CheckpointManager()
        if folder is not None:
            keeper = CheckpointManager(folder.state(k), {"run": folder.digest()})
        watch.begin("distil" if len(finalists) == 1 else f"distil {k + 1} of {len(finalists)}")
        with watch.patient():
            history = distil(
                stage, prior, asked, unknowns, settings,
                generator=generator, keeper=keeper, report=preview.during(watch.step),
            )  # fmt: skip
        preview.write()
        motion = motion_of(stage, unknowns, request.prompt, fps=fps)
        notes = () if keeper.good is None else keeper.good.notes
        found.append(Distilled(start, motion, history, notes))
    return found


def starting_point(
    subject: Subject, prior: VideoPrior, request: Request, target: Tensor | None
) -> MotionParameters:
    """The neutral pose, travelling as fast as the words and the legs suggest.

    A gait is searched for as a cycle; how long it lasts is seen in the `target` video, if any.
    """
    settings = request.settings.unknowns
    leg, legs = subject.leg_length, subject.character.anatomy.legs
    speed = settings.speed
    if speed is None:
        speed = starting_speed(request.prompt, leg) if legs else 0.0
    period = starting_period(request.prompt, leg) if settings.cycles else None
    if period is not None and period * prior.fps < SHORTEST_CYCLE:
        period = None  # too fast for the prior's frame rate to show
    if period is not None and target is not None:
        period = find_period(target, prior.fps, near=period)
    return MotionParameters.start(
        subject.rig, settings, frames=prior.frames, fps=prior.fps, leg_length=leg, speed=speed,
        period=period, turn=starting_turn(request.prompt) * (prior.frames - 1) / prior.fps,
        symmetrical=settings.symmetric and is_symmetrical(request.prompt, len(legs)),
    )  # fmt: skip


def judged(
    subject: Subject, motion: Motion, recogniser: Recogniser | None, action: str | None
) -> MotionMetrics:
    """Metrics of a motion, with what the recogniser says where there is one."""
    found = measure(subject.character, subject.rig, motion, asked=action)
    if recogniser is None:
        return found
    return found.with_action(score_action(recogniser, subject.character, motion, action))


class Preview:
    """A strip of frames of the motion so far, every so often."""

    def __init__(
        self, stage: Stage, unknowns: MotionParameters, fps: float, folder: RunFolder | None
    ) -> None:
        self._stage, self._unknowns, self._fps, self._folder = stage, unknowns, fps, folder
        self._next = 0.0

    def during(self, step: Any) -> Any:
        """A report that writes the strip when it is time, then tells the watch."""

        def report(iteration: int, iterations: int, parts: dict[str, float]) -> None:
            if time.monotonic() >= self._next:
                self.write()
                self._next = time.monotonic() + PREVIEW_SECONDS
            step(iteration, iterations, parts)

        return report

    def write(self) -> None:
        """Draw the strip now."""
        if self._folder is None:
            return
        with torch.no_grad():
            controls = self._unknowns.controls()
            bones = self._stage.bones(controls)
            frames, _ = self._stage.show(bones, controls.translation)
        Video(frames.cpu(), self._fps).write_strip(self._folder.preview, count=8)


def job_of(
    subject: Subject, request: Request, *, asset_hash: str, prior: dict[str, str]
) -> dict[str, Any]:
    """All that decides the result, as JSON values, for the run's folder."""
    return {
        "asset": {"hash": asset_hash},
        "prompt": request.prompt,
        "asked": request.asked,
        "prior": prior,
        "seed": request.seed,
        "fps": request.fps,
        "formats": list(request.formats),
        "in_place": request.in_place,
        "settings": asdict(request.settings),
        "physics": None if request.physics is None else asdict(request.physics),
        "height": subject.character.height,
    }
