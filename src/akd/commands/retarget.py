"""`akd retarget`: a clip of one character on another."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from akd.base.constants import FPS_RANGE
from akd.commands.errors import UsageError, check_ranges, input_file, usage_errors
from akd.commands.options import Keys, Out, load_file

if TYPE_CHECKING:
    from akd.api.retargeting import Retargeted


@dataclass(frozen=True)
class Retarget:
    """Transfer a clip to another character with the same body plan.

    Joints are matched by their roles, whatever their names. The root moves in proportion to the
    legs, stance feet stay in place, and joints stay within their limits.

    Example: akd retarget wolf.glb:Gallop husky.glb -o husky.glb --map Tail_1=Tail.001
    """

    clip: tyro.conf.Positional[str]
    """A file with clips and, if it has several, a colon and the clip's name: wolf.glb:Gallop."""
    target: tyro.conf.Positional[Path]
    """The rigged character to transfer the clip to."""
    out: Out
    """The file to write: the target's, with the clip added (.glb), or a .bvh of its skeleton."""
    map: tuple[str, ...] = ()
    """Joints that correspond, SOURCE=TARGET, where roles do not match them."""
    roles: Path | None = None
    """TOML file that corrects the roles of the target's joints, as for `akd inspect`."""
    clip_roles: Path | None = None
    """The same for the file of the clip."""
    height: float | None = None
    """Height of the target in metres, overriding its file's units."""
    name: str | None = None
    """Name of the new clip; by default that of the old one."""
    fps: float | None = None
    """Frames per second; by default the rate of the clip's keys."""
    keys: Keys = "every"
    travel: bool = False
    """Give a clip that runs in place the root motion that its feet imply."""
    plant: bool = True
    """Plant feet and keep joint limits; --no-plant only copies rotations."""

    def run(self) -> None:
        """Retarget, write, and say what came of it."""
        from akd.metrics.motion import measure

        made = self.retargeted()
        target = made.character
        made.save(self.out, keys=self.keys)
        found = measure(target, target.control_rig, made.motion)
        print(f"{self.out}: {made.motion.name!r}, {made.motion.duration:.2f} s at {made.fps:g} fps")
        print(f"travel {found.travel:.2f} leg lengths, penetration {found.penetration:.4f} heights")

    def checked(self) -> dict[str, str]:
        """The pairs of `--map`, before any file is read. Raises `UsageError`."""
        from akd.api.loading import check_frame

        check_ranges(self, fps=FPS_RANGE)
        with usage_errors(command=self):
            check_frame(height=self.height, up="auto")
        if self.out.suffix.lower() not in (".glb", ".bvh"):
            raise UsageError(f"--out must end in .glb or .bvh, got {self.out.name!r}")
        return dict(_pair(text) for text in self.map)

    def retargeted(self) -> Retargeted:
        """The clip on the target; what has no counterpart is noted on standard error.

        Raises:
            AssetError: A file cannot be read, or has no body.
            UsageError: An option or the clip cannot be used.
        """
        from akd.api.retargeting import retarget
        from akd.motion.clip_names import clip_labels

        mapping = self.checked()
        file, name = file_and_clip(self.clip)
        source = load_file(file, roles=self.clip_roles)
        if name is None and len(clips := source.asset.clips) > 1:
            names = ", ".join(map(repr, clip_labels(clips)))
            raise UsageError(f"{file}: has several clips, choose one as {file.name}:NAME: {names}")
        target = load_file(self.target, height=self.height, roles=self.roles)
        with usage_errors(command=self):
            made = retarget(
                source, target, name, mapping=mapping, fps=self.fps, plant=self.plant,
                travel=self.travel, name=self.name,
            )  # fmt: skip
        if made.unmatched:
            some = ", ".join(made.unmatched[:8]) + (", ..." if len(made.unmatched) > 8 else "")
            print(
                f"akd: note: without a counterpart in {target.asset.path.name}: {some}",
                file=sys.stderr,
            )
        return made


def file_and_clip(text: str) -> tuple[Path, str | None]:
    """The file, which must be there, and the name of its clip, if one is given."""
    from akd.motion.clip_names import split_clip

    path, clip = split_clip(text)
    return input_file(path), clip


def _pair(text: str) -> tuple[str, str]:
    source, equals, target = text.partition("=")
    if not (equals and source and target):
        raise UsageError(f"--map must be SOURCE=TARGET, two names of joints, got {text!r}")
    return source, target
