"""`animate`: the whole flow, from a character and a sentence to a motion of its joints.

Load, stage, sample, fit, distil, ground, select, measure; `Animation.save` exports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import torch

from akd.api.animation import Animation
from akd.api.directing import find_kept, find_poses
from akd.api.parts import PartObserver, PreviewObserver, follow, join_parts
from akd.api.request import Request, make_request
from akd.api.search import (
    LEAD,
    begin,
    choose_each,
    cycle_of,
    fit,
    ground_each,
    measure_each,
    measures_for,
    motion_of,
    sample,
    set_stage,
    spawn,
    undistilled,
)
from akd.base.observer import Observer
from akd.distill.loop import distil
from akd.distill.settings import DistillSettings
from akd.fit.losses import LossTerm
from akd.math.threads import map_threads
from akd.metrics.recognise.recogniser import find_recogniser
from akd.metrics.selection import selection_score, video_score
from akd.motion.direction import Direction
from akd.motion.feet import leg_length
from akd.motion.grid import CLIP_FPS
from akd.motion.parametrization import Parametrization
from akd.motion.prompt import split_prompt
from akd.physics.settings import TrackingSettings
from akd.prior.protocol import VideoPrior, for_body
from akd.prior.source import PriorSource
from akd.rig.character import Character
from akd.splat.renderer import Renderer


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
        character: What `load` returned, or a file. A bare mesh is rigged first.
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
        seed: Seed of all randomness: the same seed gives the same motion.
        fps: Frames per second of all clips, 30 by default.
        weights: Folder of weights for the prior and the recognisers, instead of the bundled ones.
        device: `auto`, `cpu`, `cuda` or `cuda:1`.
        template: Body plan for a bare mesh: auto, quadruped, biped, theropod or generic.
        direction: Duration, speed, path and key poses of the clip.

    Returns:
        The motion, its grounded version, metrics and history. `save` writes the files.

    Raises:
        AssetError: The file cannot be read or animated.
        ValueError: The prompt, the prior or an argument cannot be used; before any long work.
        ArithmeticError: The optimisation kept diverging.
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
    """One action: load, stage, sample, fit, distil, ground, select, measure."""
    title = request.prompt
    if quick:
        title = f"{title[:48]} (preview)"
        request, observer = request.quick(), PreviewObserver(observer)
    character, rate = request.character, request.fps or CLIP_FPS

    observer.begin("load")
    model = for_body(request.load_prior(), leg_length(character, character.control_rig))
    chooser = None
    if request.steering:
        chooser = find_recogniser("a", request.weights, device=request.place)
    measures = measures_for(request)

    observer.begin("stage")
    stage = set_stage(request, model, renderer)
    score = video_score(
        chooser, request.action, style=model.style,
        size=(model.frames, model.height, model.width),
    )  # fmt: skip

    videos, generator = sample(stage, model, request, observer)
    finalists = fit(stage, model, request, videos, score=score, observer=observer)

    observer.begin("distil")
    fits = undistilled(request, finalists, chooser)
    with observer.deferred_interrupts():
        distilled = distil(
            stage, model, request.asked, finalists, request.settings, losses=request.losses,
            generators=spawn(generator, len(finalists)), observer=observer,
        )  # fmt: skip
    starting = motion_of(begin(stage, model, request), "start", stage, rate)
    candidates = [*finalists, *fits]
    motions = [motion_of(found, title, stage, rate) for found in candidates]
    cycles = [cycle_of(found, title, stage, rate) for found in candidates]

    grounded = ground_each(request, motions, observer, fps=rate, cycles=cycles)
    chosen = choose_each(
        request, motions, cycles, grounded, fps=rate, measures=measures, chooser=chooser
    )
    motions, grounded, worse = (list(each) for each in zip(*chosen, strict=True))

    observer.begin("select")
    finals = [
        m if g is None or why else g.motion
        for m, g, why in zip(motions, grounded, worse, strict=True)
    ]
    scores = (1.0,)
    if len(finals) > 1:
        scores = tuple(map_threads(lambda m: selection_score(measures, m, chooser), finals))
    best = scores.index(max(scores))
    went = distilled[best % len(finalists)]

    observer.begin("measure")
    kept = {"start": starting, "motion": motions[best]}
    if (physical := grounded[best]) is not None:
        kept["grounded"] = physical.motion
    notes = (*request.notes, *went.notes)
    if best >= len(finalists):
        others = max(scores[: len(finalists)])
        notes = (*notes, f"the fit to a sampled video is kept as it is: its selection score is "
                         f"{scores[best]:.2f}, with score distillation {others:.2f}")  # fmt: skip
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
        metrics=measure_each(request, kept, measures),
        lead=0.0 if request.before is None else (LEAD - 1) / model.fps,
    )
