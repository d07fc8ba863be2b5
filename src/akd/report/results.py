"""Writes the files of an animation: the clip, videos, metrics and the report."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akd.base.files import write_json
from akd.base.version import __version__
from akd.export.clip_files import key_motions, write_clip_files
from akd.export.formats import FORMATS, files_of
from akd.export.settings import KeySettings
from akd.math.threads import map_threads
from akd.report.motion_charts import (
    angle_charts,
    feet_chart,
    loss_charts,
    physics_charts,
    root_charts,
)
from akd.report.report import Report, write_report
from akd.report.scene3d import scene3d
from akd.report.view_data import ContactForces, ViewData
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
"""What files of a run are, where they are not clips."""
_VIDEOS = {"motion": "video.mp4", "grounded": "grounded.mp4"}
"""Names of the videos by the names of the motions."""
_SHOWN = {"motion": "distilled"}
"""What a motion is called on the page, where that is not its name in `metrics.json`."""


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
    write_clip_files(
        character, key_motions(character, motions, keys, stay=in_place), out,
        formats=("glb", *formats), keys=keys, extras=extras,
    )  # fmt: skip
    filmed = map_threads(
        lambda motion: film_motion(character, motion, fps=_VIDEO_FPS), list(motions.values())
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
        strips = {}
        for name, video in videos.items():
            strip = video.write_strip(Path(folder) / f"{name}.png")
            strips[f"{_SHOWN.get(name, name)}, six frames"] = strip
        report = report_of(made, out, strips, provenance=extras, formats=formats)
        write_report(out / "report.html", report)
    return [out / name for name in result_names(formats, grounded=made.grounded is not None)]


def report_of(
    made: Animation,
    out: Path,
    strips: dict[str, Path],
    *,
    provenance: dict[str, Any],
    formats: Sequence[str] = (),
) -> Report:
    """What the report says of an animation whose videos are in `out`."""
    character, request = made.character, made.request
    motions = {_SHOWN.get(name, name): motion for name, motion in made.motions().items()}
    metrics = {_SHOWN.get(name, name): found for name, found in made.metrics.items()}
    videos = {_SHOWN.get(name, name): out / _VIDEOS[name] for name in made.motions()}
    rig, final = character.control_rig, made.final
    feet = [
        feet_chart(character, rig, motion, title=f"feet on the ground: {name}")
        for name, motion in motions.items()
    ]
    charts = {
        "Feet": [chart for chart in feet if chart is not None],
        "Joint angles": angle_charts(rig, final),
        "Root": root_charts(rig, final, height=character.height),
        "Physics": [] if made.grounded is None else physics_charts(made.grounded),
        "Loss": loss_charts(made.history),
    }
    return Report(
        title=request.prompt,
        facts={
            "asset": character.asset.path.name,
            "height": f"{character.height:.2f} m",
            "driven joints": str(len(rig)),
            **{key: str(value) for key, value in provenance.items() if key != "prompt"},
        },
        metrics=metrics,
        videos=videos,
        fps=_VIDEO_FPS,
        feet=[f"{leg.side.value} {leg.kind.value}" for leg in character.anatomy.legs],
        images=strips,
        charts=charts,
        settings={
            "distillation": asdict(request.settings),
            "physics": None if request.physics is None else asdict(request.physics),
        },
        summary=summary_of(made),
        files={
            name: _FILES.get(name, "clip")
            for name in result_names(formats, grounded=made.grounded is not None)
            if name != "report.html"
        },
        scene=scene3d(
            character, {"start": made.start, **motions}, shown=_SHOWN.get(made.best, made.best)
        ),
        notes=list(made.notes),
    )


def summary_of(made: Animation) -> str:
    """The result of a run in a few sentences."""
    metrics, character = made.metrics[made.best], made.character
    word, _, rest = metrics.verdict.partition(": ")
    which = "grounded" if made.best == "grounded" else "distilled"
    told = [
        f"Prompt {made.request.prompt!r}, character {character.asset.path.name}.",
        f"Use the {which} clip, {metrics.duration:.1f} s long: it {_says(word, rest)}.",
    ]
    for name, action in (("B", metrics.action), ("C", metrics.action_c)):
        if action is not None and action.asked is not None and action.said is not None:
            told.append(
                f"Recogniser {name} classifies it as {action.said!r}, as requested."
                if action.said == action.asked
                else f"Recogniser {name} classifies it as {action.said!r}, not {action.asked!r}."
            )
    fails = metrics.fails
    told.append(
        f"It fails checks below ({len(fails)}): {'; '.join(fails)}. Another seed may do better."
        if fails
        else "It passes all checks below."
    )
    return " ".join(told)


def _says(word: str, rest: str) -> str:
    """A verdict as the rest of a sentence that begins with "it"."""
    if word == "moves":
        return rest.removeprefix("it ")
    return f"is {word} ({rest})" if rest else f"is {word}"
