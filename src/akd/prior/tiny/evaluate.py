"""Evaluates the tiny prior on creatures of the zoo that it was not trained on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from akd.base.files import write_json
from akd.base.splits import zoo_seed_trains
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import CLASSES
from akd.prior.sample import sample_latents
from akd.prior.tiny.actor import Actor
from akd.prior.tiny.casting import Casting, collect_actors
from akd.prior.tiny.creatures import cast_list
from akd.prior.tiny.film import film_actor
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.settings import CameraSettings, PoolSettings, TinySettings
from akd.prior.tiny.sheet import write_rows
from akd.prior.tiny.vocabulary import NONE, Words, creature_word

FIRST_MEASURING_SEED = 1

_BATCH = 40
"""Prompts that are sampled at a time."""


def measuring_actors(
    count: int, settings: PoolSettings, folder: Path, *, workers: int
) -> list[Actor]:
    """Creatures of the measuring side, built or from the cache."""
    cast = cast_list(count, first_seed=FIRST_MEASURING_SEED)
    if any(zoo_seed_trains(seed) for _, seed in cast):
        raise ValueError(f"there are not {count} creatures on the measuring side")
    castings = [Casting(species, seed) for species, seed in cast]
    actors = collect_actors(castings, settings, folder, workers=workers)
    return sorted(actors, key=lambda actor: actor.seed)


def true_videos(
    actors: Sequence[Actor],
    tiny: TinySettings,
    cameras: CameraSettings,
    *,
    each: int,
    device: torch.device,
    seed: int,
) -> tuple[UInt8[Tensor, "K T H W 3"], Int[Tensor, "K"]]:
    """Videos of true motions and of the wrong ones, and their classes, to judge recognisers by."""
    generator = torch.Generator().manual_seed(seed)
    videos, labels = [], []
    for actor in actors:
        footage = film_actor(
            actor.to(device), each, generator=generator, tiny=tiny, cameras=cameras,
            tricks=True, vary=False,
        )  # fmt: skip
        videos.append(footage.videos.to(device))
        labels += [CLASSES.index(label) for label in footage.labels]
    return torch.cat(videos), torch.tensor(labels, device=device)


@dataclass(frozen=True)
class Evaluation:
    """Samples for prompts over unseen creatures, and what the recognisers said of them."""

    prompts: tuple[str, ...]
    asked: tuple[str, ...]
    said: dict[str, tuple[str, ...]]
    """By recogniser."""
    reference_images: Float[Tensor, "N H W 3"]
    videos: Float[Tensor, "N T H W 3"]

    def accuracy(self, name: str) -> float:
        """Share of the samples in which a recogniser named what was asked for."""
        pairs = zip(self.asked, self.said[name], strict=True)
        return sum(a == b for a, b in pairs) / len(self.asked)

    def report(self) -> dict:
        """Scores as plain numbers: overall and by action, and what was mistaken for what."""
        scores: dict = {"prompts": len(self.asked)}
        for name, said in self.said.items():
            right: dict[str, list[bool]] = defaultdict(list)
            mistakes: dict[str, int] = defaultdict(int)
            for asked, answer in zip(self.asked, said, strict=True):
                right[asked].append(asked == answer)
                if asked != answer:
                    mistakes[f"{asked} seen as {answer}"] += 1
            scores[name] = {
                "all": self.accuracy(name),
                "by_action": {a: sum(r) / len(r) for a, r in sorted(right.items())},
                "mistakes": dict(sorted(mistakes.items(), key=lambda item: -item[1])),
            }
        return scores

    def write(self, folder: Path, *, rows: int = 20, **settings: float) -> dict:
        """Write `evaluation.json` and `evaluation.png`: the first samples, a row each.

        Returns the content of `evaluation.json`: the report, and the settings that are given.
        """
        about = {**self.report(), **settings}
        write_json(folder / "evaluation.json", about)
        captions = [
            f"{prompt.removeprefix('a ')} / {'/'.join(s[k] for s in self.said.values())}"
            for k, prompt in enumerate(self.prompts[:rows])
        ]
        write_rows(
            folder / "evaluation.png", self.reference_images[:rows], self.videos[:rows],
            captions=captions, every=1, zoom=1,
        )  # fmt: skip
        return about


def evaluate(
    prior: PriorTiny,
    recognisers: dict[str, Recogniser],
    actors: Sequence[Actor],
    *,
    prompts: int = 400,
    steps: int = 40,
    scale: float = 3.0,
    seed: int = 0,
) -> Evaluation:
    """Ask for an action of each creature in turn, sample, and let the recognisers name it.

    Only the reference image and the words go in; nothing of the true motion does.
    """
    tiny = prior.network.settings
    generator = torch.Generator().manual_seed(seed)
    turns: dict[int, int] = defaultdict(int)
    words, conditions, reference_images = [], [], []
    for k in range(prompts):
        place = k % len(actors)
        actor = actors[place].to(prior.device)
        actions = tuple(dict.fromkeys(actor.actions))
        action = actions[(turns[place] + place) % len(actions)]
        turns[place] += 1
        footage = film_actor(
            actor, 1, generator=generator, tiny=tiny, cameras=CameraSettings(), vary=False,
            clips=[actor.actions.index(action)],
        )  # fmt: skip
        words.append(Words(creature_word(actor.species), action, NONE))
        reference_images.append(footage.reference_images[0].to(prior.device).float() / 255.0)
        conditions.append(prior.condition_of(words[-1], reference_image=reference_images[-1]))
    videos = []
    for start in range(0, prompts, _BATCH):
        some = conditions[start : start + _BATCH]
        shape = (len(some), tiny.frames, tiny.height, tiny.width, 3)
        noise = torch.randn(shape, generator=generator).to(prior.device)
        clean = sample_latents(prior, some, noise, steps=steps, scale=scale)
        videos.append(prior.decode(clean))
    made = torch.cat(videos)
    said = {name: tuple(recogniser.names(made)) for name, recogniser in recognisers.items()}
    prompts_said = tuple(f"a {w.creature} {w.action.replace('_', ' ')}" for w in words)
    return Evaluation(
        prompts_said, tuple(w.action for w in words), said, torch.stack(reference_images), made
    )
