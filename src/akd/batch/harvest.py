"""`harvest`: poses from a video prior. Sample videos, fit the joints to them, filter the poses.

`harvest_jobs` are the same as jobs of `akd.engine`, one per body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from akd.api.poses import zoo_character, zoo_side
from akd.api.request import Request, make_request
from akd.api.search import set_stage, starting_point
from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.files import text_hash, weights_hash
from akd.engine.call import Refused, Resources
from akd.engine.job import Job, Workspace
from akd.fit.regressor.regressor import MotionRegressor, find_regressor, regressor_hash
from akd.fit.settings import WarmStartSettings
from akd.fit.warm_start import VideoScore, fit_to_videos, sample_videos
from akd.metrics.recognise.recogniser import find_recogniser
from akd.metrics.selection import video_score
from akd.motion.actions import ACTIONS
from akd.motion.feet import leg_length
from akd.motion.parametrization import pose_together
from akd.motion.repertoire import repertoire, suits
from akd.posespace.codec import PoseCodec
from akd.posespace.collect import asset_side, distinct
from akd.posespace.dataset import BodyPoses, BodyRecord
from akd.posespace.ground import FLIGHT, STANDING, ground_excess, grounded
from akd.posespace.intersect import INTERSECTS, intersection_depth
from akd.posespace.shards import Row, is_done, write_shard
from akd.prior.choose import choose_prior, is_tiny
from akd.prior.protocol import VideoPrior, for_body
from akd.prior.source import PriorSource, user_path, whole_name
from akd.prior.tiny.prior import PriorTiny
from akd.rig.character import Character, load_character
from akd.rig.control import ControlPose
from akd.rig.up_axis import find_up_axis
from akd.scene.stage import Stage


@dataclass(frozen=True)
class HarvestSettings:
    """How many videos a job samples, how long they are fitted, and which poses are kept."""

    videos: int = 32
    """Videos of a body and a prompt, fitted in one batch."""
    iterations: int = 60
    """Of the fit."""
    difference: float = 0.01
    """Largest photometric difference between a video and its fit."""
    judgement: float = 0.5
    """Least value that the judge gives a fit: for the recogniser, the probability of the action.
    Both by fits to films of true clips (`benchmarks/harvest_filters.py`)."""
    warm_start: WarmStartSettings = field(default_factory=WarmStartSettings)


@dataclass(frozen=True)
class HarvestBody:
    """A body to harvest poses of; its file is read when its turn comes."""

    name: str
    source: str
    """`zoo` or `assets`."""
    family: str
    noun: str
    """What prompts call it."""
    load: Callable[[], Character]


def zoo_body(species: str, seed: int) -> HarvestBody:
    """A creature of the zoo."""
    return HarvestBody(
        f"{species} {seed}", "zoo", species, species, lambda: zoo_character(species, seed)
    )


def asset_body(name: str, family: str, path: Path) -> HarvestBody:
    """A rigged character from a file."""

    def load() -> Character:
        asset = read_asset(path)
        return load_character(asset, up=find_up_axis(asset))

    return HarvestBody(name, "assets", family, "creature", load)


def harvest_jobs(
    *,
    zoo: int = 0,
    assets: Path | None = None,
    actions: Sequence[str] = (),
    prior: str = "tiny",
    weights: Path | None = None,
    videos: int = HarvestSettings.videos,
    iterations: int = HarvestSettings.iterations,
    device: str = "auto",
    seed: int = 0,
    seeds: int = 1,
    resources: Resources | None = None,
) -> Iterator[Job]:
    """One job for each seed and body that may train the pose space, all bodies of a seed first.

    Args:
        zoo: Creatures of the zoo.
        assets: Folder of rigged characters; motion capture has no mesh and is left out.
        actions: What the prompts say after the body's noun; all that suits the body if left out.
        prior: Name of the video model.
        weights: Folder of the tiny prior's weights and of recogniser A; the bundled ones
            if left out.
        videos: See `HarvestSettings`.
        iterations: See `HarvestSettings`.
        device: `auto`, `cpu` or `cuda`.
        seed: Of the noise.
        seeds: Further videos of each body and prompt: seeds counting up from `seed`.
        resources: Of each job.
    """
    resources = resources or Resources()
    if weights is None and prior != "tiny" and is_tiny(prior):
        # Known by its content: other weights are other jobs.
        prior, weights = "tiny", user_path(prior)
    files = []
    if assets is not None:
        sided = asset_side(assets, training=True)
        files = [(assets / p, p, family) for p, family in sided if not p.endswith(".bvh")]
    for number in range(seed, seed + seeds):
        common = {
            "actions": list(actions), "prior": whole_name(prior), "videos": videos,
            "iterations": iterations,
            "device": device, "seed": number, "threads": resources.cpus,
            "weights": "" if weights is None else str(weights.resolve()),
            "weights_hash": "" if weights is None else weights_hash(weights),
        }  # fmt: skip
        again = "" if number == seed else f", seed {number}"
        for species, creature in zoo_side(zoo, training=True):
            yield Job(
                harvest_task, {**common, "species": species, "number": creature},
                f"{species} {creature}{again}", resources=resources, publish=False,
            )  # fmt: skip
        for file, path, family in files:
            yield Job(
                harvest_task, {**common, "path": path, "family": family}, f"{path}{again}",
                files={"asset": file}, resources=resources, publish=False,
            )  # fmt: skip


def harvest_task(arguments: Mapping[str, Any], place: Workspace) -> dict[str, int]:
    """Harvest one body into the folder of results: how many poses there are, and are kept."""
    torch.set_num_threads(arguments["threads"])
    if "species" in arguments:
        body = zoo_body(arguments["species"], arguments["number"])
    else:
        body = asset_body(arguments["path"], arguments["family"], place.files["asset"])
    settings = HarvestSettings(videos=arguments["videos"], iterations=arguments["iterations"])
    weights = Path(arguments["weights"]) if arguments["weights"] else None
    poses = kept = 0
    try:
        for prompt, rows in harvest(
            body, place.out, prior=_prior(arguments["prior"], weights, arguments["device"]),
            weights=weights, actions=arguments["actions"], settings=settings,
            seed=arguments["seed"],
        ):  # fmt: skip
            here = sum(bool(row["kept"]) for row in rows)
            poses, kept = poses + len(rows), kept + here
            print(f"{body.name}, {prompt}: {here} of {len(rows)} poses", flush=True)
    except (AssetError, ValueError) as error:
        raise Refused(str(error)) from error
    return {"poses": poses, "kept": kept}


@lru_cache(maxsize=1)
def _prior(name: str, weights: Path | None, device: str) -> VideoPrior:
    """One process has one prior for all its jobs."""
    return choose_prior(PriorSource(name, weights), device=device)


def harvest(
    body: HarvestBody,
    out: Path,
    *,
    prior: VideoPrior,
    weights: Path | None = None,
    actions: Sequence[str] = (),
    settings: HarvestSettings | None = None,
    judge: VideoScore | None = None,
    seed: int = 0,
) -> Iterator[tuple[str, list[Row]]]:
    """Harvest the poses of one body, prompt after prompt. What `out` holds already is skipped.

    Args:
        body: Whose poses.
        out: Folder of shards and tables.
        prior: The video model.
        weights: Folder of the prior's weights, instead of the bundled ones: recogniser A is taken
            from it if it holds one, and the names of shards depend on it.
        actions: What the prompts say after the body's noun; by default all actions that suit the
            body and that the prior knows. Without a judge of your own, others are left out.
        settings: Number of videos, length of the fit, filters.
        judge: Value of each fitted video; by default the probability of the action that
            recogniser A gives it, where it knows the action.
        seed: Of the noise.

    Yields:
        Each prompt that was not done before, and the rows of its table.

    Raises:
        ValueError: The prior cannot be asked for a prompt, or does not know such bodies.
        AssetError: The body cannot be read or animated.
    """
    settings = settings or HarvestSettings()
    character, stage = None, None
    if not actions:
        character = body.load()
        tiny = isinstance(prior, PriorTiny)
        actions = (
            repertoire(character.anatomy, prior.tokens) if tiny else repertoire(character.anatomy)
        )
    prompts = [f"a {body.noun} {action}" for action in actions]
    made_by = "" if weights is None else f"\n{weights_hash(weights)}"
    if (seen_by := regressor_hash(weights)) is not None:
        made_by += f"\n{seen_by}"
    jobs = {text_hash(f"{body.name}\n{prompt}\n{seed}{made_by}")[:20]: prompt for prompt in prompts}
    jobs = {job: prompt for job, prompt in jobs.items() if not is_done(out, job)}
    if not jobs:
        return
    character, recogniser = character or body.load(), find_recogniser("a", weights)
    regressor = find_regressor(weights, device=prior.device)
    prior = for_body(prior, leg_length(character, character.control_rig))
    codec = PoseCodec.of(character)
    record = BodyRecord(
        body.name, "harvest", body.family, codec.body.tokens, character.height / codec.size
    )
    for job, prompt in jobs.items():
        request = make_request(character, prompt, prior=prior, physics=False, seed=seed)
        action = ACTIONS.get(request.action or "")
        if judge is None and action is not None and not suits(action, character.anatomy):
            continue
        stage = stage or set_stage(request, prior)
        value = judge or video_score(
            recogniser, request.action, style=prior.style,
            size=(prior.frames, prior.height, prior.width),
        )  # fmt: skip
        warm = replace(settings.warm_start, samples=settings.videos)
        generator = torch.Generator().manual_seed(int(job[:15], 16))
        videos = sample_videos(stage, prior, request.asked, warm, generator=generator)
        fits = fit_poses(
            videos, request, stage, prior, codec, settings, judge=value,
            regressor=regressor if regressor is not None and regressor.reads(prior) else None,
        )  # fmt: skip
        highest = FLIGHT if action is not None and action.leaves_ground else STANDING
        clips, rows = [], []
        for sample, fit in enumerate(fits):
            fate = fit.fates(codec, settings, highest=highest)
            times = torch.arange(len(fate)) / prior.fps
            kept = torch.tensor([reason == "" for reason in fate])
            if bool(kept.any()):
                clips.append((f"{prompt} #{sample}", fit.states[kept], times[kept]))
            rows += [
                {
                    "job": job, "body": body.name, "source": body.source, "family": body.family,
                    "prompt": prompt, "prior": prior.name, "weights": made_by.strip(),
                    "seed": seed, "sample": sample,
                    "seconds": float(time), "difference": fit.difference,
                    "judgement": fit.judgement, "kept": reason == "", "reason": reason,
                }
                for reason, time in zip(fate, times, strict=True)
            ]  # fmt: skip
        write_shard(out, job, BodyPoses(record, codec.body, tuple(clips)), rows)
        yield prompt, rows


@dataclass(frozen=True)
class FittedPoses:
    """The poses that were fitted to one video."""

    states: Float[Tensor, "T J 3"]
    difference: float
    judgement: float

    def fates(self, codec: PoseCodec, settings: HarvestSettings, *, highest: float) -> list[str]:
        """Why each pose is dropped; empty for those that are kept.

        `highest` is the largest clearance over the ground, body sizes.
        """
        count = len(self.states)
        if not self.difference <= settings.difference:
            return ["fit"] * count
        if self.judgement < settings.judgement:
            return ["action"] * count
        body = codec.body.expand(count)
        found = {
            "intersection": intersection_depth(body, self.states) > INTERSECTS,
            "ground": ground_excess(body, self.states, highest=highest) > 0.0,
            "duplicate": ~distinct(self.states),
        }
        return [
            next((reason for reason, drop in found.items() if bool(drop[pose])), "")
            for pose in range(count)
        ]


def fit_poses(
    videos: Float[Tensor, "K T H W 3"], request: Request, stage: Stage, prior: VideoPrior,
    codec: PoseCodec, settings: HarvestSettings, *, judge: VideoScore | None,
    regressor: MotionRegressor | None = None,
) -> list[FittedPoses]:  # fmt: skip
    """The poses that are fitted to each video, in one batch."""
    warm = settings.warm_start
    candidates = [
        request.parametrization.begin(starting_point(request, prior, video), stage)
        for video in videos.cpu()
    ]
    differences = fit_to_videos(
        stage, candidates, videos, request.losses, warm, iterations=settings.iterations,
        regressor=regressor,
    )  # fmt: skip
    with torch.no_grad():
        posed = pose_together(candidates, stage)
        shown = stage.show(posed.transforms, turns=[0.0] * len(candidates))
    values = [1.0] * len(candidates) if judge is None else judge(shown).tolist()
    controls = posed.controls
    assert controls is not None
    fits = []
    for k, (difference, value) in enumerate(zip(differences, values, strict=True)):
        pose = ControlPose(
            *(v[k].cpu() for v in (controls.translation, controls.root_rotation, controls.angles))
        )
        states = grounded(codec.body, codec.encode(pose), fps=prior.fps)
        fits.append(FittedPoses(states, difference, value))
    return fits
