"""`akd rig`: a skeleton and weights for a bare mesh."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from akd.commands.errors import UsageError, check_ranges, input_file
from akd.commands.options import Height, Out, Template, Up


@dataclass(frozen=True)
class Rig:
    """Make a skeleton for a mesh that has none, bind the mesh to it, and write a GLB file.

    Works best on a body that stands on its feet in a symmetric pose. Reports its confidence and
    what to check. A Gaussian cloud gets a mesh around it, and is bound as well: OUT.splats.npz
    holds it in metres, with the joints and weights of every Gaussian.

    Example: akd rig cow.obj -o cow.glb
    """

    file: tyro.conf.Positional[Path]
    """A mesh (glTF, OBJ, PLY, STL, OFF) or a Gaussian-splat PLY."""
    out: Out
    """The GLB file to write."""
    template: Template = "auto"
    joints: Path | None = None
    """A TOML or JSON file that places joints: `name = [x, y, z]` per line, in the file's units."""
    height: Height = None
    up: Up = "y"
    influences: int = 4
    """Maximum number of joints per vertex."""

    def run(self) -> None:
        """Find a skeleton, solve for weights, write, and say how sure it is."""
        check_ranges(self, influences=(1, 64))
        import numpy as np

        from akd.api.rigging import rig
        from akd.rig.autorig.joint_file import read_joint_file

        joints = None if self.joints is None else read_joint_file(input_file(self.joints))
        try:
            made = rig(
                input_file(self.file), template=self.template, joints=joints,
                influences=self.influences, height=self.height, up=self.up,
            )  # fmt: skip
        except ValueError as error:
            said = str(error)
            option = said.startswith(("height must", "up must"))
            raise UsageError(f"--{said}" if option else f"{self.file}: {said}") from None
        written, found = made.save(self.out), made.result
        for warning in (*made.warnings, *(found.reasons if made.is_doubtful else ())):
            print(f"akd: warning: {warning}", file=sys.stderr)
        axis = np.abs(found.forward).argmax()
        facing = f"{'+' if found.forward[axis] > 0 else '-'}{'xyz'[axis]}"
        for path in written[1:]:
            assert made.cloud is not None
            print(f"{path}: {len(made.cloud):,} Gaussians on the joints of {self.out.name}")
        print(
            f"{self.out}: {found.template}, {len(found.skeleton)} joints, faces {facing}, "
            f"confidence {found.confidence:.2f}"
        )
        if not made.is_doubtful:
            for reason in found.reasons:
                print(f"  {reason}")
