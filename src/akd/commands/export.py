"""`akd export`: a clip in another format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from akd.commands.errors import UsageError
from akd.commands.options import load_file

if TYPE_CHECKING:
    from akd.asset.asset import ClipRecord
    from akd.rig.character import Character

_FORMATS = ("bvh", "usd")
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Export:
    """Write the clips of a file in other formats, a file for each clip."""

    file: tyro.conf.Positional[Path]
    """A glTF, GLB or BVH file with clips."""
    to: str = "bvh"
    """Formats, separated by commas: bvh, usd (needs akd[usd])."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path()
    """Folder to write to."""
    clip: str | None = None
    """Only the clip of this name."""
    fps: float | None = None
    """Frames a second; by default as the clip has it."""
    in_place: bool = False
    """Take the travel over the ground out."""
    roles: Path | None = None
    """A TOML file that puts joints' roles right: `joint = "left hind foot"` a line."""

    def run(self) -> None:
        """Write the files and name them."""
        from akd.export.formats import read_formats

        try:
            wanted = read_formats(self.to, option="--to", known=_FORMATS)
        except ValueError as error:
            raise UsageError(str(error)) from None
        if self.fps is not None and not 0 < self.fps <= 1000:
            raise UsageError(f"--fps must be above 0 and at most 1000, got {self.fps:g}")
        body = load_file(self.file, up="y", roles=self.roles)
        names = [c.name for c in body.asset.clips]
        chosen = [c for c in body.asset.clips if self.clip in (None, c.name)]
        if not chosen:
            has = f"it has {', '.join(map(repr, names))}" if names else "it has no clips"
            asked = f"there is no clip {self.clip!r}: " if self.clip is not None else ""
            raise UsageError(f"{self.file.name}: {asked}{has}")
        self.out.mkdir(parents=True, exist_ok=True)
        stems = _file_names(self.file.stem, [clip.name for clip in chosen])
        for clip, stem in zip(chosen, stems, strict=True):
            try:
                self._write(body, clip, self.out / stem, wanted)
            except ValueError as error:
                raise UsageError(f"{self.file}: clip {clip.name!r}: {error}") from None

    def _write(self, body: Character, clip: ClipRecord, stem: Path, formats: Sequence[str]) -> None:
        from akd.export.bvh import write_bvh
        from akd.export.clip_files import body_joints, frame_rate
        from akd.motion.clip import motion_from_clip
        from akd.motion.root_motion import in_place

        motion = motion_from_clip(body, clip)
        if self.in_place:
            motion = in_place(body.control_rig, motion)
        if "bvh" in formats:
            path = stem.with_name(f"{stem.name}.bvh")
            write_bvh(motion, path, joints=body_joints(body), fps=self.fps)
            print(path)
        if "usd" in formats:
            from akd.export.usd import write_usd

            path = stem.with_name(f"{stem.name}.usda")
            keys = motion if self.fps is None else motion.resample(self.fps)
            write_usd(body, keys, path, fps=self.fps or frame_rate(motion))
            print(path)


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
