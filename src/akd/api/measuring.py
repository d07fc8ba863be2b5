"""`measure` and `splat`: a motion in numbers, a mesh as Gaussians."""

from __future__ import annotations

from pathlib import Path

from akd.api.clips import Clip, find_motion
from akd.api.loading import loaded
from akd.asset.asset import AssetError
from akd.base.cache import cache_folder
from akd.base.observer import Observer
from akd.metrics.measures import measure_with_recognisers
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.recognise.recogniser import reporting_recognisers
from akd.rig.character import Character
from akd.splat.cloud import SplatCloud
from akd.splat.fit import fit_splats
from akd.splat.paint import Paint
from akd.splat.settings import FitSettings
from akd.splat.surface import surface_splats


def measure(
    character: Character | str | Path,
    clip: Clip = None,
    *,
    action: str | None = None,
    weights: str | Path | None = None,
) -> MotionMetrics:
    """Measure a motion: root motion, contact, skate, tilt, and what recognisers B and C see in it.

    Args:
        character: Character of the motion: what `load` returned, or a file.
        clip: A motion, or a clip's name; may be omitted if there is only one clip.
        action: The action it should show, such as `walk`; gallops and jumps need not alternate.
        weights: Folder of the recognisers, instead of the bundled ones.

    Returns:
        The metrics, with `verdict` (one line) and `score` (0 to 1).

    Raises:
        AssetError: The file cannot be read, or has no body.
        ValueError: There is no such clip or action.
    """
    character = loaded(character)
    if character.anatomy.body.root < 0:
        raise AssetError(f"{character.asset.path}: has no body")
    folder = None if weights is None else Path(weights)
    return measure_with_recognisers(
        character, find_motion(character, clip), reporting_recognisers(folder), action
    )


def splat(
    character: Character | str | Path,
    *,
    quick: bool = False,
    settings: FitSettings | None = None,
    observer: Observer | None = None,
) -> SplatCloud:
    """Make a Gaussian cloud that looks like a character's mesh.

    Args:
        character: What `load` returned, or a file.
        quick: Spread flat Gaussians over the surface instead of fitting to rendered views.
        settings: Number of Gaussians and settings of the fit.
        observer: Receives progress, and may cancel.

    Returns:
        The cloud in metres, bound to the character's bones.

    Raises:
        AssetError: The file cannot be read, or its surface has no finite area.
    """
    character = loaded(character, up="y")
    mesh, settings = character.mesh, settings or FitSettings()
    if mesh is None or not len(mesh.faces):
        raise AssetError(f"{character.asset.path}: has no triangles to make Gaussians from")
    paint, observer = Paint.of(character), observer or Observer()
    try:
        if quick:
            return surface_splats(mesh, settings.splats, paint=paint)
        observer.begin("fit splats")
        return fit_splats(
            mesh, paint=paint, settings=settings, cache=cache_folder() / "splats",
            progress=lambda i, n, loss: observer.step(min(i + 1, n), n, {"loss": loss}),
        )  # fmt: skip
    except ValueError as error:
        raise AssetError(f"{character.asset.path}: {error}") from None
