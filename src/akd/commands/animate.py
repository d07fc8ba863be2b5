"""`akd animate`: a sentence becomes a clip in the user's own file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

from akd.commands.create import Create
from akd.commands.errors import ResultFailed, UsageError, check_ranges, said_of, say, usage_errors
from akd.commands.export import Export
from akd.commands.options import (
    Device,
    Formats,
    Grounded,
    Height,
    Keys,
    LoopFrame,
    Out,
    PoseWeights,
    PriorName,
    Roles,
    Seed,
    Template,
    Up,
    load_file,
    pose_loss,
)
from akd.export.formats import files_of, read_formats
from akd.presets import TRACKING

if TYPE_CHECKING:
    from akd.api.animation import Animation
    from akd.commands.terminal import Terminal
    from akd.distill.run_folder import RunFinished, RunFolder
    from akd.distill.settings import DistillSettings
    from akd.motion.direction import Direction


@dataclass(frozen=True)
class Animate:
    """Animate a character from a sentence: distil the motion from a video model into its joints.

    Writes motion.glb (the file with the clips `PROMPT` and `PROMPT (grounded)` added), video.mp4,
    grounded.mp4, metrics.json, view.npz (for `akd view`), report.html, and run/, from which the
    same command, or `akd resume`, continues after an interruption.

    Example: akd animate fox.glb "a fox walking" -o out/fox
    """

    file: tyro.conf.Positional[Path]
    """A rigged character: glTF or VRM; FBX, USD or a Blender file, whose result is a GLB; or a bare
    mesh, which is rigged first."""
    out: Out
    """Folder to write to."""
    prompt: tyro.conf.Positional[str | None] = None
    """What the character does, such as "a fox walking"; several actions in a row, as in "a fox
    walks, then jumps", become one clip."""
    create: str | None = None
    """Make the character from a sentence, as `akd create` does, in place of FILE:
    akd animate --create "an ostrich" "an ostrich running" -o out/ostrich"""
    create_weights: Path | None = None
    """With --create: folder of Shap-E's pipeline, in place of the hub's copy."""
    create_download: bool = False
    """With --create: fetch Shap-E's weights from the hub where they are missing."""
    prior: PriorName = "tiny"
    preset: str | None = None
    """tiny, fast or paper; by default tiny for the tiny prior, fast for others."""
    iterations: int | None = None
    """Iterations of the distillation; overrides the preset."""
    set: tuple[str, ...] = ()
    """Individual settings, such as score.guidance=50 warm_start.samples=0."""
    seed: Seed = 0
    fps: float | None = None
    """Frames per second of all clips, 30 by default. Keys lie on whole frames."""
    keys: Keys = "every"
    loop_frame: LoopFrame = "repeat"
    formats: Formats = "glb"
    in_place: bool = False
    """Remove the root motion from the clips; videos and metrics keep it."""
    duration: float | None = None
    """Length of the clip in seconds: a gait repeats, another action holds its last pose."""
    speed: float | None = None
    """Metres per second: a gait is played faster or slower."""
    turn: float = 0.0
    """Degrees by which the path turns left over the clip; negative turns right."""
    path: str = ""
    """Points on the ground to pass through, in metres from the start: "x,z x,z ..."."""
    loop: bool = False
    """Round --duration to whole cycles, so that the clip loops."""
    keep: tuple[str, ...] = ()
    """Joints that keep their motion from a clip of the file, CLIP:JOINT,JOINT, by name or role,
    such as Idle:head,tail."""
    keyframe: tuple[str, ...] = ()
    """Poses to pass through, SECONDS=POSE: CLIP@TIME of the file's clips, or another file's pose,
    FILE@TIME."""
    quick: bool = False
    """Write a preview, preview.glb, and stop: the joints fitted to the first sampled video, neither
    distilled nor tracked by physics. The same command without it, or `akd resume`, continues."""
    grounded: Grounded = True
    physics_iterations: int = TRACKING.iterations
    """Iterations of the physics tracking."""
    pose_prior: float = 0.0
    """Weight of the pose model as a regulariser: 1 is mild, 3 stills the motion."""
    pose_weights: PoseWeights = None
    weights: Path | None = None
    """Folder of weights, instead of the bundled ones or the hub's copy."""
    device: Device = "auto"
    height: Height = None
    up: Up = "y"
    template: Template = "auto"
    roles: Roles = None
    overwrite: bool = False
    """Start over and overwrite the folder's contents."""

    def run(self) -> None:
        """Animate, and say what came of it."""
        if self.create is not None:
            self._created().run()
            return
        if self.prompt is None:
            raise UsageError('a prompt is missing: akd animate FILE "a fox walking" -o OUT')
        import akd
        from akd.base.observer import Observers
        from akd.commands.terminal import Terminal
        from akd.distill.run_folder import RunFinished, RunFolder
        from akd.fit.losses import default
        from akd.physics.settings import TrackingSettings
        from akd.report.results import result_names

        formats, settings = self.checked()
        own = pose_loss(self.pose_prior, self.pose_weights, seed=self.seed)
        folder = RunFolder(
            self.out,
            results=result_names(formats, grounded=self._is_grounded()),
            options=self.options(),
            overwrite=self.overwrite,
        )
        try:
            with self._explained(folder), Terminal(quick=self.quick) as terminal:
                terminal.begin("read")
                character = load_file(self.file, height=self.height, up=self.up, roles=self.roles)
                clip = akd.animate(
                    character, self.prompt, prior=self.prior, preset=settings,
                    physics=self.grounded and TrackingSettings(iterations=self.physics_iterations),
                    losses=[*default(settings.losses), *own],
                    observer=Observers(terminal, folder), seed=self.seed, fps=self.fps,
                    weights=self.weights, device=self.device, template=self.template,
                    quick=self.quick, direction=self._direction(),
                )  # fmt: skip
                self._write(clip, formats, terminal, folder)
        except RunFinished as done:
            self._write_missing(formats, done)
            return
        finally:
            folder.close()
        for note in clip.notes:
            terminal.note(note)
        if self.quick:
            say(
                f"{self.out / 'preview.glb'}: a preview, neither distilled nor grounded; "
                f"`akd view {self.out}` shows it, `akd resume {self.out}` continues to the result"
            )
        else:
            self._say(clip, formats)

    def _write(
        self, clip: Animation, formats: Sequence[str], terminal: Terminal, folder: RunFolder
    ) -> None:
        """Write the files: with --quick, the preview alone."""
        if self.quick:
            from akd.export.character import write_motions

            path, extras = self.out / "preview.glb", clip.provenance()
            write_motions(clip.character, [clip.motion], path, extras=extras, keys=self.keys)
            return
        terminal.begin("film")
        clip.save(
            self.out, formats=formats, in_place=self.in_place, keys=self.keys,
            loop_frame=self.loop_frame,
        )  # fmt: skip
        folder.finish(notes=list(clip.notes))

    @contextmanager
    def _explained(self, folder: RunFolder) -> Iterator[None]:
        """Say what was kept of a run that stops, and how to go on."""
        try:
            yield
        except KeyboardInterrupt:
            kept = folder.kept()
            raise KeyboardInterrupt(
                f"stopped; saved: {kept}; `akd resume {self.out}` continues from there"
                if kept
                else "stopped; nothing was saved yet; the same command starts over"
            ) from None
        except ArithmeticError as error:
            raise UsageError(
                f"{error}; a smaller --set learning_rate=... may help, in another folder"
            ) from None
        except ValueError as error:
            raise UsageError(said_of(self, error)) from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else f"{self.out}: "
            kept = "; what was done so far is saved" if folder.kept() else ""
            raise UsageError(f"{where}{error.strerror or error}{kept}") from None

    def _write_missing(self, formats: Sequence[str], done: RunFinished) -> None:
        """Export what a finished run lacks, or say that it is finished."""
        lacks = [f for f in formats if not all((self.out / n).exists() for n in self._files((f,)))]
        if lacks:
            Export(self.out, to=",".join(lacks)).run()
        else:
            say(done)

    def checked(self) -> tuple[tuple[str, ...], DistillSettings]:
        """The formats and the settings, before any file is read. Raises `UsageError`."""
        from akd.api.loading import check_frame
        from akd.presets import find_preset, with_values
        from akd.prior.choose import is_tiny

        check_ranges(
            self, iterations=(0, 1_000_000), physics_iterations=(1, 100_000), pose_prior=(0.0, 1e6)
        )
        with usage_errors(command=self):
            check_frame(height=self.height, up=self.up)
        with usage_errors():
            formats = read_formats(self.formats, option="--formats")
            preset = find_preset(self.preset or ("tiny" if is_tiny(self.prior) else "fast"))
            settings = with_values(preset, self.set)
        if self.iterations is not None:
            settings = replace(settings, iterations=self.iterations)
        self._direction()
        return formats, settings

    def _created(self) -> Animate:
        """The same command on a character that is made first, beside the folder."""
        if self.prompt is not None:
            raise UsageError("--create makes the character: leave FILE out")
        made = self.out.with_name(f"{self.out.name}.glb")
        if self.overwrite or not made.exists():
            create = Create(
                self.create or "", made, weights=self.create_weights, download=self.create_download,
                seed=self.seed, template=self.template, height=self.height,
            )  # fmt: skip
            try:
                create.run()
            except UsageError as error:
                raise UsageError(
                    re.sub(r"--(?=weights|download)", "--create-", str(error))
                ) from None
        return replace(
            self, file=made, prompt=str(self.file), create=None, create_weights=None,
            create_download=False,
        )  # fmt: skip

    def _direction(self) -> Direction:
        """What is asked for beside the action."""
        from akd.motion.direction import Direction

        direction = Direction(
            self.duration, self.speed, self.turn, _points(self.path), self.loop, self.keep,
            self.keyframe,
        )  # fmt: skip
        with usage_errors(prefix="--"):
            direction.check()
        return direction

    def _is_grounded(self) -> bool:
        """Whether a grounded clip is written beside the distilled one: a directed clip, and one of
        several actions, is made from the better of the two."""
        from akd.motion.prompt import split_prompt

        one = len(split_prompt(" ".join((self.prompt or "").split()))) == 1
        return self.grounded and one and self._direction().is_empty

    def _say(self, clip: Animation, formats: Sequence[str]) -> None:
        """Name what was written and what to open it with; say whether the result may be shown."""
        from akd.commands.terminal import name_clips, viewer_needs

        names = clip.clip_names()
        name_clips(self.out / "motion.glb", names.values())
        for name in files_of([f for f in formats if f != "glb"], clip.motions()):
            print(self.out / name)
        say(f"{self.out / 'report.html'}: videos, curves, metrics and settings; open in a browser")
        say(f"`akd view {self.out}` shows the clips in 3D{viewer_needs()}")
        metrics, best = clip.metrics[clip.best], names[clip.best]
        checks = "" if metrics.fails else "; it passes all checks"
        say(f"use {best!r}: score {metrics.score:.2f}, {metrics.verdict}{checks}")
        if metrics.fails:
            raise ResultFailed(
                f"{best!r} fails: {'; '.join(metrics.fails)}; all files are written; try "
                f"--seed {self.seed + 1} in another folder"
            )

    def _files(self, formats: Sequence[str]) -> list[str]:
        """Files of clips in these formats."""
        return files_of(formats, ["motion", "grounded"] if self._is_grounded() else ["motion"])

    def options(self) -> dict[str, Any]:
        """The options as JSON values, for `akd resume`, wherever that is called."""
        from akd.prior.source import whole_name

        values = {k: v for k, v in asdict(self).items() if k not in ("out", "overwrite", "quick")}
        values["file"] = str(self.file.resolve())
        values["prior"] = whole_name(self.prior)
        for name in ("weights", "roles", "pose_weights"):
            path = getattr(self, name)
            values[name] = None if path is None else str(path.resolve())
        for name in ("set", "keep"):
            values[name] = list(getattr(self, name))
        values["keyframe"] = [_from_anywhere(text) for text in self.keyframe]
        return values


def _from_anywhere(keyframe: str) -> str:
    """A keyframe whose file, if it is one, is found from any working directory."""
    from akd.api.directing import split_keyframe, with_keyframe_file

    with usage_errors(prefix="--"):
        path = Path(split_keyframe(keyframe)[1])
    return with_keyframe_file(keyframe, path.resolve()) if path.is_file() else keyframe


def _points(text: str) -> tuple[tuple[float, float], ...]:
    """The points of `--path`."""
    points: list[tuple[float, float]] = []
    for word in text.split():
        try:
            x, z = (float(value) for value in word.split(","))
        except ValueError:
            raise UsageError(f'--path must be points "x,z x,z ...", got {text!r}') from None
        points.append((x, z))
    return tuple(points)
