"""`akd skin`: weights by heat diffusion for a given skeleton."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from akd.commands.errors import UsageError, check_ranges, usage_errors
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
        check_ranges(self, influences=(1, 64))
        if not 0 < self.heat < 1e6:
            raise UsageError(f"--heat must be above zero and below 1e6, got {self.heat:g}")
        from akd.export.reskin import write_reskinned
        from akd.rig.skinning.automatic import skin_character
        from akd.rig.skinning.heat import HeatSettings

        character = load_file(self.file, up="y", roles=self.roles)
        if character.asset.document is None or not character.asset.skins:
            raise UsageError(
                f"{self.file}: has no skeleton to bind to; `akd rig` makes one for a bare mesh"
            )
        settings = HeatSettings(heat=self.heat, influences=self.influences)
        with usage_errors(prefix=f"{self.file}: "):
            result = skin_character(character, settings=settings, is_all=self.all_joints)
        problems = write_reskinned(character, result.skin, self.out)
        for warning in (*result.warnings, *(f"{p.where}: {p.what}; {p.action}" for p in problems)):
            print(f"akd: warning: {warning}", file=sys.stderr)
        print(
            f"{self.out}: {len(result.skin.bones):,} vertices on {len(result.segments.joints)} "
            f"joints, at most {self.influences} each"
        )
