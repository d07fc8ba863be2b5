"""`sample`: a video of a sentence, by any prior."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image, ImageOps
from torch import Tensor

from akd.api.loading import loaded
from akd.asset.asset import AssetError
from akd.asset.surface import read_image as read_pixels
from akd.base.cache import cache_folder
from akd.motion.actions import action_label
from akd.motion.feet import leg_length
from akd.prior.choose import choose_prior, is_tiny, prompt_for
from akd.prior.protocol import VideoPrior, for_body
from akd.prior.sample import sample_videos
from akd.prior.source import PriorSource
from akd.prior.tiny.bodies import check_body
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.reference_image import reference_image_of
from akd.rig.character import Character
from akd.scene.video import Video

CHARACTERS = (".glb", ".gltf")
IMAGES = (".png", ".jpg", ".jpeg", ".webp")
"""What a reference may be: for the tiny prior, and for large ones."""


@dataclass(frozen=True)
class Sampled:
    """A video that a prior made."""

    video: Video
    asked: str
    """The text that the prior was given."""
    notes: tuple[str, ...]
    """For the user: what the prior never saw."""


def sample(
    prompt: str,
    *,
    prior: VideoPrior | PriorSource | str | Path = "tiny",
    reference: Character | str | Path | None = None,
    scale: float | None = None,
    steps: int = 40,
    exactly: bool = False,
    seed: int = 0,
    device: str | torch.device = "auto",
) -> Sampled:
    """Sample a video from a prior.

    Args:
        prompt: What to show, such as "a fox walking".
        prior: As for `animate`.
        reference: What the video should show: for the tiny prior a rigged character, for a model
            that takes an image, an image file.
        scale: Guidance scale; by default 3 for the tiny prior and 6 for others.
        steps: Denoising steps.
        exactly: Pass the prompt to a large prior as it is, without words about view, ground and
            style.
        seed: Of the noise.
        device: `auto`, `cpu`, `cuda` or `cuda:1`.

    Returns:
        The video, the text that the prior was given, and notes.

    Raises:
        AssetError: The character cannot be read, or has no surface.
        ValueError: The prompt, the prior or the reference cannot be used; before any weights are
            read where the prior is given by name.
    """
    source = PriorSource(prior) if isinstance(prior, str | Path) else prior
    if isinstance(source, PriorSource):
        asked = prompt_for(source.name, prompt, weights=source.weights, exactly=exactly)
        shown = check_reference(reference, str(source.name), tiny=is_tiny(source.name))
        model = choose_prior(source, device=device, cache=cache_folder() / "embeddings")
    else:
        asked, model = prompt, source
        shown = check_reference(reference, source.name, tiny=isinstance(source, PriorTiny))
    image, notes = None, ()
    if isinstance(model, PriorTiny) and isinstance(shown, Character):
        if warning := check_body(shown.anatomy, action_label(prompt), model.tokens):
            notes = (f"{shown.asset.path}: {warning}",)
        image = reference_image_of(shown, model.network.settings)
        model = for_body(model, leg_length(shown, shown.control_rig))
    elif isinstance(shown, Path):
        if not model.takes_reference_image:
            raise ValueError(f"reference: {model.name} takes no image, only text")
        image = _read_image(shown, height=model.height, width=model.width)
    condition = model.condition(
        asked, reference_image=None if image is None else image.to(model.device)
    )
    if scale is None:
        scale = 3.0 if isinstance(model, PriorTiny) else 6.0
    made = sample_videos(
        model, [condition], generator=torch.Generator().manual_seed(seed), steps=steps,
        scale=scale,
    )  # fmt: skip
    return Sampled(Video(made[0].float().cpu(), model.fps), asked, notes)


def check_reference(
    given: Character | str | Path | None, prior: str, *, tiny: bool
) -> Character | Path | None:
    """The character or the image, as far as it can be checked before the prior is loaded."""
    if given is None:
        return None
    wanted, what = (CHARACTERS, "a rigged character") if tiny else (IMAGES, "an image")
    path = given.asset.path if isinstance(given, Character) else Path(given)
    fits = tiny if isinstance(given, Character) else path.suffix.lower() in wanted
    if not fits:
        raise ValueError(
            f"reference must be {what} ({', '.join(wanted)}) for the prior {prior}, got {path}"
        )
    if not tiny:
        _read_image(path, height=1, width=1)
        return path
    character = loaded(given, up="y")
    if character.mesh is None:
        raise AssetError(f"{path}: has a skeleton but no surface to be seen")
    return character


def _read_image(path: Path, *, height: int, width: int) -> Float[Tensor, "H W 3"]:
    """An image file, sRGB 0..1, cut about its middle to the shape and resized."""
    image = Image.fromarray(read_pixels(path)).convert("RGB")
    fitted = ImageOps.fit(image, (width, height))
    return torch.from_numpy(np.asarray(fitted, dtype=np.float32) / 255.0)
