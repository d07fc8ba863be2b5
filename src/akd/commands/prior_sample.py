"""`akd prior sample`: a video of a sentence, by any prior."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from akd.commands.errors import SEEDS, UsageError, check_ranges, usage_errors
from akd.commands.options import Device, Out, PriorName, Seed, load_file


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
    """What the video should show: a rigged character (glTF) for the tiny prior, an image for a
    large image-to-video model."""
    roles: Path | None = None
    """TOML file that corrects the roles of its joints, one `joint = "left hind foot"` per line."""
    weights: Path | None = None
    """Folder of weights, instead of the bundled ones or the hub's copy."""
    scale: float | None = None
    """Guidance scale; by default 3 for the tiny prior and 6 for others."""
    steps: int = 40
    """Denoising steps."""
    frames: int | None = None
    """Frames of a large prior's video; by default the number that it was trained for."""
    height: int | None = None
    """Height of a large prior's video in pixels."""
    width: int | None = None
    """Width of a large prior's video in pixels."""
    exactly: bool = False
    """Pass the prompt to a large prior as it is, without adding words on view, ground and style."""
    download: bool = False
    """Download the weights of a large prior if they are not on this machine."""
    seed: Seed = 0
    device: Device = "auto"

    def run(self) -> None:
        """Sample and write."""
        if self.out.suffix.lower() not in (".mp4", ".gif", ".png"):
            raise UsageError(f"--out must end in .mp4, .gif or .png, got {self.out}")
        check_ranges(self, steps=(1, 10_000), seed=SEEDS)
        from akd.api.sampling import CHARACTERS, check_reference, sample
        from akd.prior.choose import check_prior, is_tiny, prompt_for
        from akd.prior.source import PriorSource
        from akd.prior.tiny.vocabulary import read_prompt

        tiny, reference = is_tiny(self.prior), self.reference
        self._check_roles(tiny)
        source = PriorSource(
            self.prior, self.weights, self.frames, self.height, self.width, download=self.download
        )
        with usage_errors():
            asked = prompt_for(self.prior, self.prompt, weights=self.weights, exactly=self.exactly)
        if reference is not None and tiny and reference.suffix.lower() in CHARACTERS:
            reference = load_file(reference, up="y", roles=self.roles)
        with usage_errors(command=self):
            reference = check_reference(reference, self.prior, tiny=tiny)
            plan = check_prior(source, device=self.device)
            if not tiny:
                print(plan)
                print(f"asked: {asked}")
            made = sample(
                self.prompt, prior=source, reference=reference, scale=self.scale,
                steps=self.steps, exactly=self.exactly, seed=self.seed, device=self.device,
            )  # fmt: skip
        for note in made.notes:
            print(f"akd: {note}", file=sys.stderr)
        video = made.video
        video.write(self.out)
        said = read_prompt(made.asked) if tiny else self.prompt
        frames, height, width, _ = video.frames.shape
        print(f"{self.out}: {said}, {frames} frames of {width} x {height}")

    def _check_roles(self, tiny: bool) -> None:
        if self.roles is None:
            return
        if self.reference is None:
            raise UsageError(
                "--roles needs --reference: it corrects roles of that character's joints"
            )
        if not tiny:
            raise UsageError(
                "--roles needs a character as --reference, which only the tiny prior takes"
            )
