"""The phases of `animate`: set the stage, sample, fit, ground, compare, measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from threading import Event, Lock

import torch
from jaxtyping import Float
from torch import Tensor

from akd.api.planting import planted_if_better
from akd.api.request import Request
from akd.base.files import checking_content
from akd.base.observer import Observer
from akd.distill.checkpoint import pack, unpack
from akd.fit.limb_phase import set_limb_phase
from akd.fit.period import SHORTEST_CYCLE, find_period
from akd.fit.regressor.regressor import MotionRegressor, find_regressor
from akd.fit.warm_start import VideoScore, fit_finalists, sample_videos
from akd.math.threads import map_threads, torch_threads
from akd.metrics.measures import Measures
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.recognise.recogniser import Recogniser, reporting_recognisers
from akd.metrics.reference import kind_of
from akd.metrics.selection import Criteria, lowered
from akd.motion.actions import read_sentence
from akd.motion.feet import leg_length
from akd.motion.flight import flight_altitude
from akd.motion.footing.replant import stand_up
from akd.motion.gait import (
    is_symmetrical,
    limb_phase,
    starting_period,
    starting_speed,
    starting_turn,
    starting_way,
)
from akd.motion.key_poses import KeyPoses, last_poses
from akd.motion.motion import Motion
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import (
    MotionParameters,
    MotionStart,
    SkeletalParameters,
    pose_together,
)
from akd.motion.root_limits import root_limits
from akd.physics.ground import Grounded, ground
from akd.physics.settings import SimulatorSettings, TrackingSettings
from akd.physics.tracking import Progress
from akd.prior.protocol import KnownFrames, VideoPrior, takes_known_frames
from akd.rig.character import Character
from akd.rig.limits import BodyPlan, has_stiff_legs
from akd.scene.stage import Stage
from akd.splat.renderer import Renderer

LEAD = 4
"""Frames of a motion that the next one in a row is given: its last pose, velocity and acceleration,
in two whole patches of the tiny prior."""


def set_stage(request: Request, prior: VideoPrior, renderer: Renderer | None = None) -> Stage:
    """The character in front of a camera, as the prior wants to see it."""
    stage = Stage.of(
        request.character, style=prior.style, size=(prior.width, prior.height),
        device=prior.device, splats=request.settings.splats, renderer=renderer,
        ground=request.settings.render_ground,
    )  # fmt: skip
    return request.parametrization.prepare(stage)


def begin(
    stage: Stage, prior: VideoPrior, request: Request, video: Tensor | None = None
) -> MotionParameters:
    """The parameters to start from; how long a gait's cycle lasts is seen in the video."""
    keys = key_poses(request, prior, lift=stage.lift)
    start = timed_by(starting_point(request, prior), video)
    return request.parametrization.begin(replace(start, keys=keys), stage)


def sample(
    stage: Stage, prior: VideoPrior, request: Request, observer: Observer
) -> tuple[Float[Tensor, "K T H W 3"] | None, torch.Generator]:
    """Videos of what is asked for, and the source of all further randomness.

    There are none if the preset samples none. Randomness comes from the seed, phase by phase, so
    that a run that was stopped continues from the observer's checkpoints to the same result, bit
    for bit on the CPU.
    """
    settings, generator = request.settings.warm_start, torch.Generator().manual_seed(request.seed)
    if not settings.samples:
        return None, generator
    observer.begin("sample")
    kept = observer.load("videos") or {}
    videos = kept.get("videos")
    if kept:
        with checking_content("checkpoint videos"):
            videos = kept["videos"]
            if videos.shape[1:] != (prior.frames, prior.height, prior.width, 3):
                raise ValueError(f"videos of shape {tuple(videos.shape)}")
            torch.Generator().set_state(kept["generator"])
    if videos is not None and len(videos) >= settings.samples:
        generator.set_state(kept["generator"])
        return videos[: settings.samples], generator
    videos = sample_videos(
        stage, prior, request.asked, settings, generator=generator, sampled=videos,
        known=known_frames(stage, prior, begin(stage, prior, request)),
    )  # fmt: skip
    observer.save("videos", {"videos": videos, "generator": generator.get_state()})
    return videos, generator


def fit(
    stage: Stage,
    prior: VideoPrior,
    request: Request,
    videos: Float[Tensor, "K T H W 3"] | None,
    *,
    score: VideoScore | None = None,
    observer: Observer,
) -> list[MotionParameters]:
    """Parameters fitted to the videos: the finalists; the starting point where there are none."""
    start = begin(stage, prior, request)
    if videos is None:
        return [start]
    observer.begin("fit")
    if (kept := observer.load("starts")) is not None:
        with checking_content("checkpoint starts"):
            finalists = [start.with_values(values) for values in unpack(kept)]
            if not pose_together(finalists, stage).transforms.isfinite().all():
                raise ValueError("poses that are not finite")
        return finalists
    finalists = fit_finalists(
        stage, videos, partial(begin, stage, prior, request), request.losses,
        request.settings.warm_start, score=score, observer=observer,
        regressor=_regressor(request, prior),
    )  # fmt: skip
    _set_limb_phases(stage, request, finalists)
    observer.save("starts", pack([found.values() for found in finalists]))
    return finalists


def _set_limb_phases(stage: Stage, request: Request, finalists: Sequence[MotionParameters]) -> None:
    """Give a gait on four legs its limb phase: sampled videos have any. Distillation then finds
    what the trunk does with it, so a preview keeps the phase of its video."""
    phase = limb_phase(request.prompt, len(request.character.anatomy.legs))
    if phase is None or not request.settings.iterations:
        return
    for found in finalists:
        if isinstance(found, ControlCurves) and found.keys is None:
            set_limb_phase(stage, found, phase)


def _regressor(request: Request, prior: VideoPrior) -> MotionRegressor | None:
    """The regressor, if it is asked for, installed, and reads such videos."""
    if not request.regresses:
        return None
    found = find_regressor(request.weights, device=prior.device)
    return found if found is not None and found.reads(prior) else None


def undistilled(
    request: Request, finalists: Sequence[MotionParameters], chooser: Recogniser | None
) -> list[MotionParameters]:
    """Copies of the finalists' fits, which compete with what distillation makes of them.

    Of actions that are no gaits alone, which distillation often blurs, and where `chooser`
    (recogniser A) can compare them.
    """
    fitted = request.settings.iterations and request.settings.warm_start.samples
    if chooser is None or not fitted or request.action not in chooser.classes:
        return []
    if kind_of(request.action) == "gait":
        return []
    return [found.with_values(found.values()) for found in finalists]


def spawn(generator: torch.Generator, count: int) -> list[torch.Generator]:
    """Generators for each of several finalists, seeded by one."""
    seeds = torch.randint(2**62, (count,), generator=generator).tolist()
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def key_poses(request: Request, prior: VideoPrior, *, lift: float) -> KeyPoses | None:
    """Poses that the prior's frames must show, heights over the neutral pose's: the end of the
    motion that is continued, or keyframes within the video's time."""
    keys = request.keys
    if request.before is not None:
        keys = last_poses(request.character.control_rig, request.before, LEAD, prior.fps)
    elif keys is not None:
        keys = keys.up_to((prior.frames - 0.5) / prior.fps)
    return None if keys is None else keys.lowered(lift)


@torch.no_grad()
def known_frames(
    stage: Stage, prior: VideoPrior, parameters: MotionParameters
) -> KnownFrames | None:
    """Images of the key poses, for a prior that takes known frames."""
    posed = parameters.pose(stage)
    if posed.known is None or not takes_known_frames(prior):
        return None
    return KnownFrames(stage.show(posed.transforms), posed.known)


def timed_by(start: MotionStart, video: Float[Tensor, "T H W 3"] | None) -> MotionStart:
    """The same with a gait's cycle as long as a video shows it, where there is one."""
    if start.period is None or video is None:
        return start
    return replace(start, period=find_period(video, start.fps, near=start.period))


def starting_point(request: Request, prior: VideoPrior) -> MotionStart:
    """The neutral pose, moving as fast as the words and the legs suggest."""
    character, prompt, speed = request.character, request.prompt, request.settings.speed
    rig, legs = character.control_rig, len(character.anatomy.legs)
    leg = leg_length(character, rig)
    gait = read_sentence(prompt).gait
    if speed is None:
        can = legs or (gait is not None and not gait.needs_feet)
        speed = starting_speed(prompt, leg) if can else 0.0
    period = starting_period(prompt, leg)
    if period is not None and period * prior.fps < SHORTEST_CYCLE:
        period = None  # too fast for the prior's frame rate to show
    medium = "ground" if gait is None else gait.medium
    way = starting_way(prompt, has_pincers=BodyPlan.of(rig.roles).has_pincers)
    return MotionStart(
        rig=rig,
        frames=prior.frames,
        fps=prior.fps,
        leg_length=leg,
        speed=speed,
        way=way,
        period=period,
        turn=starting_turn(prompt) * (prior.frames - 1) / prior.fps,
        # The legs of one side pull while those of the other push.
        symmetrical=is_symmetrical(prompt, legs) and not way,
        root=root_limits(
            prompt,
            legs=legs,
            undulates=BodyPlan.of(rig.roles).undulates,
            waddles=has_stiff_legs(rig.roles),
        ),
        at_once=gait is not None and gait.alternates == "at once",
        on_feet=medium == "ground",
        altitude=flight_altitude(character, rig) if medium == "air" else 0.0,
    )


def motion_of(parameters: MotionParameters, name: str, stage: Stage, fps: float) -> Motion:
    """The motion of the character's joints, standing on the ground.

    Raises:
        ValueError: The parametrization moves no joints, such as a deformation field.
    """
    if not isinstance(parameters, SkeletalParameters):
        raise ValueError(f"{type(parameters).__name__} moves no joints: there is no clip to write")
    return parameters.motion(name, lift=stage.lift, fps=fps)


def cycle_of(parameters: MotionParameters, name: str, stage: Stage, fps: float) -> Motion | None:
    """The cycle that the clip of `motion_of` repeats; None where it repeats none."""
    if not isinstance(parameters, ControlCurves):
        return None
    return parameters.one_cycle(name, lift=stage.lift, fps=fps)


def ground_motion(
    character: Character,
    motion: Motion,
    cycle: Motion | None,
    settings: TrackingSettings,
    *,
    fps: float,
    action: str | None = None,
    world: SimulatorSettings | None = None,
    progress: Progress | None = None,
) -> Grounded:
    """A motion tracked by physics; where it repeats a cycle, that alone, and the result repeated.

    Tracking errors accumulate: over repetitions, a body would drift further and further off.
    """
    rig, mesh = character.control_rig, character.body_mesh

    # The curves have the travel that was asked for: feet that slide do not mean any other.
    def tracked(clip: Motion, rate: float) -> Grounded:
        return ground(
            rig, mesh, clip, fps=rate, travel=False, action=action, settings=settings,
            world=world, progress=progress,
        )  # fmt: skip

    if cycle is not None:
        found = tracked(cycle, (len(cycle) - 1) / cycle.duration)
        if found.clip.cyclic:  # not where it hardly moves
            return found.repeated(motion.times)
    return tracked(motion, fps)


def ground_each(
    request: Request,
    motions: Sequence[Motion],
    observer: Observer,
    *,
    fps: float,
    cycles: Sequence[Motion | None] | None = None,
) -> list[Grounded | None]:
    """Each motion tracked by physics, in a thread of its own; None where that was not asked for.

    `cycles` are those that the motions repeat, where they do.

    The simulator steps one environment in one thread on any device, so that a few of them would
    leave a GPU idle. Torch's operations run in these threads too: the tensors are small, and more
    threads would take the cores from the simulator.
    """
    if request.physics is None:
        return [None] * len(motions)
    observer.begin("physics")
    character, settings = request.character, request.physics
    total = len(motions) * settings.iterations
    done = [0] * len(motions)
    reporting, stopped = Lock(), Event()

    def track(k: int) -> Grounded:
        def progress(i: int, n: int, loss: float) -> None:
            with reporting:
                if stopped.is_set():
                    raise CancelledError
                done[k] = min(i + 1, n)
                observer.step(sum(done), total, {"loss": loss})

        cycle = None if cycles is None else cycles[k]
        return ground_motion(
            character, motions[k], cycle, settings, fps=fps, action=request.action,
            progress=progress,
        )  # fmt: skip

    with torch_threads(1), ThreadPoolExecutor(len(motions)) as pool:
        futures = [pool.submit(track, k) for k in range(len(motions))]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            stopped.set()
            raise
    return [future.result() for future in futures]


def choose_each(
    request: Request,
    motions: Sequence[Motion],
    cycles: Sequence[Motion | None],
    grounded: Sequence[Grounded | None],
    *,
    fps: float,
    measures: Measures,
    chooser: Recogniser | None = None,
) -> list[tuple[Motion, Grounded | None, str | None]]:
    """Each distilled motion, the grounded one, and what physics made worse; None to keep the
    grounded one. Each is chosen in a thread of its own.

    Of an action that is no gait, `chooser` (recogniser A) says how much each looks like it.

    Where the grounded motion fails a condition, its feet are planted by their skin, provided that
    this is better (`akd.api.planting`). The distilled one with its feet planted and nothing under
    the ground (`stand_up`) takes the place of the distilled one if it is better than both. It is
    tried where the grounded one is worse than the distilled one or still fails, and in any case of
    an action that `chooser` knows. Neither is done if physics is told not to plant feet.
    """
    return map_threads(
        lambda k: _choose(
            request, motions[k], cycles[k], grounded[k], fps=fps,
            criteria=partial(Criteria.of, measures, recogniser=chooser),
        ),
        range(len(motions)),
    )  # fmt: skip


def _choose(
    request: Request,
    motion: Motion,
    cycle: Motion | None,
    grounded: Grounded | None,
    *,
    fps: float,
    criteria: Callable[[Motion], Criteria],
) -> tuple[Motion, Grounded | None, str | None]:
    if grounded is None:
        return motion, None, None
    plants = request.physics is not None and request.physics.plant
    before, after = criteria(motion), criteria(grounded.motion)
    if plants:
        grounded, after = planted_if_better(request.character, grounded, after, criteria)
    why = lowered(before, after)
    # Of an action that is no gait the planted clip competes even if all seems well: the unplanted
    # one is so much less sound that it does not show what physics took from the action.
    seems_well = why is None and not after.metrics.fails and before.likeness is None
    if not plants or seems_well:
        return motion, grounded, why
    standing = stand_up(request.character, motion, cycle, fps=fps)
    stood = criteria(standing)
    if not stood.improves_on(before):
        return motion, grounded, why
    why = lowered(stood, after)
    return (motion, grounded, None) if why is None else (standing, grounded, why)


def measures_for(request: Request) -> Measures:
    """What measures the motions of a request."""
    return Measures(request.character, request.action, request.place)


def measure_each(
    request: Request, motions: Mapping[str, Motion], measures: Measures
) -> dict[str, MotionMetrics]:
    """Metrics of each motion by its name, with the scores of recognisers B and C."""
    recognisers = reporting_recognisers(request.weights, device=measures.device)
    found = map_threads(lambda m: measures.with_recognisers(m, recognisers), list(motions.values()))
    return dict(zip(motions, found, strict=True))
