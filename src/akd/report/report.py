"""`write_report`: one self-contained page that shows a run and how it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from akd.base.files import write_text
from akd.base.version import __version__
from akd.metrics.motion_metrics import MotionMetrics
from akd.report import page as pages
from akd.report.metric_rows import metric_rows
from akd.report.motion_charts import (
    angle_charts,
    feet_chart,
    loss_charts,
    root_charts,
)
from akd.report.physics_charts import contact_charts, torque_charts
from akd.report.scene3d import scene3d

if TYPE_CHECKING:
    from akd.api.animation import Animation

_FACTS = {"prior": "video model"}
"""Names of provenance on the page, where they differ from those in the clip's extras."""
_PHYSICS = (
    "Of the simulation, before it is blended into a loop and the feet are pinned again. Of a "
    "cycle, one and a half repetitions are simulated; the clip repeats one."
)
_LOSS = "Terms of the distillation, each times its weight."


def write_report(
    made: Animation,
    path: Path,
    *,
    videos: Mapping[str, Path],
    strips: Mapping[str, Path],
    files: Mapping[str, str],
    frames: str,
    fps: float,
    clip_fps: float,
) -> None:
    """Write the page.

    Args:
        made: The run.
        path: The page, .html.
        videos: By the name of the motion. They become part of the page.
        strips: Frames of each motion side by side, by its name.
        files: What each file beside the page is, by its name.
        frames: Length and frame range of the clip to use, in words.
        fps: Of the videos.
        clip_fps: Of the clips.
    """
    character, request, final = made.character, made.request, made.final
    rig, motions = character.control_rig, made.motions()
    facts = {
        "character": character.asset.path.name,
        "height": f"{character.height:.2f} m",
        "driven joints": str(len(rig)),
        "akd": __version__,
        **{_FACTS.get(key, key): str(value) for key, value in made.provenance().items()},
    }
    films = [
        pages.Film(
            video, _shown(name), _said(made.metrics[name]),
            pages.checks_badge(made.metrics[name].fails),
        )
        for name, video in videos.items()
    ]  # fmt: skip
    feet = ", ".join(f"{leg.side.value} {leg.kind.value}" for leg in character.anatomy.legs)
    scene = scene3d(
        character, {"start": made.start, **{_shown(name): m for name, m in motions.items()}},
        shown=_shown(made.best),
    )  # fmt: skip
    metrics = {_shown(name): found for name, found in made.metrics.items()}
    settings = {
        "distillation": asdict(request.settings),
        "physics": None if request.physics is None else asdict(request.physics),
    }
    standing = [
        feet_chart(character, rig, motion, title=f"feet on the ground: {_shown(name)}")
        for name, motion in motions.items()
    ]
    physics = []
    if made.grounded is not None:
        physics = [*torque_charts(made.grounded), *contact_charts(made.grounded)]
    parts = [
        pages.header(request.prompt, above="akd animate", facts=facts),
        outcome_of(made.metrics[made.best], clip=made.clip_names()[made.best], frames=frames),
        pages.notes(made.notes),
        pages.links(files),
        pages.films(films, fps=fps, clip_fps=clip_fps, charts=True),
        scene,
        *(pages.wide_image(p, f"{_shown(name)}, six frames") for name, p in strips.items()),
        "<h2>Metrics</h2>",
        pages.table(list(metrics), metric_rows(metrics), wanted=True),
        f'<p class="about">Feet in this order: {escape(feet)}.</p>' if feet else "",
        '<p class="about">“Wanted” is the limit of a check; ✓ and ✗ show whether a clip meets it. '
        "Gallops and jumps need not alternate left and right. True clips: the median of artists' "
        "and zoo clips of the same action and number of legs.</p>",
        pages.section("Feet", [chart for chart in standing if chart is not None]),
        pages.section("Joint angles", angle_charts(rig, final)),
        pages.section("Root", root_charts(rig, final, height=character.height)),
        pages.section("Physics", physics, about=_PHYSICS),
        pages.section("Loss", loss_charts(made.history), about=_LOSS),
        "<h2>Settings</h2>",
        "<details><summary>show all</summary>"
        f"<pre>{escape(json.dumps(settings, indent=2, default=str))}</pre></details>",
    ]
    scripts = pages.film_scripts(scene)
    write_text(path, pages.page(request.prompt, "\n".join(filter(None, parts)), scripts=scripts))


def _shown(name: str) -> str:
    """Name of a motion on the page."""
    return "distilled" if name == "motion" else name


def outcome_of(metrics: MotionMetrics, *, clip: str, frames: str) -> str:
    """The top of the page: which clip to use, its frames, and what was measured of it.

    Args:
        metrics: Of the clip to use.
        clip: Its name in the file.
        frames: What `frame_range` says of it.
    """
    told = [frames, f"{_said(metrics)[:1].upper()}{_said(metrics)[1:]}."]
    actions = [
        f"{name} sees “{action.said}”"
        + ("" if action.said == action.asked else f" and not “{action.asked}”")
        for name, action in (("B", metrics.action), ("C", metrics.action_c))
        if action is not None and action.asked is not None and action.said is not None
    ]
    if actions:
        told.append(f"Action recognisers, independent of the search: {', '.join(actions)}.")
    return pages.outcome(
        f"Use the clip “{clip}”", told,
        score=metrics.score, fails=metrics.fails, advice="Another seed may do better.",
    )  # fmt: skip


def _said(metrics: MotionMetrics) -> str:
    """The verdict without the word that says that it moves."""
    return metrics.verdict.removeprefix("moves: ")
