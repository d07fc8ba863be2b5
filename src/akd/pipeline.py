"""`animate`: the whole flow, from a character and a sentence to a motion of its joints.

Load, stage, sample, fit, distil, ground, select, measure; `Animation.save` exports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from akd.api.directing import direct_motion, find_kept, find_poses
from akd.api.request import Request, make_request
from akd.api.search import (
    LEAD,
    begin,
    compare_grounded,
    cycle_of,
    fit,
    ground_each,
    motion_of,
    sample,
    set_stage,
    spawn,
)
from akd.base.files import json_hash
from akd.base.observer import Observer, Observers
from akd.distill.loop import distil
from akd.distill.settings import DistillSettings
from akd.export.settings import KeyChoice, KeySettings, LoopFrame
from akd.fit.losses import LossTerm
from akd.math.threads import map_threads
from akd.metrics.motion import MotionMetrics, judged
from akd.metrics.recognise.recogniser import find_recogniser, reporting_recognisers
from akd.metrics.selection import selection_score, video_score
from akd.motion.actions import read_sentence
from akd.motion.direction import Direction
from akd.motion.feet import leg_length
from akd.motion.footing.replant import find_footing, replant
from akd.motion.grid import CLIP_FPS
from akd.motion.joining import join
from akd.motion.motion import Motion
from akd.motion.parametrization import Parametrization
from akd.motion.prompt import split_prompt
from akd.physics.ground import Grounded
from akd.physics.settings import TrackingSettings
from akd.prior.protocol import VideoPrior, for_body
from akd.prior.source import PriorSource
from akd.rig.character import Character
from akd.splat.renderer import Renderer


@dataclass(frozen=True)
class Animation:
    """A motion that was found for a character, and how."""

    request: Request
    prior: str
    """Name of the video model."""
    start: Motion
    """Where the search began: the neutral pose, moving over the ground."""
    motion: Motion
    """The distilled motion."""
    grounded: Grounded | None
    """The motion tracked by physics, where that was asked for."""
    kept_distilled: str | None
    """Why `final` is the distilled motion all the same: what physics made worse."""
    history: list[dict[str, float]]
    """Loss and its terms at every iteration."""
    notes: tuple[str, ...]
    """For the user: what to check, and what went wrong and how it was handled."""
    selection_scores: tuple[float, ...]
    """Of each finalist; the one with the highest was kept."""
    metrics: dict[str, MotionMetrics]
    """Of `start`, `motion` and, where there is one, `grounded`."""
    lead: float = 0.0
    """Seconds at its beginning that repeat the end of the motion that it continues."""

    @property
    def character(self) -> Character:
        """Who was animated."""
        return self.request.character

    @property
    def best(self) -> str:
        """Which clip to use: `grounded`, unless physics lowered the result."""
        return "motion" if self.grounded is None or self.kept_distilled else "grounded"

    @property
    def final(self) -> Motion:
        """The clip to use."""
        return self.motions()[self.best]

    def motions(self) -> dict[str, Motion]:
        """The clips to write.

        Returns:
            `motion` and, if there is one, `grounded`.
        """
        clips = {"motion": self.motion}
        if self.grounded is not None:
            # Cut here, so that the suffix is not cut off by the limit on a clip's name.
            name = f"{self.request.prompt[:48]} (grounded)"
            clips["grounded"] = replace(self.grounded.motion, name=name)
        return clips

    def provenance(self) -> dict[str, Any]:
        """Where the clip came from.

        Returns:
            Prior, seed and a hash of the run, for the clip's `extras`.
        """
        return {
            "prior": self.prior,
            "seed": self.request.seed,
            "run": json_hash(self.request.job())[:16],
        }

    def save(
        self,
        out: str | Path,
        *,
        formats: Sequence[str] = ("glb",),
        in_place: bool = False,
        keys: KeyChoice = "every",
        loop_frame: LoopFrame = "repeat",
    ) -> list[Path]:
        """Write `motion.glb`, videos, `metrics.json` and `report.html` to a folder.

        Args:
            out: The folder.
            formats: Out of glb, bvh, usd and fbx; `motion.glb` is always written.
            in_place: Take the root motion out of the clips; videos and metrics keep it.
            keys: Keys of the GLB on `every` frame, or `reduced` to those that keep every joint
                within 1e-3 body heights.
            loop_frame: Let the last frame of a loop `repeat` the first, or `omit` it.

        Returns:
            The files that were written.
        """
        from akd.report.results import write_results

        settings = KeySettings(self.request.fps or CLIP_FPS, keys, loop_frame)
        return write_results(self, Path(out), formats=formats, in_place=in_place, keys=settings)


def animate(
    character: Character | str | Path,
    prompt: str,
    *,
    prior: VideoPrior | PriorSource | str | Path = "tiny",
    preset: DistillSettings | str | None = None,
    physics: TrackingSettings | bool = True,
    parametrization: Parametrization | None = None,
    losses: Sequence[LossTerm] | None = None,
    renderer: Renderer | None = None,
    observer: Observer | None = None,
    steering: bool = True,
    quick: bool = False,
    seed: int = 0,
    fps: float | None = None,
    weights: str | Path | None = None,
    device: str | torch.device = "auto",
    template: str = "auto",
    direction: Direction | None = None,
) -> Animation:
    """Distil the motion that a sentence names into a character's joints.

    Args:
        character: Who moves: what `load` returned, or a file. A bare mesh is rigged first.
        prompt: What it does, such as "a fox walking". Several actions in a row, as in "a fox
            walks, then jumps", become one clip.
        prior: The video model: `tiny`, a name that `akd prior list` shows, a folder, or an object
            with the methods of `VideoPrior`.
        preset: Settings, or their name: tiny, fast or paper. By default tiny for the tiny prior
            and fast for others.
        physics: Track the motion in a physics simulation: True, False, or settings.
        parametrization: What is optimised, such as `Cycle(harmonics=3)`; the preset's by default.
        losses: Terms beside the prior's score; `akd.losses.default()` by default.
        renderer: Renders the Gaussians; the Warp rasterizer by default.
        observer: Receives progress, previews and checkpoints, and may cancel.
        steering: Let recogniser A help choose among samples and finalists; without it, the fit and
            the metrics alone decide.
        quick: Make a preview: the joints fitted to the first sampled video, neither
            distilled nor tracked by physics. A full run with the same observer's checkpoints
            continues from its sample.
        seed: Of all randomness: the same seed gives the same motion.
        fps: Frames per second of all clips, 30 by default.
        weights: Folder of weights for the prior and the recognisers, instead of the bundled ones.
        device: `auto`, `cpu`, `cuda` or `cuda:1`.
        template: Body plan for a bare mesh: auto, quadruped, biped, theropod or generic.
        direction: How long, how fast and where to it goes, and which poses it meets.

    Returns:
        The motion, its grounded version, metrics and history. `save` writes the files.

    Raises:
        AssetError: The file cannot be read or animated.
        ValueError: The prompt, the prior or an argument cannot be used; before any long work.
        ArithmeticError: The optimisation diverged again and again.
    """
    observer, direction = observer or Observer(), direction or Direction()
    direction.check()
    parts = split_prompt(" ".join(prompt.split()))
    requests: list[Request] = []
    for part in parts:
        given = requests[0].character if requests else character
        requests.append(make_request(
            given, part, prior=prior, preset=preset, physics=physics, losses=losses,
            parametrization=parametrization, steering=steering, seed=seed, fps=fps,
            weights=weights, device=device, template=template,
        ))  # fmt: skip
    find_kept(requests[0].character, direction)
    keys = find_poses(requests[0].character, direction)
    if len(requests) == 1 and not direction.retimes:
        requests = [replace(requests[0], keys=keys)]
    job = requests[0].job()
    if len(parts) > 1:
        job["parts"] = list(parts)
    if not direction.is_empty:
        job["direction"] = asdict(direction)
    observer.start(job)
    for note in dict.fromkeys(note for request in requests for note in request.notes):
        observer.note(note)
    made: list[Animation] = []
    for number, request in enumerate(requests):
        before = made[-1].final if made else None
        made.append(animate_part(
            replace(request, before=before),
            observer if len(parts) == 1 else PartObserver(observer, number),
            renderer=renderer, quick=quick,
        ))  # fmt: skip
    clip = made[0] if len(made) == 1 else join_parts(made, prompt)
    return clip if direction.is_empty else follow(clip, direction)


def animate_part(
    request: Request, observer: Observer, *, renderer: Renderer | None = None, quick: bool = False
) -> Animation:
    """One action, from loading the prior to measuring the result."""
    title = request.prompt
    if quick:
        title = f"{title[:48]} (preview)"
        request, observer = request.quick(), PreviewObserver(observer)
    observer.begin("load")
    character = request.character
    leg = leg_length(character, character.control_rig)
    model = for_body(request.load_prior(), leg)
    chooser = find_recogniser("a", request.weights) if request.steering else None
    observer.begin("stage")
    stage = set_stage(request, model, renderer)
    score = video_score(
        chooser, request.action, style=model.style,
        size=(model.frames, model.height, model.width),
    )  # fmt: skip
    videos, generator = sample(stage, model, request, observer)
    finalists = fit(stage, model, request, videos, score=score, observer=observer)
    observer.begin("distil")
    with observer.deferred_interrupts():
        distilled = distil(
            stage, model, request.asked, finalists, request.settings, losses=request.losses,
            generators=spawn(generator, len(finalists)), observer=observer,
        )  # fmt: skip
    rate = request.fps or CLIP_FPS
    starting = motion_of(begin(stage, model, request), "start", stage, rate)
    motions = [motion_of(found, title, stage, rate) for found in finalists]
    cycles = [cycle_of(found, title, stage, rate) for found in finalists]
    grounded = ground_each(request, motions, observer, fps=rate, cycles=cycles)
    worse = [compare_grounded(request, m, g) for m, g in zip(motions, grounded, strict=True)]
    finals = [
        m if g is None or why else g.motion
        for m, g, why in zip(motions, grounded, worse, strict=True)
    ]
    observer.begin("select")
    scores = (1.0,)
    if len(finals) > 1:
        scores = tuple(map_threads(
            lambda m: selection_score(character, m, chooser, request.action), finals
        ))  # fmt: skip
    best = scores.index(max(scores))
    kept = {"start": starting, "motion": motions[best]}
    if (physical := grounded[best]) is not None:
        kept["grounded"] = physical.motion
    observer.begin("measure")
    recognisers = reporting_recognisers(request.weights)
    went = distilled[best]
    found = map_threads(
        lambda m: judged(character, m, recognisers, request.action), list(kept.values())
    )
    metrics = dict(zip(kept, found, strict=True))
    notes = (*request.notes, *went.notes)
    if (why := worse[best]) is not None:
        notes = (*notes, f"physics lowered the result, use the distilled clip: {why}")
    return Animation(
        request=request,
        prior=model.name,
        start=starting,
        motion=motions[best],
        grounded=physical,
        kept_distilled=why,
        history=went.history,
        notes=notes,
        selection_scores=scores,
        metrics=metrics,
        lead=0.0 if request.before is None else (LEAD - 1) / model.fps,
    )


def join_parts(made: Sequence[Animation], prompt: str) -> Animation:
    """Actions in a row as one clip on one root path, feet planted again."""
    first, character = made[0], made[0].character
    request = replace(first.request, prompt=" ".join(prompt.split()), action=None)
    fps = request.fps or CLIP_FPS
    named = [read_sentence(part.request.prompt).gait for part in made]
    joined = join(
        character, [part.final for part in made], fps=fps, name=request.prompt,
        gaits=[gait is not None and gait.is_cyclic for gait in named],
        leads=[part.lead for part in made],
    )  # fmt: skip
    motion = replant(character, joined.motion, find_footing(character, joined.motion, fps=fps))
    starts = ", ".join(f"{seconds:.2f}" for seconds in joined.joins)
    notes = dict.fromkeys(note for part in made for note in part.notes)
    return _measured(replace(
        first, request=request, motion=motion, grounded=None, kept_distilled=None,
        history=[values for part in made for values in part.history],
        notes=(*notes, f"actions begin at 0, {starts} s"), selection_scores=(1.0,),
    ))  # fmt: skip


def follow(made: Animation, direction: Direction) -> Animation:
    """The clip to use, directed. Physics data would not fit it any more and is left out."""
    request = made.request
    motion = direct_motion(made.character, made.final, direction, fps=request.fps or CLIP_FPS)
    motion = replace(motion, name=request.prompt)
    return _measured(replace(made, motion=motion, grounded=None, kept_distilled=None))


def _measured(made: Animation) -> Animation:
    recognisers = reporting_recognisers(made.request.weights)
    found = judged(made.character, made.motion, recognisers, made.request.action)
    return replace(made, metrics={"start": made.metrics["start"], "motion": found})


class PartObserver(Observers):
    """Keeps the checkpoints of one of several actions under names of their own."""

    def __init__(self, observer: Observer, number: int) -> None:
        super().__init__(observer)
        self._number = number

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Keep it under the part's number."""
        super().save(f"{name}-{self._number}", tensors)

    def load(self, name: str) -> dict[str, Tensor] | None:
        """What was kept of this part."""
        return super().load(f"{name}-{self._number}")


class PreviewObserver(Observers):
    """Keeps and loads only the sampled videos: what follows from them is another in a full run."""

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Keep the videos."""
        if name == "videos":
            super().save(name, tensors)

    def load(self, name: str) -> dict[str, Tensor] | None:
        """The videos."""
        return super().load(name) if name == "videos" else None
