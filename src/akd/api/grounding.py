"""`ground`: any clip tracked by a physics simulation."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch

from akd.api.clips import Clip, check_fps, check_reach, check_size, find_motion
from akd.api.loading import loaded
from akd.api.planting import planted_if_better
from akd.asset.asset import AssetError
from akd.base.observer import Observer
from akd.export.bvh import write_bvh
from akd.export.character import write_motions
from akd.export.clip_files import key_motions
from akd.export.mjcf import write_mjcf
from akd.export.settings import KeyChoice, KeySettings, LoopFrame
from akd.metrics.measures import Measures
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.pace import sized_for_walk
from akd.metrics.recognise.recogniser import find_recogniser
from akd.metrics.selection import Criteria, lowered
from akd.motion.actions import action_label
from akd.motion.motion import Motion
from akd.motion.retargeting.retarget import retarget
from akd.physics import ground as physics
from akd.physics.ground import Grounded
from akd.physics.samples import simulate_samples
from akd.physics.settings import TrackingSettings
from akd.report.ground_page import write_ground_page
from akd.report.results import frame_range
from akd.report.scene3d import scene3d
from akd.report.view_data import ContactForces, ViewData
from akd.rig.character import Character
from akd.scene.film import film_motion

Simulator = Literal["warp", "newton"]

_VIDEO_SIZE = (480, 270)
"""The page shows videos at 16:9."""
FILES = {
    "motion.glb": "your file with the grounded clip",
    "motion.bvh": "the grounded clip",
    "physics.npz": "states, torques and contact forces",
    "physics.json": "all numbers",
    "view.npz": "for akd view",
    "body.xml": "the body for MuJoCo",
    "body.usda": "the body as USD",
    "samples.npz": "rollouts under other conditions",
}
"""What each file is, for the page and the command line."""


@dataclass(frozen=True)
class Grounding:
    """A clip that was tracked by physics."""

    character: Character
    """At the height that was simulated: where none was given, a walk may be timed for a smaller
    body (`character.units.found_by` says so)."""
    clip: Motion
    """What was tracked."""
    result: Grounded
    """Controls, torques, contact forces, and measures before and after."""
    fps: float
    metrics: dict[str, MotionMetrics]
    """Of the clip, with the travel that its feet imply, and of the grounded motion, by `clip` and
    `grounded`."""
    kept_clip: str | None
    """Why to keep the clip as it was: what physics made worse, or that the simulation diverged."""

    @property
    def motion(self) -> Motion:
        """The grounded motion."""
        return replace(self.result.motion, name=f"{self.clip.name} (grounded)")

    def save(
        self,
        out: str | Path,
        *,
        in_place: bool = False,
        keys: KeyChoice = "every",
        loop_frame: LoopFrame = "repeat",
        samples: int = 0,
        seed: int = 0,
    ) -> list[Path]:
        """Write the clip, the physics data, the body and a report to a folder.

        Args:
            out: The folder: `motion.glb` (or `motion.bvh`), `physics.npz`, `physics.json`,
                `view.npz` (contact forces a frame, for `akd view`), `body.xml` (MJCF),
                `body.usda` (with akd[usd]), `clip.mp4` and `grounded.mp4` (where there is a
                skin) and `report.html`.
            in_place: Remove the root motion again, for a clip that walked in place.
            keys: As in `Animation.save`.
            loop_frame: As in `Animation.save`.
            samples: Number of variations of friction, masses and pushes to simulate as well, for
                `samples.npz`.
            seed: Of the variations.

        Returns:
            The files that were written.
        """
        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        motion, rig = self.motion, self.character.control_rig
        if in_place:
            motion = replace(motion, pose=rig.to_pose(physics.take_travel_out(self.result)))
        settings = KeySettings(self.fps, keys, loop_frame)
        motion = key_motions(self.character, {"motion": motion}, settings)["motion"]
        self.result.save(out)
        ViewData(forces=ContactForces.of(self.result)).write(out / "view.npz")
        written = [out / "physics.npz", out / "physics.json", out / "view.npz"]
        if self.character.asset.document is not None:
            written.append(out / "motion.glb")
            write_motions(self.character, [motion], written[-1], keys=keys)
        else:
            written.append(out / "motion.bvh")
            scale = self.character.units.units_per_metre
            write_bvh(motion, written[-1], fps=self.fps, scale=scale)
        tracking = self.result.tracking
        body, parameters = self.result.character.body, tracking.parameters
        written.append(out / "body.xml")
        write_mjcf(body, parameters, written[-1], clip=(tracking.rollout[0], tracking.targets[0]))
        try:
            from akd.export.usd_body import write_usd_body

            write_usd_body(body, parameters, out / "body.usda")
            written.append(out / "body.usda")
        except ImportError:
            pass  # akd[usd] is not installed
        if samples:
            generator = torch.Generator().manual_seed(seed)
            made = simulate_samples(body, self.result.tracking, samples, generator=generator)
            made.save(out / "samples.npz")
            written.append(out / "samples.npz")
        return [*written, *self._write_report(out, written, motion)]

    def _write_report(self, out: Path, written: Sequence[Path], keyed: Motion) -> list[Path]:
        """The page, with links to what was written; videos and a 3D view where there is a skin."""
        body, tracking = self.result.character.body, self.result.tracking
        name, file = self.clip.name, self.character.asset.path
        rig, height = self.character.control_rig, self.character.height
        mass = f"{body.mass:,.0f}" if body.mass >= 100 else f"{body.mass:.3g}"
        about = (
            f"{file.name}, clip {name!r}. The grounded clip: "
            + frame_range(rig, keyed, height=height, fps=self.fps),
            f"{len(body)} parts, {mass} kg, {body.height:.3g} m high; "
            f"{len(tracking.targets)} substeps of {1000 * tracking.parameters.step:.3g} ms, "
            f"{len(tracking.losses) - 1} iterations",
        )
        videos, images, scene = {}, {}, ""
        path = out / "report.html"
        with tempfile.TemporaryDirectory() as folder:
            if self.character.mesh is not None:
                motions = {"clip": self.clip, "grounded": self.result.motion}
                for kind, motion in motions.items():
                    video = film_motion(self.character, motion, size=_VIDEO_SIZE)
                    videos[kind] = video.write_mp4(out / f"{kind}.mp4")
                    images[f"{kind}, six frames"] = video.write_strip(Path(folder) / f"{kind}.png")
                scene = scene3d(self.character, motions)
            title = f"{name or file.stem} (grounded)"
            write_ground_page(
                path, self.result, title=title, about=about, videos=videos, scene=scene,
                images=images, files={n: FILES[n] for n in FILES if out / n in written},
                fps=self.fps, metrics=self.metrics, kept_clip=self.kept_clip,
            )  # fmt: skip
        return [*videos.values(), path]


def ground(
    character: Character | str | Path,
    clip: Clip = None,
    *,
    target: Character | str | Path | None = None,
    fps: float = 30.0,
    settings: TrackingSettings | None = None,
    simulator: Simulator = "warp",
    observer: Observer | None = None,
) -> Grounding:
    """Find the motion nearest to a clip that a body with servos in its joints can perform.

    Args:
        character: Character with the clip: what `load` returned, or a glTF or BVH file.
        clip: A motion, or a clip's name; may be omitted if there is only one clip.
        target: Another character of the same body plan: the clip is retargeted first.
        fps: Frames per second of the result.
        settings: Settings of the tracking.
        simulator: akd's own (`warp`), or Newton's semi-implicit solver (`newton`).
        observer: Receives progress, and may cancel.

    Returns:
        The grounded motion with its physics data. `save` writes the files. A walk of the
        file that is too fast for its body is simulated at the size it is timed for, unless the
        height was given.

    Raises:
        AssetError: The file cannot be read, or has no body.
        ValueError: There is no such clip, or the body lies on the ground.
    """
    check_fps(fps)
    source = loaded(character)
    motion = find_motion(source, clip)
    if target is not None:
        other = loaded(target)
        motion, source = retarget(source, motion, other, fps=fps), other
    if source.anatomy.body.root < 0:
        raise AssetError(f"{source.asset.path}: has no body")
    check_size(source)
    check_reach(source, motion)
    if not isinstance(clip, Motion):
        source, motion = sized_for_walk(source, motion)
    if simulator == "newton":
        from akd.physics.newton_simulator import NewtonSimulator as Simulates
    else:
        from akd.physics.simulator import WarpSimulator as Simulates
    observer = observer or Observer()
    observer.begin("physics")
    result = physics.ground(
        source.control_rig, source.body_mesh, motion, fps=fps, action=action_label(motion.name),
        settings=settings, make_simulator=Simulates,
        progress=lambda i, n, loss: observer.step(min(i + 1, n), n, {"loss": loss}),
    )  # fmt: skip
    plants = settings is None or settings.plant
    result, metrics, kept = _judged(source, motion, result, plants=plants)
    return Grounding(source, motion, result, fps, metrics, kept)


def _judged(
    character: Character, clip: Motion, result: Grounded, *, plants: bool
) -> tuple[Grounded, dict[str, MotionMetrics], str | None]:
    """What physics made of a clip, with its feet planted again if it fails a condition and that is
    better; the metrics of both; and why the clip is better, None where it is not."""
    rig, chooser = character.control_rig, find_recogniser("a")
    measures = Measures(character, action_label(clip.name))

    def criteria(motion: Motion) -> Criteria:
        return Criteria.of(measures, motion, chooser)

    given = rig.to_pose(result.character.control_pose(result.clip, result.controls))
    before, after = criteria(replace(result.motion, pose=given)), criteria(result.motion)
    worse = "the simulation diverged; this is its last good result"
    if not result.tracking.failed:
        if plants:
            result, after = planted_if_better(character, result, after, criteria)
        worse = lowered(before, after)
    return result, {"clip": before.metrics, "grounded": after.metrics}, worse
