"""`Animation`: what `animate` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from akd.api.request import Request
from akd.base.files import json_hash
from akd.export.settings import KeyChoice, KeySettings, LoopFrame
from akd.metrics.motion import MotionMetrics
from akd.motion.grid import CLIP_FPS
from akd.motion.motion import Motion
from akd.physics.ground import Grounded
from akd.rig.character import Character


@dataclass(frozen=True)
class Animation:
    """A distilled motion, with its metrics and history."""

    request: Request
    prior: str
    """Name of the video model."""
    start: Motion
    """Where the search began: the neutral pose, moving over the ground."""
    motion: Motion
    """The distilled motion; of an action that is no gait, the fit to a sampled video where that has
    the higher selection score."""
    grounded: Grounded | None
    """The motion tracked by physics, where that was asked for."""
    kept_distilled: str | None
    """What physics made worse, if that is why `final` is the distilled motion; otherwise None."""
    history: list[dict[str, float]]
    """Loss and its terms at every iteration."""
    notes: tuple[str, ...]
    """For the user: what to check, and what went wrong and how it was handled."""
    selection_scores: tuple[float, ...]
    """Of each finalist, and then of each one's fit where fits compete with what distillation makes
    of them; the one with the highest was kept."""
    metrics: dict[str, MotionMetrics]
    """Of `start`, `motion` and, where there is one, `grounded`."""
    lead: float = 0.0
    """Seconds at its beginning that repeat the end of the motion that it continues."""

    @property
    def character(self) -> Character:
        """The animated character."""
        return self.request.character

    @property
    def best(self) -> str:
        """Which clip to use: `grounded`, unless physics lowered the result."""
        return "motion" if self.grounded is None or self.kept_distilled else "grounded"

    @property
    def final(self) -> Motion:
        """The clip to use."""
        return self.motions()[self.best]

    def motions(self) -> dict[str, Motion]:
        """The clips to write.

        Returns:
            `motion` and, if there is one, `grounded`: the one to use first, because Blender and
            most viewers show the first clip of a file.
        """
        clips = {"motion": self.motion}
        if self.grounded is not None:
            # Cut here, so that the suffix is not cut off by the limit on a clip's name.
            name = f"{self.request.prompt[:48]} (grounded)"
            clips["grounded"] = replace(self.grounded.motion, name=name)
        return {self.best: clips[self.best], **clips}

    def clip_names(self) -> dict[str, str]:
        """Names of the clips in `motion.glb`.

        Returns:
            Names by the keys of `motions`: cut to 60 characters, and numbered if the file already
            has a clip of that name.
        """
        from akd.export.character import clip_names

        motions = self.motions()
        names = clip_names(self.character, list(motions.values()))
        return dict(zip(motions, names, strict=True))

    def provenance(self) -> dict[str, Any]:
        """Provenance of the clip.

        Returns:
            Prior, seed and a hash of the run, for the clip's `extras`.
        """
        return {
            "prior": self.prior,
            "seed": self.request.seed,
            "run": json_hash(self.request.job())[:16],
        }

    def save(
        self,
        out: str | Path,
        *,
        formats: Sequence[str] = ("glb",),
        in_place: bool = False,
        keys: KeyChoice = "every",
        loop_frame: LoopFrame = "repeat",
    ) -> list[Path]:
        """Write `motion.glb`, videos, `metrics.json` and `report.html` to a folder.

        Args:
            out: The folder.
            formats: Out of glb, bvh, usd and fbx; `motion.glb` is always written.
            in_place: Remove the root motion from the clips; videos and metrics keep it.
            keys: Keys of the GLB on `every` frame, or `reduced` to those that keep every joint
                within 1e-3 body heights.
            loop_frame: The last frame of a loop: `repeat` the first, or `omit` it.

        Returns:
            The files that were written.
        """
        from akd.report.results import write_results

        settings = KeySettings(self.request.fps or CLIP_FPS, keys, loop_frame)
        return write_results(self, Path(out), formats=formats, in_place=in_place, keys=settings)
