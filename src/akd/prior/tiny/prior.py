"""`PriorTiny`: the small network behind the `VideoPrior` protocol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.math.resident import constant
from akd.math.threads import map_threads
from akd.prior import estimate
from akd.prior.protocol import Condition, check_rows
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.vocabulary import TOKENS, Words, read_prompt
from akd.scene.settings import SceneStyle


def cosine_signal(t: Float[Tensor, "B"]) -> tuple[Float[Tensor, "B"], Float[Tensor, "B"]]:
    """alpha = cos(pi t / 2), sigma = sin(pi t / 2): the cosine schedule, variance preserving.

    diffusers' `squaredcos_cap_v2` is the same with an offset of 0.008 and in numbered steps.
    """
    angle = 0.5 * math.pi * t
    return angle.cos(), angle.sin()


class PriorTiny:
    """A video diffusion model in pixels: latents are the videos themselves, scaled to -1..1."""

    name = "tiny"
    style = SceneStyle.ROLES
    takes_reference_image = True
    takes_known_frames = True
    bound = 1.0
    capturable = True

    def __init__(
        self,
        network: TinyNetwork,
        *,
        tokens: Sequence[str] = TOKENS,
        leg_length: float | None = None,
    ) -> None:
        self.network, self.tokens = network.eval().requires_grad_(False), tuple(tokens)
        settings = network.settings
        self.frames, self.width, self.height = settings.frames, settings.width, settings.height
        self.fps = settings.fps if leg_length is None else settings.rate(leg_length)
        self._texts: dict[Words, Tensor] = {}

    def for_body(self, leg_length: float) -> PriorTiny:
        """The same network at its frame rate for a body with legs of this length in metres."""
        return type(self)(self.network, tokens=self.tokens, leg_length=leg_length)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.network.no_reference.device

    @property
    def dtype(self) -> torch.dtype:
        """Precision of its weights."""
        return self.network.no_reference.dtype

    def condition(
        self, prompt: str, *, reference_image: Float[Tensor, "H W 3"] | None = None
    ) -> Condition:
        """Words of the closed vocabulary and a reference image (sRGB 0..1) of the video's size.

        Raises `ValueError`, which lists what is known, for an unknown action.
        """
        return self.condition_of(read_prompt(prompt, self.tokens), reference_image=reference_image)

    def condition_of(
        self, words: Words, *, reference_image: Float[Tensor, "H W 3"] | None = None
    ) -> Condition:
        """The same for words that have been read."""
        if reference_image is not None and reference_image.shape[:2] != (self.height, self.width):
            raise ValueError(
                f"reference_image must be {self.width} x {self.height} pixels, got "
                f"{reference_image.shape[1]} x {reference_image.shape[0]}"
            )
        if words not in self._texts:
            with torch.no_grad():
                tokens = torch.tensor([words.numbers(self.tokens)], device=self.device)
                self._texts[words] = self.network.text(tokens)[0]
        text = self._texts[words]
        return Condition(text, None if reference_image is None else reference_image.to(self.device))

    def unconditioned(self, condition: Condition) -> Condition:
        """The same character and known frames, nothing said of what it does."""
        silent = self.condition_of(Words(), reference_image=condition.reference_image)
        return replace(silent, known=condition.known)

    def encode(self, video: Float[Tensor, "B T H W 3"]) -> Float[Tensor, "B T H W 3"]:
        """Videos (sRGB 0..1) as latents in -1..1."""
        wanted = (self.frames, self.height, self.width, 3)
        if video.shape[1:] != wanted:
            raise ValueError(
                f"video must be of shape [B, {', '.join(map(str, wanted))}], got "
                f"{list(video.shape)}"
            )
        return 2.0 * video - 1.0

    def decode(self, latents: Float[Tensor, "B T H W 3"]) -> Float[Tensor, "B T H W 3"]:
        """Latents as videos, sRGB about 0..1."""
        return 0.5 * latents + 0.5

    def signal(self, t: Float[Tensor, "B"]) -> tuple[Float[Tensor, "B"], Float[Tensor, "B"]]:
        """alpha(t) and sigma(t)."""
        return cosine_signal(t)

    def add_noise(self, latents: Tensor, noise: Tensor, t: Float[Tensor, "B"]) -> Tensor:
        """alpha(t) z + sigma(t) e."""
        alpha, sigma = self.signal(t)
        return estimate.add_noise(latents, noise, alpha=alpha, sigma=sigma)

    def predict(
        self,
        latents: Float[Tensor, "B T H W 3"],
        t: Float[Tensor, "B"],
        conditions: Sequence[Condition],
    ) -> Float[Tensor, "B T H W 3"]:
        """The clean estimate, float32, one condition a row. No gradient passes.

        Known frames are used in place of the latents' and returned as they are. On the CPU rows
        are shared out between threads.
        """
        check_rows(latents, t, conditions)
        threads = torch.get_num_threads() if latents.device.type == "cpu" else 1
        each = math.ceil(len(latents) / max(1, min(len(latents), threads)))
        rows = [slice(k, k + each) for k in range(0, len(latents), max(1, each))]
        found = map_threads(
            lambda some: self._predict(latents[some], t[some], conditions[some]), rows
        )
        return found[0] if len(found) == 1 else torch.cat(found)

    @torch.no_grad()
    def _predict(
        self,
        latents: Float[Tensor, "B T H W 3"],
        t: Float[Tensor, "B"],
        conditions: Sequence[Condition],
    ) -> Float[Tensor, "B T H W 3"]:
        """The same for rows that go through the network together."""
        kind = self.dtype
        blank = latents.new_zeros(self.height, self.width, 3)
        images = [
            blank if c.reference_image is None else 2.0 * c.reference_image - 1.0
            for c in conditions
        ]
        has = constant(tuple(float(c.reference_image is not None) for c in conditions), t) > 0.0
        known, given = self._known(latents, conditions)
        if given is not None:
            latents = torch.where(known[..., None, None, None], given, latents)
        clean = self.network(
            latents.to(kind),
            t.to(latents.device),
            torch.stack([c.text for c in conditions]).to(kind),
            torch.stack(images).to(kind),
            has,
            known,
        ).float()
        return clean if given is None else torch.where(known[..., None, None, None], given, clean)

    def _known(
        self, latents: Float[Tensor, "B T H W 3"], conditions: Sequence[Condition]
    ) -> tuple[Bool[Tensor, "B T"], Float[Tensor, "B T H W 3"] | None]:
        """Which frames of each row are given, and the given latents where there are any."""
        mask = torch.zeros(latents.shape[:2], dtype=torch.bool, device=latents.device)
        if all(c.known is None for c in conditions):
            return mask, None
        given = torch.zeros_like(latents)
        for row, condition in enumerate(conditions):
            if condition.known is not None:
                mask[row] = condition.known.mask
                given[row] = self.encode(condition.known.video[None])[0]
        return mask, given
