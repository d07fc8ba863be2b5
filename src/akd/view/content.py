"""Files with clips and folders of `akd animate` under a path, as the viewer lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

import torch

from akd.api.loading import load
from akd.asset.asset import AssetError
from akd.base.files import list_files
from akd.metrics.motion import measure
from akd.metrics.motion_metrics import MotionMetrics
from akd.motion.actions import action_label
from akd.motion.clip import motion_from_clip
from akd.motion.motion import Motion
from akd.report.entries import Outcome, read_run
from akd.report.view_data import ContactForces, ViewData
from akd.rig.character import Character
from akd.view.frames import ClipFrames
from akd.view.looks import TRIANGLES, Looks

_SUFFIXES = (".glb", ".gltf", ".vrm", ".fbx", ".usd", ".usda", ".usdc", ".usdz", ".bvh")
"""Listed of a folder. A Blender file is shown where it is named: Blender needs its time."""
_SEED = re.compile(r"(?P<stem>(.*/)?[^/]+)-\d+")
_LONGEST_STEM = 40
"""Characters of a name that something is added to."""
_MOST = 200
"""Files and runs of one folder that are listed."""
_MOST_LOADED = 8
"""Characters that are kept in memory, besides those that a browser shows."""
_MOST_TRIED = 8
"""Files that are read to find one that can be shown."""
_LONGEST_MEASURED = 600.0
"""Seconds of a clip. A minute of a fox takes half a second and 10 MiB."""
_DISTILLED, GROUNDED = "distilled", "grounded"


@dataclass(frozen=True)
class Subject:
    """A character with its clips. Made once and shown by every browser."""

    name: str
    path: Path
    """The file, or the folder of the run."""
    character: Character
    motions: Mapping[str, Motion]
    prompt: str | None = None
    """The prompt of the run."""
    forces: ContactForces | None = None
    """Of the clip `grounded`."""
    best_of_run: str | None = None
    """The clip that a run says to use."""
    asset: str = ""
    """Name of the file that the run animated."""
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    """Outcomes of its clips, as the run wrote them."""
    most_triangles: int | None = TRIANGLES
    """As in `Looks`."""
    _frames: dict[str, ClipFrames] = field(default_factory=dict)
    _metrics: dict[str, MotionMetrics] = field(default_factory=dict)

    @cached_property
    def looks(self) -> Looks:
        """How the character looks."""
        return Looks(self.character, self.most_triangles)

    @property
    def best(self) -> str:
        """The clip that is shown first."""
        wanted = (self.best_of_run or "", GROUNDED, _DISTILLED, *self.motions)
        return next(clip for clip in wanted if clip in self.motions)

    def frames(self, clip: str) -> ClipFrames:
        """A clip as posed frames."""
        if clip not in self._frames:
            self._frames[clip] = ClipFrames.of(self.looks, self.motions[clip])
        return self._frames[clip]

    def metrics(self, clip: str) -> MotionMetrics:
        """Measures of a clip.

        Raises:
            ValueError: The clip is too long, or has no body to measure by.
        """
        if clip not in self._metrics:
            seconds = self.motions[clip].duration
            if seconds > _LONGEST_MEASURED:
                raise ValueError(
                    f"{clip!r} must take at most {_LONGEST_MEASURED:g} s to be measured, takes "
                    f"{seconds:g} s"
                )
            self._metrics[clip] = measure(
                self.character, self.character.control_rig, self.motions[clip],
                asked=action_label(self.prompt or clip),
            )  # fmt: skip
        return self._metrics[clip]


class Content:
    """The files and runs under a path. Nothing outside of `root` is read or written."""

    def __init__(self, path: Path, *, most_triangles: int | None = TRIANGLES) -> None:
        """List what there is.

        Args:
            path: A file, a run, or a folder of these.
            most_triangles: As in `Looks`.

        Raises:
            ValueError: There is nothing to show.
        """
        if not path.exists():
            raise ValueError(f"{path}: there is no such file or folder")
        self.root = (path if path.is_dir() else path.parent).resolve()
        self._only = None if path.is_dir() else path.resolve()
        self._most_triangles = most_triangles
        self._loaded: dict[str, Subject] = {}
        self._lock = Lock()
        if not self.names():
            raise ValueError(
                f"{path}: holds neither a run nor a file with a character (GLB, glTF, VRM, FBX, "
                f"USD or BVH)"
            )

    def names(self) -> list[str]:
        """Names of the files and runs, in order: paths below the root."""
        if self._only is not None:
            own = re.compile(re.escape(_poses_stem(self._only)) + r"(-\d+)?")
            files = list_files(self.root, (".glb",)) if self.root.is_dir() else []
            made = [p for p in files if own.fullmatch(p.stem)]
            found = [self._only, *made, *self._runs(self.root / "runs")]
        elif not self.root.is_dir():
            found = []
        elif _is_run(self.root):
            found = [self.root, *self._runs(self.root / "runs")]
        else:
            found = [
                *(p for p in list_files(self.root, _SUFFIXES) if p.is_file()),
                *self._runs(self.root),
                *self._runs(self.root / "runs"),
            ]
        kept = [p for p in found if self._is_inside(p)][:_MOST]
        return [p.relative_to(self.root).as_posix() if p != self.root else p.name for p in kept]

    def first(self) -> Subject:
        """The first file or run that can be shown.

        Raises:
            ValueError: There is none, or as `subject` of the first one.
            AssetError: As `subject` of the first one.
        """
        names = self.names()
        if not names:
            raise ValueError(f"{self.root}: there is nothing left to show")
        for name in names[:_MOST_TRIED]:
            with suppress(AssetError, ValueError):
                return self.subject(name)
        return self.subject(names[0])

    def subject(self, name: str) -> Subject:
        """Load one of them.

        Raises:
            ValueError: There is none of this name, or it cannot be shown.
            AssetError: The file cannot be read.
        """
        with self._lock:
            if name not in self._loaded:
                if name not in self.names():
                    raise ValueError(f"there is no {name!r} to show")
                path = self.root / name
                if not path.exists() and _is_run(self.root):
                    path = self.root
                try:
                    found = _run(name, path) if path.is_dir() else _file(name, path)
                except OSError as error:
                    raise ValueError(f"{name}: {error.strerror or error}") from None
                self._loaded[name] = replace(found, most_triangles=self._most_triangles)
                while len(self._loaded) > _MOST_LOADED:
                    del self._loaded[next(iter(self._loaded))]
            return self._loaded[name]

    def seeds(self, name: str) -> list[str]:
        """Runs that differ from a run by their seed, the last number of their name; the run too."""
        if (found := _SEED.fullmatch(name)) is None:
            return []
        stem = found["stem"]
        return [n for n in self.names() if (m := _SEED.fullmatch(n)) and m["stem"] == stem]

    def forget(self, name: str) -> None:
        """Read it anew when it is asked for again: it was written to."""
        with self._lock:
            self._loaded.pop(name, None)

    def new_path(self, *parts: str) -> Path:
        """A path below the root for something to be written, made of safe names.

        Raises:
            ValueError: A link leads out of the root.
        """
        path = self.root.joinpath(*(safe_name(part) for part in parts))
        if not self._is_inside(path):
            raise ValueError(f"{path.name}: a link leads out of the folder that is shown")
        return path

    def poses_path(self, character: Path) -> Path:
        """A new path below the root for clips that are made of poses of a character.

        Raises:
            ValueError: A link leads out of the root.
        """
        stem, number = _poses_stem(character), 1
        path = self.new_path(f"{stem}.glb")
        while path.exists():
            number += 1
            path = self.new_path(f"{stem}-{number}.glb")
        return path

    def _runs(self, folder: Path) -> list[Path]:
        if not folder.is_dir():
            return []
        return [p for p in sorted(folder.iterdir()) if p.is_dir() and _is_run(p)]

    def _is_inside(self, path: Path) -> bool:
        """No link leads out of the root."""
        return path.resolve().is_relative_to(self.root)


def safe_name(text: str) -> str:
    """Text as a file's name: letters, digits, dots, dashes; no path, not hidden."""
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in text).strip("-._")
    return kept[:60] or "clip"


def _poses_stem(character: Path) -> str:
    return f"{safe_name(character.stem)[:_LONGEST_STEM]}-poses"


def _is_run(folder: Path) -> bool:
    return (folder / "metrics.json").is_file() and (folder / "motion.glb").is_file()


def _run(name: str, folder: Path) -> Subject:
    """A run: its start, distilled and grounded clips, and those that the file had before."""
    run = read_run(folder)
    character = run.character
    kinds = {"motion": _DISTILLED, "grounded": GROUNDED}
    added = {kinds[kind]: motion_from_clip(character, c) for kind, c in run.clips.items()}
    own = character.asset.clips[: len(character.asset.clips) - len(run.clips)]
    data = ViewData.read(folder / "view.npz", character.skeleton)
    motions = {} if data.start is None else {"start": data.start}
    motions |= added | {f"file: {c.name}": motion_from_clip(character, c) for c in own}
    return Subject(
        name, folder, character, motions, run.prompt, data.forces, kinds.get(run.best), run.asset,
        {kinds[kind]: outcome for kind, outcome in run.outcomes.items()},
    )  # fmt: skip


def _file(name: str, path: Path) -> Subject:
    """A file: its clips, or the neutral pose where there are none."""
    character = load(path)
    if not len(character.skeleton) or character.anatomy.body.root < 0:
        raise AssetError(f"{name}: has no body; `akd rig` makes a skeleton")
    motions: dict[str, Motion] = {}
    for clip in character.asset.clips:
        label = clip.name or "clip"
        while label in motions:
            label += "'"
        motions[label] = motion_from_clip(character, clip)
    if not motions:
        neutral = character.control_rig.neutral.expand(1)
        motions["neutral pose"] = Motion(character.skeleton, torch.zeros(1), neutral)
    data = ViewData.read(path.parent / "view.npz", character.skeleton)
    if data.forces is not None and len(motions) > 1 and path.name == "motion.glb":
        label = next((name for name in motions if "(grounded)" in name), list(motions)[-1])
        motions[GROUNDED] = replace(motions.pop(label), name=label)
        return Subject(name, path, character, motions, None, data.forces)
    return Subject(name, path, character, motions)
