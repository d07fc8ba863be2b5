"""`akd export`: clips in other formats, of a file or of a finished run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from akd.commands.errors import UsageError, usage_errors
from akd.commands.options import LoopFrame, Roles, load_file
from akd.export.formats import CLIP_FORMATS, read_formats

_CONVERTED = re.compile(r"\b(glb|gltf|npz|csv|ply)\b", re.IGNORECASE).search
"""Finds formats of `akd convert` that `akd export` does not write."""


@dataclass(frozen=True)
class Export:
    """Write clips in other formats. FBX holds all of them in one file, other formats have a file
    for each.

    Example: akd export out/fox --to bvh,mp4
    """

    source: tyro.conf.Positional[Path]
    """A file with clips, or a folder that `akd animate` wrote."""
    to: str = "bvh"
    """Formats, separated by commas: bvh, usd (needs akd[usd]), fbx (needs Blender), mp4, gif,
    webp."""
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """Folder to write to; by default that of the run, or the current one."""
    clip: str | None = None
    """Only this clip: its name, or a unique part of it; for a run also motion or grounded."""
    fps: float | None = None
    """Frames per second; by default the rate of the clip's keys."""
    loop_frame: LoopFrame = "repeat"
    in_place: bool = False
    """Remove the root motion."""
    roles: Roles = None

    def run(self) -> None:
        """Write the files and name them."""
        try:
            wanted = read_formats(self.to, option="--to", known=CLIP_FORMATS)
        except ValueError as error:
            hint = "; `akd convert` writes glb, npz, csv and ply" if _CONVERTED(self.to) else ""
            raise UsageError(f"{error}{hint}") from None
        from akd.api.exporting import export

        source = self.source
        if not source.is_dir():
            source = load_file(source, roles=self.roles)
        with usage_errors(command=self):
            written = export(
                source, wanted, self.out, clip=self.clip, fps=self.fps, loop_frame=self.loop_frame,
                in_place=self.in_place,
            )  # fmt: skip
        for path in written:
            print(path)
