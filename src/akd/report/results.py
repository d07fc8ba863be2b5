"""Writes the files of an animation: the clip, videos, metrics and the report."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from akd.base.files import write_json
from akd.base.version import __version__
from akd.export.clip_files import key_motions, write_clip_files
from akd.export.formats import FORMATS, files_of
from akd.export.settings import KeySettings
from akd.math.threads import map_threads
from akd.motion.loop import is_loop
from akd.motion.motion import Motion
from akd.report.report import write_report
from akd.report.view_data import ContactForces, ViewData
from akd.rig.control import ControlRig
from akd.scene.film import film_motion

if TYPE_CHECKING:
    from akd.api.animation import Animation

FORMAT = 1
"""Of metrics.json."""
_VIDEO_FPS = 24.0
_FILES = {
    "motion.glb": "your file with the clips",
    "video.mp4": "distilled clip",
    "grounded.mp4": "grounded clip",
    "metrics.json": "all numbers",
    "view.npz": "for akd view",
}
"""Descriptions of a run's files that are not clips."""
_VIDEOS = {"motion": "video.mp4", "grounded": "grounded.mp4"}
"""Names of the videos by the names of the motions."""


def result_names(formats: Sequence[str] = FORMATS, *, grounded: bool = True) -> list[str]:
    """Names of the files that `write_results` writes; by default of all it ever may."""
    motions = ["motion", "grounded"] if grounded else ["motion"]
    clips = files_of(dict.fromkeys(("glb", *formats)), motions)
    about = ["metrics.json", "view.npz", "report.html"]
    return [*clips, *(_VIDEOS[name] for name in motions), *about]


def write_results(
    made: Animation,
    out: Path,
    *,
    formats: Sequence[str] = ("glb",),
    in_place: bool = False,
    keys: KeySettings,
) -> list[Path]:
    """Write clips in every format, videos, `metrics.json`, `view.npz` and `report.html`.

    Each is written atomically. With `in_place` the root motion is taken out of the clips alone:
    videos and metrics keep it.
    """
    out.mkdir(parents=True, exist_ok=True)
    request, character, motions = made.request, made.character, made.motions()
    extras = {"generator": f"akd {__version__}", "prompt": request.prompt, **made.provenance()}
    keyed = key_motions(character, motions, keys, stay=in_place)
    write_clip_files(
        character, keyed, out, formats=("glb", *formats), keys=keys, extras=extras
    )  # fmt: skip
    filmed = map_threads(
        lambda motion: film_motion(character, motion, fps=_VIDEO_FPS, device=request.place),
        list(motions.values()),
    )
    videos = dict(zip(motions, filmed, strict=True))
    for name, video in videos.items():
        video.write_mp4(out / _VIDEOS[name])
    about = {
        "format": FORMAT,
        "version": __version__,
        "prompt": request.prompt,
        "asset": character.asset.path.name,
        "height": character.height,
        "best": made.best,
        "clips": list(motions),
        **{name: metrics.to_json() for name, metrics in made.metrics.items()},
    }
    if len(made.selection_scores) > 1:
        about["selection_scores"] = list(made.selection_scores)
    if made.grounded is not None:
        about["physics"] = made.grounded.summary()
    write_json(out / "metrics.json", about)
    forces = None if made.grounded is None else ContactForces.of(made.grounded)
    ViewData(made.start, forces).write(out / "view.npz")
    with tempfile.TemporaryDirectory() as folder:
        strips = {
            name: video.write_strip(Path(folder) / f"{name}.png") for name, video in videos.items()
        }
        names = result_names(formats, grounded=made.grounded is not None)
        frames = frame_range(
            character.control_rig, keyed[made.best], height=character.height, fps=keys.fps
        )
        write_report(
            made, out / "report.html", strips=strips, frames=frames, fps=_VIDEO_FPS,
            clip_fps=keys.fps, videos={name: out / _VIDEOS[name] for name in motions},
            files={name: _FILES.get(name, "clip") for name in names if name != "report.html"},
        )  # fmt: skip
    return [out / name for name in names]


def frame_range(rig: ControlRig, keyed: Motion, *, height: float, fps: float) -> str:
    """Length of a clip on whole frames, its frame range, and whether it loops, in a sentence."""
    last = len(keyed) - 1
    told = f"{keyed.duration:.2f} s: frames 0 to {last} at {fps:g} per second"
    if is_loop(rig, keyed, height=height):
        told += f"; it loops, and frame {last} repeats frame 0"
    return f"{told}."
