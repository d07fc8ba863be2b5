"""`PriorDiffusers`: a large video model of diffusers behind `VideoPrior`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.prior.estimate import add_noise, clean_estimate
from akd.prior.large.families.base import Family
from akd.prior.large.folder import PipelineFolder
from akd.prior.large.text import Embedding, Padding, embed
from akd.prior.protocol import Condition, check_rows
from akd.scene.settings import SceneStyle


class PriorDiffusers:
    """A large model with frozen weights. Made by `load_planned`."""

    style = SceneStyle.TEXTURED
    bound = None

    def __init__(
        self,
        name: str,
        family: Family,
        folder: PipelineFolder,
        *,
        device: torch.device,
        cache: Path | None = None,
    ) -> None:
        self.name, self.family, self.folder = name, family, folder
        self.device, self.cache = device, cache
        size = family.parts.size
        self.frames, self.fps = size.frames, size.fps
        self.width, self.height = size.width, size.height
        self.takes_reference_image = family.takes_reference_image
        self._said: dict[str, list[Embedding]] = {}

    @property
    def dtype(self) -> torch.dtype:
        """Working precision."""
        return self.family.parts.dtype

    def condition(
        self, prompt: str, *, reference_image: Float[Tensor, "H W 3"] | None = None
    ) -> Condition:
        """Embeddings of the prompt and of no words, and the image's latents.

        The text encoder is loaded for this, unless the prompt was asked for before, and dropped.
        """
        if not prompt.strip():
            raise ValueError("a prompt must have words, got an empty one")
        if self.family.needs_reference_image and reference_image is None:
            raise ValueError(f"{self.name} animates an image: a reference image must be given")
        words, without = self.embeddings(prompt)
        extra = {"negative": without.text}
        if self.family.text.padding is Padding.MASKED:
            extra |= {"mask": words.mask, "negative_mask": without.mask}
        if reference_image is not None and self.takes_reference_image:
            extra |= self.family.encode_image(self.pixels(reference_image[None, None]))
        return Condition(words.text, reference_image, extra)

    def embeddings(self, prompt: str) -> list[Embedding]:
        """Of the prompt and of no words; a loop asks for the same words every time."""
        if prompt not in self._said:
            self._said[prompt] = embed(
                self.folder,
                [prompt, ""],
                self.family.text,
                device=self.device,
                dtype=self.dtype,
                cache=self.cache,
            )
        return self._said[prompt]

    def unconditioned(self, condition: Condition) -> Condition:
        """The same with the embedding of no words: a given image stays."""
        extra = dict(condition.extra)
        if "negative_mask" in extra:
            extra["mask"] = extra["negative_mask"]
        return Condition(extra["negative"], condition.reference_image, extra)

    def pixels(self, video: Float[Tensor, "B T H W 3"]) -> Float[Tensor, "B 3 T H W"]:
        """Videos as autoencoders take them: colours first, -1..1."""
        size = (self.height, self.width)
        if tuple(video.shape[2:4]) != size:
            raise ValueError(
                f"video must be {size[0]} x {size[1]} pixels for {self.name}, got "
                f"{video.shape[2]} x {video.shape[3]}"
            )
        return (video.to(self.device) * 2.0 - 1.0).permute(0, 4, 1, 2, 3)

    def encode(self, video: Float[Tensor, "B T H W 3"]) -> Tensor:
        """Latents, float32, in the family's layout."""
        if video.shape[1] != self.frames:
            raise ValueError(
                f"video must have {self.frames} frames for {self.name}, got {video.shape[1]}"
            )
        return self.family.encode(self.pixels(video))

    @torch.no_grad()
    def decode(self, latents: Tensor) -> Float[Tensor, "B T H W 3"]:
        """Videos of latents."""
        return self.family.decode(latents).permute(0, 2, 3, 4, 1) * 0.5 + 0.5

    def signal(self, t: Float[Tensor, "B"]) -> tuple[Float[Tensor, "B"], Float[Tensor, "B"]]:
        """alpha(t) and sigma(t)."""
        return self.family.parts.schedule.signal(t)

    def add_noise(self, latents: Tensor, noise: Tensor, t: Float[Tensor, "B"]) -> Tensor:
        """alpha(t) z + sigma(t) e."""
        alpha, sigma = self.signal(t)
        return add_noise(latents, noise, alpha=alpha, sigma=sigma)

    @torch.no_grad()
    def predict(
        self, latents: Tensor, t: Float[Tensor, "B"], conditions: Sequence[Condition]
    ) -> Tensor:
        """The clean estimate of each row, float32. The network is frozen: no graph is kept."""
        check_rows(latents, t, conditions)
        if not self.family.parts.settings.together and len(latents) > 1:
            rows = [
                self.predict(latents[i : i + 1], t[i : i + 1], conditions[i : i + 1])
                for i in range(len(latents))
            ]
            return torch.cat(rows)
        schedule = self.family.parts.schedule
        alpha, sigma = schedule.signal(t)
        with attention(self.device):
            found = self.family.predict(latents, schedule.model_time(t), conditions)
        clean = clean_estimate(
            found, latents.float(), schedule.prediction, alpha=alpha, sigma=sigma
        )
        return self.family.settle(clean, conditions)


def attention(device: torch.device) -> AbstractContextManager[object]:
    """On a GPU cuDNN's attention first, which is the fastest on Hopper; else PyTorch's choice."""
    if device.type != "cuda":
        return nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    order = [
        SDPBackend.CUDNN_ATTENTION,
        SDPBackend.FLASH_ATTENTION,
        SDPBackend.EFFICIENT_ATTENTION,
        SDPBackend.MATH,
    ]
    return sdpa_kernel(order, set_priority=True)
