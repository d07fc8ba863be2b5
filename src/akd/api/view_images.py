"""`make_views`: reference images of a character for image-to-video services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.api.animatable import animatable
from akd.api.fit_inputs import read_direction
from akd.base.files import write_text
from akd.rig.character import Character
from akd.scene.follow import SIDE
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.scene.video import write_image

_SPLATS = 40_000
_BACKGROUND = (0.84, 0.93, 0.84)
_ZOOM = 0.8
"""Leaves room for limbs that swing, and for a few steps."""


@dataclass(frozen=True)
class ViewImages:
    """Images of one pose, one per view, and what to ask a video model for."""

    images: Float[Tensor, "V H W 3"]
    names: tuple[str, ...]
    prompt: str

    def save(self, out: str | Path) -> list[Path]:
        """Write `view_NAME.png` for each view, `views.png` with all side by side, `prompt.txt`."""
        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        files = [
            write_image(out / f"view_{name}.png", image)
            for name, image in zip(self.names, self.images, strict=True)
        ]
        prompt = out / "prompt.txt"
        write_text(prompt, self.prompt + "\n")
        return [*files, write_image(out / "views.png", torch.cat(list(self.images), dim=1)), prompt]


def make_views(
    character: Character | str | Path,
    *,
    views: Sequence[str] = ("side",),
    colours: str = "textured",
    size: tuple[int, int] = (768, 768),
    action: str = "walks",
    template: str = "auto",
) -> ViewImages:
    """Render the neutral pose on a plain background, as first frames for video models.

    Args:
        character: What `load` returned, or a file.
        views: Positions of the cameras: side, front, back, three-quarter, or degrees.
        colours: `textured`, or `roles`: each limb has its own hue, so that left and right differ.
        size: Width and height of each view, pixels.
        action: What the character should do, for the prompt.
        template: Body plan for a bare mesh.

    Returns:
        The images and a prompt; `save` writes them.

    Raises:
        AssetError: The file cannot be read or animated.
        ValueError: An argument is out of range.
    """
    if colours not in ("textured", "roles"):
        raise ValueError(f"colours must be textured or roles, got {colours!r}")
    if not views or not all(64 <= side <= 4096 for side in size):
        raise ValueError(f"size must be from 64 to 4096 pixels a side, got {size[0]} x {size[1]}")
    turns = [read_direction(view) - SIDE.azimuth for view in views]
    character = animatable(character, template=template)
    stage = Stage.of(
        character, style=SceneStyle(colours), size=size, splats=_SPLATS,
        view=replace(SIDE, zoom=_ZOOM), ground=False,
    )  # fmt: skip
    # Roles are saturated or grey: a light green is like none of them.
    stage = replace(stage, scene=replace(stage.scene, plain_background=_BACKGROUND))
    split = "" if len(views) == 1 else (
        f" The image is split into {len(views)} panels that show the same moment from "
        f"{', '.join(views)}; all panels stay in step."
    )  # fmt: skip
    prompt = (
        f"The character {action} on the spot. Static camera, no zoom, no cut. Plain, even "
        f"background without shadows. The whole body stays in the image, and its shape and "
        f"colours stay exactly as in the first frame.{split}"
    )
    return ViewImages(stage.reference_images(turns), tuple(views), prompt)
