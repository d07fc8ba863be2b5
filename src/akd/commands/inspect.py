"""`akd inspect`: what is in a file, and what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from akd.commands.options import Height, Roles, Up, load_file


@dataclass(frozen=True)
class Inspect:
    """Show what is in a file, which joints akd would drive, and how akd handles each problem.

    Reads glTF and GLB, VRM, FBX (needs akd[fbx]), USD (akd[usd]), Blender files (Blender), BVH,
    OBJ, PLY, STL, OFF, and Gaussian-splat PLY.

    Example: akd inspect fox.glb --image roles.png
    """

    file: tyro.conf.Positional[Path]
    """The file to look at."""
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print JSON for a program to read, instead of text."""
    height: Height = None
    up: Up = "y"
    roles: Roles = None
    image: Path | None = None
    """Write a PNG of the body coloured by role, from the front and from its left."""

    def run(self) -> None:
        """Print the description."""
        from akd.report.describe import describe, describe_text
        from akd.report.role_image import role_image

        character = load_file(self.file, height=self.height, up=self.up, roles=self.roles)
        if self.image is not None:
            role_image(character).save(self.image, format="PNG")
        if self.as_json:
            print(json.dumps(describe(character), indent=2))
        else:
            print(describe_text(character))
            if self.image is not None:
                print(f"\n{self.image}: the body coloured by role")
