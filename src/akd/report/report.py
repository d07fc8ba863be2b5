"""`write_report`: one self-contained page that shows a run and how it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from akd.base.files import write_text
from akd.report import page as pages
from akd.report.metric_rows import metric_rows
from akd.report.motion_charts import (
    angle_charts,
    feet_chart,
    loss_charts,
    physics_charts,
    root_charts,
)
from akd.report.scene3d import scene3d

if TYPE_CHECKING:
    from akd.api.animation import Animation


def write_report(
    made: Animation,
    path: Path,
    *,
    videos: Mapping[str, Path],
    strips: Mapping[str, Path],
    provenance: Mapping[str, str],
    files: Mapping[str, str],
    fps: float,
) -> None:
    """Write the page.

    Args:
        made: The run.
        path: The page, .html.
        videos: By the name of the motion. They become part of the page.
        strips: Frames of each motion side by side, by its name.
        provenance: Shown under the title, but for the prompt.
        files: What each file beside the page is, by its name.
        fps: Of the videos.
    """
    character, request, final = made.character, made.request, made.final
    rig, motions = character.control_rig, made.motions()
    facts = {
        "asset": character.asset.path.name,
        "height": f"{character.height:.2f} m",
        "driven joints": str(len(rig)),
        **{key: str(value) for key, value in provenance.items() if key != "prompt"},
    }
    films = []
    for name, video in videos.items():
        badge, rest = pages.verdict(made.metrics[name].verdict)
        films.append(pages.Film(video, _shown(name), rest, badge))
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
    parts = [
        pages.header(request.prompt, above="akd animate", facts=facts),
        f"<p>{escape(_summary(made))}</p>",
        pages.links(files),
        pages.notes(made.notes),
        pages.films(films, fps=fps, charts=True),
        scene,
        *(pages.wide_image(p, f"{_shown(name)}, six frames") for name, p in strips.items()),
        "<h2>Metrics</h2>",
        pages.table(list(metrics), metric_rows(metrics), wanted=True),
        f'<p class="about">Feet in this order: {escape(feet)}.</p>' if feet else "",
        '<p class="about">Wanted is what a walk should have that is to be shown; gallops and '
        "jumps do not alternate left and right. True clips: the median of artists' and zoo clips "
        "of this action on as many legs.</p>",
        pages.section("Feet", [chart for chart in standing if chart is not None]),
        pages.section("Joint angles", angle_charts(rig, final)),
        pages.section("Root", root_charts(rig, final, height=character.height)),
        pages.section("Physics", [] if made.grounded is None else physics_charts(made.grounded)),
        pages.section("Loss", loss_charts(made.history)),
        "<h2>Settings</h2>",
        "<details><summary>all of them</summary>"
        f"<pre>{escape(json.dumps(settings, indent=2, default=str))}</pre></details>",
    ]
    scripts = pages.film_scripts(scene)
    write_text(path, pages.page(request.prompt, "\n".join(filter(None, parts)), scripts=scripts))


def _shown(name: str) -> str:
    """What a motion is called on the page."""
    return "distilled" if name == "motion" else name


def _summary(made: Animation) -> str:
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
