"""`akd prior sample`: a video of a sentence, by any prior."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from akd.commands.errors import SEEDS, UsageError, check_ranges, input_file, usage_errors
from akd.commands.options import Device, Out, PriorName, load_file

if TYPE_CHECKING:
    from torch import Tensor

    from akd.prior.protocol import VideoPrior
    from akd.prior.tiny.prior import PriorTiny

IMAGES = (".png", ".jpg", ".jpeg", ".webp")
CHARACTERS = (".glb", ".gltf")


@dataclass(frozen=True)
class PriorSample:
    """Sample a video from a prior.

    Example: akd prior sample "a fox walking" -o fox.mp4
    """

    prompt: tyro.conf.Positional[str]
    """What to show, such as "a fox walking"."""
    out: Out = Path("sample.mp4")
    """The .mp4, .gif or .png to write."""
    prior: PriorName = "tiny"
    reference: Path | None = None
    """What the video should show: for the tiny prior a rigged character (glTF), for a large
    image-to-video model, an image."""
    roles: Path | None = None
    """TOML file that corrects the roles of its joints, one `joint = "left hind foot"` per line."""
    weights: Path | None = None
    """Folder of weights; those of the package, or of the hub's cache, if left out."""
    scale: float | None = None
    """Guidance scale; by default 3 for the tiny prior and 6 for others."""
    steps: int = 40
    """Denoising steps."""
    frames: int | None = None
    """Of a large prior's video; its own number if left out, and so for height and width."""
    height: int | None = None
    width: int | None = None
    exactly: bool = False
    """Pass the prompt to a large prior as it is, without words about view, ground and style."""
    download: bool = False
    """Fetch the weights of a large prior that is not on this machine."""
    seed: int = 0
    device: Device = "auto"

    def run(self) -> None:
        """Sample and write."""
        if self.out.suffix.lower() not in (".mp4", ".gif", ".png"):
            raise UsageError(f"--out must end in .mp4, .gif or .png, got {self.out}")
        check_ranges(self, steps=(1, 10_000), seed=SEEDS)
        from akd.prior.choose import check_prior, choose_prior, is_tiny, prompt_for
        from akd.prior.source import PriorSource

        tiny = is_tiny(self.prior)
        source = PriorSource(
            self.prior, self.weights, self.frames, self.height, self.width, download=self.download
        )
        with usage_errors():
            asked = prompt_for(self.prior, self.prompt, weights=self.weights, exactly=self.exactly)
            self._check_reference(tiny)
            plan = check_prior(source, device=self.device)
            if not tiny:
                print(plan)
                print(f"asked: {asked}")
            prior = choose_prior(source, device=self.device)
        self._sample(prior, asked, tiny=tiny)

    def _sample(self, prior: VideoPrior, asked: str, *, tiny: bool) -> None:
        import torch

        from akd.prior.sample import sample_videos
        from akd.prior.tiny.prior import PriorTiny
        from akd.prior.tiny.vocabulary import read_prompt
        from akd.scene.video import Video

        image = None
        if self.reference is not None and isinstance(prior, PriorTiny):
            image, leg = self._character(prior)
            prior = prior.for_body(leg)
        elif self.reference is not None:
            if not prior.takes_reference_image:
                raise UsageError(f"--reference: {prior.name} takes words alone, no image")
            image = read_image(self.reference, height=prior.height, width=prior.width)
        with usage_errors():
            condition = prior.condition(
                asked, reference_image=None if image is None else image.to(prior.device)
            )
        scale = self.scale if self.scale is not None else (3.0 if tiny else 6.0)
        video = sample_videos(
            prior, [condition], generator=torch.Generator().manual_seed(self.seed),
            steps=self.steps, scale=scale,
        )  # fmt: skip
        Video(video[0].float().cpu(), prior.fps).write(self.out)
        said = read_prompt(asked) if tiny else self.prompt
        print(f"{self.out}: {said}, {prior.frames} frames of {prior.width} x {prior.height}")

    def _check_reference(self, tiny: bool) -> None:
        """What can be said of `--reference` and `--roles` before anything is read."""
        if self.reference is None:
            if self.roles is not None:
                raise UsageError(
                    "--roles needs --reference: it is about the joints of that character"
                )
            return
        wanted, what = (CHARACTERS, "a rigged character") if tiny else (IMAGES, "an image")
        if self.reference.suffix.lower() not in wanted:
            raise UsageError(
                f"--reference must be {what} ({', '.join(wanted)}) for the prior {self.prior}, got "
                f"{self.reference}"
            )
        if self.roles is not None and not tiny:
            raise UsageError("--roles is about a rigged character, which only the tiny prior takes")
        input_file(self.reference)
        if not tiny:
            read_image(self.reference, height=1, width=1)

    def _character(self, prior: PriorTiny) -> tuple[Tensor, float]:
        """The reference image of the character, and the length of its legs."""
        from akd.motion.actions import action_label
        from akd.motion.feet import leg_length
        from akd.prior.tiny.bodies import check_body
        from akd.prior.tiny.reference_image import reference_image_of

        assert self.reference is not None
        character = load_file(self.reference, up="y", roles=self.roles)
        if warning := check_body(character.anatomy, action_label(self.prompt), prior.tokens):
            print(f"akd: {self.reference}: {warning}", file=sys.stderr)
        if character.mesh is None:
            raise UsageError(f"{self.reference}: has a skeleton but no surface to be seen")
        leg = leg_length(character, character.control_rig)
        return reference_image_of(character, prior.network.settings), leg


def read_image(path: Path, *, height: int, width: int) -> Tensor:
    """An image file as [H, W, 3], sRGB 0..1, cut about its middle to the shape and resized."""
    import numpy as np
    import torch
    from PIL import Image, ImageOps

    from akd.asset.surface import read_image as read_pixels

    image = Image.fromarray(read_pixels(path)).convert("RGB")
    fitted = ImageOps.fit(image, (width, height))
    return torch.from_numpy(np.asarray(fitted, dtype=np.float32) / 255.0)
