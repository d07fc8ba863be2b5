"""`akd convert`: a file in another format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import tyro

from akd.base.constants import FPS_RANGE
from akd.commands.errors import UsageError, check_ranges, input_file
from akd.commands.options import Clip


@dataclass(frozen=True)
class Convert:
    """Write a file in another format, which the suffix of the target names.

    GLB, glTF and FBX (needs Blender) hold the whole file. BVH, USD (.usda, needs akd[usd]), AMASS
    (.npz, humanoids), MuJoCo's qpos (.csv, with the body as .xml), Gaussians (.ply, one file per
    frame) and videos (.mp4, .gif, .webp) hold one clip.

    Example: akd convert wolf.fbx wolf.glb
    """

    source: tyro.conf.Positional[Path]
    """A glTF, VRM, FBX, USD, .blend, OBJ, PLY, STL, OFF or BVH file."""
    target: tyro.conf.Positional[Path]
    """The file to write."""
    clip: Clip = None
    fps: float | None = None
    """Frames per second; by default the rate of the clip's keys, and 24 for videos."""
    view: str = "three-quarter"
    """For videos: side, three-quarter or front."""
    turn: float = 0.0
    """For videos: degrees by which the camera orbits the character."""
    size: str = "640x360"
    """For videos: width and height, pixels."""
    splats: int = 20_000
    """For videos and .ply: Gaussians on the surface."""

    def run(self) -> None:
        """Convert, and name the files."""
        check_ranges(self, fps=FPS_RANGE, splats=(1, 5_000_000), turn=(-3600, 3600))
        found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", self.size)
        width, height = (int(n) for n in found.groups()) if found else (0, 0)
        if not (16 <= width <= 4096 and 16 <= height <= 4096):
            raise UsageError(
                f"--size must be WIDTHxHEIGHT, each from 16 to 4096, got {self.size!r}"
            )
        from akd.api.converting import convert

        try:
            written = convert(
                input_file(self.source), self.target, clip=self.clip, fps=self.fps, view=self.view,
                turn=self.turn, size=(width, height), splats=self.splats,
            )  # fmt: skip
        except ImportError as error:
            raise UsageError(f"{self.target.name} needs akd[usd]: {error}") from None
        except ValueError as error:
            raise UsageError(str(error)) from None
        for path in written:
            print(path)
