"""`fit`: a character's joints follow a video, or a sequence of meshes or point clouds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from akd.api.animatable import animatable
from akd.api.fit_inputs import ViewFiles, draw_points, observe, points_in_metres
from akd.api.grounding import Grounding, ground
from akd.api.rigging import rig
from akd.base.observer import Observer
from akd.export.settings import KeyChoice, KeySettings, LoopFrame
from akd.fit.ground_plane import ground_height
from akd.fit.losses import LossTerm
from akd.fit.observation import Observation
from akd.fit.points_fit import fit_points
from akd.fit.sequence import PointSequence, is_sequence, read_sequence
from akd.fit.settings import FitSettings
from akd.fit.style_match import colours_agree
from akd.fit.video_fit import VideoFit, fit_video, show_over
from akd.fit.view_search import search_views
from akd.motion.motion import Motion
from akd.physics.settings import TrackingSettings
from akd.posespace.judge import implausibility
from akd.posespace.loss import pose_prior
from akd.posespace.model import shipped_model
from akd.prior.choose import choose_device
from akd.report.fit_page import write_fit_results
from akd.rig.character import Character
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.splat.camera import Camera

Colours = Literal["auto", "textured", "roles", "none"]


@dataclass(frozen=True)
class Fitting:
    """A motion that was fitted to a video."""

    character: Character
    motion: Motion
    """Standing on the ground that was found from the feet."""
    grounding: Grounding | None
    """The motion tracked by physics, where that was asked for and possible."""
    result: VideoFit
    """Curves, cameras, and the quality of the fit."""
    observations: tuple[Observation, ...]
    stage: Stage
    lift: float
    """Metres by which the fitted motion was raised to stand on the ground."""
    fps: float
    source: str
    """Name of the video."""
    notes: tuple[str, ...]
    """For the user: how masks and camera were found, what to check."""

    @property
    def best(self) -> str:
        """Which clip to use: `grounded`, unless physics lowered the result."""
        found = self.grounding
        return "motion" if found is None or found.kept_clip is not None else "grounded"

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
        if self.grounding is not None:
            clips["grounded"] = self.grounding.motion
        return {self.best: clips[self.best], **clips}

    def cameras(self) -> tuple[Camera, ...]:
        """The cameras of the fit.

        Returns:
            One for each view, in the world of the clip, whose ground is y = 0.
        """
        down = torch.eye(4)
        down[1, 3] = -self.lift
        return tuple(
            replace(camera, camera_from_world=camera.camera_from_world.cpu() @ down)
            for camera in self.result.cameras
        )

    def rendered(self, view: int = 0) -> Float[Tensor, "T H W 3"]:
        """Render the fitted character over the video's background.

        Where the video's character is and the fit is not, the background is grey.

        Args:
            view: Index of the view.

        Returns:
            Frames, sRGB 0..1.
        """
        found = self.result
        return show_over(self.stage, found.curves, found.cameras[view], self.observations[view])

    def save(
        self,
        out: str | Path,
        *,
        formats: Sequence[str] = ("glb",),
        in_place: bool = False,
        keys: KeyChoice = "every",
        loop_frame: LoopFrame = "repeat",
    ) -> list[Path]:
        """Write `motion.glb`, `comparison.mp4`, `fit.json`, `camera.json` and `report.html`.

        Args:
            out: The folder.
            formats: Out of glb, bvh, usd and fbx; `motion.glb` is always written.
            in_place: Remove the root motion from the clips.
            keys: As in `Animation.save`.
            loop_frame: As in `Animation.save`.

        Returns:
            The files that were written.
        """
        settings = KeySettings(self.fps, keys, loop_frame)
        return write_fit_results(self, Path(out), formats=formats, in_place=in_place, keys=settings)


def fit(
    character: Character | str | Path | None,
    video: str | Path | Float[Tensor, "T H W 3"] | Sequence[str | Path],
    *,
    views: Sequence[str] = (),
    masks: str | Path | Float[Tensor, "T H W"] | None = None,
    segmentation: str | Path | None = None,
    camera: str | Path | None = None,
    tracks: str | Path | None = None,
    depth: str | Path | None = None,
    normals: str | Path | None = None,
    colours: Colours = "auto",
    start: float | None = None,
    end: float | None = None,
    fps: float | None = None,
    settings: FitSettings | None = None,
    losses: Sequence[LossTerm] | None = None,
    physics: TrackingSettings | bool = True,
    observer: Observer | None = None,
    device: str | torch.device = "auto",
    template: str = "auto",
) -> Fitting:
    """Fit a character's joints to a video of it or of a similar body, or to a sequence of meshes or
    point clouds.

    Args:
        character: What `load` returned, or a file. A bare mesh is rigged first. None
            for a sequence: the mesh of its first frame is rigged.
        video: A file; frames [T, H, W, 3], sRGB 0..1, with `fps` and `masks`; or one file for each
            of `views`. A sequence is a folder of GLB, PLY, OBJ, STL or OFF files, or an animated
            GLB; of the options only `fps`, `settings`, `losses`, `physics` and `template` count.
        views: Positions of synchronised cameras: side, front, back, three-quarter, or degrees from
            the character's front towards its left. One file with several views shows them side by
            side.
        masks: A folder of images or a video, white where the character is, or [T, H, W]; found
            from an alpha channel, a plain background or a static camera if left out.
        segmentation: Folder of a SAM 2 model that finds the masks.
        camera: A JSON file, or one for each view separated by commas: see `docs/fit.md`. If left
            out, a static camera is solved for.
        tracks: Point tracks, npz.
        depth: Depth maps, npz, up to a factor and an offset.
        normals: Normal maps, npz.
        colours: What the video shows: the character's own colours (`textured`), the colours of its
            `roles`, or others (`none`); `auto` compares.
        start: Seconds of the video at which to begin.
        end: Seconds at which to stop.
        fps: Frames per second to fit; those of the video by default, at most 30.
        settings: Sizes, iterations and weights.
        losses: Terms beside the images; by default the pose model as a regulariser,
            `[akd.posespace.loss.pose_prior(1.0)]`.
        physics: Track the motion in a physics simulation: True, False, or settings.
        observer: Receives progress, and may cancel.
        device: `auto`, `cpu`, `cuda` or `cuda:1`.
        template: Body plan for a bare mesh.

    Returns:
        The motion, its grounded version, cameras and quality. `save` writes the files.

    Raises:
        AssetError: The asset cannot be read or animated.
        FileNotFoundError: `losses` are left out and there is no pose model.
        ValueError: The video, a file beside it, or an argument cannot be used: before long work.
    """
    if colours not in ("auto", "textured", "roles", "none"):
        raise ValueError(f"colours must be auto, textured, roles or none, got {colours!r}")
    observer, settings = observer or Observer(), settings or FitSettings()
    losses = [pose_prior(1.0)] if losses is None else losses
    chosen = choose_device(device)
    observer.begin("read")
    if isinstance(video, str | Path) and is_sequence(Path(video)):
        return _fit_sequence(
            character, read_sequence(Path(video), fps=fps), settings, losses, physics, observer,
            chosen, template,
        )  # fmt: skip
    if character is None:
        raise ValueError("character must be given with a video")
    files = ViewFiles.of(
        video, views, masks=masks, segmentation=segmentation, camera=camera, tracks=tracks,
        depth=depth, normals=normals,
    )  # fmt: skip
    seen = observe(files, start=start, end=end, fps=fps, device=chosen)
    character = animatable(character, template=template)
    notes = [*character.notes, *seen.notes]
    stage, settings, said = _set_stage(character, seen.observations, settings, colours, chosen)
    notes.append(said)
    result = fit_video(
        stage, seen.observations, fps=seen.fps, settings=settings, losses=losses, observer=observer,
        judge=partial(implausibility, character) if shipped_model().is_file() else None,
    )  # fmt: skip
    return _finish(
        character, stage, result, seen.observations, seen.name, seen.fps, notes, physics, observer
    )


def _fit_sequence(
    character: Character | str | Path | None,
    sequence: PointSequence,
    settings: FitSettings,
    losses: Sequence[LossTerm],
    physics: TrackingSettings | bool,
    observer: Observer,
    device: torch.device,
    template: str,
) -> Fitting:
    """`fit` for meshes and point clouds."""
    if character is None:
        character = rig(sequence.first, template=template).character
    character = animatable(character, template=template)
    stage = Stage.of(
        character, style=SceneStyle.TEXTURED, size=(settings.size, settings.size),
        splats=settings.splats, device=device, ground=False,
    )  # fmt: skip
    points, said = points_in_metres(sequence, character)
    notes = [*character.notes, said]
    found = fit_points(
        stage, [frame.to(device) for frame in points], fps=sequence.fps, settings=settings,
        losses=losses, observer=observer,
    )  # fmt: skip
    shown = draw_points(points, character.forward)
    assert shown.camera is not None
    result = VideoFit(found.curves, (shown.camera,), found.quality, {}, found.history)
    return _finish(
        character, stage, result, (shown,), sequence.name, sequence.fps, notes, physics, observer
    )


def _finish(
    character: Character,
    stage: Stage,
    result: VideoFit,
    observations: tuple[Observation, ...],
    name: str,
    fps: float,
    notes: list[str],
    physics: TrackingSettings | bool,
    observer: Observer,
) -> Fitting:
    """The motion on the ground, tracked by physics where that was asked for."""
    with torch.no_grad():
        transforms = result.curves.pose(stage).transforms
    lift = -ground_height(stage, transforms)
    motion = result.curves.motion(name, lift=stage.lift + lift, fps=fps)
    notes = [*notes, *_doubts(result, character)]
    grounding = None
    if physics is not False:
        try:
            options = physics if isinstance(physics, TrackingSettings) else None
            grounding = ground(character, motion, fps=fps, settings=options, observer=observer)
        except (ValueError, FloatingPointError) as error:
            notes.append(f"not tracked by physics: {error}")
        if grounding is not None and grounding.kept_clip is not None:
            notes.append(f"use the fitted clip: {grounding.kept_clip}")
    return Fitting(
        character, motion, grounding, result, observations, stage, lift, fps, name, tuple(notes)
    )


def _set_stage(
    character: Character,
    observations: Sequence[Observation],
    settings: FitSettings,
    colours: Colours,
    device: torch.device,
) -> tuple[Stage, FitSettings, str]:
    """The character in the colours that the video shows, and which these are."""

    def stage_in(style: SceneStyle) -> Stage:
        return Stage.of(
            character, style=style, size=(settings.size, settings.size), splats=settings.splats,
            device=device, ground=False,
        )  # fmt: skip

    if colours in ("textured", "roles"):
        return stage_in(SceneStyle(colours)), settings, f"colours: {colours}, as given"
    if colours == "auto" and settings.colour > 0.0:
        first = observations[0].cropped().resized(settings.size // 2).to(device)
        # A body has the same outline from the other side, where its colours are others.
        guesses = []
        for style in (SceneStyle.TEXTURED, SceneStyle.ROLES):
            stage = stage_in(style)
            guesses = guesses or search_views(stage, first)
            if any(colours_agree(stage, first, guess) for guess in guesses):
                return stage, settings, f"colours: {style.value}, as the video has them"
    said = (
        "colours: not compared, the silhouette alone is fitted; if the video shows the character's "
        "own colours or those of its roles, say so with --colours textured or roles"
    )
    return stage_in(SceneStyle.TEXTURED), replace(settings, colour=0.0), said


def _doubts(result: VideoFit, character: Character) -> list[str]:
    """What to check in a fit."""
    quality, notes = result.quality, []
    if bad := quality.distrusted():
        shown = ", ".join(str(frame) for frame in bad[:12]) + (" ..." if len(bad) > 12 else "")
        notes.append(f"unreliable frames, check them: {shown}")
    if bool(quality.cut_off.float().mean() > 0.2):
        notes.append("the character is cut off by the image's border in many frames")
    ranked = sorted(result.residuals.values())
    if len(ranked) > 1 and ranked[1] < 1.02 * ranked[0]:
        notes.append("left and right legs, or front and back, can hardly be distinguished")
    if not character.anatomy.legs:
        notes.append("no feet were found: the lowest point stands on the ground")
    return notes
