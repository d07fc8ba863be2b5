"""`akd ground`: physics tracking of any clip."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from akd.base.constants import FPS_RANGE
from akd.commands.errors import SEEDS, ResultFailed, UsageError, check_ranges, say
from akd.commands.options import Clip, Keys, LoopFrame, Out, Roles, load_file


@dataclass(frozen=True)
class Ground:
    """Track a clip in physics: find the nearest motion that servos in the joints can produce.

    Writes the file with the clip added (or a BVH), torques and contact forces (physics.npz; per
    frame in view.npz, for `akd view`), metrics before and after (physics.json), videos of both
    (clip.mp4, grounded.mp4), a report with a 3D view (report.html), and the simulated body as MJCF
    and USD.

    Example: akd ground fox.glb --clip Walk -o out/ground
    """

    file: tyro.conf.Positional[Path]
    """A file with a clip: glTF, VRM, FBX, USD, .blend or BVH."""
    out: Out
    """Folder to write to."""
    clip: Clip = None
    asset: Path | None = None
    """Another rigged character of the same body plan: the clip is retargeted to it first."""
    height: float | None = None
    """Height of the character in metres, overriding the file's units and the size for which a
    walk is timed. How fast a body can step depends on it."""
    up: str = "auto"
    """The file's axis that points up: x, y or z. glTF states y; for BVH, which states none, auto
    takes the axis along which the legs hang."""
    roles: Roles = None
    iterations: int = 200
    """Iterations of the physics tracking."""
    fps: float = 30.0
    """Frames per second of the result. Keys lie on whole frames."""
    keys: Keys = "every"
    loop_frame: LoopFrame = "repeat"
    in_place: bool = False
    """Remove the root motion from the result, for a clip that walked in place."""
    simulator: Literal["warp", "newton"] = "warp"
    """akd's own, or Newton's semi-implicit solver (needs akd[newton])."""
    samples: int = 0
    """Number of variations (friction, masses, pushes) to simulate as well; writes samples.npz."""
    seed: int = 0
    """Seed of the variations."""

    def run(self) -> None:
        """Track, write, and say how it went."""
        check_ranges(
            self, iterations=(1, 100_000), fps=FPS_RANGE, samples=(0, 1_000_000), seed=SEEDS
        )
        from akd.api.grounding import FILES, ground
        from akd.base.lock import hold_lock
        from akd.commands.terminal import Terminal, name_clips
        from akd.export.character import clip_names
        from akd.physics.settings import TrackingSettings
        from akd.report.ground_page import grounding_notes

        if self.asset is None:
            source, target = (
                load_file(self.file, height=self.height, up=self.up, roles=self.roles),
                None,
            )
        else:
            source = load_file(self.file, up=self.up)
            target = load_file(self.asset, height=self.height, up="y", roles=self.roles)
        if self.up == "auto" and (up := source.units.up) != "y":
            say(f"{self.file.name}: its legs hang along -{up}, so {up} is up (--up y if not)")
        try:
            with hold_lock(self.out), Terminal() as terminal:
                grounding = ground(
                    source, self.clip, target=target, fps=self.fps, simulator=self.simulator,
                    settings=TrackingSettings(iterations=self.iterations), observer=terminal,
                )  # fmt: skip
                written = grounding.save(
                    self.out, in_place=self.in_place, keys=self.keys, loop_frame=self.loop_frame,
                    samples=self.samples, seed=self.seed,
                )  # fmt: skip
        except ImportError as error:
            raise UsageError(f"--simulator newton needs akd[newton]: {error}") from None
        except (ValueError, FloatingPointError) as error:
            said = str(error)
            raise UsageError(
                said if said.startswith(str(self.file)) else f"{self.file}: {said}"
            ) from None
        if (units := grounding.character.units) != (target or source).units:
            say(units.found_by)
        if self.out / "body.usda" not in written:
            print("body.usda was not written: that needs akd[usd]")
        for note in grounding_notes(grounding.result):
            say(f"note: {note}")
        before, after = grounding.result.before, grounding.result.after
        print(f"skate          {before.skate:.3f} -> {after.skate:.3f} body heights a second")
        print(f"contact        {before.contact:.0%} -> {after.contact:.0%} of the time")
        print(f"penetration    {before.deepest:.1%} -> {after.deepest:.1%} of the height at worst")
        print(f"tracking error {grounding.result.tracking.error:.1%} of the height")
        shown = "videos, forces" if any(p.suffix == ".mp4" for p in written) else "forces"
        # What is opened first comes last, where it is read.
        for path in sorted(written, key=lambda p: (p.suffix == ".html", p.stem == "motion")):
            if path.stem == "motion":
                name_clips(path, clip_names(grounding.character, [grounding.motion]))
            elif path.suffix == ".html":
                say(f"{path}: {shown} and numbers; open in a browser")
            else:
                say(f"{path}: {FILES.get(path.name, 'video')}")
        name, metrics = clip_names(grounding.character, [grounding.motion])[0], grounding.metrics
        if grounding.kept_clip is not None:
            raise ResultFailed(f"{name!r}: failed: {grounding.kept_clip}; use the clip as it was")
        fails = metrics["grounded"].fails
        checks = f"it fails: {'; '.join(fails)}" if fails else "it passes all checks"
        say(
            f"use {name!r}: score {metrics['clip'].score:.2f} -> {metrics['grounded'].score:.2f}; "
            f"{checks}"
        )
