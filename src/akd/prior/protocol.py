"""`VideoPrior`: what a video diffusion model must offer so that motion can be distilled out of it.

Time runs from 0 (the clean video) to 1 (nothing but noise), for every model alike; a model with
numbered steps maps it to its own. A noisy latent is z_t = alpha(t) z + sigma(t) e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.scene.settings import SceneStyle


@dataclass(frozen=True)
class KnownFrames:
    """Frames of a video that are given: to continue it, or to fill in between keyframes."""

    video: Float[Tensor, "T H W 3"]
    """sRGB 0..1; what is not known does not matter."""
    mask: Bool[Tensor, "T"]
    """Which frames are given."""


@dataclass(frozen=True)
class Condition:
    """Condition of a prediction: text, and a reference image if the model takes one."""

    text: Float[Tensor, "L D"]
    """Embedding of the prompt: L tokens of width D, whatever they are to the model."""
    reference_image: Float[Tensor, "H W 3"] | None = None
    """The character in its neutral pose, from the camera of the video; sRGB 0..1."""
    extra: dict[str, Tensor] = field(default_factory=dict)
    """Whatever else the model's own encoder made of the prompt, such as masks or latents."""
    known: KnownFrames | None = None
    """Frames that the video must hold, for a model that takes them: see `with_known`."""


@runtime_checkable
class VideoPrior(Protocol):
    """A video diffusion model with frozen weights, its predictions brought to the clean estimate.

    Latents have a batch dimension in front; the rest of their shape is the model's own.

    Three members are optional. `takes_known_frames` is true for a model whose `predict` honours
    `Condition.known`. `capturable` is true for one whose `condition`, `encode` and `predict` may
    run in a CUDA graph after two plain calls: they read no value back to the host and copy none to
    the device. `for_body(leg_length)` returns the model at the frame rate for a body, for one whose
    frames last longer the larger the body is.
    """

    @property
    def name(self) -> str:
        """Such as `tiny`."""
        ...

    @property
    def frames(self) -> int:
        """How many frames a video has."""
        ...

    @property
    def width(self) -> int:
        """Pixels."""
        ...

    @property
    def height(self) -> int:
        """Pixels."""
        ...

    @property
    def fps(self) -> float:
        """Frames a second."""
        ...

    @property
    def style(self) -> SceneStyle:
        """How the character must be rendered for this model."""
        ...

    @property
    def bound(self) -> float | None:
        """Clean latents lie within -bound..bound; None where there is no such bound."""
        ...

    @property
    def takes_reference_image(self) -> bool:
        """Whether a reference image is used."""
        ...

    @property
    def device(self) -> torch.device:
        """Where it runs; tensors given to it must be there."""
        ...

    def condition(
        self, prompt: str, *, reference_image: Float[Tensor, "H W 3"] | None = None
    ) -> Condition:
        """Encode the prompt and the reference image.

        Args:
            prompt: What the video should show.
            reference_image: The character in its neutral pose, sRGB 0..1, in the size of the video;
                given if `takes_reference_image`.

        Returns:
            The condition of one video.

        Raises:
            ValueError: The model does not understand the prompt.
        """
        ...

    def unconditioned(self, condition: Condition) -> Condition:
        """The negative condition of classifier-free guidance.

        Args:
            condition: What `condition` returned.

        Returns:
            The same condition without its words; the reference image and known frames stay.
        """
        ...

    def encode(self, video: Float[Tensor, "B T H W 3"]) -> Tensor:
        """Encode videos, differentiably.

        Args:
            video: sRGB 0..1, in the model's number of frames and size.

        Returns:
            Latents [B, ...].
        """
        ...

    def decode(self, latents: Tensor) -> Float[Tensor, "B T H W 3"]:
        """Decode latents.

        Args:
            latents: [B, ...], as `encode` returns them.

        Returns:
            Videos, sRGB, about 0..1.
        """
        ...

    def signal(self, t: Float[Tensor, "B"]) -> tuple[Float[Tensor, "B"], Float[Tensor, "B"]]:
        """The noise schedule.

        Args:
            t: Times from 0 (clean) to 1 (noise).

        Returns:
            alpha(t), the factor of the clean latents, and sigma(t), that of the noise.
        """
        ...

    def add_noise(self, latents: Tensor, noise: Tensor, t: Float[Tensor, "B"]) -> Tensor:
        """Noisy latents, alpha(t) z + sigma(t) e.

        Args:
            latents: Clean latents z [B, ...].
            noise: Standard normal noise e, of the same shape.
            t: Times from 0 to 1, one per row.

        Returns:
            Latents of the same shape.
        """
        ...

    def predict(
        self, latents: Tensor, t: Float[Tensor, "B"], conditions: Sequence[Condition]
    ) -> Tensor:
        """Estimate the clean latents, without guidance.

        Args:
            latents: Noisy latents [B, ...].
            t: Their times, one per row.
            conditions: Their conditions, one per row.

        Returns:
            The estimate, of the same shape. `akd.prior.estimate` converts predictions of noise,
            velocity and flow.
        """
        ...


def check_rows(latents: Tensor, t: Tensor, conditions: Sequence[Condition]) -> None:
    """Raise `ValueError` unless there is a time and a condition for each row of latents."""
    if not len(latents) == len(t) == len(conditions):
        raise ValueError(
            f"latents, t and conditions must agree on the batch: {len(latents)}, {len(t)}, "
            f"{len(conditions)}"
        )


def for_body(prior: VideoPrior, leg_length: float) -> VideoPrior:
    """The prior at its frame rate for a body with legs of `leg_length` metres."""
    fitted = getattr(prior, "for_body", None)
    return prior if fitted is None else fitted(leg_length)


def takes_known_frames(prior: VideoPrior) -> bool:
    """Whether the prior honours `Condition.known`."""
    return getattr(prior, "takes_known_frames", False)


def with_known(prior: VideoPrior, condition: Condition, known: KnownFrames | None) -> Condition:
    """A condition with frames that the video must hold.

    Raises:
        ValueError: The prior takes no known frames, or they are not of its size.
    """
    if known is None:
        return condition
    if not takes_known_frames(prior):
        raise ValueError(f"the prior {prior.name} takes no known frames")
    wanted = (prior.frames, prior.height, prior.width, 3)
    if known.video.shape != wanted or known.mask.shape != wanted[:1]:
        raise ValueError(
            f"known frames must be a video of shape {list(wanted)} and a mask of its frames, got "
            f"{list(known.video.shape)} and {list(known.mask.shape)}"
        )
    moved = KnownFrames(known.video.to(prior.device), known.mask.to(prior.device))
    return replace(condition, known=moved)
