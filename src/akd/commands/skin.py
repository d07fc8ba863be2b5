"""`akd skin`: weights by heat diffusion for a given skeleton."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from akd.commands.errors import usage_errors
from akd.commands.options import Out, Roles, load_file


@dataclass(frozen=True)
class Skin:
    """Replace the skinning weights of a rigged file with weights from heat diffusion.

    Everything else in the file stays as it is.

    Example: akd skin fox.glb -o smooth.glb
    """

    file: tyro.conf.Positional[Path]
    """A glTF or GLB file with a skeleton."""
    out: Out
    """The GLB file to write."""
    influences: int = 4
    """Maximum number of joints per vertex."""
    heat: float = 4.0
    """How sharply joints bend: larger is sharper."""
    all_joints: bool = False
    """Let every joint of the skeleton move skin, including those that move none in the file."""
    roles: Roles = None

    def run(self) -> None:
        """Solve, write, and say what was done."""
        from akd.api.skinning import skin

        character = load_file(self.file, up="y", roles=self.roles)
        with usage_errors(command=self):
            made = skin(
                character, influences=self.influences, heat=self.heat, all_joints=self.all_joints
            )
        for warning in (*made.result.warnings, *made.save(self.out)):
            print(f"akd: warning: {warning}", file=sys.stderr)
        print(
            f"{self.out}: {len(made.result.skin.bones):,} vertices on "
            f"{len(made.result.segments.joints)} joints, at most {self.influences} each"
        )
