"""`harvest`: poses from a video prior. Sample videos, fit the joints to them, filter the poses.

`harvest_jobs` are the same as jobs of `akd.engine`, one per body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from akd.api.animatable import animatable
from akd.api.poses import zoo_character, zoo_side
from akd.api.request import Request, make_request
from akd.api.search import set_stage, starting_point
from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.files import file_hash, text_hash, weights_hash
from akd.batch.harvest_fit import HarvestSettings, fit_poses
from akd.engine.call import Refused, Resources
from akd.engine.job import Job, Workspace
from akd.fit.losses import evaluated_alike
from akd.fit.regressor.regressor import (
    MotionRegressor,
    find_regressor,
    load_regressor,
    regressor_hash,
)
from akd.fit.warm_start import VideoScore
from akd.metrics.recognise.recogniser import Recogniser, find_recogniser
from akd.metrics.selection import soundness_score
from akd.motion.actions import ACTIONS
from akd.motion.feet import leg_length
from akd.posespace.codec import PoseCodec
from akd.posespace.collect import asset_side
from akd.posespace.dataset import BodyPoses, BodyRecord
from akd.posespace.ground import FLIGHT, STANDING
from akd.posespace.shards import Row, is_done, write_shard
from akd.prior.choose import choose_prior, is_tiny
from akd.prior.protocol import VideoPrior, for_body
from akd.prior.sample import latent_shape, sample_latents
from akd.prior.source import PriorSource, user_path, whole_name
from akd.prior.tiny.bodies import repertoire, suits
from akd.prior.tiny.prior import PriorTiny
from akd.rig.character import Character, load_character
from akd.rig.up_axis import find_up_axis
from akd.scene.stage import Stage

T = TypeVar("T")


@dataclass(frozen=True)
class HarvestBody:
    """A body to harvest poses of; its file is read when its turn comes."""

    name: str
    source: str
    """`zoo` or `assets`."""
    family: str
    noun: str
    """Its noun in prompts."""
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
    search: bool = HarvestSettings.search,
    regressor: Path | None = None,
    device: str = "auto",
    seed: int = 0,
    seeds: int = 1,
    resources: Resources | None = None,
) -> Iterator[Job]:
    """One job for each seed and body that may train the pose space, all bodies of a seed first.

    Wherever a run is stopped, what is done is a mix: species and families of files take turns, and
    creatures and files are spread evenly over the list.

    Args:
        zoo: Creatures of the zoo.
        assets: Folder of rigged characters; motion capture has no mesh and is left out.
        actions: What the prompts say after the body's noun; all that suits the body if left out.
        prior: Name of the video model.
        weights: Folder of the tiny prior's weights and of recogniser A; the bundled ones
            if left out.
        videos: See `HarvestSettings`.
        iterations: See `HarvestSettings`.
        search: See `HarvestSettings`.
        regressor: Weights of the motion regressor; those of `weights` or the bundled ones, where
            there are any, if left out.
        device: `auto`, `cpu` or `cuda`.
        seed: Of the noise.
        seeds: Further videos of each body and prompt: seeds counting up from `seed`.
        resources: Of each job.
    """
    resources = resources or Resources()
    if weights is None and prior != "tiny" and is_tiny(prior):
        # Known by its content: other weights are other jobs.
        prior, weights = "tiny", user_path(prior)
    creatures: list[dict[str, Any]] = [
        {"species": species, "number": number} for species, number in zoo_side(zoo, training=True)
    ]
    families: dict[str, list[dict[str, Any]]] = {}
    for path, family in [] if assets is None else asset_side(assets, training=True):
        if not path.endswith(".bvh"):
            families.setdefault(family, []).append({"path": path, "family": family})
    bodies = evenly_mixed(creatures, taken_in_turn(list(families.values())))
    for number in range(seed, seed + seeds):
        common = {
            "actions": list(actions), "prior": whole_name(prior), "videos": videos,
            "iterations": iterations, "search": search,
            "device": device, "seed": number, "threads": resources.cpus,
            "weights": "" if weights is None else str(weights.resolve()),
            "weights_hash": "" if weights is None else weights_hash(weights),
            "regressor": "" if regressor is None else str(regressor.resolve()),
            "regressor_hash": (
                regressor_hash(weights) if regressor is None else file_hash(regressor)
            ) or "",
        }  # fmt: skip
        again = "" if number == seed else f", seed {number}"
        for body in bodies:
            label = body.get("path") or f"{body['species']} {body['number']}"
            files = {"asset": assets / body["path"]} if assets and "path" in body else {}
            yield Job(
                harvest_task, {**common, **body}, f"{label}{again}", files=files,
                resources=resources, publish=False,
            )  # fmt: skip


def taken_in_turn(groups: Sequence[Sequence[T]]) -> list[T]:
    """The first of each group, then the second of each, and so on."""
    longest = max(map(len, groups), default=0)
    return [group[k] for k in range(longest) for group in groups if k < len(group)]


def evenly_mixed(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """Both lists in their order, with the same shares of both in every part of the result."""
    places = [
        ((k + 0.5) / len(some), some[k]) for some in (first, second) for k in range(len(some))
    ]
    return [one for _, one in sorted(places, key=lambda place: place[0])]


def harvest_task(arguments: Mapping[str, Any], place: Workspace) -> dict[str, int]:
    """Harvest one body into the folder of results: how many poses there are, and are kept."""
    torch.set_num_threads(arguments["threads"])
    if "species" in arguments:
        body = zoo_body(arguments["species"], arguments["number"])
    else:
        body = asset_body(arguments["path"], arguments["family"], place.files["asset"])
    settings = HarvestSettings(
        videos=arguments["videos"], iterations=arguments["iterations"], search=arguments["search"]
    )
    weights, regressor = (
        Path(arguments[name]) if arguments[name] else None for name in ("weights", "regressor")
    )
    poses = kept = 0
    try:
        for prompt, rows in harvest(
            body, place.out, models=_models(
                arguments["prior"], weights, regressor, arguments["device"]
            ), actions=arguments["actions"], settings=settings, seed=arguments["seed"],
        ):  # fmt: skip
            here = sum(bool(row["kept"]) for row in rows)
            poses, kept = poses + len(rows), kept + here
            print(f"{body.name}, {prompt}: {here} of {len(rows)} poses", flush=True)
    except (AssetError, ValueError) as error:
        raise Refused(str(error)) from error
    return {"poses": poses, "kept": kept}


@dataclass(frozen=True)
class HarvestModels:
    """The networks of a harvest."""

    prior: VideoPrior
    recogniser: Recogniser | None = None
    """Judges fits; None: all show what they should."""
    regressor: MotionRegressor | None = None
    """Where it reads the prior's videos, fits start from what it sees."""
    made_by: str = ""
    """Hashes of the weights that do not ship: names of shards depend on it."""

    @classmethod
    def find(
        cls, prior: VideoPrior, weights: Path | None = None, regressor: Path | None = None
    ) -> HarvestModels:
        """The prior's recogniser and regressor, on its device.

        Args:
            prior: The video model.
            weights: Folder of the prior's weights, instead of the bundled ones: recogniser and
                regressor are taken from it where it holds them.
            regressor: Weights of the regressor, instead of those.

        Raises:
            ValueError: The given regressor does not read the prior's videos.
        """
        made_by = [] if weights is None else [weights_hash(weights)]
        seen_by = regressor_hash(weights) if regressor is None else file_hash(regressor)
        if seen_by is not None:
            made_by.append(seen_by)
        recogniser = find_recogniser("a", weights)
        if regressor is None:
            reader = find_regressor(weights, device=prior.device)
        else:
            reader = load_regressor(regressor, device=prior.device)
            if not reader.reads(prior):
                raise ValueError(
                    f"{regressor}: reads square videos of {reader.settings.frames} frames in role "
                    f"colours, which those of the prior are not"
                )
        return cls(
            prior,
            None if recogniser is None else recogniser.to(prior.device),
            reader if reader is not None and reader.reads(prior) else None,
            "\n".join(made_by),
        )


@lru_cache(maxsize=1)
def _models(name: str, weights: Path | None, regressor: Path | None, device: str) -> HarvestModels:
    """One process has one set of networks for all its jobs."""
    prior = choose_prior(PriorSource(name, weights), device=device)
    return HarvestModels.find(prior, weights, regressor)


@dataclass(frozen=True)
class _Asked:
    """A prompt of a body."""

    job: str
    """Name of its shard."""
    prompt: str
    request: Request
    highest: float
    """Largest clearance over the ground, body sizes."""


def harvest(
    body: HarvestBody,
    out: Path,
    *,
    models: HarvestModels,
    actions: Sequence[str] = (),
    settings: HarvestSettings | None = None,
    judge: VideoScore | None = None,
    seed: int = 0,
) -> Iterator[tuple[str, list[Row]]]:
    """Harvest the poses of one body. What `out` holds already is skipped.

    Prompts whose motions have the same losses share batches of videos.

    Args:
        body: Whose poses.
        out: Folder of shards and tables.
        models: The video model, and what reads and judges its videos.
        actions: What the prompts say after the body's noun; by default all actions that suit the
            body and that the prior knows. Without a judge of your own, others are left out.
        settings: Number of videos, length of the fit, filters.
        judge: Value of each fitted video; by default the probability, by recogniser A, that it
            shows some action and not one of its failure modes.
        seed: Of the noise.

    Yields:
        Each prompt that was not done before, and the rows of its table.

    Raises:
        ValueError: The prior cannot be asked for a prompt, or does not know such bodies.
        AssetError: The body cannot be read or animated.
    """
    settings, character = settings or HarvestSettings(), None
    if not actions:
        character = animatable(body.load())
        tokens = {"known": models.prior.tokens} if isinstance(models.prior, PriorTiny) else {}
        actions = repertoire(character.anatomy, **tokens)
    made_by = f"\n{models.made_by}" if models.made_by else ""
    prompts = {}
    for prompt in (f"a {body.noun} {action}" for action in actions):
        job = text_hash(f"{body.name}\n{prompt}\n{seed}{made_by}")[:20]
        if not is_done(out, job):
            prompts[job] = prompt
    if not prompts:
        return
    character = character or animatable(body.load())
    prior = for_body(models.prior, leg_length(character, character.control_rig))
    codec = PoseCodec.of(character)
    record = BodyRecord(
        body.name, "harvest", body.family, codec.body.tokens, character.height / codec.size
    )
    groups: dict[tuple[bool | float, ...], list[_Asked]] = {}
    for job, prompt in prompts.items():
        request = make_request(character, prompt, prior=prior, physics=False, seed=seed)
        action = ACTIONS.get(request.action or "")
        if judge is None and action is not None and not suits(action, character.anatomy):
            continue
        highest = FLIGHT if action is not None and action.leaves_ground else STANDING
        kind = evaluated_alike(starting_point(request, prior))
        groups.setdefault(kind, []).append(_Asked(job, prompt, request, highest))
    if not groups:
        return
    stage = set_stage(next(iter(groups.values()))[0].request, prior)
    each = max(1, settings.batch // settings.videos)
    judge = judge or soundness_score(
        models.recogniser, style=prior.style, size=(prior.frames, prior.height, prior.width)
    )
    batches = [some[k : k + each] for some in groups.values() for k in range(0, len(some), each)]
    for batch in batches:
        videos = _sample(stage, prior, batch, settings)
        fits = fit_poses(
            videos,
            [asked.request for asked in batch],
            stage,
            prior,
            codec,
            settings,
            regressor=models.regressor,
        )
        for k, asked in enumerate(batch):
            own = fits[k * settings.videos : (k + 1) * settings.videos]
            shown = torch.stack([fit.shown for fit in own])
            values = [1.0] * len(own) if judge is None else judge(shown).tolist()
            clips, rows = [], []
            for sample, (fit, judgement) in enumerate(zip(own, values, strict=True)):
                fate = fit.fates(codec, settings, judgement=judgement, highest=asked.highest)
                times = torch.arange(len(fate)) / prior.fps
                kept = torch.tensor([reason == "" for reason in fate])
                if bool(kept.any()):
                    clips.append((f"{asked.prompt} #{sample}", fit.states[kept], times[kept]))
                rows += [
                    {
                        "job": asked.job, "body": body.name, "source": body.source,
                        "family": body.family, "prompt": asked.prompt, "prior": prior.name,
                        "weights": models.made_by, "seed": seed, "sample": sample,
                        "seconds": float(time), "difference": fit.difference,
                        "judgement": judgement, "kept": reason == "", "reason": reason,
                    }
                    for reason, time in zip(fate, times, strict=True)
                ]  # fmt: skip
            write_shard(out, asked.job, BodyPoses(record, codec.body, tuple(clips)), rows)
            yield asked.prompt, rows


def _sample(
    stage: Stage, prior: VideoPrior, batch: Sequence[_Asked], settings: HarvestSettings
) -> Float[Tensor, "K T H W 3"]:
    """Videos of all prompts in one batch, prompt after prompt, on the prior's device."""
    warm, shape = settings.warm_start, latent_shape(prior)
    image = stage.reference_images()[0] if prior.takes_reference_image else None
    conditions, noise = [], []
    for asked in batch:
        condition = prior.condition(asked.request.asked, reference_image=image)
        generator = torch.Generator().manual_seed(int(asked.job[:15], 16))
        for _ in range(settings.videos):
            conditions.append(condition)
            noise.append(torch.randn(shape, generator=generator))
    with torch.no_grad():
        latents = sample_latents(
            prior, conditions, torch.stack(noise).to(prior.device), steps=warm.steps,
            spacing=warm.spacing, scale=warm.guidance,
        )  # fmt: skip
        return prior.decode(latents).clamp(0.0, 1.0)
