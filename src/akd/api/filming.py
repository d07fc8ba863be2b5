"""`film`: a clip as a video."""

from __future__ import annotations

import math
from pathlib import Path

from akd.api.clips import Clip, find_motion
from akd.api.loading import loaded
from akd.asset.asset import AssetError
from akd.rig.character import Character
from akd.scene.film import film_motion
from akd.scene.follow import PRESETS, View
from akd.scene.video import Video


def film(
    character: Character | str | Path,
    clip: Clip = None,
    *,
    view: View | str = "three-quarter",
    turn: float = 0.0,
    size: tuple[int, int] = (640, 360),
    fps: float = 24.0,
    splats: int = 20_000,
) -> Video:
    """Film a clip, in the character's own colours, with a camera that follows it.

    Args:
        character: What `load` returned, or a file.
        clip: A motion, or a clip's name; may be omitted if there is only one clip.
        view: Where the camera looks from: side, three-quarter, front, or a `View`.
        turn: Degrees by which the camera orbits the character over the clip.
        size: Width and height, pixels.
        fps: Frames per second; fewer where the film would take more than 2 GiB.
        splats: Gaussians on the character's surface.

    Returns:
        The video, in bytes. `write` makes an .mp4, .gif or .png of it.

    Raises:
        AssetError: The file cannot be read, or has no mesh.
        ValueError: There is no such clip or view, or an argument is out of range.
    """
    if isinstance(view, str):
        if view not in PRESETS:
            raise ValueError(f"view must be one of {', '.join(PRESETS)}; got {view!r}")
        view = PRESETS[view]
    character = loaded(character)
    if character.mesh is None:
        raise AssetError(f"{character.asset.path}: has no mesh to film")
    return film_motion(
        character, find_motion(character, clip), view=view, turn=math.radians(turn), size=size,
        fps=fps, splats=splats,
    )  # fmt: skip
