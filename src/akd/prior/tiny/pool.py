"""`Pool`: rendered videos that training draws from, renewed while it runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.prior.tiny.actor import Actor
from akd.prior.tiny.film import Footage, film_actor
from akd.prior.tiny.settings import BodySettings, CameraSettings, TinySettings
from akd.prior.tiny.vocabulary import NONE, PLAN_WORDS, TOKENS

_MOST_ENDS = 3
"""Known frames at each end, at most."""


@dataclass(frozen=True)
class Batch:
    """A batch of training videos with their captions."""

    videos: Float[Tensor, "B T H W 3"]
    """-1..1."""
    reference_images: Float[Tensor, "B H W 3"]
    """-1..1."""
    tokens: Int[Tensor, "B 3"]
    """The caption."""
    labels: Int[Tensor, "B"]
    """Numbers of the classes given to the pool."""


class Pool:
    """A ring of `capacity` videos as bytes on a device, and the actors that refill it."""

    def __init__(
        self,
        capacity: int,
        tiny: TinySettings,
        cameras: CameraSettings,
        *,
        device: torch.device,
        seed: int,
        classes: Sequence[str] = (),
        videos_a_call: int = 24,
        recorded: float | None = None,
        bodies: BodySettings | None = None,
    ) -> None:
        self.tiny, self.cameras, self.device = tiny, cameras, device
        self.capacity, self.videos_a_call, self.recorded = capacity, videos_a_call, recorded
        self.bodies = bodies
        self.classes = tuple(classes)
        self.actors: list[Actor] = []
        self.count = 0
        """Videos that are there."""
        self.made = 0
        """Videos rendered so far."""
        self.seconds = 0.0
        """Time spent on rendering."""
        self._turn = 0
        self._generator = torch.Generator().manual_seed(seed)
        self._draw = torch.Generator(device).manual_seed(seed + 1)
        image = (tiny.height, tiny.width, 3)
        self._videos = self._empty(capacity, tiny.frames, *image)
        self._reference_images = self._empty(capacity, *image)
        self._tokens = torch.zeros(capacity, 4, dtype=torch.long, device=device)
        self._labels = torch.zeros(capacity, dtype=torch.long, device=device)

    def _empty(self, *shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.uint8, device=self.device)

    def add(self, actor: Actor) -> None:
        """Take an actor on, and film it at once."""
        self.actors.append(actor.to(self.device))
        self._film(self.actors[-1])

    def film_next(self) -> None:
        """Film the next actor in turn."""
        self._film(self.actors[self._turn % len(self.actors)])
        self._turn += 1

    def grow(self, feed: Iterator[Actor | None]) -> None:
        """Take on the actor that a feed has ready; where it has none, film the next one in turn."""
        actor = next(feed, None)
        if actor is not None:
            self.add(actor)
        else:
            self.film_next()

    def _film(self, actor: Actor) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        started = time.perf_counter()
        with torch.no_grad():
            footage = film_actor(
                actor, min(self.videos_a_call, self.capacity), generator=self._generator,
                tiny=self.tiny, cameras=self.cameras, tricks=bool(self.classes),
                bodies=self.bodies, recorded=self.recorded,
            )  # fmt: skip
        self._keep(actor, footage)
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        self.seconds += time.perf_counter() - started

    def _keep(self, actor: Actor, footage: Footage) -> None:
        count = len(footage.videos)
        places = (self.made + torch.arange(count)) % self.capacity
        plan = TOKENS.index(PLAN_WORDS.get(actor.plan, NONE))
        tokens = torch.tensor([(*words.numbers(), plan) for words in footage.words])
        labels = torch.zeros(count, dtype=torch.long)
        if self.classes:
            labels = torch.tensor([self.classes.index(label) for label in footage.labels])
        there = places.to(self.device)
        self._videos[there] = footage.videos.to(self.device)
        self._reference_images[there] = footage.reference_images.to(self.device)
        self._tokens[there] = tokens.to(self.device)
        self._labels[there] = labels.to(self.device)
        self.made += count
        self.count = min(self.capacity, self.count + count)

    def batch(
        self, size: int, *, balanced: bool = False, generator: torch.Generator | None = None
    ) -> Batch:
        """Videos at random, with a caption for each; by default from the pool's own generator.

        `balanced` draws rare classes more often, by the square root of how rare they are.
        """
        chosen = self.choose(size, balanced=balanced, generator=generator)
        return self.videos_of(chosen, generator=generator)

    def choose(
        self, size: int, *, balanced: bool = False, generator: torch.Generator | None = None
    ) -> Int[Tensor, "B"]:
        """Places of videos, at random: see `batch`."""
        if self.count == 0:
            raise ValueError("the pool is empty: film an actor first")
        draw = generator or self._draw
        if not balanced:
            return torch.randint(self.count, (size,), generator=draw, device=self.device)
        labels = self._labels[: self.count]
        rare = labels.bincount(minlength=len(self.classes)).clamp_min(1).rsqrt()
        return torch.multinomial(rare[labels], size, replacement=True, generator=draw)

    def videos_of(
        self, chosen: Int[Tensor, "B"], *, generator: torch.Generator | None = None
    ) -> Batch:
        """The videos at given places, with a random caption for each."""
        draw = generator or self._draw
        u = torch.rand(len(chosen), 3, generator=draw, device=self.device)
        tokens = caption(self._tokens[chosen], u)
        return Batch(
            self._videos[chosen].float() / 127.5 - 1.0,
            self._reference_images[chosen].float() / 127.5 - 1.0,
            tokens,
            self._labels[chosen],
        )


def caption(truth: Int[Tensor, "B 4"], u: Float[Tensor, "B 3"]) -> Int[Tensor, "B 3"]:
    """Random captions of videos whose species, action, manner and body plan are known.

    Half of them name the species, a quarter the body plan, a quarter only `a creature`; three in
    ten call a gallop running; one in ten keeps the manner to itself. `u` are random, 0..1.
    """
    species, action, manner, plan = truth.unbind(-1)
    nothing = torch.full_like(species, TOKENS.index(NONE))
    creature = torch.where(u[:, 0] < 0.5, species, torch.where(u[:, 0] < 0.75, plan, nothing))
    gallops = (action == TOKENS.index("gallop")) & (u[:, 1] < 0.3)
    action = torch.where(gallops, torch.full_like(action, TOKENS.index("run")), action)
    return torch.stack((creature, action, torch.where(u[:, 2] < 0.9, manner, nothing)), dim=-1)


def draw_known(
    rows: int, frames: int, share: float, *, generator: torch.Generator
) -> Bool[Tensor, "B T"]:
    """Masks of known frames for training, on the generator's device; a `share` of rows have any.

    Of these, a third is given up to half of the video from its start, as when a clip is continued;
    a third up to three frames at either end, as in between keyframes; a third single frames.
    At least one frame stays unknown.
    """
    device = generator.device
    u = torch.rand(6, rows, 1, generator=generator, device=device)
    at = torch.arange(frames, device=device)[None]

    def up_to(most: int, draw: Float[Tensor, "B 1"]) -> Tensor:
        return 1 + (draw * most).floor().clamp_max(most - 1)

    start = at < up_to(frames // 2, u[2])
    ends = (at < up_to(_MOST_ENDS, u[2])) | (at >= frames - up_to(_MOST_ENDS, u[3]))
    anywhere = torch.rand(rows, frames, generator=generator, device=device) < 0.4 * u[2]
    known = torch.where(u[1] < 1 / 3, start, torch.where(u[1] < 2 / 3, ends, anywhere))
    hidden = (u[4] * frames).floor().clamp_max(frames - 1) == at
    return known & (u[0] < share) & ~(known.all(1, keepdim=True) & hidden)
