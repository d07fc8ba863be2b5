"""`akd export`: clips in other formats, of a file or of a finished run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from akd.commands.errors import UsageError, check_ranges, usage_errors
from akd.commands.options import LoopFrame, Roles, load_file
from akd.export.formats import FORMATS, VIDEO_FORMATS, read_formats

if TYPE_CHECKING:
    from akd.asset.asset import ClipRecord
    from akd.rig.character import Character

_FORMATS = (*FORMATS[1:], *VIDEO_FORMATS)
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Export:
    """Write clips in other formats. FBX holds all of them in one file, other formats have a file
    for each.

    Example: akd export out/fox --to bvh,mp4
    """

    source: tyro.conf.Positional[Path]
    """A glTF, GLB or BVH file with clips, or a folder that `akd animate` wrote."""
    to: str = "bvh"
    """Formats, separated by commas: bvh, usd (needs akd[usd]), fbx (needs Blender), mp4, gif."""
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """Folder to write to; by default the run's own, or the current one."""
    clip: str | None = None
    """Only this clip: its name, or a part of it that no other has. A run's are motion and
    grounded."""
    fps: float | None = None
    """Frames per second; by default the rate that the keys lie on."""
    loop_frame: LoopFrame = "repeat"
    in_place: bool = False
    """Remove the root motion."""
    roles: Roles = None

    def run(self) -> None:
        """Write the files and name them."""
        with usage_errors():
            wanted = read_formats(self.to, option="--to", known=_FORMATS)
        check_ranges(self, fps=(1, 240))
        from akd.export.clip_files import key_motions, write_clip_files
        from akd.export.settings import KeySettings
        from akd.motion.clip import motion_from_clip
        from akd.motion.grid import find_fps

        is_run = self.source.is_dir()
        character, clips = self._run_clips() if is_run else self._file_clips()
        if character.mesh is None and set(wanted) & set(VIDEO_FORMATS):
            raise UsageError(f"{self.source}: has no mesh to film")
        with usage_errors(prefix=f"{self.source}: "):
            motions = {name: motion_from_clip(character, clip) for name, clip in clips.items()}
        rate = self.fps or max(map(find_fps, motions.values()))
        keys = KeySettings(rate, loop_frame=self.loop_frame)
        out = self.out or (self.source if is_run else Path())
        out.mkdir(parents=True, exist_ok=True)
        stem = "motion" if is_run else self.source.stem
        if len(motions) == 1 and not is_run:
            stem = next(iter(motions))
        for path in write_clip_files(
            character, key_motions(character, motions, keys, stay=self.in_place), out,
            formats=wanted, keys=keys, stem=stem, alone=True,
        ):  # fmt: skip
            print(path)

    def _run_clips(self) -> tuple[Character, dict[str, ClipRecord]]:
        """The chosen clips of a run: motion and grounded."""
        from akd.report.entries import read_run

        with usage_errors():
            run = read_run(self.source)
        if self.clip is not None and self.clip not in run.clips:
            raise UsageError(f"--clip must be one of {', '.join(run.clips)}; got {self.clip!r}")
        return run.character, {n: c for n, c in run.clips.items() if self.clip in (None, n)}

    def _file_clips(self) -> tuple[Character, dict[str, ClipRecord]]:
        """The chosen clips of a file, by the names of the files they go to."""
        from akd.motion.clip_names import find_clip

        character = load_file(self.source, up="auto", roles=self.roles)
        clips = character.asset.clips
        if self.clip is not None or not clips:
            with usage_errors():
                clips = (find_clip(character, self.clip),)
        names = _file_names(self.source.stem, [clip.name for clip in clips])
        return character, dict(zip(names, clips, strict=True))


def _file_names(file: str, clips: Sequence[str]) -> list[str]:
    """A file name for each clip, numbered where two would be the same on some file system."""
    names: dict[str, str] = {}
    for clip in clips:
        kept = "".join(c if c.isalnum() or c in "-_" else "_" for c in clip).strip("_")
        wanted = name = f"{file}-{kept[:_LONGEST_NAME] or 'clip'}"
        number = 1
        while name.casefold() in names:
            number += 1
            name = f"{wanted}-{number}"
        names[name.casefold()] = name
    return list(names.values())
