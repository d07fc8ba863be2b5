"""`akd fit`: a character's joints follow a video."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from akd.commands.errors import ResultFailed, check_ranges, input_file, say, usage_errors
from akd.commands.options import (
    Device,
    Formats,
    Grounded,
    Height,
    Keys,
    LoopFrame,
    Out,
    PoseWeights,
    Roles,
    Template,
    Up,
    load_file,
    pose_loss,
)
from akd.export.formats import files_of, read_formats


@dataclass(frozen=True)
class Fit:
    """Let a character's joints follow a video of it, or of a body shaped like it.

    Example: akd fit fox.glb walking.mp4 -o out

    In place of a video, a sequence of meshes or point clouds: a folder of GLB, PLY, OBJ, STL or OFF
    files, or one animated GLB. Without an asset (akd fit FOLDER -o out) its first frame is rigged.

    Writes motion.glb (the file with the clips VIDEO and `VIDEO (grounded)` added), comparison.mp4
    (video, fit and difference side by side), camera.json, fit.json (how well the fit explains the
    video, frame by frame) and report.html.
    """

    file: tyro.conf.Positional[Path]
    """A rigged character (glTF, VRM, FBX, USD or .blend), or a bare mesh, which is rigged first."""
    video: tyro.conf.Positional[tuple[Path, ...]]
    """A video file, or several of them, one for each of --views; or a sequence of geometry."""
    out: Out
    """Folder to write to."""
    views: str | None = None
    """Positions of synchronised cameras, separated by commas: side, front, back, three-quarter, or
    degrees from the character's front towards its left. One video shows the views side by side."""
    masks: str | None = None
    """A folder of images, one per frame, or a video: white where the character is. One for each
    view, separated by commas, or one for all. If left out, masks come from an alpha channel, a
    plain background or, with a static camera, background subtraction."""
    segmentation: Path | None = None
    """Folder of a SAM 2 video model (transformers) that finds the masks."""
    camera: str | None = None
    """A JSON file with the camera, still or moving; one for each view, separated by commas."""
    tracks: Path | None = None
    """2D point tracks, npz: points [frames, points, 2] in pixels, visible [frames, points]."""
    depth: Path | None = None
    """Depth maps, npz: depth [frames, height, width], up to a factor and an offset."""
    normals: Path | None = None
    """Normal maps, npz: normals [frames, height, width, 3] in the camera's frame."""
    make_views: bool = False
    """Instead of fitting, write reference images of the character from --views (default: side), in
    --colours textured or roles, and the prompt for an image-to-video service."""
    colours: Literal["auto", "textured", "roles", "none"] = "auto"
    """Colours of the video: the character's own, its role colours, or neither."""
    start: float | None = None
    """Seconds of the video at which to begin."""
    end: float | None = None
    """Seconds of the video at which to stop."""
    fps: float | None = None
    """Frames per second; those of the video by default, at most 30."""
    iterations: int = 120
    """Iterations of the best start."""
    pose_prior: float = 1.0
    """Weight of the pose model as a regulariser; 0: fit without it."""
    pose_weights: PoseWeights = None
    grounded: Grounded = True
    physics_iterations: int = 200
    """Iterations of the physics tracking."""
    formats: Formats = "glb"
    in_place: bool = False
    """Remove the root motion from the clips."""
    keys: Keys = "every"
    loop_frame: LoopFrame = "repeat"
    device: Device = "auto"
    height: Height = None
    up: Up = "y"
    template: Template = "auto"
    roles: Roles = None

    def run(self) -> None:
        """Fit, write, and say how well the video is explained."""
        check_ranges(
            self, iterations=(1, 100_000), physics_iterations=(1, 100_000), pose_prior=(0.0, 1e6),
            fps=(1, 30), start=(0.0, 1e6), end=(0.0, 1e6),
        )  # fmt: skip
        views = () if self.views is None else tuple(self.views.split(","))
        if self.make_views:
            self._write_views(views or ("side",))
            return
        for path in self.video:
            if not path.is_dir():
                input_file(path)
        with usage_errors():
            formats = read_formats(self.formats, option="--formats")
        from akd.api.fitting import fit
        from akd.base.lock import hold_lock
        from akd.commands.terminal import Terminal, name_clips
        from akd.export.character import clip_names
        from akd.fit.settings import FitSettings
        from akd.physics.settings import TrackingSettings

        losses = pose_loss(self.pose_prior, self.pose_weights)
        character, given = None, list(self.video) or [self.file]
        if self.video:
            character = load_file(self.file, height=self.height, up=self.up, roles=self.roles)
        # Locked before the long work: a folder that is not writable fails at once.
        with usage_errors(command=self), hold_lock(self.out), Terminal() as terminal:
            made = fit(
                character, given if len(given) > 1 else given[0],
                views=views, masks=self.masks,
                segmentation=self.segmentation, camera=self.camera, tracks=self.tracks,
                depth=self.depth, normals=self.normals, colours=self.colours,
                start=self.start, end=self.end, fps=self.fps,
                settings=FitSettings(iterations=self.iterations), losses=losses,
                physics=self.grounded and TrackingSettings(iterations=self.physics_iterations),
                observer=terminal, device=self.device, template=self.template,
            )  # fmt: skip
            terminal.begin("film")
            made.save(
                self.out, formats=formats, in_place=self.in_place, keys=self.keys,
                loop_frame=self.loop_frame,
            )  # fmt: skip
        for note in made.notes:
            say(f"akd: note: {note}", to=sys.stderr)
        names = clip_names(made.character, list(made.motions().values()))
        name_clips(self.out / "motion.glb", names)
        for name in files_of([f for f in formats if f != "glb"], made.motions()):
            print(self.out / name)
        say(f"{self.out / 'report.html'}: video, fit and difference; open in a browser")
        quality = made.result.quality
        say(quality.verdict())
        if quality.what == "silhouettes":
            say(f"score {quality.score:.2f} of 1; frame by frame: {self.out / 'fit.json'}")
        if quality.verdict().startswith("poor"):
            raise ResultFailed("the video is poorly explained: see report.html")

    def _write_views(self, views: tuple[str, ...]) -> None:
        """Write reference images, and say how to go on."""
        from akd.api.view_images import make_views

        colours = "textured" if self.colours in ("auto", "none") else self.colours
        character = load_file(self.file, height=self.height, up=self.up, roles=self.roles)
        with usage_errors(command=self):
            made = make_views(character, views=views, colours=colours, template=self.template)
        for path in made.save(self.out):
            print(path)
        split = f" --views {','.join(views)}" if len(views) > 1 else ""
        print(f"then: akd fit {self.file} VIDEO.mp4 -o OUT --colours {colours}{split}")
