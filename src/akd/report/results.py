"""Files that an animation leaves behind: the clip, videos, metrics and the report."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akd.base.files import write_atomically
from akd.base.version import __version__
from akd.export.clip_files import write_clip_files
from akd.export.formats import FORMATS, files_of
from akd.report.motion_charts import (
    angle_charts,
    feet_chart,
    loss_charts,
    physics_charts,
    root_charts,
)
from akd.report.report import Report, write_report
from akd.scene.film import film
from akd.scene.settings import SceneSettings
from akd.scene.video import Video
from akd.splat.paint import Paint
from akd.splat.surface import surface_splats

if TYPE_CHECKING:
    from akd.motion.motion import Motion
    from akd.pipeline import Animation
    from akd.rig.character import Character

FORMAT = 1
"""Of metrics.json."""
_SPLATS = 20_000
_VIDEO_FPS = 24.0
_MOTIONS = {"video": "motion", "grounded": "grounded"}
"""What metrics and files call the motions, by the names of their videos."""


def result_names(formats: Sequence[str] = FORMATS, *, grounded: bool = True) -> list[str]:
    """Names of the files that `write_results` writes; by default of all it ever may."""
    videos = ["video", "grounded"] if grounded else ["video"]
    clips = files_of(formats, [_MOTIONS[name] for name in videos])
    return [*clips, *(f"{name}.mp4" for name in videos), "metrics.json", "report.html"]


def write_results(made: Animation, out: Path, *, provenance: dict[str, Any]) -> None:
    """Write the clip in every format, `video.mp4`, `grounded.mp4`, `metrics.json`, `report.html`.

    Each appears whole or not at all. `provenance` goes into every clip's extras. A request for a
    clip in place takes the travel out of the clips alone: videos and metrics are of the motion as
    it was found.
    """
    out.mkdir(parents=True, exist_ok=True)
    extras = {"generator": f"akd {__version__}", "prompt": made.request.prompt, **provenance}
    motions = made.motions()
    character = made.subject.character
    write_clip_files(
        character, made.subject.rig, {_MOTIONS[name]: m for name, m in motions.items()}, out,
        formats=made.request.formats, stay=made.request.in_place, extras=extras,
    )  # fmt: skip
    videos = {name: film_motion(character, motion) for name, motion in motions.items()}
    for name, video in videos.items():
        video.write_mp4(out / f"{name}.mp4")
    about = {
        "format": FORMAT,
        "version": __version__,
        "prompt": made.request.prompt,
        "asset": made.subject.path.name,
        **{name: metrics.to_json() for name, metrics in made.metrics.items()},
    }
    if len(made.found.merits) > 1:
        about["finalists"] = list(made.found.merits)
    if made.grounded is not None:
        about["physics"] = made.grounded.summary()
    with write_atomically(out / "metrics.json") as file:
        file.write((json.dumps(about, indent=2) + "\n").encode())
    with tempfile.TemporaryDirectory() as folder:
        strips = {}
        for name, video in videos.items():
            strips[f"{name}.mp4, six frames"] = video.write_strip(Path(folder) / f"{name}.png")
        write_report(out / "report.html", report_of(made, out, strips, provenance=extras))


def report_of(
    made: Animation, out: Path, strips: dict[str, Path], *, provenance: dict[str, Any]
) -> Report:
    """What the report says of an animation whose videos are in `out`."""
    subject, motions = made.subject, made.motions()
    character, rig = subject.character, subject.rig
    final = list(motions.values())[-1]
    feet = [
        feet_chart(character, rig, motion, title=f"feet on the ground: {name}.mp4")
        for name, motion in motions.items()
    ]
    charts = {
        "Feet": [chart for chart in feet if chart is not None],
        "Joint angles": angle_charts(rig, final),
        "Root": root_charts(rig, final, height=character.height),
        "Physics": [] if made.grounded is None else physics_charts(made.grounded),
        "Loss": loss_charts(made.distilled.history),
    }
    physics = made.request.physics
    return Report(
        title=made.request.prompt,
        facts={
            "asset": subject.path.name,
            "height": f"{character.height:.2f} m",
            "driven joints": str(len(rig)),
            **{key: str(value) for key, value in provenance.items() if key != "prompt"},
        },
        metrics=made.metrics,
        videos={_MOTIONS[name]: out / f"{name}.mp4" for name in motions},
        fps=_VIDEO_FPS,
        feet=[f"{leg.side.value} {leg.kind.value}" for leg in character.anatomy.legs],
        pictures=strips,
        charts=charts,
        settings={
            "distillation": asdict(made.request.settings),
            "physics": None if physics is None else asdict(physics),
        },
        notes=[*subject.notes, *made.distilled.notes],
    )


def film_motion(
    character: Character,
    motion: Motion,
    *,
    size: tuple[int, int] = (640, 360),
    settings: SceneSettings | None = None,
) -> Video:
    """A video of a motion, 24 frames a second, in the character's own colours."""
    mesh = character.mesh
    if mesh is None:
        raise ValueError(f"{character.asset.path.name}: there is no mesh to show")
    frames = motion.resample(_VIDEO_FPS) if len(motion) > 1 else motion
    cloud = surface_splats(mesh, _SPLATS, paint=Paint.of(character))
    return film(
        cloud, mesh.skin.bone_transforms(frames.world()), fps=_VIDEO_FPS,
        forward=character.forward, body_height=character.height, size=size, settings=settings,
    )  # fmt: skip
