"""`animate`: the whole flow, from a character and a sentence to its file with a new clip."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from akd.distill.loop import Keeper, distil
from akd.distill.period import SHORTEST_CYCLE, find_period
from akd.distill.result import motion_of, smooth_fps
from akd.distill.run_folder import RunFolder
from akd.distill.settings import DistillSettings
from akd.distill.speed import starting_period, starting_speed, starting_turn
from akd.distill.stage import Stage
from akd.distill.unknowns import Unknowns
from akd.distill.warm_start import Judge, fit_best, sample_videos_of
from akd.metrics.action import score_action
from akd.metrics.motion import MotionMetrics, measure
from akd.metrics.recognise.recogniser import Recogniser
from akd.motion.motion import Motion
from akd.physics.ground import Grounded, ground
from akd.physics.settings import TrackingSettings
from akd.prior.protocol import VideoPrior
from akd.results import write_results
from akd.scene.video import Video
from akd.subject import Subject
from akd.watch import Silent, Watch

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
class Animation:
    """What `animate` made."""

    subject: Subject
    request: Request
    distilled: Distilled
    grounded: Grounded | None
    metrics: dict[str, MotionMetrics]
    """Of `start`, `motion` and `grounded`, where there is one."""

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
    judge: Judge | None = None,
    recogniser: Recogniser | None = None,
    provenance: dict[str, Any] | None = None,
    watch: Watch | None = None,
) -> Animation:
    """Distil the motion of a sentence into a character's joints and write the results to `out`.

    Goes on from `folder` where that holds a state. `judge` chooses among the samples of the warm
    start, `recogniser` scores the result.
    """
    watch = watch or Silent()
    found = distil_motion(subject, request, prior, folder=folder, judge=judge, watch=watch)
    grounded = None
    if request.physics is not None:
        watch.begin("physics")
        grounded = ground(
            subject.rig, subject.character.mesh, found.motion,
            settings=request.physics,
            progress=lambda i, n, loss: watch.step(i + 1, n, {"loss": loss}),
        )  # fmt: skip
    watch.begin("measure")
    motions = {"start": found.start, "motion": found.motion}
    if grounded is not None:
        motions["grounded"] = grounded.motion
    metrics = {
        name: judged(subject, motion, recogniser, request.action)
        for name, motion in motions.items()
    }
    made = Animation(subject, request, found, grounded, metrics)
    watch.begin("film")
    write_results(made, out, provenance=provenance or {})
    if folder is not None:
        folder.finish()
    return made


def distil_motion(
    subject: Subject,
    request: Request,
    prior: VideoPrior,
    *,
    folder: RunFolder | None = None,
    judge: Judge | None = None,
    watch: Watch | None = None,
) -> Distilled:
    """The motion alone: set the stage, find a start that moves, follow the prior's score.

    Every random number comes from the seed, stage by stage, so that a run that was stopped goes on
    from `folder` to the same result, bit for bit on the CPU.
    """
    watch, settings = watch or Silent(), request.settings
    fps = request.fps or smooth_fps(prior.fps)
    asked = request.asked or request.prompt
    watch.begin("stage")
    stage = Stage.of(subject.character, subject.rig, prior, splats=settings.splats)
    generator = torch.Generator().manual_seed(request.seed)
    keeper = Keeper()
    if folder is not None:
        keeper = Keeper(folder.state, {"run": folder.digest()})
    videos = None
    if settings.warm_start.samples:
        watch.begin("sample")
        videos = _kept(folder, generator, lambda: sample_videos_of(
            stage, prior, asked, settings, generator=generator
        ))  # fmt: skip

    def begin(video: Tensor | None) -> Unknowns:
        return starting_point(subject, prior, request, video)

    start = motion_of(stage, begin(None), "start", fps=fps)
    unknowns = begin(None)
    if videos is not None:
        watch.begin("fit")
        unknowns = _kept_start(folder, unknowns, lambda: fit_best(
            stage, videos, begin, settings, judge=judge, report=watch.step
        ))  # fmt: skip
    preview = Preview(stage, unknowns, prior.fps, folder)
    watch.begin("distil")
    with watch.patient():
        history = distil(
            stage, prior, asked, unknowns, settings,
            generator=generator, keeper=keeper, report=preview.during(watch.step),
        )  # fmt: skip
    preview.write()
    motion = motion_of(stage, unknowns, request.prompt, fps=fps)
    return Distilled(start, motion, history, () if keeper.good is None else keeper.good.notes)


def starting_point(
    subject: Subject, prior: VideoPrior, request: Request, target: Tensor | None
) -> Unknowns:
    """The neutral pose, travelling as fast as the words and the legs suggest.

    A gait is searched for as a cycle; how long it lasts is seen in the `target` video, if any.
    """
    settings = request.settings.unknowns
    leg = subject.leg_length
    speed = settings.speed
    if speed is None:
        speed = starting_speed(request.prompt, leg) if subject.character.anatomy.legs else 0.0
    period = starting_period(request.prompt, leg) if settings.cycles else None
    if period is not None and period * prior.fps < SHORTEST_CYCLE:
        period = None  # too fast for the prior's frame rate to show
    if period is not None and target is not None:
        period = find_period(target, prior.fps, near=period)
    return Unknowns.start(
        subject.rig, settings, frames=prior.frames, fps=prior.fps, leg_length=leg, speed=speed,
        period=period, turn=starting_turn(request.prompt) * (prior.frames - 1) / prior.fps,
    )  # fmt: skip


def judged(
    subject: Subject, motion: Motion, recogniser: Recogniser | None, action: str | None
) -> MotionMetrics:
    """Metrics of a motion, with what the recogniser says where there is one."""
    found = measure(subject.character, subject.rig, motion)
    if recogniser is None:
        return found
    return found.with_action(score_action(recogniser, subject.character, motion, action))


class Preview:
    """A strip of frames of the motion so far, every so often."""

    def __init__(
        self, stage: Stage, unknowns: Unknowns, fps: float, folder: RunFolder | None
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


def _kept(folder: RunFolder | None, generator: torch.Generator, make: Any) -> Tensor:
    """The videos of the warm start: from the folder where they are there, else made and kept."""
    from safetensors.torch import load, save

    from akd.distill.disk import write_to_disk

    if folder is None:
        return make()
    if folder.videos.exists():
        kept = load(folder.videos.read_bytes())
        generator.set_state(kept["generator"])
        return kept["videos"]
    videos = make().cpu()
    write_to_disk(
        folder.videos, save({"videos": videos.contiguous(), "generator": generator.get_state()})
    )
    return videos


def _kept_start(folder: RunFolder | None, blank: Unknowns, make: Any) -> Unknowns:
    """What the warm start comes to: from the folder where it is there, else made and kept."""
    from safetensors.torch import load, save

    from akd.distill.disk import write_to_disk

    if folder is not None and folder.start.exists():
        return blank.with_values(load(folder.start.read_bytes()))
    unknowns = make()
    if folder is not None:
        write_to_disk(folder.start, save(unknowns.values()))
    return unknowns


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
        "settings": asdict(request.settings),
        "physics": None if request.physics is None else asdict(request.physics),
        "height": subject.character.height,
    }
